// Whether the service can be reached. Once it cannot, this asks again, ever more rarely, until it can.
import { Backoff } from "./backoff.mjs";

const patience = 5_000;

/** Dispatches `lost`, `waiting` before and behind each pause, and `restored`. */
export class Connection extends EventTarget {
  isLost = false;
  /** Whether whoever was asked last answered at all, if only that it cannot serve. */
  isAnswering = false;
  /** When the service is asked next, on the clock of `performance.now()`; null while it is being asked. */
  nextAttempt = null;
  #backoff;
  #timer;

  /** `probe` is the URL that is asked, such as that of `/readyz`; `fetch` sends it. */
  constructor(probe, { fetch = globalThis.fetch, backoff = new Backoff() } = {}) {
    super();
    Object.assign(this, { probe, fetch });
    this.#backoff = backoff;
    globalThis.addEventListener?.("online", () => this.attempt());
  }

  /** A request found nobody, or one who cannot serve (`answered`); `pause` is how many seconds the server asked for. */
  lost({ answered = false, pause = 0 } = {}) {
    if (this.isLost) return;
    this.isLost = true;
    this.isAnswering = answered;
    this.dispatchEvent(new Event("lost"));
    this.#wait(pause);
  }

  /** A request was answered: the next loss begins with a short pause again. */
  confirmed() {
    this.#backoff.reset();
  }

  /** Asks now instead of at the end of the pause. */
  async attempt() {
    if (!this.isLost || this.nextAttempt === null) return;
    clearTimeout(this.#timer);
    this.nextAttempt = null;
    this.dispatchEvent(new Event("waiting"));
    const status = await this.#status();
    if (!this.isLost) return;
    if (status !== null && status < 500) {
      this.isLost = false;
      this.dispatchEvent(new Event("restored"));
    } else {
      this.isAnswering = status !== null;
      this.#wait(0);
    }
  }

  /** Asks no more. */
  close() {
    clearTimeout(this.#timer);
    this.isLost = false;
  }

  #wait(atLeast) {
    const pause = this.#backoff.next(atLeast);
    this.nextAttempt = performance.now() + pause;
    this.#timer = setTimeout(() => this.attempt(), pause);
    this.dispatchEvent(new Event("waiting"));
  }

  /** What the probe answers, or null where there is no answer. */
  async #status() {
    try {
      const { fetch } = this;
      return (await fetch(this.probe, { cache: "no-store", signal: AbortSignal.timeout(patience) })).status;
    } catch {
      return null;
    }
  }
}
