// The TypeScript declarations of the package. tests/types.ts uses them, and tests/declarations.test.mjs compares them with the code.

/** A size in points. A point is a CSS pixel. */
export interface Size { width: number; height: number }
/** The size of a cell in points. The part `textHeight` of the height follows the text scale of the client. */
export interface CellSize extends Size { textHeight?: number }
/** An action that sends a request to the service. */
export interface RequestAction {
  type: "request";
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  method: string;
  href: string;
  /** True if the href is a URI template (RFC 6570, limited to `{name}`). */
  templated?: boolean;
  body?: unknown;
  /** The time until which the service performs the action, as an RFC 3339 text; an undo has one. */
  expiresAt?: string;
  /** The effect of the action in the language of the page. */
  label?: string;
  /** The JSON Schema of the input that the slot takes as the request's body. */
  input?: unknown;
}
/** An action that opens a URL. */
export interface LinkAction { type: "link"; href: string; label?: string }
/** An action that fills a view with values. */
export interface BindAction { type: "bind"; bindings: Record<string, Binding> }
/** An action of a type that the client does not know. It is no operation. */
export interface UnknownAction { type: string; [member: string]: unknown }
export type Action = RequestAction | LinkAction | BindAction | UnknownAction;
export interface TextBinding { type: "text"; text: string }
/** An image: its href at the first scale, its size in points, and what to show before it is loaded. */
export interface ImageBinding {
  type: "image";
  href: string;
  /** The alternative text. */
  alt?: string;
  /** In points. */
  width?: number;
  /** In points. */
  height?: number;
  /** The pixels per point on offer, such as `[1, 2, 3]`. */
  scales?: number[];
  /** The main colour as `#rrggbb`. */
  color?: string;
  /** A ThumbHash in base64, for `placeholderPixels`. */
  placeholder?: string;
}
/** A day (`2026-05-01`) or a time (RFC 3339). */
export interface DateBinding { type: "date"; date: string }
export interface NumberBinding { type: "number"; number: number }
export interface LinkBinding { type: "link"; href: string }
export interface MediaBinding { type: "media"; href: string }
/** The label of a campaign's ad, for example "Sponsored", and the advertiser. */
export interface DisclosureBinding { type: "disclosure"; label: string; advertiser?: string }
/** A binding of a type that the client does not know. It shows nothing. */
export interface UnknownBinding { type: string; [member: string]: unknown }
export type Binding =
  | TextBinding | ImageBinding | DateBinding | NumberBinding | LinkBinding | MediaBinding | DisclosureBinding | UnknownBinding;
