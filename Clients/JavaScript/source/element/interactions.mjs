// The gestures of a person: selection, dismissal, custom slots and undo.
import { labelOf } from "../actions.mjs";
import { UnavailableError } from "../responses.mjs";
import { uuid } from "../uuid.mjs";
import { askForInput } from "./slot-form.mjs";

export class Interactions {
  #screens = new Map();
  #busy = new WeakSet();

  /** Returns false if the page itself shows the screen of a presentation. */
  present = () => true;

  /** - open(href): opens a link that an invocation leads to. root: the tree for dialogs. */
  constructor({ actions, feed, toast, undo, announce, open, root, words }) {
    Object.assign(this, { actions, feed, toast, undo, announce, open, root, words });
  }

  /** Registers a screen by its name in presentations. `show(arguments, entry)` returns a promise that resolves when the screen closes. */
  registerScreen(name, show) {
    this.#screens.set(name, show);
    return this;
  }

  /** Selects a cell. */
  async select(entry) {
    await this.#gesture(entry, {
      slot: "selection", title: entry.name, failure: this.words("openFailed", { name: entry.name }),
      completed: async (invocation) => {
        if (invocation.open) this.open(invocation.open);
        await this.#present(invocation.presentation, entry);
      },
    });
  }

  /** Dismisses a cell, with an undo. */
  async dismiss(entry) {
    const { dismissal } = entry.cell.actions ?? {};
    if (!dismissal) return;
    await this.#gesture(entry, {
      slot: "dismissal", title: labelOf(dismissal, this.words("dismissNamed", { name: entry.name })), failure: this.words("dismissFailed", { name: entry.name }),
      options: { optimistic: () => this.feed.list.hide(entry), queueable: true },
      completed: (invocation) => {
        const { undo, isQueued } = invocation;
        if (undo) this.undo.push({ name: entry.name, expiresAt: undo.expiresAt, run: () => this.#revert(invocation, entry) });
        else this.toast.show(this.words("dismissed", { name: entry.name }), { seconds: 4 });
        if (isQueued) this.announce(this.words("queued"));
      },
    });
  }

  /** Performs a custom slot with a label. */
  async perform(entry, slot, label) {
    await this.#gesture(entry, {
      slot, title: label, failure: this.words("sendFailed", { name: entry.name, label }),
      completed: (invocation) => {
        if (invocation.open) this.open(invocation.open);
        const undo = invocation.undo?.isAvailable ? [{ label: this.words("undo"), run: () => this.#revert(invocation, entry) }] : [];
        this.toast.show(`${label}: ${entry.name}.`, { seconds: 8, actions: undo });
      },
    });
  }

  /** Removes a cell from one of the viewer's lists, such as `saved`. `done` is the word of the message. */
  async removeFromList(entry, list, done) {
    await this.#exclusively(entry, this.words("removeFailed", { name: entry.name }), () => this.removeFromList(entry, list, done), async () => {
      const action = { type: "request", method: "DELETE", href: `${list}/${encodeURIComponent(entry.cell.id)}` };
      await this.actions.run(action, "removal", entry, { optimistic: () => this.feed.list.hide(entry) });
      this.feed.list.remove(entry);
      this.toast.show(this.words(done, { name: entry.name }), { seconds: 4 });
    });
  }

  /**
   * Performs a slot, after a form if the slot has an input.
   *
   * - title: the title of the form. failure: the message of a failure. options: those of `Actions.perform`. completed(invocation): called
   *   after the performance. key: the idempotency key, which a retry keeps.
   */
  async #gesture(entry, { key = uuid(), ...gesture }) {
    const { slot, title, failure, options = {}, completed } = gesture;
    const send = (body) => this.actions.perform(slot, entry, { key, ...options, ...body });
    await this.#exclusively(entry, failure, () => this.#gesture(entry, { key, ...gesture }), async () => {
      const { input } = entry.cell.actions?.[slot] ?? {};
      const hasInput = input !== null && typeof input === "object";
      const invocation = hasInput ? await this.#ask(entry, { input, title, send: (body) => send({ body }) }) : await send({});
      if (invocation !== null) await completed(invocation);
    });
  }

  /** Shows a form. Afterwards the browser focuses the opener again; if that is gone, the cell or its neighbour gets the focus. */
  async #ask(entry, form) {
    const { index } = entry;
    try {
      return await askForInput({ ...form, root: this.root, words: this.words });
    } finally {
      const { entries } = this.feed.list;
      if (this.root.activeElement === null) this.feed.focus(entry.index >= 0 ? entry : entries[Math.min(index, entries.length - 1)]);
    }
  }

  async #revert({ undo }, entry) {
    await this.#exclusively(entry, this.words("restoreFailed", { name: entry.name }), () => this.#revert({ undo }, entry), async () => {
      await undo.run();
      this.feed.focus(entry);
      this.announce(this.words("restored", { name: entry.name }));
    });
  }

  async #present(presentation, entry) {
    if (!presentation || !this.present(presentation, entry)) return;
    const show = this.#screens.get(presentation.screen);
    if (show === undefined) {
      this.toast.show(this.words("noScreen", { name: presentation.screen }));
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
      const message = error.needsSignIn ? `${failure} ${this.words("signIn")}` : isUnavailable ? failure : error.message;
      this.toast.show(message, { seconds: 8, actions: isUnavailable ? [{ label: this.words("tryAgain"), run: again }] : [] });
    } finally {
      this.#busy.delete(entry);
    }
  }
}
