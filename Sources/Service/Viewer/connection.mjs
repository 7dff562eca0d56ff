// Whether the server can be reached. Once it cannot, this asks again, ever more rarely, until it can.
import { backgroundFetch } from "./background-fetch.mjs";

const first = 500;
const longest = 30_000;
const patience = 5_000;

/** Dispatches `lost`, `waiting` before each pause, and `restored`. */
export class Connection extends EventTarget {
  isLost = false;
  /** When the server is asked next, on the clock of `performance.now()`; null while it is being asked. */
  nextAttempt = null;
  #attempts = 0;
  #timer;

  constructor(probe) {
    super();
    this.probe = probe;
    addEventListener("online", () => this.attempt());
  }

  /** A request found nobody. `pause` is how many seconds the server asked for, if it answered at all. */
  lost(pause = 0) {
    if (this.isLost) return;
    this.isLost = true;
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
    if (await this.#answers()) {
      this.isLost = false;
      this.dispatchEvent(new Event("restored"));
    } else {
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

  async #answers() {
    try {
      const response = await backgroundFetch(this.probe, { cache: "no-store", signal: AbortSignal.timeout(patience) });
      return response.status < 500;
    } catch {
      return false;
    }
  }
}