/** A ready-to-render item of a feed. */
export interface Cell {
  id: string;
  /** The name under which an app registers a view. */
  identifier: string;
  /** In points, at text scale 1. */
  size: CellSize;
  /** The actions by slot, such as `selection`. */
  actions: Record<string, Action>;
  /** The viewer's state of the cell, such as `{ saved: true }`. */
  state?: Record<string, unknown>;
  [member: string]: unknown;
}
/** An object that shows a cell. */
export interface Owner { cell: Cell }
/** A list's entry for one cell. It stays the same object while its cell is in the list. */
export interface Entry extends Owner {
  /** The index among the visible entries, or -1. */
  readonly index: number;
  readonly isHidden: boolean;
  /** True if the service has removed the cell, and the list holds this change. */
  readonly isRemoved: boolean;
  readonly key: number;
  /** The accessible name, which the app sets when it shows the cell. */
  name: string | null;
}
/** The entries of a section. The header is null for entries before the first header. */
export interface Section { header: Entry | null; entries: Entry[] }
export type IndexPath = [section: number, item: number];
/** A batch update in the order of `performBatchUpdates`: removals by the former index paths, all others by the new ones. */
export interface BatchUpdate {
  sectionsRemoved: number[];
  sectionsInserted: number[];
  sectionsReconfigured: number[];
  removed: IndexPath[];
  inserted: IndexPath[];
  moved: { from: IndexPath; to: IndexPath }[];
  reconfigured: IndexPath[];
}
/** The detail of the event `changed`. */
export interface Change {
  /** The batch update, computed on first access. */
  readonly update: BatchUpdate;
  /** The number of entries, if the update only appends. */
  readonly appended?: number;
  /** True if the service caused the update. */
  readonly keepsScrollPosition?: boolean;
}
export interface PageOfChanges { count: number; syncToken?: string }
/** The response of `GET /feed/changes`. Indices count cells from the first page in the request. */
export interface Changes {
  reload: boolean;
  removed: { index: number; id: string }[];
  inserted: { index: number; cell: Cell }[];
  moved: { from: number; to: number; id: string }[];
  reconfigured: { index: number; cell: Cell }[];
  pages: PageOfChanges[];
  page: { next: string | null; previous: string | null };
}
/** A response: its status, its JSON value, its entity tag, and the language of its texts. */
export interface ClientResponse { status: number; value: unknown; tag: string | null; language: string | null }
export interface RequestLogEntry { complete(response: Response, body: unknown): void; end(state: string): void }
/** A recorder of requests, for an inspector. */
export interface RequestLog {
  begin(owner: unknown, request: { slot?: string; method: string; href: string; sent?: Record<string, string> }): RequestLogEntry;
}
export interface SendOptions {
  method?: string;
  headers?: Record<string, string>;
  /** The JSON value of the body. */
  body?: unknown;
  /** The idempotency key. The service performs requests with an equal key once. */
  key?: string;
  signal?: AbortSignal;
  /** True if the request survives the page. */
  keepalive?: boolean;
  /** The maximum number of attempts. */
  attempts?: number;
  /** False if a failure says nothing about the state of the service. */
  reportsLoss?: boolean;
  /** The owner of the cell, for the request log. */
  owner?: unknown;
  slot?: string;
  fetch?: typeof globalThis.fetch;
}
/** The indices of the first and the last visible entry. */
export interface Range { first: number; last: number }

/** An error for a service that cannot be reached or cannot respond now. */
export class UnavailableError extends Error {
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** True if the client may send an equal request again. */
  readonly isRetryable: boolean;
  /** The delay in seconds that the service requested, or null. */
  readonly retryAfter: number | null;
  constructor(message: string, options?: { status?: number | null; isRetryable?: boolean; retryAfter?: number | null; cause?: unknown });
}
/** An invalid parameter, or an invalid member of the body (a JSON pointer). Further codes may be added. */
export interface FieldError { parameter?: string; pointer?: string; code: string; detail?: string }
/** An error for a refused request, with the problem details (RFC 9457). A retry would not help. */
export class ProblemError extends Error {
  readonly status: number;
  readonly title: string;
  readonly detail: string | null;
  /** A URI, such as `/problems/invalid-parameter`, or null. */
  readonly type: string | null;
  readonly errors: FieldError[];
  /** The id of the request, or null. */
  readonly instance: string | null;
  /** The complete problem with all members. */
  readonly value: unknown;
  constructor(problem: {
    status: number; title: string; detail?: string | null; type?: string | null; errors?: FieldError[]; instance?: string | null; value?: unknown;
  });
}

/** An exponential backoff with jitter. */
export class Backoff {
  /** `initialDelay` and `maxDelay` are in milliseconds, by default 500 and 30,000. */
  constructor(options?: { initialDelay?: number; maxDelay?: number; random?: () => number });
  /** Returns the next delay in milliseconds, at least `seconds`. */
  next(seconds?: number | null): number;
  reset(): void;
}
/** Returns the seconds of a `Retry-After` field after `now` (milliseconds since 1970), or null if the field is invalid. */
export function retryAfter(value: string | null | undefined, now?: number): number | null;

