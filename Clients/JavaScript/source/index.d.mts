// The TypeScript declarations of the package. tests/types.ts uses them, and tests/declarations.test.mjs compares them with the code.

export interface Size { width: number; height: number }
export interface RequestAction { type: "request"; method: string; href: string; templated?: boolean; body?: unknown; expiresAt?: string; label?: string }
export interface LinkAction { type: "link"; href: string; label?: string }
export interface BindAction { type: "bind"; bindings: Record<string, Binding> }
/** An action of a type that the client does not know. It is no operation. */
export interface UnknownAction { type: string; [member: string]: unknown }
export type Action = RequestAction | LinkAction | BindAction | UnknownAction;
export interface TextBinding { type: "text"; text: string }
export interface ImageBinding {
  type: "image"; href: string; alt?: string; width?: number; height?: number; scales?: number[]; color?: string; placeholder?: string;
}
export interface DateBinding { type: "date"; date: string }
export interface NumberBinding { type: "number"; number: number }
export interface LinkBinding { type: "link"; href: string }
export interface MediaBinding { type: "media"; href: string }
/** A binding of a type that the client does not know. It shows nothing. */
export interface UnknownBinding { type: string; [member: string]: unknown }
export type Binding = TextBinding | ImageBinding | DateBinding | NumberBinding | LinkBinding | MediaBinding | UnknownBinding;
export interface Cell {
  id: string; identifier: string; size: Size; actions: Record<string, Action>;
  state?: Record<string, unknown>;
  [member: string]: unknown;
}
export interface Owner { cell: Cell }
export interface Entry extends Owner { readonly index: number; readonly isHidden: boolean; readonly key: number; name: string | null }
export interface Section { header: Entry | null; entries: Entry[] }
export type IndexPath = [section: number, item: number];
/** A batch update in the order of `performBatchUpdates`. */
export interface BatchUpdate {
  sectionsRemoved: number[]; sectionsInserted: number[]; sectionsReconfigured: number[];
  removed: IndexPath[]; inserted: IndexPath[]; moved: { from: IndexPath; to: IndexPath }[]; reconfigured: IndexPath[];
}
export interface Change { readonly update: BatchUpdate; readonly appended?: number; readonly keepsScrollPosition?: boolean }
export interface PageOfChanges { count: number; syncToken?: string }
export interface Changes {
  reload: boolean;
  removed: { index: number; id: string }[]; inserted: { index: number; cell: Cell }[];
  moved: { from: number; to: number; id: string }[]; reconfigured: { index: number; cell: Cell }[];
  pages: PageOfChanges[]; page: { next: string | null; previous: string | null };
}
export interface ClientResponse { status: number; value: unknown; tag: string | null; language: string | null }
export interface RequestLogEntry { complete(response: Response, body: unknown): void; end(state: string): void }
export interface RequestLog {
  begin(owner: unknown, request: { slot?: string; method: string; href: string; sent?: Record<string, string> }): RequestLogEntry;
}
export interface SendOptions {
  method?: string; headers?: Record<string, string>; body?: unknown; key?: string; signal?: AbortSignal; keepalive?: boolean;
  attempts?: number; owner?: unknown; slot?: string; fetch?: typeof globalThis.fetch;
}
export interface Range { first: number; last: number }

export class UnavailableError extends Error {
  readonly status: number | null; readonly isRetryable: boolean; readonly retryAfter: number | null;
  constructor(message: string, options?: { status?: number | null; isRetryable?: boolean; retryAfter?: number | null; cause?: unknown });
}
/** An invalid parameter, or an invalid member of the body (a JSON pointer). Further codes may be added. */
export interface FieldError { parameter?: string; pointer?: string; code: string; detail?: string }
export class ProblemError extends Error {
  readonly status: number; readonly title: string; readonly detail: string | null; readonly type: string | null;
  readonly errors: FieldError[]; readonly instance: string | null; readonly value: unknown;
  constructor(problem: {
    status: number; title: string; detail?: string | null; type?: string | null; errors?: FieldError[]; instance?: string | null; value?: unknown;
  });
}

export class Backoff {
  constructor(options?: { initialDelay?: number; maxDelay?: number; random?: () => number });
  next(seconds?: number | null): number;
  reset(): void;
}
export function retryAfter(value: string | null | undefined, now?: number): number | null;

export class Connection extends EventTarget {
  readonly isLost: boolean; readonly isResponding: boolean; readonly nextAttempt: number | null;
  constructor(probe: string, options?: { fetch?: typeof globalThis.fetch; backoff?: Backoff });
  reportLoss(loss?: { isResponding?: boolean; retryAfter?: number }): void;
  reportSuccess(): void;
  attempt(): Promise<void>;
  close(): void;
}

