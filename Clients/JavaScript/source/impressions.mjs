// Reports impressions: each served impression once, as soon as the visible share and time of the cell's action are reached.
import { Backoff } from "./backoff.mjs";

/** The maximum number of impressions in a request. The service accepts 500; a request that survives the page may have 64 KiB. */
const batchSize = 100;
/** The maximum number of queued impressions while the service is unavailable. */
const maxPending = 1000;

/** Returns the viewability threshold of a cell's impression action: `{ share, seconds }`. */
export function viewability(cell) {
  const { share, seconds } = cell.actions?.impression?.viewable ?? {};
  return {
    share: Number.isFinite(share) && share > 0 && share <= 1 ? share : 0.5,
    seconds: Number.isFinite(seconds) && seconds >= 0 && seconds <= 3600 ? seconds : 1,
  };
}

/** A reporter of impressions, which sends them in batches. `ViewportObserver` measures the visible shares in a browser. */
export class Impressions {
  #timers = new Map();
  #reported = new WeakSet();
  #pending = new Map();
  #flushTimer;

  /**
   * - batchDelay: the delay in milliseconds during which impressions are collected into a batch.
   * - currentShare(entry): returns the visible share at the end of an entry's time. Why: the timer may fire before a pending `update`. It
   *   is not needed if `update` is called without delay.
   * - backoff: the delays after failures.
   */
  constructor({ client, connection = client.connection, batchDelay = 2000, currentShare = null, backoff = new Backoff() }) {
    Object.assign(this, { client, connection, batchDelay, currentShare, backoff });
    connection?.addEventListener("restored", () => this.flush());
  }

  /** Returns true if an entry's cell has an impression that was not reported yet. */
  isNeeded(entry) {
    return Array.isArray(entry.cell.actions?.impression?.body?.events) && !this.#reported.has(entry);
  }

  /** Sets the visible share of an entry's cell, from 0 to 1. */
  update(entry, share) {
    if (share < viewability(entry.cell).share || !this.isNeeded(entry)) this.leave(entry);
    else if (!this.#timers.has(entry)) this.#start(entry);
  }

  /** Stops the timer of an entry that is no longer visible. */
  leave(entry) {
    clearTimeout(this.#timers.get(entry));
    this.#timers.delete(entry);
  }

  /** Stops all timers. */
  leaveAll() {
    for (const entry of Array.from(this.#timers.keys())) this.leave(entry);
  }

  /** Sends the collected impressions, and resolves after the responses. With `keepalive`, the requests survive the page. */
  async flush({ keepalive = false } = {}) {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const pending = this.#pending;
    this.#pending = new Map();
    const posts = [];
    for (const [href, impressions] of pending) {
      while (impressions.length > 0) posts.push(this.#post(href, impressions.splice(0, batchSize), keepalive));
    }
    await Promise.all(posts);
  }

  #start(entry) {
    const timer = setTimeout(async () => {
      const share = this.currentShare === null ? 1 : await this.currentShare(entry);
      if (this.#timers.get(entry) !== timer) return;
      this.leave(entry);
      if (share >= viewability(entry.cell).share) this.#complete(entry);
    }, viewability(entry.cell).seconds * 1000);
    this.#timers.set(entry, timer);
  }

  #complete(entry) {
    const action = entry.cell.actions?.impression;
    if (!Array.isArray(action?.body?.events) || typeof action.href !== "string") return;
    this.#reported.add(entry);
    this.report(action.href, action.body.events, entry);
  }

  /** Adds events to the next batch. */
  report(href, events, entry) {
    const impressions = events.map((event) => ({ event, entry }));
    this.#pending.set(href, [...(this.#pending.get(href) ?? []), ...impressions].slice(-maxPending));
    this.#flushTimer ??= setTimeout(() => this.flush(), this.batchDelay);
  }

  async #post(href, impressions, keepalive) {
    const [{ entry: first }, ...others] = impressions;
    const logged = others.map(({ entry }) => this.client.requestLog.begin(entry, { slot: "impression", method: "POST", href }));
    try {
      // A repeated request is harmless: each token counts once.
      const response = await this.client.send(href, {
        method: "POST", body: { events: impressions.map(({ event }) => event) }, answer: "results", owner: first, slot: "impression", keepalive,
        attempts: 1,
      });
      this.backoff.reset();
      logged.forEach((entry) => entry.end(`status ${response.status}, in a batch`));
    } catch (error) {
      logged.forEach((entry) => entry.end("no response"));
      // The service would refuse the batch again, except after a sign-in.
      if (error.name === "ProblemError" && !error.needsSignIn) return;
      this.#pending.set(href, [...impressions, ...(this.#pending.get(href) ?? [])].slice(-maxPending));
      // A lost connection dispatches `restored`. Otherwise a timer retries, also without a new impression.
      if (!this.connection?.isLost) this.#flushTimer ??= setTimeout(() => this.flush(), this.backoff.next(error.retryAfter));
    }
  }
}
