// Sends every request to the service: names the viewer, asks again where that may help, and knows what it has been answered.
import { Refusal, Unavailable, valueOf } from "./answers.mjs";
import { Backoff, pause } from "./backoff.mjs";
import { Limit } from "./limit.mjs";
import { Page } from "./page.mjs";

/** A client that is told to wait longer than this says so to whoever asked, instead of waiting. */
const patience = 60;
const noEntry = { answered() {}, ended() {} };
const noJournal = { begin: () => noEntry };

/** The UTF-8 of a text as `fetch` takes it: a character for each byte. */
function bytes(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

export class FeedClient {
  /** Answers with an entity tag, by their URLs, the one that nobody has asked for the longest first. */
  #known = new Map();

  /**
   * - base: the URL of the service. Nobody but its origin is ever asked, whatever name the service calls itself.
   * - viewer, viewerHeader: who looks, and the request field that says so.
   * - headers: sent with every request, such as `Accept-Language`.
   * - attempts: how often a request is sent at most, where the service is away.
   * - timeout: how many milliseconds an answer may take.
   * - remembered: of so many pages the entity tag is kept, so that they are sent again only where they changed.
   * - connection: is told whether the service answers. journal: hears of every request (`begin(owner, { slot, method, href, sent })`).
   */
  constructor({
    base, viewer = null, viewerHeader = "X-Viewer-ID", headers = {}, fetch = globalThis.fetch.bind(globalThis), attempts = 4, timeout = 30_000,
    remembered = 32, backoff = () => new Backoff(), connection = null, journal = noJournal,
  }) {
    // No field could carry it: every request would fail as if the service were away.
    if (/[\0\r\n]/.test(viewer ?? "")) throw new TypeError("a viewer's name has no line breaks and no NUL");
    Object.assign(this, { base: new URL(base), viewer, viewerHeader, headers, fetch, attempts, timeout, remembered, backoff, connection, journal });
  }

  /** An href of the service as a URL at the base's origin, or null where it is none of http or https. */
  resolve(href) {
    try {
      const { protocol, pathname, search } = new URL(href, this.base);
      return protocol === "http:" || protocol === "https:" ? `${this.base.origin}${pathname}${search}` : null;
    } catch {
      return null;
    }
  }

  /**
   * Sends a request and reads its answer: `{ status, value, tag, language }`.
   *
   * - key: the gesture's, under which the service performs it once, however often it is sent.
   * - owner, slot: the cell it is for and the action performed, for the journal. fetch: what sends it instead.
   * Throws `Unavailable`, `Refusal`, or the reason of `signal`.
   */
  async send(href, options = {}) {
    const backoff = this.backoff();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(href, options);
      } catch (error) {
        const isLast = attempt >= (options.attempts ?? this.attempts);
        if (!(error instanceof Unavailable) || !error.isRetried || isLast || error.retryAfter > patience) throw error;
        await pause(backoff.next(error.retryAfter), options.signal);
      }
    }
  }

  /** The value at an href. Where it was answered before, it is sent only if it is another one by now. */
  async get(href, options) {
    return (await this.#answer(href, options)).value;
  }

  async #answer(href, options = {}) {
    const url = this.resolve(href);
    const known = this.#known.get(url);
    const headers = { Accept: "application/json", ...options.headers, ...(known ? { "If-None-Match": known.tag } : {}) };
    const { status, value, tag, language } = await this.send(href, { ...options, headers });
    this.#known.delete(url);
    // Whatever else succeeds, such as a redirect, is not what was asked for.
    if (status !== 200 && !(status === 304 && known)) throw new Refusal({ status, title: `The server answered ${status}`, value });
    const answered = status === 304 && known ? known : { value, tag, language };
    if (answered.tag && this.remembered > 0) {
      this.#known.set(url, answered);
      if (this.#known.size > this.remembered) this.#known.delete(this.#known.keys().next().value);
    }
    return answered;
  }

  /** The page at an href, such as `feed?limit=20`. Throws `Refusal` where it is no page. */
  async page(href, options) {
    const { value, language } = await this.#answer(href, options);
    return Page.of(value, language);
  }

  /** Walks pages from an href on to the end, in the order of the feed. */
  async *pages(href, options) {
    for (let next = href; next !== null;) {
      const page = await this.page(next, options);
      yield page;
      next = page.next;
    }
  }

  /** One cell by its id, for deep links and notifications; null where the service has it no more. */
  cell(id, options) {
    return this.#optional(`cells/${encodeURIComponent(id)}`, options, null);
  }

  /** The feeds that there are, as the service tells them; none where it does not. */
  async feeds(options) {
    const value = await this.#optional("feeds", options, []);
    return Array.isArray(value) ? value : (value?.feeds ?? []);
  }

  async #optional(href, options, otherwise) {
    try {
      return await this.get(href, options);
    } catch (error) {
      if (error instanceof Refusal && [404, 405, 410].includes(error.status)) return otherwise;
      throw error;
    }
  }

  /** The fields of every request. */
  fields(headers = {}) {
    return { ...this.headers, ...headers, ...(this.viewer === null ? {} : { [this.viewerHeader]: bytes(this.viewer) }) };
  }

  async #once(href, { method = "GET", headers = {}, body, key, owner, slot, keepalive = false, signal, fetch = this.fetch }) {
    const url = this.resolve(href);
    if (url === null) throw new TypeError(`Not a link to follow: ${href}`);
    const request = { method, hasKey: key !== undefined };
    const asked = key === undefined ? headers : { ...headers, "Idempotency-Key": key };
    const sent = this.fields(asked);
    if (body !== undefined) sent["Content-Type"] = "application/json";
    const limit = new Limit(signal ? [signal] : [], this.timeout);
    const init = { method, headers: sent, keepalive, redirect: "manual", signal: limit.signal };
    if (body !== undefined) init.body = JSON.stringify(body);
    const entry = this.journal.begin(owner, { slot, method, href, sent: asked });
    let response;
    let text;
    try {
      response = await fetch(url, init);
      text = await response.text();
    } catch (cause) {
      entry.ended(signal?.aborted ? "cancelled" : "no answer");
      signal?.throwIfAborted();
      this.connection?.lost();
      return valueOf(null, { request, cause });
    } finally {
      limit.end();
    }
    return this.#read(response, text, request, entry);
  }

  #read(response, body, request, entry) {
    // A browser tells of a redirect that it does not follow nothing but that it was one.
    const status = response.type === "opaqueredirect" ? 303 : response.status;
    try {
      const value = valueOf({ status, headers: response.headers, body }, { request });
      entry.answered(response, value ?? body);
      this.connection?.confirmed();
      const { headers } = response;
      return { status, value, tag: headers.get("etag"), language: headers.get("content-language") };
    } catch (error) {
      entry.answered(response, error.value ?? body);
      if (error instanceof Unavailable) this.connection?.lost({ answered: true, pause: error.retryAfter ?? 0 });
      else this.connection?.confirmed();
      throw error;
    }
  }
}