export class FeedClient {
  readonly base: URL; readonly viewer: string | null; connection: Connection | null; requestLog: RequestLog;
  constructor(options: {
    base: string | URL; viewer?: string | null; viewerHeader?: string; headers?: Record<string, string>; fetch?: typeof globalThis.fetch;
    attempts?: number; timeout?: number; cachedResponses?: number; backoff?: () => Backoff; connection?: Connection | null;
    requestLog?: RequestLog;
  });
  resolve(href: string): string | null;
  send(href: string, options?: SendOptions): Promise<ClientResponse>;
  get(href: string, options?: SendOptions): Promise<unknown>;
  page(href: string, options?: SendOptions): Promise<Page>;
  pages(href: string, options?: SendOptions): AsyncGenerator<Page, void, undefined>;
  cell(id: string, options?: SendOptions): Promise<Cell | null>;
  feeds(options?: SendOptions): Promise<{ name: string; [member: string]: unknown }[]>;
  fields(headers?: Record<string, string>): Record<string, string>;
}

/** The items of a kind that a page omits because the client cannot show them. Further reasons may be added. */
export interface Omitted { kind: string; count: number; reason?: string; identifiers?: string[]; types?: string[] }
export class Page {
  readonly cells: Cell[]; readonly next: string | null; readonly previous: string | null; readonly syncToken: string | undefined;
  readonly sections: string[]; readonly omitted: unknown[]; readonly language: string | null;
  static parse(value: unknown, language?: string | null): Page;
}
export function displaySize(size: unknown): Size;
export function isSectionHeader(cell: { id: string }): boolean;

export class FeedPages {
  readonly client: FeedClient; readonly href: string; readonly isAtEnd: boolean; readonly sections: Set<string>;
  readonly omitted: Omitted[]; readonly language: string | null;
  readonly loaded: { count: number; syncToken?: string; next: string | null }[]; readonly changesHref: string;
  changesHrefFor(tokens: string): string;
  constructor(client: FeedClient, href: string);
  next(options?: SendOptions): Promise<Cell[]>;
  range(cells: Range): { from: number; to: number; start: number; end: number; syncTokens: string[] } | null;
  fetchChanges(cells: Range): Promise<{ start: number; end: number; response: Changes } | null>;
  replace(changes: { from: number; to: number; response: Changes }): boolean;
  matches(from: number, syncTokens: string[]): boolean;
  hasSyncToken(from: number): boolean;
  hrefAt(index: number): string | null;
  disableChanges(): void;
}

