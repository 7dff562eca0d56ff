// Sends all requests to the service: with the viewer's name, retries, and a cache of responses with entity tags.
import { AbortScope } from "./abort-scope.mjs";
import { Backoff, delay } from "./backoff.mjs";
import { DetailEvent } from "./detail-event.mjs";
import { Page } from "./page.mjs";
import { ProblemError, responseValue, UnavailableError } from "./responses.mjs";

/** The maximum delay in seconds that a request waits for. If the service requests a longer one, the request fails. */
const maxRetryAfter = 60;
const noEntry = { complete() {}, end() {} };
const noLog = { begin: () => noEntry };

/** Returns the UTF-8 bytes of a text in the form that `fetch` accepts for header fields: one character per byte. */
function bytes(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/**
 * Returns the status of a response; 303 for a redirect whose status a browser hides. A function `fetch` of the app may have followed a redirect:
 * an action then became a GET of another page.
 */
function statusOf({ type, status, redirected }, method) {
  return type === "opaqueredirect" || (redirected && method !== "GET") ? 303 : status;
}

/** An error of the function `token`, which is no failure of the connection. */
class TokenFailure extends Error {}

/**
 * A client of the service.
 *
 * Dispatches `signinrequired` with `{ error }` if a request failed because the person must sign in: a redirect or a web page of an
 * intermediary, 401, a required viewer, or an error of the function `token`.
 *
 *     const client = new FeedClient({ base: "https://feed.example.com/", token: async ({ refresh }) => (await session({ refresh })).token });
 *     const { cells, next } = await client.page("feed?limit=20");
 */
export class FeedClient extends EventTarget {
  /** The promise of a new token while several requests wait for it, or null. */
  #refreshing = null;
  /** The responses with entity tags by URL, least recently used first. */
  #cache = new Map();

  /**
   * - base: the URL of the service. All requests go to its origin, also if the service has another public name.
   * - viewer, viewerHeader: the name of the viewer, and the request field that contains it.
   * - token: a function that returns the bearer token of a request, or null for none: `async ({ refresh }) => token`. If a response is 401, it
   *   is called with `refresh: true`, and the request is sent once more with the new token.
   * - headers: fields of every request, such as `Accept-Language`.
   * - attempts: the maximum number of attempts of a request.
   * - timeout: the maximum time of a response, in milliseconds.
   * - cachedResponses: the maximum number of cached responses; unchanged ones are not sent again.
   * - connection: a `Connection`, which is notified of failures and successes.
   * - requestLog: records every request (`begin(owner, { slot, method, href, sent })`).
   */
  constructor({
    base, viewer = null, viewerHeader = "X-Viewer-ID", token = null, headers = {}, fetch = globalThis.fetch.bind(globalThis),
    attempts = 4, timeout = 30_000, cachedResponses = 32, backoff = () => new Backoff(), connection = null, requestLog = noLog,
  }) {
    super();
    // A header field cannot contain these characters: every request would fail as if the service were unavailable.
    if (/[\0\r\n]/.test(viewer ?? "")) throw new TypeError("A viewer's name cannot contain line breaks or NUL.");
    const options = { viewer, viewerHeader, token, headers, fetch, attempts, timeout, cachedResponses, backoff, connection, requestLog };
    Object.assign(this, { base: new URL(base), ...options });
  }

  /** Returns the URL of an href at the base's origin, or null if the href is not http or https. */
  resolve(href) {
    try {
      const { protocol, pathname, search } = new URL(href, this.base);
      return protocol === "http:" || protocol === "https:" ? `${this.base.origin}${pathname}${search}` : null;
    } catch {
      return null;
    }
  }

  /**
   * Sends a request, and returns `{ status, value, tag, language }`.
   *
   * - key: the idempotency key. The service performs requests with an equal key once.
   * - answer: the name of the list in the service's response. A success without it is an intermediary's.
   * - owner, slot: the owner of the cell and the slot, for the request log. fetch: sends this request.
   * - reportsLoss: false if a failure says nothing about the state of the service.
   *
   * Throws `UnavailableError`, `ProblemError`, the reason of `signal`, or the error of the function `token`.
   */
  async send(href, options = {}) {
    const backoff = this.backoff();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt(href, options);
      } catch (error) {
        const isLast = attempt >= (options.attempts ?? this.attempts);
        if (!(error instanceof UnavailableError) || !error.isRetryable || isLast || error.retryAfter > maxRetryAfter) {
          this.#reportSignIn(error);
          throw error instanceof TokenFailure ? error.cause : error;
        }
        await delay(backoff.next(error.retryAfter), options.signal);
      }
    }
  }

  #reportSignIn(error) {
    // An error of `fetch` within the function `token` is a `TypeError`. It says nothing about the session.
    const isSignedOut = error instanceof TokenFailure && !(error.cause instanceof TypeError);
    if (isSignedOut || error?.needsSignIn) this.dispatchEvent(new DetailEvent("signinrequired", { error: isSignedOut ? error.cause : error }));
  }

  /** Returns the JSON value of an href. A cached response is validated with its entity tag. */
  async get(href, options) {
    return (await this.#cached(href, options)).value;
  }

  async #cached(href, options = {}) {
    const url = this.resolve(href);
    const cached = this.#cache.get(url);
    const headers = { Accept: "application/json", ...options.headers, ...(cached ? { "If-None-Match": cached.tag } : {}) };
    const { status, value, tag, language } = await this.send(href, { ...options, headers });
    this.#cache.delete(url);
    // Other successful responses do not contain the requested value.
    if (status === 304 ? !cached : value === undefined) throw new ProblemError({ status, title: `The server answered ${status}`, value });
    const response = status === 304 ? cached : { value, tag, language };
    if (response.tag && this.cachedResponses > 0) {
      this.#cache.set(url, response);
      if (this.#cache.size > this.cachedResponses) this.#cache.delete(this.#cache.keys().next().value);
    }
    return response;
  }

  /** Returns the page at an href, such as `feed?limit=20`. Throws `ProblemError` if the response is not a page. */
  async page(href, options) {
    const { value, language } = await this.#cached(href, options);
    return Page.parse(value, language);
  }

  /** Yields the pages from an href to the end of the feed. */
  async *pages(href, options) {
    for (let next = href; next !== null;) {
      const page = await this.page(next, options);
      yield page;
      next = page.next;
    }
  }

  /** Returns one cell by its id, for example for a deep link; null if it does not exist. */
  cell(id, options) {
    return this.#optional(`cells/${encodeURIComponent(id)}`, options, null);
  }

  /** Returns the service's feeds; an empty array if the service does not list them. */
  async feeds(options) {
    const value = await this.#optional("feeds", options, []);
    return Array.isArray(value) ? value : (value?.feeds ?? []);
  }

  async #optional(href, options, fallback) {
    try {
      return await this.get(href, options);
    } catch (error) {
      if (error instanceof ProblemError && [404, 405, 410].includes(error.status)) return fallback;
      throw error;
    }
  }

  /** Returns the header fields of a request, with those of every request. */
  fields(headers = {}) {
    return { ...this.headers, ...headers, ...(this.viewer === null ? {} : { [this.viewerHeader]: bytes(this.viewer) }) };
  }

  /**
   * Sends a request with the token. After 401 it is sent once more with a new token, which concurrent requests share.
   *
   * Throws `TokenFailure` with the cause if the function `token` rejects; otherwise the errors of `fetch`.
   */
  async request(url, init, fetch = this.fetch) {
    if (this.token === null) return fetch(url, init);
    const first = await this.#authorized(url, init, fetch, () => this.token({ refresh: false }));
    if (first.status !== 401) return first;
    first.body?.cancel().catch(() => {});
    return this.#authorized(url, init, fetch, () => {
      this.#refreshing ??= Promise.resolve(this.token({ refresh: true })).finally(() => {
        this.#refreshing = null;
      });
      return this.#refreshing;
    });
  }

  async #authorized(url, init, fetch, read) {
    let token;
    try {
      token = await read();
      if (token !== null) new Headers({ Authorization: `Bearer ${token}` });
    } catch (cause) {
      throw new TokenFailure("the token could not be read", { cause });
    }
    return fetch(url, token === null ? init : { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } });
  }

  async #attempt(href, { method = "GET", headers = {}, body, key, answer, owner, slot, keepalive = false, signal, fetch = this.fetch, reportsLoss = true }) {
    const url = this.resolve(href);
    if (url === null) throw new TypeError(`Invalid link: ${href}`);
    const request = { method, hasKey: key !== undefined, answer, reportsLoss };
    const logged = key === undefined ? headers : { ...headers, "Idempotency-Key": key };
    const sent = this.fields(logged);
    if (body !== undefined) sent["Content-Type"] = "application/json";
    // Throws a `TypeError` for an invalid field. The same error of `fetch` would count as a loss of the connection.
    new Headers(sent);
    const scope = new AbortScope(signal ? [signal] : [], this.timeout);
    const init = { method, headers: sent, keepalive, redirect: "manual", signal: scope.signal };
    if (body !== undefined) init.body = JSON.stringify(body);
    const entry = this.requestLog.begin(owner, { slot, method, href, sent: logged });
    let response;
    let text;
    try {
      response = await this.request(url, init, fetch);
      text = await response.text();
    } catch (cause) {
      entry.end(signal?.aborted ? "cancelled" : "no response");
      signal?.throwIfAborted();
      if (cause instanceof TokenFailure) throw cause;
      if (reportsLoss) this.connection?.reportLoss();
      return responseValue(null, { request, cause });
    } finally {
      scope.end();
    }
    return this.#read(response, text, request, entry);
  }

  #read(response, body, request, entry) {
    const status = statusOf(response, request.method);
    try {
      const value = responseValue({ status, headers: response.headers, body }, { request });
      entry.complete(response, value ?? body);
      this.connection?.reportSuccess();
      const { headers } = response;
      return { status, value, tag: headers.get("etag"), language: headers.get("content-language") };
    } catch (error) {
      entry.complete(response, error.value ?? body);
      if (!(error instanceof UnavailableError)) this.connection?.reportSuccess();
      else if (request.reportsLoss) this.connection?.reportLoss({ isResponding: true, retryAfter: error.retryAfter ?? 0 });
      throw error;
    }
  }
}
