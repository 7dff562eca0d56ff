// The undoable dismissals: one notice for all, newest first.

/** The seconds for which the notice is displayed after the last gesture. */
const displaySeconds = 10;

export class UndoStack {
  #steps = [];
  #close = () => {};

  constructor(toast, words) {
    Object.assign(this, { toast, words });
  }

  /**
   * Adds an undoable dismissal.
   *
   * - run(): performs the undo. expiresAt: the date until which the service accepts it, or null.
   */
  push({ name, expiresAt, run }) {
    this.#steps.push({ name, expiresAt: expiresAt?.getTime() ?? NaN, run });
    this.#update();
  }

  #update() {
    this.#close();
    this.#steps = this.#steps.filter(({ expiresAt }) => !(expiresAt <= Date.now()));
    const newest = this.#steps.at(-1);
    if (newest === undefined) return;
    const count = this.#steps.length;
    const left = Number.isFinite(newest.expiresAt) ? Math.min(displaySeconds, (newest.expiresAt - Date.now()) / 1000) : displaySeconds;
    const actions = [{ label: this.words("undo"), run: () => this.#undo(1) }];
    if (count > 1) actions.push({ label: this.words("undoAll"), run: () => this.#undo(count) });
    const message = this.words(count === 1 ? "dismissed" : "dismissedLast", { count, name: newest.name });
    const expired = () => {
      this.#steps = [];
    };
    this.#close = this.toast.show(message, { seconds: Math.max(1, left), actions, expired });
  }

  #undo(count) {
    const steps = this.#steps.splice(-count).reverse();
    this.#update();
    for (const { run } of steps) run();
  }
}
