// What the package declares to TypeScript. tests/types.ts uses it, and tests/declarations.test.mjs holds it against the code.

export interface Size { width: number; height: number }
export interface RequestAction { type: "request"; method: string; href: string; templated?: boolean; body?: unknown; expires?: string; label?: string }
export interface LinkAction { type: "link"; href: string; label?: string }
export interface BindAction { type: "bind"; bindings: Record<string, Binding> }
/** The list of types is open: one that is not known is nothing to do. */
export interface UnknownAction { type: string; [member: string]: unknown }
export type Action = RequestAction | LinkAction | BindAction | UnknownAction;
/** A value under the name of its type. The list of types is open. */
export interface Binding {
  text?: string; image?: string; date?: string; number?: number; link?: string; media?: string;
  alt?: string; width?: number; height?: number; scales?: number[]; color?: string; placeholder?: string;
  [member: string]: unknown;
}
export interface Cell {
  id: string; identifier: string; size: Size; actions: Record<string, Action>;
  state?: Record<string, unknown>;
  [member: string]: unknown;
}
export interface Owner { cell: Cell }
export interface Entry extends Owner { readonly index: number; readonly isHidden: boolean; readonly key: number; name: string | null }
export interface Section { header: Entry | null; entries: Entry[] }
export type IndexPath = [section: number, item: number];
/** In the order that `performBatchUpdates` takes. */
export interface BatchUpdate {
  sectionsRemoved: number[]; sectionsInserted: number[]; sectionsReconfigured: number[];
  removed: IndexPath[]; inserted: IndexPath[]; moved: { from: IndexPath; to: IndexPath }[]; reconfigured: IndexPath[];
}
export interface Change { readonly update: BatchUpdate; readonly appended?: number; readonly keepsPlace?: boolean }
export interface PageOfChanges { count: number; since?: string }
export interface Changes {
  reload: boolean;
  removed: { index: number; id: string }[]; inserted: { index: number; cell: Cell }[];
  moved: { from: number; to: number; id: string }[]; reconfigured: { index: number; cell: Cell }[];
  pages: PageOfChanges[]; page: { next: string | null; previous: string | null };
}
export interface Answer { status: number; value: unknown; tag: string | null }
export interface JournalEntry { answered(response: Response, body: unknown): void; ended(state: string): void }
export interface Journal {
  begin(owner: unknown, request: { slot?: string; method: string; href: string; sent?: Record<string, string> }): JournalEntry;
}
export interface SendOptions {
  method?: string; headers?: Record<string, string>; body?: unknown; key?: string; signal?: AbortSignal; keepalive?: boolean;
  attempts?: number; owner?: unknown; slot?: string; fetch?: typeof globalThis.fetch;
}
export interface Range { first: number; last: number }

export class Unavailable extends Error {
  readonly status: number | null; readonly isRetried: boolean; readonly retryAfter: number | null;
  constructor(message: string, options?: { status?: number | null; isRetried?: boolean; retryAfter?: number | null; cause?: unknown });
}
export class Refusal extends Error {
  readonly status: number; readonly title: string; readonly detail: string | null; readonly type: string | null; readonly value: unknown;
  constructor(problem: { status: number; title: string; detail?: string | null; type?: string | null; value?: unknown });
}

export class Backoff {
  constructor(options?: { first?: number; longest?: number; random?: () => number });
  next(seconds?: number | null): number;
  reset(): void;
}
export function retryAfter(value: string | null | undefined, now?: number): number | null;

export class Connection extends EventTarget {
  readonly isLost: boolean; readonly isAnswering: boolean; readonly nextAttempt: number | null;
  constructor(probe: string, options?: { fetch?: typeof globalThis.fetch; backoff?: Backoff });
  lost(how?: { answered?: boolean; pause?: number }): void;
  confirmed(): void;
  attempt(): Promise<void>;
  close(): void;
}

