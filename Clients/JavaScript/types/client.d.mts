// The client of the service: requests, pages, errors, and the state of the connection.
import type { Cell } from "./cells.mjs";

/** A response of the service. */
export interface ClientResponse {
  /** The HTTP status, 2xx. */
  status: number;
  /** The JSON value; undefined without a body. */
  value: unknown;
  /** The entity tag, or null. */
  tag: string | null;
  /** The language of the texts (BCP 47), or null. */
  language: string | null;
}
/** The record of one request. */
export interface RequestLogEntry {
  /** Records the response and its JSON value. */
  complete(response: Response, body: unknown): void;
  /** Records the end of a request without a response, such as `opened in a tab`. */
  end(state: string): void;
}
/** A recorder of requests, for an inspector. */
export interface RequestLog {
  /** Begins a record. `owner` shows the cell of the request. `slot`, `method`, `href` and `sent` describe it; `sent` has the header fields. */
  begin(owner: unknown, request: { slot?: string; method: string; href: string; sent?: Record<string, string> }): RequestLogEntry;
}
/** The options of a request. */
export interface SendOptions {
  /** The HTTP method, by default `GET`. */
  method?: string;
  /** Further header fields. */
  headers?: Record<string, string>;
  /** The JSON value of the body. */
  body?: unknown;
  /** The idempotency key. The service performs requests with an equal key once. */
  key?: string;
  /** Aborts the request. */
  signal?: AbortSignal;
  /** True if the request survives the page. */
  keepalive?: boolean;
  /** The maximum number of attempts; by default that of the client. */
  attempts?: number;
  /** False if a failure says nothing about the state of the service. */
  reportsLoss?: boolean;
  /** The owner of the cell, for the request log. */
  owner?: unknown;
  /** The slot of the cell, for the request log. */
  slot?: string;
  /** Sends the request; by default `fetch` of the client does. */
  fetch?: typeof globalThis.fetch;
}

/** An error for a service that cannot be reached or cannot respond now. */
export class UnavailableError extends Error {
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** True if the client may send an equal request again. */
  readonly isRetryable: boolean;
  /** The delay in seconds that the service requested, or null. */
  readonly retryAfter: number | null;
  /** True for a web page, which an intermediary sends to a person who must sign in. */
  readonly needsSignIn: boolean;
  /**
   * `status`, `isRetryable`, `retryAfter` and `needsSignIn` are the properties, by default null, false, null and false. `cause` is the original
   * error.
   */
  constructor(message: string, options?: {
    status?: number | null; isRetryable?: boolean; retryAfter?: number | null; needsSignIn?: boolean; cause?: unknown;
  });
}
/** An invalid parameter, or an invalid member of the body. Further codes may be added. */
export interface FieldError {
  /** The name of a query parameter, a path variable or a header field. */
  parameter?: string;
  /** A JSON Pointer (RFC 6901) into the body; the empty pointer is the whole body. */
  pointer?: string;
  /** The reason, such as `out-of-range`. */
  code: string;
  /** The reason as a text for developers. */
  detail?: string;
}
/** An error for a refused request, with the problem details (RFC 9457). A retry would not help. */
export class ProblemError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** A short text. */
  readonly title: string;
  /** A text about this occurrence, or null. */
  readonly detail: string | null;
  /** A URI, such as `/problems/invalid-parameter`, or null. */
  readonly type: string | null;
  /** The invalid parameters and members of the body. */
  readonly errors: FieldError[];
  /** The id of the request, or null. */
  readonly instance: string | null;
  /** The complete problem with all members. */
  readonly value: unknown;
  /** True if the person must sign in before an equal request can succeed: a redirect, 401, 407, 511, 403 of a proxy or `viewer-required`. */
  readonly needsSignIn: boolean;
  /** `status`, `title`, `detail`, `type`, `errors`, `instance` and `value` are the properties. */
  constructor(problem: {
    status: number; title: string; detail?: string | null; type?: string | null; errors?: FieldError[]; instance?: string | null; value?: unknown;
  });
}

/** An exponential backoff with jitter. */
export class Backoff {
  /** `initialDelay` and `maxDelay` are in milliseconds, by default 500 and 30,000. `random` returns a number from 0 to 1. */
  constructor(options?: { initialDelay?: number; maxDelay?: number; random?: () => number });
  /** Returns the next delay in milliseconds, at least `seconds`. */
  next(seconds?: number | null): number;
  /** Begins again with the initial delay. */
  reset(): void;
}
/** Returns the seconds of a `Retry-After` field after `now` (milliseconds since 1970), or null if the field is invalid. */
export function retryAfter(value: string | null | undefined, now?: number): number | null;

/** A monitor of the connection, which probes the service after a failure. Dispatches `lost`, `waiting` and `restored`. */
export class Connection extends EventTarget {
  /** True from a failure to the next successful probe. */
  readonly isLost: boolean;
  /** True if the last request got a response. */
  readonly isResponding: boolean;
  /** The time of the next probe in milliseconds on the clock of `performance.now()`; null during a probe. */
  readonly nextAttempt: number | null;
  /** `probe` is the URL of the probe, such as that of `/readyz`. `fetch` sends the probes, and `backoff` defines their delays. */
  constructor(options: { probe: string; fetch?: typeof globalThis.fetch; backoff?: Backoff });
  /** Records a failed request. `isResponding`: the service responded that it is unavailable. `retryAfter` is in seconds. */
  reportLoss(loss?: { isResponding?: boolean; retryAfter?: number }): void;
  /** Records a successful request, so that the next loss begins with a short delay. */
  reportSuccess(): void;
  /** Probes immediately. */
  attempt(): Promise<void>;
  /** Ends the probes. */
  close(): void;
}

