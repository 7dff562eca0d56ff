// What a person does to a cell: select it, leave its zoom, dismiss it, think again.
import { problem, Unavailable } from "./client.mjs";
import { uuid } from "./elements.mjs";

export class Interactions {
  #screens = new Map();
  #busy = new WeakSet();

  constructor({ performer, feed, toast, announce }) {
    Object.assign(this, { performer, feed, toast, announce });
  }

  /** Registers a screen that presentations name. `show(arguments, view)` answers a promise that settles when it closes. */
  registerScreen(name, show) {
    this.#screens.set(name, show);
    return this;
  }

  async select(view, key = uuid()) {
    await this.#alone(view, () => this.select(view, key), async () => {
      const answer = await this.performer.perform("selection", view, { key });
      if (answer === null) return;
      if (!answer.ok) throw new Error(problem(answer));
      await this.#present(answer.value?.presentation, view);
    });
  }

  async dismiss(view, key = uuid()) {
    if (!view.cell.actions?.dismissal) return;
    await this.#alone(view, () => this.dismiss(view, key), async () => {
      const takeBack = this.feed.hide(view);
      let answer;
      try {
        answer = await this.performer.perform("dismissal", view, { key });
        if (!answer.ok) throw new Error(problem(answer));
      } catch (error) {
        takeBack();
        throw error;
      }
      const undo = answer.value?.undo;
      this.toast.show(`${view.name} dismissed.`, {
        seconds: undo ? until(undo.expires) : 4,
        action: undo ? { label: "Undo", run: () => this.#undo(undo, view, takeBack) } : undefined,
      });
    });
  }

  async #undo(undo, view, takeBack) {
    await this.#alone(view, () => this.#undo(undo, view, takeBack), async () => {
      const answer = await this.performer.run(undo, "undo", view);
      if (answer === null || !answer.ok) throw new Error(answer ? problem(answer) : "There is no way to undo this.");
      takeBack({ focus: true });
      this.announce(`${view.name} is back.`);
    });
  }

  async #present(presentation, view) {
    if (!presentation) return;
    const show = this.#screens.get(presentation.screen);
    if (show === undefined) {
      this.toast.show(`This viewer has no screen named ${presentation.screen}.`);
      return;
    }
    await show(presentation.arguments ?? {}, view);
    const answer = await this.performer.perform("deselection", view);
    if (answer !== null && !answer.ok) throw new Error(problem(answer));
  }

  /** One gesture at a time for each cell; a failure is told, with another try where the server was just not there. */
  async #alone(view, again, body) {
    if (this.#busy.has(view)) return;
    this.#busy.add(view);
    try {
      await body();
    } catch (error) {
      const action = error instanceof Unavailable ? { label: "Try again", run: again } : undefined;
      this.toast.show(error.message, { seconds: 8, action });
    } finally {
      this.#busy.delete(view);
    }
  }
}

/** How long an undo is offered: ten seconds, or less where it expires before. */
function until(expires) {
  const left = (Date.parse(expires) - Date.now()) / 1000;
  return Number.isFinite(left) ? Math.max(1, Math.min(10, left)) : 10;
}
