// What a person does to a cell: select it, leave its screen, dismiss it, think again.
import { problem, Unavailable } from "./client.mjs";
import { uuid } from "./elements.mjs";

export class Interactions {
  #screens = new Map();
  #busy = new WeakSet();

  constructor({ performer, feed, toast, undo, announce }) {
    Object.assign(this, { performer, feed, toast, undo, announce });
  }

  /** Registers a screen that presentations name. `show(arguments, entry)` answers a promise that settles when it closes. */
  registerScreen(name, show) {
    this.#screens.set(name, show);
    return this;
  }

  async select(entry, key = uuid()) {
    await this.#alone(entry, "could not be opened", () => this.select(entry, key), async () => {
      const answer = await this.performer.perform("selection", entry, { key });
      if (answer === null) return;
      if (!answer.ok) throw new Error(problem(answer));
      await this.#present(answer.value?.presentation, entry);
    });
  }

  async dismiss(entry, key = uuid()) {
    if (!entry.cell.actions?.dismissal) return;
    await this.#alone(entry, "could not be dismissed", () => this.dismiss(entry, key), async () => {
      const takeBack = this.feed.list.hide(entry);
      let answer;
      try {
        answer = await this.performer.perform("dismissal", entry, { key });
        if (!answer.ok) throw new Error(problem(answer));
      } catch (error) {
        takeBack();
        throw error;
      }
      const action = answer.value?.undo;
      if (action) this.undo.push({ name: entry.name, expires: action.expires, run: () => this.#takeBack(action, entry, takeBack) });
      else this.toast.show(`${entry.name} dismissed.`, { seconds: 4 });
    });
  }

  /** Takes a cell off one of the viewer's lists, such as `saved`. `done` is what is said then. */
  async takeOff(entry, list, done) {
    await this.#alone(entry, "could not be taken off the list", () => this.takeOff(entry, list, done), async () => {
      const takeBack = this.feed.list.hide(entry);
      try {
        const answer = await this.performer.run(
          { type: "request", method: "DELETE", href: `${list}/${encodeURIComponent(entry.cell.id)}` }, "removal", entry);
        if (!answer.ok) throw new Error(problem(answer));
      } catch (error) {
        takeBack();
        throw error;
      }
      this.feed.list.remove(entry);
      this.toast.show(`${entry.name} ${done}`, { seconds: 4 });
    });
  }

  async #takeBack(action, entry, takeBack) {
    await this.#alone(entry, "could not be brought back", () => this.#takeBack(action, entry, takeBack), async () => {
      const answer = await this.performer.run(action, "undo", entry);
      if (answer === null || !answer.ok) throw new Error(answer ? problem(answer) : "There is no way to undo this.");
      takeBack();
      this.feed.focus(entry);
      this.announce(`${entry.name} is back.`);
    });
  }

  async #present(presentation, entry) {
    if (!presentation) return;
    const show = this.#screens.get(presentation.screen);
    if (show === undefined) {
      this.toast.show(`This viewer has no screen named ${presentation.screen}.`);
      return;
    }
    await show(presentation.arguments ?? {}, entry);
    this.feed.focus(entry);
    const answer = await this.performer.perform("deselection", entry);
    if (answer !== null && !answer.ok) throw new Error(problem(answer));
  }

  /** One gesture at a time for each cell; a failure is told, with another try where the server was just not there. */
  async #alone(entry, failure, again, body) {
    if (this.#busy.has(entry)) return;
    this.#busy.add(entry);
    try {
      await body();
    } catch (error) {
      // Why the server is not there is said once, by the banner.
      const isUnavailable = error instanceof Unavailable;
      const message = isUnavailable ? `${entry.name} ${failure}.` : error.message;
      this.toast.show(message, { seconds: 8, actions: isUnavailable ? [{ label: "Try again", run: again }] : [] });
    } finally {
      this.#busy.delete(entry);
    }
  }
}
