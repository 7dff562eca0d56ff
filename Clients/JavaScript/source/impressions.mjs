// Tells the service which cells were seen, once for each time that one was served: at least half of it for one second, or whatever
// the cell's own impression action says.

import { Backoff } from "./backoff.mjs";

/** The service takes 500 in one request; a request that outlives the page may carry 64 KiB. */
const batch = 100;
/** How many wait for a service that is away. */
const most = 1000;

/** What counts as seen, by a cell's impression action: `{ share, seconds }`. */
export function viewability(cell) {
  const { share, seconds } = cell.actions?.impression?.viewable ?? {};
  return {
    share: Number.isFinite(share) && share > 0 && share <= 1 ? share : 0.5,
    seconds: Number.isFinite(seconds) && seconds >= 0 && seconds <= 3600 ? seconds : 1,
  };
}

export class Impressions {
  #timers = new Map();
  #seen = new WeakSet();
  #waiting = new Map();
  #flush;
  #backoff = new Backoff();

  /**
   * - pause: so many milliseconds something seen waits for more to be told with it.
   * - shareNow(entry): how much of an entry is in sight at this moment, asked once its time is over: a timer may come before what
   *   says that it left. Whoever keeps `update` up to date without delay needs none.
   */
  constructor({ client, connection = client.connection, pause = 2000, shareNow = null }) {
    Object.assign(this, { client, connection, pause, shareNow });
    connection?.addEventListener("restored", () => this.send());
  }

  /** Whether an entry's cell counts impressions, and this one has not been counted. */
  isWanted(entry) {
    return Array.isArray(entry.cell.actions?.impression?.body) && !this.#seen.has(entry);
  }

  /** So much of an entry's cell, from 0 to 1, is in sight now. */
  update(entry, share) {
    if (share < viewability(entry.cell).share || !this.isWanted(entry)) this.leave(entry);
    else if (!this.#timers.has(entry)) this.#start(entry);
  }

  /** An entry is not in sight any more, or is covered: its time begins anew. */
  leave(entry) {
    clearTimeout(this.#timers.get(entry));
    this.#timers.delete(entry);
  }

  /** Nobody looks at anything any more. */
  leaveAll() {
    for (const entry of Array.from(this.#timers.keys())) this.leave(entry);
  }

  /** Tells what waits to be told. `keepalive` where the page goes. */
  send({ keepalive = false } = {}) {
    clearTimeout(this.#flush);
    this.#flush = undefined;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [href, seen] of waiting) {
      while (seen.length > 0) this.#post(href, seen.splice(0, batch), keepalive);
    }
  }

  #start(entry) {
    const timer = setTimeout(async () => {
      const share = this.shareNow === null ? 1 : await this.shareNow(entry);
      if (this.#timers.get(entry) !== timer) return;
      this.leave(entry);
      if (share >= viewability(entry.cell).share) this.#saw(entry);
    }, viewability(entry.cell).seconds * 1000);
    this.#timers.set(entry, timer);
  }

  #saw(entry) {
    const action = entry.cell.actions?.impression;
    if (!Array.isArray(action?.body) || typeof action.href !== "string") return;
    this.#seen.add(entry);
    this.tell(action.href, action.body, entry);
  }

  /** Has events told with the next batch. */
  tell(href, events, entry) {
    const seen = events.map((event) => ({ event, entry }));
    this.#waiting.set(href, [...(this.#waiting.get(href) ?? []), ...seen].slice(-most));
    this.#flush ??= setTimeout(() => this.send(), this.pause);
  }

  async #post(href, seen, keepalive) {
    const journal = seen.slice(1).map(({ entry }) => this.client.journal.begin(entry, { slot: "impression", method: "POST", href }));
    try {
      // Their tokens count once, however often they are sent.
      const answer = await this.client.send(href, {
        method: "POST", body: seen.map(({ event }) => event), owner: seen[0].entry, slot: "impression", keepalive, attempts: 1,
      });
      this.#backoff.reset();
      journal.forEach((entry) => entry.ended(`answered ${answer.status}, with others`));
    } catch (error) {
      journal.forEach((entry) => entry.ended("no answer"));
      if (error.name === "Refusal") return;
      this.#waiting.set(href, [...seen, ...(this.#waiting.get(href) ?? [])].slice(-most));
      // A connection says when it is back.
      if (this.connection == null) this.#flush ??= setTimeout(() => this.send(), this.#backoff.next());
    }
  }
}
