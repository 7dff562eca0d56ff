// What was dismissed lately and can be taken back: one notice for all of it, the newest first.

/** How many seconds the notice stays after the last gesture. */
const offered = 10;

export class UndoStack {
  #steps = [];
  #close = () => {};

  constructor(toast) {
    this.toast = toast;
  }

  /** Offers to take something back. `run` does that; `expires` is the date at which the service will not do it any more, or null. */
  push({ name, expires, run }) {
    this.#steps.push({ name, expires: expires?.getTime() ?? NaN, run });
    this.#tell();
  }

  #tell() {
    this.#close();
    this.#steps = this.#steps.filter(({ expires }) => !(expires <= Date.now()));
    const newest = this.#steps.at(-1);
    if (newest === undefined) return;
    const count = this.#steps.length;
    const left = Number.isFinite(newest.expires) ? Math.min(offered, (newest.expires - Date.now()) / 1000) : offered;
    const actions = [{ label: "Undo", run: () => this.#undo(1) }];
    if (count > 1) actions.push({ label: "Undo all", run: () => this.#undo(count) });
    const message = count === 1 ? `${newest.name} dismissed.` : `${count} dismissed, ${newest.name} last.`;
    const expired = () => {
      this.#steps = [];
    };
    this.#close = this.toast.show(message, { seconds: Math.max(1, left), actions, expired });
  }

  #undo(count) {
    const steps = this.#steps.splice(-count).reverse();
    this.#tell();
    for (const { run } of steps) run();
  }
}
