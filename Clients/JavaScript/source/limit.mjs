// Signals that end with others. `AbortSignal.any` would do, but for browsers and runtimes of some years ago.

/** Ends with any of some signals, after so many milliseconds where there are any, and by `end()`, which lets go of them all. */
export class Limit {
  #controller = new AbortController();
  #timer;

  constructor(signals, milliseconds = null) {
    for (const signal of signals) {
      const stop = () => this.#controller.abort(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true, signal: this.#controller.signal });
    }
    if (milliseconds !== null) this.#timer = setTimeout(() => this.#controller.abort(new DOMException("timed out", "TimeoutError")), milliseconds);
  }

  get signal() {
    return this.#controller.signal;
  }

  end() {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }
}