/** A monitor of the connection, which probes the service after a failure. Dispatches `lost`, `waiting` and `restored`. */
export class Connection extends EventTarget {
  readonly isLost: boolean;
  /** True if the last request got a response. */
  readonly isResponding: boolean;
  /** The time of the next probe in milliseconds on the clock of `performance.now()`; null during a probe. */
  readonly nextAttempt: number | null;
  /** `probe` is the URL of the probe, such as that of `/readyz`. */
  constructor(options: { probe: string; fetch?: typeof globalThis.fetch; backoff?: Backoff });
  /** Records a failed request. `retryAfter` is in seconds. */
  reportLoss(loss?: { isResponding?: boolean; retryAfter?: number }): void;
  reportSuccess(): void;
  /** Probes immediately. */
  attempt(): Promise<void>;
  close(): void;
}

/** Returns the bearer token of a request, or null for none. `refresh` is true if the service refused the last token. */
export type TokenSource = (options: { refresh: boolean }) => Promise<string | null> | string | null;
/** A client of the service. It sends every request to the origin of its base. */
export class FeedClient {
  readonly base: URL;
  readonly viewer: string | null;
  /** The function that returns the bearer token of a request, or null. */
  token: TokenSource | null;
  /** The fields of every request. */
  headers: Record<string, string>;
  connection: Connection | null;
  requestLog: RequestLog;
  /**
   * - viewer: the name of the viewer, sent in the field `viewerHeader` (by default `X-Viewer-ID`).
   * - token: returns the bearer token of a request; called with `refresh: true` after 401, and the request is then sent once more.
   * - attempts: the maximum number of attempts of a request, by default 4.
   * - timeout: the maximum time of a response in milliseconds, by default 30,000.
   * - cachedResponses: the maximum number of cached responses, by default 32.
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
  feeds(options?: SendOptions): Promise<{ name: string; [member: string]: unknown }[]>;
  /** Returns the header fields of a request, with those of every request. */
  fields(headers?: Record<string, string>): Record<string, string>;
}

/** The items of a kind that a page omits because the client cannot show them. Further reasons may be added. */
export interface Omitted { kind: string; count: number; reason?: string; identifiers?: string[]; types?: string[] }
export class Page {
  readonly cells: Cell[];
  /** The href of the next page, or null at the end. */
  readonly next: string | null;
  readonly previous: string | null;
  /** The token for requesting changes of the page. */
  readonly syncToken: string | undefined;
  /** The names of the sections on the page. */
  readonly sections: string[];
  readonly omitted: unknown[];
  /** The language of the texts (BCP 47), or null. */
  readonly language: string | null;
  /** Decodes a page. Throws `ProblemError` if the value is not a page. */
  static parse(value: unknown, language?: string | null): Page;
}
/**
 * Returns the display size of a cell in points. Invalid lengths are 300 by 200. `textScale` is the size of text, divided by its default
 * size, from 0.5 to 4; 1 by default.
 */
export function displaySize(size: unknown, textScale?: number): Size;
export function isSectionHeader(cell: { id: string }): boolean;

/** The consecutive pages of a list, and requests for their changes. */
export class FeedPages {
  readonly client: FeedClient;
  readonly href: string;
  readonly isAtEnd: boolean;
  readonly sections: Set<string>;
  readonly omitted: Omitted[];
  readonly language: string | null;
  readonly loaded: { count: number; syncToken?: string; next: string | null }[];
  readonly changesHref: string;
  constructor(options: { client: FeedClient; href: string });
  /** Returns the href for requesting changes, with joined tokens. */
  changesHrefFor(tokens: string): string;
  /** Loads the next page and returns its cells. */
  next(options?: SendOptions): Promise<Cell[]>;
  /** Returns the pages around some cells for one request; null if changes cannot be requested. */
  range(cells: Range): { from: number; to: number; start: number; end: number; syncTokens: string[] } | null;
  /** Requests the changes of the pages around some cells; null if there are none. */
  fetchChanges(cells: Range): Promise<{ start: number; end: number; response: Changes } | null>;
  replace(changes: { from: number; to: number; response: Changes }): boolean;
  matches(from: number, syncTokens: string[]): boolean;
  hasSyncToken(from: number): boolean;
  hrefAt(index: number): string | null;
  disableChanges(): void;
}

