// What a person does to a cell: select it, leave its screen, dismiss it, think again.
import { Unavailable, uuid } from "./client/index.mjs";
import { askForInput } from "./slot-form.mjs";

export class Interactions {
  #screens = new Map();
  #busy = new WeakSet();

  constructor({ actions, feed, toast, undo, announce }) {
    Object.assign(this, { actions, feed, toast, undo, announce });
  }

  /** Registers a screen that presentations name. `show(arguments, entry)` answers a promise that settles when it closes. */
  registerScreen(name, show) {
    this.#screens.set(name, show);
    return this;
  }

  async select(entry, key = uuid(), body = undefined) {
    body ??= await this.#input(entry, "selection", entry.name);
    if (body === null) return;
    await this.#alone(entry, "could not be opened", () => this.select(entry, key, body), async () => {
      const performance = await this.actions.perform("selection", entry, { key, ...body });
      await this.#present(performance?.value?.presentation, entry);
    });
  }

  async dismiss(entry, key = uuid(), body = undefined) {
    if (!entry.cell.actions?.dismissal) return;
    body ??= await this.#input(entry, "dismissal", entry.cell.actions.dismissal.label ?? `Dismiss ${entry.name}`);
    if (body === null) return;
    await this.#alone(entry, "could not be dismissed", () => this.dismiss(entry, key, body), async () => {
      const optimistic = () => this.feed.list.hide(entry);
      const performance = await this.actions.perform("dismissal", entry, { key, optimistic, waits: true, ...body });
      if (performance === null) return;
      const { undo, isWaiting } = performance;
      if (undo) this.undo.push({ name: entry.name, expires: undo.expires, run: () => this.#takeBack(performance, entry) });
      else this.toast.show(`${entry.name} dismissed.`, { seconds: 4 });
      if (isWaiting) this.announce("The server is told once it is back.");
    });
  }

  /** Performs a slot that the kind of cell offers under a label. */
  async perform(entry, slot, label, key = uuid(), body = undefined) {
    body ??= await this.#input(entry, slot, label);
    if (body === null) return;
    await this.#alone(entry, `could not be told: ${label}`, () => this.perform(entry, slot, label, key, body), async () => {
      const performance = await this.actions.perform(slot, entry, { key, ...body });
      const undo = performance?.undo?.isOpen ? [{ label: "Undo", run: () => this.#takeBack(performance, entry) }] : [];
      this.toast.show(`${label}: ${entry.name}.`, { seconds: 8, actions: undo });
    });
  }

  /** Takes a cell off one of the viewer's lists, such as `saved`. `done` is what is said then. */
  async takeOff(entry, list, done) {
    await this.#alone(entry, "could not be taken off the list", () => this.takeOff(entry, list, done), async () => {
      const action = { type: "request", method: "DELETE", href: `${list}/${encodeURIComponent(entry.cell.id)}` };
      await this.actions.run(action, "removal", entry, { optimistic: () => this.feed.list.hide(entry) });
      this.feed.list.remove(entry);
      this.toast.show(`${entry.name} ${done}`, { seconds: 4 });
    });
  }

  /** What the slot takes, as `{ body }`, of which nothing is there where it takes nothing; null where it is not given. */
  async #input({ cell }, slot, title) {
    const input = cell.actions?.[slot]?.input;
    if (input === null || typeof input !== "object") return {};
    const body = await askForInput(input, title);
    return body === null ? null : { body };
  }

  async #takeBack({ undo }, entry) {
    await this.#alone(entry, "could not be brought back", () => this.#takeBack({ undo }, entry), async () => {
      await undo.run();
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
    await this.actions.perform("deselection", entry);
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
