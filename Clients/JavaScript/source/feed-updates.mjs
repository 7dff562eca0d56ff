// Keeps a list in step with the service: told by it as things happen where it does that, asked for now and then where it does not.
import { Refusal, Unavailable } from "./answers.mjs";
import { Backoff, pause } from "./backoff.mjs";
import { isReadable } from "./batch-update.mjs";
import { events, EventStreamParser } from "./event-stream.mjs";
import { Limit } from "./limit.mjs";

/** So long the page rests before the stream is opened for what is shown by now. */
const settle = 400;

/** The answer in an event; null where there is none. */
function read(data) {
  try {
    const answer = JSON.parse(data);
    return typeof answer === "object" ? answer : null;
  } catch {
    return null;
  }
}

export class FeedUpdates {
  /** Whether the service tells of changes as they happen; false once it has answered that it does not. */
  isLive = true;
  /** Whether it is doing so at the moment. */
  isListening = false;
  #running = null;
  /** Ends the pause or the stream that is under way, and begins the next round. */
  #round = new Limit([]);
  #range = null;
  #settling;
  #isAsking = null;

  /**
   * - shown(): the indices, first and last, of the entries that are seen.
   * - interval: so many milliseconds pass between two questions where the service is asked.
   * - patience: so many milliseconds may pass before a stream begins. A proxy may hold it back: the service is asked then.
   * - silence: so many may pass with nothing on it. Connections are lost without a word: it is opened anew then.
   */
  constructor({ list, client = list.pages.client, shown, interval = 10_000, patience = 10_000, silence = 40_000, isLive = true }) {
    Object.assign(this, { list, client, shown, interval, patience, silence, isLive });
    // A question that is under way may be older than what the list does not know.
    list.addEventListener("outdated", async () => {
      await this.#isAsking;
      await this.ask();
    });
    list.addEventListener("changed", () => this.moved());
    globalThis.document?.addEventListener("visibilitychange", () => this.#turned());
    this.#turned();
  }

  /** Asks now instead of at the end of the pause. */
  ask() {
    this.#isAsking ??= this.#follow().finally(() => {
      this.#isAsking = null;
    });
    return this.#isAsking;
  }

  /** What is shown has moved: where the service tells of other pages than those, it is asked about these soon. */
  moved() {
    clearTimeout(this.#settling);
    if (this.#running === null) return;
    this.#settling = setTimeout(() => {
      const { first, last } = this.list.within(this.shown());
      const isCovered = this.#range !== null && this.#range.start <= first && last < this.#range.end;
      if (!isCovered && this.isLive && this.list.entries.length > 0) this.#round.end();
    }, settle);
  }

  /** Follows no more. */
  close() {
    clearTimeout(this.#settling);
    this.#running?.abort();
    this.#running = null;
  }

  /** Nobody looks at a page that is hidden. */
  #turned() {
    const isHidden = globalThis.document?.hidden ?? false;
    if (isHidden) this.close();
    else if (this.#running === null) this.#run();
  }

  async #run() {
    const running = new AbortController();
    this.#running = running;
    const backoff = new Backoff({ first: 1000 });
    for (let heard = 0; !running.signal.aborted;) {
      this.#round = new Limit([running.signal]);
      const { signal } = this.#round;
      // A stream begins with what happened while nobody listened.
      if (heard === null) await this.ask();
      heard = await this.#listen(signal);
      if (heard > 0) backoff.reset();
      const rest = heard === null ? this.interval : backoff.next(this.#retry / 1000);
      if (!signal.aborted) await pause(rest, signal).catch(() => {});
      this.#round.end();
    }
  }

  #retry = 0;

  async #follow() {
    try {
      if (!this.client.connection?.isLost) await this.list.follow(this.shown());
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof Refusal)) throw error;
    }
  }

  /** How many events a stream brought before it ended; null where there is none. */
  async #listen(signal) {
    const { pages } = this.list;
    const range = this.list.entries.length > 0 ? pages.range(this.list.within(this.shown()), { fitsLine: true }) : null;
    if (!this.isLive || range === null || signal.aborted || this.client.connection?.isLost) return null;
    const response = await this.#open(pages, range, signal);
    if (response === null) return null;
    const parser = new EventStreamParser();
    let count = 0;
    const begun = Date.now();
    this.isListening = true;
    this.#range = range;
    try {
      for await (const { data } of events(response, parser, this.silence)) {
        const answer = read(data);
        const isUnderstood = answer !== null && (answer.reload || !Array.isArray(answer.pages) || isReadable(answer));
        if (!isUnderstood) count = null;
        if (!isUnderstood || pages !== this.list.pages) break;
        count += 1;
        if (!(await this.#heard(answer))) break;
      }
    } catch (error) {
      // It broke off, or is not wanted any more.
      if (error instanceof RangeError) count = null;
    }
    this.isListening = false;
    this.#range = null;
    this.#retry = Math.min(parser.retry ?? 0, 60_000);
    // One that ends soon, and has said nothing, is none: the service is asked.
    const isNone = count === 0 && !signal.aborted && Date.now() - begun < this.silence / 2;
    return isNone ? null : count;
  }

  /** The answer whose body are events; null where the service is away or does not tell of changes by itself. */
  async #open(pages, range, signal) {
    // What has been heard is in the list: `since` says where to go on, and no `Last-Event-ID` need.
    const headers = this.client.fields({ Accept: "text/event-stream, application/json;q=0.5" });
    const url = this.client.resolve(pages.changesOf(range.since.join(",")));
    const opening = new Limit([signal]);
    const timer = setTimeout(() => opening.end(), this.patience);
    try {
      const { fetch } = this.client;
      // Who is sent elsewhere would tell the viewer's name there.
      const response = await fetch(url, { headers, signal: opening.signal, cache: "no-store", redirect: "manual" });
      const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
      if (response.ok && isStream && response.body !== null) return response;
      response.body?.cancel().catch(() => {});
      if (response.status < 500 && response.status !== 429) this.isLive = false;
    } catch {
      // The service is away: whoever asks next finds out how far.
    } finally {
      clearTimeout(timer);
    }
    return null;
  }

  /** Answers whether the stream goes on from what it has told. */
  async #heard(answer) {
    // It says that something has happened, and not what: that is asked for.
    if (!Array.isArray(answer.pages) && !answer.reload) {
      await this.ask();
      return true;
    }
    const { pages } = this.list;
    await this.list.apply({ ...this.#range, answer });
    if (answer.reload || pages !== this.list.pages) return false;
    const { from, start } = this.#range;
    const count = answer.pages.reduce((sum, page) => sum + page.count, 0);
    this.#range = { from, to: from + answer.pages.length, start, end: start + count, since: answer.pages.map((page) => page.since) };
    return true;
  }
}