export class FeedList extends EventTarget {
  readonly entries: Entry[]; readonly sections: Section[]; readonly isAtEnd: boolean; readonly pages: FeedPages;
  constructor(client: FeedClient, href: string);
  constructor(pages: FeedPages);
  addEventListener(type: "changed", listener: (event: CustomEvent<Change>) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "outdated" | "reloading", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  indexPath(entry: Entry): IndexPath | null;
  pageHref(entry: Entry): string | null;
  loadNext(): Promise<void>;
  hide(entry: Entry): () => void;
  remove(entry: Entry): void;
  reconfigure(entry: Entry, cell: Cell): void;
  refresh(visible: Range): Promise<void>;
  serverRange(visible: Range): Range;
  apply(changes: { from: number; to: number; start: number; end: number; syncTokens?: string[]; response: Changes }): Promise<void>;
  reload(): Promise<void>;
}

export class FeedUpdates {
  readonly isLive: boolean; readonly isStreaming: boolean;
  constructor(options: {
    list: FeedList; client?: FeedClient; visible: () => Range; interval?: number; openTimeout?: number; idleTimeout?: number; isLive?: boolean;
  });
  poll(): Promise<void>;
  visibleRangeChanged(): void;
  close(): void;
}

export class EventStreamParser {
  lastEventId: string; readonly retry: number | null;
  receive(text: string): { id: string; event: string; data: string }[];
}

export function applyChanges<Element>(list: Element[], changes: unknown, options: {
  start?: number; end?: number; id: (element: Element) => string; make: (cell: Cell) => Element;
}): { list: Element[]; moved: Set<Element>; reconfigured: Map<Element, Cell> } | null;
export function batchUpdate<Element>(before: Element[], after: Element[], options: {
  cell: (element: Element) => { id: string }; moved?: Set<Element>; reconfigured?: Map<Element, unknown>;
}): BatchUpdate;

export function bindingValue(binding: unknown): { type: string; value: string | number } | null;
export function bindingsOf(cell: Cell): [part: string, shown: { type: string; value: string | number }, binding: Binding][];

export interface CellRegistration<View> {
  make(identifier: string): View;
  bind(view: View, cell: Cell, ...options: any[]): void;
  size?(cell: Cell): Size;
  prepareForReuse?(view: View): void;
  version?: number;
}
export class CellRegistry<View> {
  readonly identifiers: string[]; readonly acceptCells: string;
  constructor(options: { fallback: CellRegistration<View> });
  register(identifier: string, registration: CellRegistration<View>): this;
  isRegistered(identifier: string): boolean;
  dequeue(cell: { identifier: string }): View;
  size(cell: Cell): Size;
  bind(view: View, cell: Cell, ...options: any[]): void;
  recycle(identifier: string, view: View): void;
}

export interface Undo { readonly expiresAt: Date | null; readonly isAvailable: boolean; run(): Promise<unknown> }
export interface CommandOutcome { command: string; outcome: string; [member: string]: unknown }
export interface Presentation { type?: string; screen: string; arguments?: Record<string, unknown>; [member: string]: unknown }
export interface Invocation {
  readonly id: string | null; readonly slot: string | null; readonly commands: CommandOutcome[]; readonly presentation: Presentation | null;
  readonly open: string | null; readonly undo: Undo | null; readonly isQueued: boolean; readonly value: any; readonly sent?: Promise<boolean>;
}
export interface ActionOptions {
  key?: string; values?: Record<string, string>; optimistic?: () => () => void; queueable?: boolean; body?: unknown;
  fetch?: typeof globalThis.fetch; attempts?: number; [option: string]: unknown;
}
export class Actions {
  constructor(options: {
    client: FeedClient; outbox?: Outbox | null;
    bind?: (bindings: Record<string, Binding>, options: any) => void; open?: (href: string, owner: any, slot: string) => void;
  });
  perform(slot: string, owner: Owner, options?: ActionOptions): Promise<Invocation | null>;
  run(action: unknown, slot: string, owner: Owner, options?: ActionOptions): Promise<Invocation | null>;
}
export type Operation =
  | { request: { method: string; href: string; hasKey: boolean; body?: unknown } }
  | { link: { href: string } }
  | { bind: Record<string, Binding> };
export function customSlots(cell: Cell): { slot: string; label: string }[];
export function resolveAction(cell: Cell, slot: string, values?: Record<string, string>): Operation | null;

export interface Gesture { key: string; method: string; href: string; body?: unknown; createdAt: number }
export class Outbox extends EventTarget {
  readonly pending: Gesture[];
  constructor(options: {
    client: FeedClient; connection?: Connection | null; storage?: Pick<Storage, "getItem" | "setItem"> | null; name?: string; now?: () => number;
  });
  enqueue(gesture: {
    key: string; method: string; href: string; body?: unknown; hasKey?: boolean; owner?: unknown; slot?: string;
  }): Promise<ClientResponse>;
  remove(key: string): boolean;
  flush(): Promise<void>;
}

export class ImageCache {
  constructor(options?: { maxBytes?: number });
  get(href: string): Blob | undefined;
  set(href: string, image: Blob): void;
}
export interface ImageRequest<Image> { readonly id: string; readonly href: string; readonly isSent: boolean; readonly image: Promise<Image>; abort(): void }
export class ImageError extends Error {
  readonly retryAfter: number | null; readonly problem: any;
  constructor(message: string, options?: { retryAfter?: number | null; problem?: unknown; cause?: unknown });
}
export class ImageLoader<Image = Blob> extends EventTarget {
  constructor(options: {
    client: FeedClient; actions?: Actions | null; fetch?: typeof globalThis.fetch; decode?: (bytes: Blob) => Image | Promise<Image>;
    cache?: ImageCache; maxConcurrent?: number; scale?: number; formats?: string;
  });
  request(image: string | ImageBinding, options?: { owner?: Owner | null; priority?: () => number }): ImageRequest<Image>;
  cancel(request: ImageRequest<Image>): void;
}
export function imageHref(binding: { href: string; scales?: number[] }, scale?: number): string | undefined;
export function placeholderPixels(text: string): { width: number; height: number; pixels: Uint8ClampedArray } | null;
export function decodeImage(bytes: Blob): Promise<HTMLImageElement>;

export class Impressions {
  currentShare: ((entry: Owner) => number | Promise<number>) | null;
  constructor(options: {
    client: FeedClient; connection?: Connection | null; batchDelay?: number; currentShare?: ((entry: Owner) => number | Promise<number>) | null;
  });
  isNeeded(entry: Owner): boolean;
  update(entry: Owner, share: number): void;
  leave(entry: Owner): void;
  leaveAll(): void;
  flush(options?: { keepalive?: boolean }): void;
  report(href: string, events: unknown[], entry: Owner): void;
}
export function viewability(cell: Cell): { share: number; seconds: number };

export class ViewportObserver {
  constructor(impressions: Impressions);
  set insets(insets: { top?: number; right?: number; bottom?: number; left?: number });
  set isCovered(isCovered: boolean);
  observe(element: Element, entry: Owner): void;
  unobserve(element: Element): void;
}

export function uuid(): string;
