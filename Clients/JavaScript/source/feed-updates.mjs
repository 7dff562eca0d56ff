// Synchronizes a list with the service: by server-sent events if the service supports them, otherwise by polling.
import { AbortScope } from "./abort-scope.mjs";
import { Backoff, delay } from "./backoff.mjs";
import { isChanges } from "./batch-update.mjs";
import { events, EventStreamParser } from "./event-stream.mjs";
import { ProblemError, UnavailableError } from "./responses.mjs";

/** The delay in milliseconds after scrolling before a stream is opened for the visible pages. */
const scrollDelay = 400;

/** Returns the object in an event's data, or null. */
function parsed(data) {
  try {
    const value = JSON.parse(data);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/**
 * A synchronization of a list. It pauses while the browser's page is hidden.
 *
 *     const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: list.entries.length - 1 }) });
 */
export class FeedUpdates {
  /** False if the service has responded that it does not support streams. */
  isLive = true;
  /** True while a stream is open. */
  isStreaming = false;
  #running = null;
  /** Aborts the current delay or stream, after which the next round begins. */
  #round = new AbortScope([]);
  #range = null;
  #scrollTimer;
  #polling = null;
  #retry = 0;

  /**
   * - visible(): returns the indices of the first and last visible entries.
   * - interval: the milliseconds between two polling requests.
   * - openTimeout: the maximum milliseconds until a stream begins. If a proxy delays it, the list is polled.
   * - idleTimeout: the maximum milliseconds without received bytes. Then the stream is opened again, because the connection may be lost.
   */
  constructor({ list, client = list.pages.client, visible, interval = 10_000, openTimeout = 10_000, idleTimeout = 40_000, isLive = true }) {
    Object.assign(this, { list, client, visible, interval, openTimeout, idleTimeout, isLive });
    // A running request may be older than the change.
    list.addEventListener("outdated", async () => {
      await this.#polling;
      await this.poll();
    });
    list.addEventListener("changed", () => this.visibleRangeChanged());
    globalThis.document?.addEventListener("visibilitychange", () => this.#visibilityChanged());
    this.#visibilityChanged();
  }

  /** Requests changes immediately. */
  poll() {
    this.#polling ??= this.#refresh().finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  /** Opens a stream for other pages soon, if the current one does not cover the visible entries. Called after scrolling. */
  visibleRangeChanged() {
    clearTimeout(this.#scrollTimer);
    if (this.#running === null) return;
    this.#scrollTimer = setTimeout(() => {
      const { first, last } = this.list.serverRange(this.visible());
      const isCovered = this.#range !== null && this.#range.start <= first && last < this.#range.end;
      if (!isCovered && this.isLive && this.list.entries.length > 0) this.#round.end();
    }, scrollDelay);
  }

  /** Ends the synchronization. */
  close() {
    clearTimeout(this.#scrollTimer);
    this.#running?.abort();
    this.#running = null;
  }

  #visibilityChanged() {
    const isHidden = globalThis.document?.hidden ?? false;
    if (isHidden) this.close();
    else if (this.#running === null) this.#run();
  }

  async #run() {
    const running = new AbortController();
    this.#running = running;
    const backoff = new Backoff({ initialDelay: 1000 });
    for (let received = 0; !running.signal.aborted;) {
      this.#round = new AbortScope([running.signal]);
      const { signal } = this.#round;
      // After polling, the changes since the last request are polled first. A stream begins with them by itself.
      if (received === null) await this.poll();
      received = await this.#stream(signal);
      if (received > 0) backoff.reset();
      const rest = received === null ? this.interval : backoff.next(this.#retry / 1000);
      if (!signal.aborted) await delay(rest, signal).catch(() => {});
      this.#round.end();
    }
  }

  async #refresh() {
    try {
      if (!this.client.connection?.isLost) await this.list.refresh(this.visible());
    } catch (error) {
      if (!(error instanceof UnavailableError || error instanceof ProblemError)) throw error;
    }
  }

  /** Applies the events of a stream until it ends. Returns their number, or null if there is no stream. */
  async #stream(signal) {
    const { pages } = this.list;
    const range = this.list.entries.length > 0 ? pages.range(this.list.serverRange(this.visible()), { fitsLine: true }) : null;
    if (!this.isLive || range === null || signal.aborted || this.client.connection?.isLost) return null;
    const response = await this.#open(pages, range, signal);
    if (response === null) return null;
    const parser = new EventStreamParser();
    let count = 0;
    const openedAt = Date.now();
    this.isStreaming = true;
    this.#range = range;
    try {
      for await (const { data } of events(response, parser, this.idleTimeout)) {
        const changes = parsed(data);
        const isValid = changes !== null && (changes.reload || !Array.isArray(changes.pages) || isChanges(changes));
        if (!isValid) count = null;
        if (!isValid || pages !== this.list.pages) break;
        count += 1;
        if (!(await this.#apply(changes))) break;
      }
    } catch (error) {
      // The connection broke, or the stream was aborted.
      if (error instanceof RangeError) count = null;
    }
    this.isStreaming = false;
    this.#range = null;
    this.#retry = Math.min(parser.retry ?? 0, 60_000);
    // A stream that soon ends without events is not usable, so the list is polled.
    const isUnusable = count === 0 && !signal.aborted && Date.now() - openedAt < this.idleTimeout / 2;
    return isUnusable ? null : count;
  }

  /** Returns a response whose body is an event stream; null if the service is unavailable or does not support streams. */
  async #open(pages, range, signal) {
    // The tokens contain the position, so `Last-Event-ID` is not needed.
    const headers = this.client.fields({ Accept: "text/event-stream, application/json;q=0.5" });
    const url = this.client.resolve(pages.changesHrefFor(range.syncTokens.join(",")));
    const opening = new AbortScope([signal]);
    const timer = setTimeout(() => opening.end(), this.openTimeout);
    try {
      // A redirect is not followed, because the request contains the viewer's name or token.
      const response = await this.client.request(url, { headers, signal: opening.signal, cache: "no-store", redirect: "manual" });
      const mediaType = response.headers.get("content-type") ?? "";
      const isStream = /^text\/event-stream\b/i.test(mediaType);
      if (response.ok && isStream && response.body !== null) return response;
      response.body?.cancel().catch(() => {});
      // A redirect and a page of an intermediary say nothing about the service. The next request reports them.
      const { status } = response;
      const isRefused = response.ok ? !/\bx?html\b/i.test(mediaType) : status >= 400 && status < 500 && ![401, 403, 407, 429].includes(status);
      if (isRefused) this.isLive = false;
    } catch {
      // The service is unavailable. The next request reports it.
    } finally {
      clearTimeout(timer);
    }
    return null;
  }

  /** Applies the changes of an event. Returns false if the stream must be opened again. */
  async #apply(changes) {
    // An event without changes only announces that there are some.
    if (!Array.isArray(changes.pages) && !changes.reload) {
      await this.poll();
      return true;
    }
    const { pages } = this.list;
    await this.list.apply({ ...this.#range, response: changes });
    if (changes.reload || pages !== this.list.pages) return false;
    const { from, start } = this.#range;
    const count = changes.pages.reduce((sum, page) => sum + page.count, 0);
    this.#range = { from, to: from + changes.pages.length, start, end: start + count, syncTokens: changes.pages.map((page) => page.syncToken) };
    return true;
  }
}