/** An ordered list of cells in sections, which is synchronized with the service. Dispatches `changed`, `held`, `outdated`, `reloading`. */
export class FeedList extends EventTarget {
  /** The visible entries, in order. */
  readonly entries: Entry[];
  readonly sections: Section[];
  readonly isAtEnd: boolean;
  readonly pages: FeedPages;
  /** The held changes of the service: the number of new cells, and true if displaying them would not move visible cells; or null. */
  readonly held: { inserted: number; isHarmless: boolean } | null;
  /** Returns true if a change of the service should be held. */
  holds: (before: Entry[], after: Entry[]) => boolean;
  constructor(options: { client: FeedClient; href: string; holds?: (before: Entry[], after: Entry[]) => boolean });
  constructor(options: { pages: FeedPages; holds?: (before: Entry[], after: Entry[]) => boolean });
  addEventListener(type: "changed", listener: (event: CustomEvent<Change>) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "held" | "outdated" | "reloading", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  /** Displays the held changes. */
  showHeld(): void;
  /** Returns the index path of an entry; null for headers and hidden entries. */
  indexPath(entry: Entry): IndexPath | null;
  /** Returns the href of the page that contained an entry, or null if the page has changed since. */
  pageHref(entry: Entry): string | null;
  /** Appends the next page. Concurrent calls share one request. */
  loadNext(): Promise<void>;
  /** Hides an entry. Returns a function that shows it again. */
  hide(entry: Entry): () => void;
  remove(entry: Entry): void;
  /** Replaces the cell of an entry. */
  reconfigure(entry: Entry, cell: Cell): void;
  /** Requests the changes around the visible entries, and applies them. */
  refresh(visible: Range): Promise<void>;
  serverRange(visible: Range): Range;
  apply(changes: { from: number; to: number; start: number; end: number; syncTokens?: string[]; response: Changes }): Promise<void>;
  /** Loads the same number of pages again. */
  reload(): Promise<void>;
}

/** A synchronization of a list by server-sent events, otherwise by polling. */
export class FeedUpdates {
  readonly isLive: boolean;
  readonly isStreaming: boolean;
  /**
   * - visible: returns the indices of the first and the last visible entry.
   * - interval, openTimeout, idleTimeout: in milliseconds, by default 10,000, 10,000 and 40,000.
   */
  constructor(options: {
    list: FeedList; client?: FeedClient; visible: () => Range; interval?: number; openTimeout?: number; idleTimeout?: number; isLive?: boolean;
  });
  /** Requests changes immediately. */
  poll(): Promise<void>;
  /** Call this after scrolling. */
  visibleRangeChanged(): void;
  /** Ends the synchronization. */
  close(): void;
}

/** A parser of server-sent events, which accepts text in chunks of any length. */
export class EventStreamParser {
  lastEventId: string;
  /** The reconnection delay in milliseconds that the service requested, or null. */
  readonly retry: number | null;
  receive(text: string): { id: string; event: string; data: string }[];
}

/** Applies a response of `GET /feed/changes` to an array. Returns null if the changes do not match. */
export function applyChanges<Element>(list: Element[], changes: unknown, options: {
  start?: number; end?: number; id: (element: Element) => string; make: (cell: Cell) => Element;
}): { list: Element[]; moved: Set<Element>; reconfigured: Map<Element, Cell> } | null;
/** Returns the batch update between two arrays. */
export function batchUpdate<Element>(before: Element[], after: Element[], options: {
  cell: (element: Element) => { id: string }; moved?: Set<Element>; reconfigured?: Map<Element, unknown>;
}): BatchUpdate;

/** Returns the type and the value of a binding, or null if it shows nothing. */
export function bindingValue(binding: unknown): { type: string; value: string | number } | null;
/** Returns the visible bindings of a cell by part. */
export function bindingsOf(cell: Cell): [part: string, shown: { type: string; value: string | number }, binding: Binding][];
/** Returns the label that an ad must show, and the advertiser (possibly empty); null for other cells. */
export function disclosureOf(cell: Cell): { label: string; advertiser: string } | null;

/** The views of an identifier. `version` is the newest version of its cells that the view supports, by default 1. */
export interface CellRegistration<View> {
  make(identifier: string): View;
  bind(view: View, cell: Cell, ...options: any[]): void;
  /** Returns the size of a cell in points, by default that of the feed. */
  size?(cell: Cell): Size;
  prepareForReuse?(view: View): void;
  version?: number;
}
/** A registry of an app's views by reuse identifier. */
export class CellRegistry<View> {
  readonly identifiers: string[];
  /** The value of `Accept-Cells` for the registered identifiers. */
  readonly acceptCells: string;
  /** `fallback` shows the cells with other identifiers. */
  constructor(options: { fallback: CellRegistration<View> });
  register(identifier: string, registration: CellRegistration<View>): this;
  isRegistered(identifier: string): boolean;
  /** Returns a pooled or a new view for a cell. */
  dequeue(cell: { identifier: string }): View;
  /** Returns the size of a cell in points. */
  size(cell: Cell): Size;
  /** Fills a view with a cell. */
  bind(view: View, cell: Cell, ...options: any[]): void;
  /** Returns a view to the pool. */
  recycle(identifier: string, view: View): void;
}

/** The undo of a gesture. */
export interface Undo { readonly expiresAt: Date | null; readonly isAvailable: boolean; run(): Promise<unknown> }
export interface CommandOutcome { command: string; outcome: string; [member: string]: unknown }
/** A screen that the app should show. */
export interface Presentation { type?: string; screen: string; arguments?: Record<string, unknown>; [member: string]: unknown }
/** The result of a gesture. */
export interface Invocation {
  readonly id: string | null;
  readonly slot: string | null;
  readonly commands: CommandOutcome[];
  readonly presentation: Presentation | null;
  /** The href that the app should open, or null. */
  readonly open: string | null;
  readonly undo: Undo | null;
  /** True if the service is unavailable and the request is sent later. */
  readonly isQueued: boolean;
  readonly value: any;
  readonly sent?: Promise<boolean>;
}
export interface ActionOptions {
  /** The idempotency key of the gesture; by default a new one. */
  key?: string;
  /** The variables of a URI template. */
  values?: Record<string, string>;
  /** Shows the effect immediately, and returns a function that reverts it. */
  optimistic?: () => () => void;
  /** True if the request may be queued while the service is unavailable. */
  queueable?: boolean;
  /** The input of the slot. */
  body?: unknown;
  fetch?: typeof globalThis.fetch;
  attempts?: number;
  [option: string]: unknown;
}
/** A performer of actions. */
export class Actions {
  constructor(options: {
    client: FeedClient; outbox?: Outbox | null;
    bind?: (bindings: Record<string, Binding>, options: any) => void; open?: (href: string, owner: any, slot: string) => void;
  });
  /** Performs a slot of a cell. Returns null if there is no operation. */
  perform(slot: string, owner: Owner, options?: ActionOptions): Promise<Invocation | null>;
  /** Performs an action of a response, such as an undo. */
  run(action: unknown, slot: string, owner: Owner, options?: ActionOptions): Promise<Invocation | null>;
}
export type Operation =
  | { request: { method: string; href: string; hasKey: boolean; body?: unknown } }
  | { link: { href: string } }
  | { bind: Record<string, Binding> };
/** Returns the labelled slots that a kind declares in addition to the standard ones. */
export function customSlots(cell: Cell): { slot: string; label: string }[];
/** Returns the operation of a slot, or null. */
export function resolveAction(cell: Cell, slot: string, values?: Record<string, string>): Operation | null;

/** A queued request. `createdAt` is in milliseconds since 1970. */
export interface Gesture { key: string; method: string; href: string; body?: unknown; createdAt: number }
/** A queue of gestures for an unavailable service. Dispatches `sent` and `refused`. */
export class Outbox extends EventTarget {
  readonly pending: Gesture[];
  /** `now` returns milliseconds since 1970. */
  constructor(options: {
    client: FeedClient; connection?: Connection | null; storage?: Pick<Storage, "getItem" | "setItem"> | null; name?: string; now?: () => number;
  });
  /** Queues a request. The promise has its response. */
  enqueue(gesture: {
    key: string; method: string; href: string; body?: unknown; hasKey?: boolean; owner?: unknown; slot?: string;
  }): Promise<ClientResponse>;
  /** Removes a gesture. Returns false if it was sent or does not exist. */
  remove(key: string): boolean;
  /** Sends the queued gestures. */
  flush(): Promise<void>;
}

/** A cache of images by href. `maxBytes` is the maximum sum of their sizes in bytes. */
export class ImageCache {
  constructor(options?: { maxBytes?: number });
  get(href: string): Blob | undefined;
  set(href: string, image: Blob): void;
}
/** A request for an image, with a promise of the decoded image. */
export interface ImageRequest<Image> { readonly id: string; readonly href: string; readonly isSent: boolean; readonly image: Promise<Image>; abort(): void }
export class ImageError extends Error {
  /** The delay in seconds that the service requested, or null. */
  readonly retryAfter: number | null;
  readonly problem: any;
  constructor(message: string, options?: { retryAfter?: number | null; problem?: unknown; cause?: unknown });
}
/** A loader of images. Dispatches `refused` with the problem details. */
export class ImageLoader<Image = Blob> extends EventTarget {
  /** `scale` is in pixels per point. `maxConcurrent` is the maximum number of concurrent requests, by default 4. */
  constructor(options: {
    client: FeedClient; actions?: Actions | null; fetch?: typeof globalThis.fetch; decode?: (bytes: Blob) => Image | Promise<Image>;
    cache?: ImageCache; maxConcurrent?: number; scale?: number; formats?: string;
  });
  /** Requests an image. `priority` returns its distance from the visible area; the lowest is sent first. */
  request(image: string | ImageBinding, options?: { owner?: Owner | null; priority?: () => number }): ImageRequest<Image>;
  /** Cancels a request whose cell is no longer displayed. */
  cancel(request: ImageRequest<Image>): void;
}
/** Returns the href of an image for a scale in pixels per point. */
export function imageHref(binding: { href: string; scales?: number[] }, scale?: number): string | undefined;
/** Returns the RGBA pixels of a placeholder, or null if it is invalid. */
export function placeholderPixels(text: string): { width: number; height: number; pixels: Uint8ClampedArray } | null;
/** Returns an image element after decoding. For browsers only. */
export function decodeImage(bytes: Blob): Promise<HTMLImageElement>;

/** A reporter of impressions, which sends them in batches. */
export class Impressions {
  /** Returns the visible share of an entry, from 0 to 1. */
  currentShare: ((entry: Owner) => number | Promise<number>) | null;
  /** `batchDelay` is in milliseconds, by default 2,000. */
  constructor(options: {
    client: FeedClient; connection?: Connection | null; batchDelay?: number; currentShare?: ((entry: Owner) => number | Promise<number>) | null;
  });
  /** Returns true if an entry has an impression that was not reported yet. */
  isNeeded(entry: Owner): boolean;
  /** Sets the visible share of an entry, from 0 to 1. */
  update(entry: Owner, share: number): void;
  leave(entry: Owner): void;
  leaveAll(): void;
  /** Sends the collected impressions. With `keepalive`, the requests survive the page. */
  flush(options?: { keepalive?: boolean }): void;
  report(href: string, events: unknown[], entry: Owner): void;
}
/** Returns the viewability threshold of a cell: the share from 0 to 1, and the seconds. */
export function viewability(cell: Cell): { share: number; seconds: number };

/** Measures the visible fraction of cells in a browser, for `Impressions`. */
export class ViewportObserver {
  /** `root` is the document, or the shadow root that contains the elements. */
  constructor(options: { impressions: Impressions; root?: Document | ShadowRoot });
  /** The covered distances from each edge of the window, in points. */
  set insets(insets: { top?: number; right?: number; bottom?: number; left?: number });
  /** True while all cells are covered, for example by a dialog. */
  set isCovered(isCovered: boolean);
  observe(element: Element, entry: Owner): void;
  unobserve(element: Element): void;
}

/** Returns a version 4 UUID (RFC 9562). */
export function uuid(): string;