export class FeedClient {
  readonly base: URL; readonly viewer: string | null; connection: Connection | null; journal: Journal;
  constructor(options: {
    base: string | URL; viewer?: string | null; viewerHeader?: string; headers?: Record<string, string>; fetch?: typeof globalThis.fetch;
    attempts?: number; timeout?: number; remembered?: number; backoff?: () => Backoff; connection?: Connection | null; journal?: Journal;
  });
  resolve(href: string): string | null;
  send(href: string, options?: SendOptions): Promise<Answer>;
  get(href: string, options?: SendOptions): Promise<unknown>;
  page(href: string, options?: SendOptions): Promise<Page>;
  pages(href: string, options?: SendOptions): AsyncGenerator<Page, void, undefined>;
  cell(id: string, options?: SendOptions): Promise<Cell | null>;
  feeds(options?: SendOptions): Promise<{ name: string; [member: string]: unknown }[]>;
  fields(headers?: Record<string, string>): Record<string, string>;
}

/** What a page leaves out because the client cannot show it. The list of reasons is open. */
export interface Omitted { kind: string; count: number; reason?: string; identifiers?: string[]; types?: string[] }
export class Page {
  readonly cells: Cell[]; readonly next: string | null; readonly previous: string | null; readonly since: string | undefined;
  readonly sections: string[]; readonly omitted: unknown[]; readonly language: string | null;
  static of(value: unknown, language?: string | null): Page;
}
export function shownSize(size: unknown): Size;
export function isHeader(cell: { id: string }): boolean;

export class FeedPages {
  readonly client: FeedClient; readonly href: string; readonly isAtEnd: boolean; readonly sections: Set<string>;
  readonly omitted: Omitted[]; readonly language: string | null;
  readonly held: { count: number; since?: string; next: string | null }[]; readonly changesHref: string;
  changesOf(line: string): string;
  constructor(client: FeedClient, href: string);
  next(options?: SendOptions): Promise<Cell[]>;
  range(cells: Range): { from: number; to: number; start: number; end: number; since: string[] } | null;
  changes(cells: Range): Promise<{ start: number; end: number; answer: Changes } | null>;
  hold(changes: { from: number; to: number; answer: Changes }): boolean;
  isHeld(from: number, since: string[]): boolean;
  isAskedAbout(from: number): boolean;
  hrefAt(index: number): string | null;
  forget(): void;
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
  follow(shown: Range): Promise<void>;
  within(shown: Range): Range;
  apply(changes: { from: number; to: number; start: number; end: number; since?: string[]; answer: Changes }): Promise<void>;
  reload(): Promise<void>;
}

export class FeedUpdates {
  readonly isLive: boolean; readonly isListening: boolean;
  constructor(options: { list: FeedList; client?: FeedClient; shown: () => Range; interval?: number; patience?: number; silence?: number; isLive?: boolean });
  ask(): Promise<void>;
  moved(): void;
  close(): void;
}

export class EventStreamParser {
  lastEventId: string; readonly retry: number | null;
  receive(text: string): { id: string; event: string; data: string }[];
}

export function applied<One>(list: One[], answer: unknown, options: {
  start?: number; end?: number; id: (one: One) => string; make: (cell: Cell) => One;
}): { list: One[]; moved: Set<One>; reconfigured: Map<One, Cell> } | null;
export function difference<One>(before: One[], after: One[], options: {
  cell: (one: One) => { id: string }; moved?: Set<One>; reconfigured?: Map<One, unknown>;
}): BatchUpdate;

export function bindingValue(binding: unknown): { type: string; value: string | number } | null;
export function bindingsOf(cell: Cell): [part: string, shown: { type: string; value: string | number }, binding: Binding][];

export interface CellKind<View> {
  make(identifier: string): View;
  bind(view: View, cell: Cell, ...more: any[]): void;
  size?(cell: Cell): Size;
  prepareForReuse?(view: View): void;
  version?: number;
}
export class CellRegistry<View> {
  readonly identifiers: string[]; readonly acceptCells: string;
  constructor(options: { fallback: CellKind<View> });
  register(identifier: string, kind: CellKind<View>): this;
  knows(identifier: string): boolean;
  dequeue(cell: { identifier: string }): View;
  size(cell: Cell): Size;
  bind(view: View, cell: Cell, ...more: any[]): void;
  enqueue(identifier: string, view: View): void;
}