/** Returns the bearer token of a request, or null for none. `refresh` is true if the service refused the last token. */
export type TokenSource = (options: { refresh: boolean }) => Promise<string | null> | string | null;
/**
 * A client of the service. It sends every request to the origin of its base. Dispatches `signinrequired`, an event with `{ error }` as its `detail`,
 * if a request failed because the person must sign in.
 */
export class FeedClient extends EventTarget {
  /** The URL of the service. */
  readonly base: URL;
  /** The name of the viewer; null if a proxy or a token names the viewer, or for a guest. */
  readonly viewer: string | null;
  /** The function that returns the bearer token of a request, or null. */
  token: TokenSource | null;
  /** The fields of every request. */
  headers: Record<string, string>;
  /** The connection that is notified of failures and successes, or null. */
  connection: Connection | null;
  /** The recorder of all requests. */
  requestLog: RequestLog;
  /**
   * - base: the URL of the service.
   * - viewer: the name of the viewer, sent in the field `viewerHeader` (by default `X-Viewer-ID`).
   * - token: returns the bearer token of a request; called with `refresh: true` after 401, and the request is then sent once more.
   * - headers: the fields of every request. fetch: sends the requests.
   * - attempts: the maximum number of attempts of a request, by default 4. backoff: returns the delays between them.
   * - timeout: the maximum time of a response in milliseconds, by default 30,000.
   * - cachedResponses: the maximum number of cached responses, by default 32.
   * - connection: is notified of failures and successes. requestLog: records all requests.
   */
  constructor(options: {
    base: string | URL; viewer?: string | null; viewerHeader?: string; token?: TokenSource | null; headers?: Record<string, string>;
    fetch?: typeof globalThis.fetch; attempts?: number; timeout?: number; cachedResponses?: number; backoff?: () => Backoff; connection?: Connection | null;
    requestLog?: RequestLog;
  });
  /** Returns the URL of an href at the base's origin, or null if it is not http or https. */
  resolve(href: string): string | null;
  /** Calls `fetch` with the token of `token`, and once more with a new token after 401. */
  request(url: string, init: RequestInit, fetch?: typeof globalThis.fetch): Promise<Response>;
  /** Sends a request. Rejects with `UnavailableError`, `ProblemError`, the reason of `signal`, or the error of `token`. */
  send(href: string, options?: SendOptions): Promise<ClientResponse>;
  /** Returns the JSON value of an href. */
  get(href: string, options?: SendOptions): Promise<unknown>;
  /** Returns the page at an href, such as `feed?limit=20`. */
  page(href: string, options?: SendOptions): Promise<Page>;
  /** Yields the pages from an href to the end of the feed. */
  pages(href: string, options?: SendOptions): AsyncGenerator<Page, void, undefined>;
  /** Returns one cell by its id; null if it does not exist. */
  cell(id: string, options?: SendOptions): Promise<Cell | null>;
  /** Returns the service's feeds; an empty array if the service does not list them. */
  feeds(options?: SendOptions): Promise<{ name: string; filters?: FeedFilter[]; [member: string]: unknown }[]>;
  /** Returns the header fields of a request, with those of every request. */
  fields(headers?: Record<string, string>): Record<string, string>;
}

/** A filter of a feed: a query parameter with the name of a field. The values of one filter are alternatives, and filters combine. */
export interface FeedFilter {
  /** The name of the field and of the parameter. */
  name: string;
  /** `choice`, `flag`, `number`, `text` or `tags`. The list is open. */
  type: string;
  /** All values of a choice or a flag; the most frequent ones of another type. */
  values: { value: string; title?: string; count: number }[];
  /** The label of the field, in the language of the response. */
  title?: string;
}

/** The items of a kind that a page omits because the client cannot show them. */
export interface Omitted {
  /** The kind of the items, such as `event`. */
  kind: string;
  /** The number of items. */
  count: number;
  /** The reason, such as `unknown-cell`. Further reasons may be added. */
  reason?: string;
  /** The identifiers of the cells that the client does not support. */
  identifiers?: string[];
  /** The types of bindings that the client does not support. */
  types?: string[];
}
/** A page of cells. */
export class Page {
  /** The cells, in order. */
  readonly cells: Cell[];
  /** The href of the next page, or null at the end. */
  readonly next: string | null;
  /** The href of the previous page, or null at the beginning. */
  readonly previous: string | null;
  /** The token for requesting changes of the page; undefined if they cannot be requested. */
  readonly syncToken: string | undefined;
  /** The names of the sections on the page. */
  readonly sections: string[];
  /** The items that the page omits, as reported by the service; `FeedPages.omitted` has the valid ones. */
  readonly omitted: unknown[];
  /** True if the ranker of the feed failed, so that the page has an earlier ranking or the feed's own order. */
  readonly isDegraded: boolean;
  /** The language of the texts (BCP 47), or null. */
  readonly language: string | null;
  /** Decodes a page. Throws `ProblemError` if the value is not a page. */
  static parse(value: unknown, language?: string | null): Page;
}

/** A parser of server-sent events, which accepts text in chunks of any length. */
export class EventStreamParser {
  /** The id of the last event; empty without one. */
  lastEventId: string;
  /** The reconnection delay in milliseconds that the service requested, or null. */
  readonly retry: number | null;
  /** Returns the events that are complete with this text. Throws `RangeError` if an event exceeds the maximum length. */
  receive(text: string): { id: string; event: string; data: string }[];
}

/** Returns a version 4 UUID (RFC 9562). */
export function uuid(): string;
