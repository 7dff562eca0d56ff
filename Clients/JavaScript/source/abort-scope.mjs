/**
 * An abort signal that combines other signals with a timeout. Why: older runtimes have no `AbortSignal.any`.
 *
 * - signals: the signals that abort this one. timeout: in milliseconds, or null.
 */
export class AbortScope {
  #controller = new AbortController();
  #timer;

  constructor(signals, timeout = null) {
    for (const signal of signals) {
      const stop = () => this.#controller.abort(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true, signal: this.#controller.signal });
    }
    if (timeout !== null) this.#timer = setTimeout(() => this.#controller.abort(new DOMException("timed out", "TimeoutError")), timeout);
  }

  get signal() {
    return this.#controller.signal;
  }

  /** Aborts the signal and removes all listeners. */
  end() {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }
}