export interface Undo { readonly expires: Date | null; readonly isOpen: boolean; run(): Promise<unknown> }
export interface Performance { readonly value: any; readonly isWaiting: boolean; readonly undo: Undo | null; readonly sent?: Promise<boolean> }
export interface Variables {
  key?: string; values?: Record<string, string>; optimistic?: () => () => void; waits?: boolean; body?: unknown; fetch?: typeof globalThis.fetch; attempts?: number;
  [variable: string]: unknown;
}
export class Actions {
  constructor(options: {
    client: FeedClient; outbox?: Outbox | null;
    bind?: (bindings: Record<string, Binding>, variables: any) => void; open?: (href: string, owner: any, slot: string) => void;
  });
  perform(slot: string, owner: Owner, variables?: Variables): Promise<Performance | null>;
  run(action: unknown, slot: string, owner: Owner, variables?: Variables): Promise<Performance | null>;
}
export type Plan =
  | { request: { method: string; href: string; hasKey: boolean; body?: unknown } }
  | { link: { href: string } }
  | { bind: Record<string, Binding> };
export function offered(cell: Cell): { slot: string; label: string }[];
export function planned(cell: Cell, slot: string, values?: Record<string, string>): Plan | null;

export interface Gesture { key: string; method: string; href: string; body?: unknown; made: number }
export class Outbox extends EventTarget {
  readonly waiting: Gesture[];
  constructor(options: {
    client: FeedClient; connection?: Connection | null; storage?: Pick<Storage, "getItem" | "setItem"> | null; name?: string; now?: () => number;
  });
  keep(gesture: { key: string; method: string; href: string; body?: unknown; hasKey?: boolean; owner?: unknown; slot?: string }): Promise<Answer>;
  drop(key: string): boolean;
  flush(): Promise<void>;
}

export class PictureStore {
  constructor(options?: { most?: number });
  get(href: string): Blob | undefined;
  keep(href: string, bytes: Blob): void;
}
export interface ImageRequest<Picture> { readonly id: string; readonly href: string; readonly isSent: boolean; readonly answer: Promise<Picture>; abort(): void }
export class ImageFailure extends Error {
  readonly again: number | null; readonly problem: any;
  constructor(message: string, options?: { again?: number | null; problem?: unknown; cause?: unknown });
}
export class ImageLoader<Picture = Blob> extends EventTarget {
  constructor(options: {
    client: FeedClient; actions?: Actions | null; fetch?: typeof globalThis.fetch; decode?: (bytes: Blob) => Picture | Promise<Picture>;
    store?: PictureStore; simultaneous?: number; scale?: number; formats?: string;
  });
  request(picture: string | Binding, options?: { owner?: Owner | null; priority?: () => number }): ImageRequest<Picture>;
  cancel(request: ImageRequest<Picture>): void;
}
export function pictureHref(binding: Binding, scale?: number): string | undefined;
export function placeholderPixels(text: string): { width: number; height: number; pixels: Uint8ClampedArray } | null;
export function decodedImage(bytes: Blob): Promise<HTMLImageElement>;

export class Impressions {
  shareNow: ((entry: Owner) => number | Promise<number>) | null;
  constructor(options: { client: FeedClient; connection?: Connection | null; pause?: number; shareNow?: ((entry: Owner) => number | Promise<number>) | null });
  isWanted(entry: Owner): boolean;
  update(entry: Owner, share: number): void;
  leave(entry: Owner): void;
  leaveAll(): void;
  send(options?: { keepalive?: boolean }): void;
  tell(href: string, events: unknown[], entry: Owner): void;
}
export function viewability(cell: Cell): { share: number; seconds: number };

export class ViewportWatch {
  constructor(impressions: Impressions);
  set edges(edges: { top?: number; right?: number; bottom?: number; left?: number });
  set isCovered(isCovered: boolean);
  observe(element: Element, entry: Owner): void;
  unobserve(element: Element): void;
}

export function uuid(): string;
