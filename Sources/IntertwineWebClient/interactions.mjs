// The gestures of a person: selection, dismissal, custom slots and undo.
import { UnavailableError, uuid } from "./client/index.mjs";
import { askForInput } from "./slot-form.mjs";

export class Interactions {
  #screens = new Map();
  #busy = new WeakSet();

  /** - open(href): opens a link that an invocation leads to. */
  constructor({ actions, feed, toast, undo, announce, open }) {
    Object.assign(this, { actions, feed, toast, undo, announce, open });
  }

  /** Registers a screen by its name in presentations. `show(arguments, entry)` returns a promise that resolves when the screen closes. */
  registerScreen(name, show) {
    this.#screens.set(name, show);
    return this;
  }

  async select(entry, key = uuid(), body = undefined) {
    body ??= await this.#input(entry, "selection", entry.name);
    if (body === null) return;
    await this.#exclusively(entry, "could not be opened", () => this.select(entry, key, body), async () => {
      const invocation = await this.actions.perform("selection", entry, { key, ...body });
      if (invocation?.open) this.open(invocation.open);
      await this.#present(invocation?.presentation, entry);
    });
  }

  async dismiss(entry, key = uuid(), body = undefined) {
    if (!entry.cell.actions?.dismissal) return;
    body ??= await this.#input(entry, "dismissal", entry.cell.actions.dismissal.label ?? `Dismiss ${entry.name}`);
    if (body === null) return;
    await this.#exclusively(entry, "could not be dismissed", () => this.dismiss(entry, key, body), async () => {
      const optimistic = () => this.feed.list.hide(entry);
      const invocation = await this.actions.perform("dismissal", entry, { key, optimistic, queueable: true, ...body });
      if (invocation === null) return;
      const { undo, isQueued } = invocation;
      if (undo) this.undo.push({ name: entry.name, expiresAt: undo.expiresAt, run: () => this.#revert(invocation, entry) });
      else this.toast.show(`${entry.name} dismissed.`, { seconds: 4 });
      if (isQueued) this.announce("The dismissal will be sent when the server is available again.");
    });
  }

  /** Performs a custom slot with a label. */
  async perform(entry, slot, label, key = uuid(), body = undefined) {
    body ??= await this.#input(entry, slot, label);
    if (body === null) return;
    await this.#exclusively(entry, `could not be sent: ${label}`, () => this.perform(entry, slot, label, key, body), async () => {
      const invocation = await this.actions.perform(slot, entry, { key, ...body });
      if (invocation?.open) this.open(invocation.open);
      const undo = invocation?.undo?.isAvailable ? [{ label: "Undo", run: () => this.#revert(invocation, entry) }] : [];
      this.toast.show(`${label}: ${entry.name}.`, { seconds: 8, actions: undo });
    });
  }

  /** Removes a cell from one of the viewer's lists, such as `saved`. `done` is the message. */
  async removeFromList(entry, list, done) {
    await this.#exclusively(entry, "could not be removed from the list", () => this.removeFromList(entry, list, done), async () => {
      const action = { type: "request", method: "DELETE", href: `${list}/${encodeURIComponent(entry.cell.id)}` };
      await this.actions.run(action, "removal", entry, { optimistic: () => this.feed.list.hide(entry) });
      this.feed.list.remove(entry);
      this.toast.show(`${entry.name} ${done}`, { seconds: 4 });
    });
  }

  /** Returns the input of a slot as `{ body }`, an empty object if the slot has no input, or null if the person cancels. */
  async #input({ cell }, slot, title) {
    const input = cell.actions?.[slot]?.input;
    if (input === null || typeof input !== "object") return {};
    const body = await askForInput(input, title);
    return body === null ? null : { body };
  }

  async #revert({ undo }, entry) {
    await this.#exclusively(entry, "could not be restored", () => this.#revert({ undo }, entry), async () => {
      await undo.run();
      this.feed.focus(entry);
      this.announce(`${entry.name} is restored.`);
    });
  }

  async #present(presentation, entry) {
    if (!presentation) return;
    const show = this.#screens.get(presentation.screen);
    if (show === undefined) {
      this.toast.show(`The web client has no screen named ${presentation.screen}.`);
      return;
    }
    await show(presentation.arguments ?? {}, entry);
    this.feed.focus(entry);
    await this.actions.perform("deselection", entry);
  }

  /** Performs one gesture at a time for each cell. Shows a failure, with a retry if the service is unavailable. */
  async #exclusively(entry, failure, again, body) {
    if (this.#busy.has(entry)) return;
    this.#busy.add(entry);
    try {
      await body();
    } catch (error) {
      // The banner already reports an unavailable service.
      const isUnavailable = error instanceof UnavailableError;
      const message = isUnavailable ? `${entry.name} ${failure}.` : error.message;
      this.toast.show(message, { seconds: 8, actions: isUnavailable ? [{ label: "Try again", run: again }] : [] });
    } finally {
      this.#busy.delete(entry);
    }
  }
}
