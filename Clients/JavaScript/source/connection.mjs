// The state of the connection to the service.
import { Backoff } from "./backoff.mjs";

/** In milliseconds. */
const probeTimeout = 5_000;

/**
 * A monitor of the connection. After a failure it probes the service with exponential backoff until a probe succeeds.
 *
 * Dispatches `lost`, `waiting` before and after each delay, and `restored`.
 */
export class Connection extends EventTarget {
  isLost = false;
  /** True if the last request got a response, even if the service was unavailable. */
  isResponding = false;
  /** The time of the next probe on the clock of `performance.now()`; null during a probe. */
  nextAttempt = null;
  #backoff;
  #timer;

  /** - probe: the URL of the probe, such as that of `/readyz`. fetch: sends the probes. */
  constructor({ probe, fetch = globalThis.fetch, backoff = new Backoff() }) {
    super();
    Object.assign(this, { probe, fetch });
    this.#backoff = backoff;
    globalThis.addEventListener?.("online", () => this.attempt());
  }

  /**
   * Records that a request failed.
   *
   * - isResponding: true if the service responded that it is unavailable. retryAfter: the delay in seconds that it requested.
   */
  reportLoss({ isResponding = false, retryAfter = 0 } = {}) {
    if (this.isLost) return;
    this.isLost = true;
    this.isResponding = isResponding;
    this.dispatchEvent(new Event("lost"));
    this.#wait(retryAfter);
  }

  /** Records that a request succeeded, so that the next loss begins with a short delay. */
  reportSuccess() {
    this.#backoff.reset();
  }

  /** Probes immediately instead of after the delay. */
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
      this.isResponding = status !== null;
      this.#wait(0);
    }
  }

  /** Stops probing. */
  close() {
    clearTimeout(this.#timer);
    this.isLost = false;
  }

  #wait(minimum) {
    const delay = this.#backoff.next(minimum);
    this.nextAttempt = performance.now() + delay;
    this.#timer = setTimeout(() => this.attempt(), delay);
    this.dispatchEvent(new Event("waiting"));
  }

  /** Returns the status of a probe, or null without a response. */
  async #status() {
    try {
      const { fetch } = this;
      return (await fetch(this.probe, { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(probeTimeout) })).status;
    } catch {
      return null;
    }
  }
}
