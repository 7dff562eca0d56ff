// Whether the server can be reached. Once it cannot, this asks again, ever more rarely, until it can.
import { backgroundFetch } from "./background-fetch.mjs";

const first = 500;
const longest = 30_000;
const patience = 5_000;

/** Dispatches `lost`, `waiting` before and behind each pause, and `restored`. */
export class Connection extends EventTarget {
  isLost = false;
  /** Whether whoever was asked last answered at all, if only that it cannot serve. */
  isAnswering = false;
  /** When the server is asked next, on the clock of `performance.now()`; null while it is being asked. */
  nextAttempt = null;
  #attempts = 0;
  #timer;

  constructor(probe) {
    super();
    this.probe = probe;
    addEventListener("online", () => this.attempt());
  }

  /** A request found nobody, or one who cannot serve (`answered`); `pause` is how many seconds the server asked for. */
  lost({ answered = false, pause = 0 } = {}) {
    if (this.isLost) return;
    this.isLost = true;
    this.isAnswering = answered;
    this.dispatchEvent(new Event("lost"));
    this.#wait(pause * 1000);
  }

  /** A request was answered: the next loss begins with a short pause again. */
  confirmed() {
    this.#attempts = 0;
  }

  /** Asks now instead of at the end of the pause. */
  async attempt() {
    if (!this.isLost || this.nextAttempt === null) return;
    clearTimeout(this.#timer);
    this.nextAttempt = null;
    this.dispatchEvent(new Event("waiting"));
    const status = await this.#status();
    if (status !== null && status < 500) {
      this.isLost = false;
      this.dispatchEvent(new Event("restored"));
    } else {
      this.isAnswering = status !== null;
      this.#wait(0);
    }
  }

  #wait(atLeast) {
    // Jitter, so that the clients of one server do not come back all at once.
    const backoff = Math.min(longest, first * 2 ** Math.min(this.#attempts, 16)) * (0.75 + Math.random() / 2);
    const pause = Math.max(atLeast, backoff);
    this.#attempts += 1;
    this.nextAttempt = performance.now() + pause;
    this.#timer = setTimeout(() => this.attempt(), pause);
    this.dispatchEvent(new Event("waiting"));
  }

  /** What the probe answers, or null where there is no answer. */
  async #status() {
    try {
      return (await backgroundFetch(this.probe, { cache: "no-store", signal: AbortSignal.timeout(patience) })).status;
    } catch {
      return null;
    }
  }
}
