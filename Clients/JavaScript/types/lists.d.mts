// Lists of cells, and their synchronization with the service.
import type { Cell, Owner } from "./cells.mjs";
import type { FeedClient, Omitted, SendOptions } from "./client.mjs";

/** A list's entry for one cell. It stays the same object while its cell is in the list. */
export interface Entry extends Owner {
  /** The index among the visible entries, or -1. */
  readonly index: number;
  /** True if `FeedList.hide` has hidden the entry. */
  readonly isHidden: boolean;
  /** True if the service has removed the cell, and the list holds this change. */
  readonly isRemoved: boolean;
  /** A number that is unique in the list, for keys of views. */
  readonly key: number;
  /** The accessible name, which the app sets when it shows the cell; null before. */
  name: string | null;
}
/** The entries of a section. */
export interface Section {
  /** The entry of the header; null for entries before the first header. */
  header: Entry | null;
  /** The entries after the header, in order. */
  entries: Entry[];
}
/** The indices of an item's section and of the item in it. */
export type IndexPath = [section: number, item: number];
/** A batch update in the order of `performBatchUpdates`: removals by the former index paths, all others by the new ones. */
export interface BatchUpdate {
  /** The former indices of removed sections, highest first. */
  sectionsRemoved: number[];
  /** The new indices of inserted sections. */
  sectionsInserted: number[];
  /** The new indices of sections whose headers have another content. */
  sectionsReconfigured: number[];
  /** The former index paths of removed items, highest first. */
  removed: IndexPath[];
  /** The new index paths of inserted items. */
  inserted: IndexPath[];
  /** The former and the new index paths of moved items. */
  moved: { from: IndexPath; to: IndexPath }[];
  /** The new index paths of items with another content. */
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
/** A page after changes. */
export interface PageOfChanges {
  /** The number of cells. */
  count: number;
  /** The token for requesting further changes; missing if they cannot be requested. */
  syncToken?: string;
}
/** The response of `GET /feed/changes`. Indices count cells from the first page in the request. */
export interface Changes {
  /** True if changes are not available. The client then loads the pages again. */
  reload: boolean;
  /** The removed cells, by their former indices. */
  removed: { index: number; id: string }[];
  /** The inserted cells, by their new indices. */
  inserted: { index: number; cell: Cell }[];
  /** The moved cells, by their former and new indices. */
  moved: { from: number; to: number; id: string }[];
  /** The cells with another content, by their new indices. */
  reconfigured: { index: number; cell: Cell }[];
  /** The pages after the changes. */
  pages: PageOfChanges[];
  /** The hrefs of the neighbouring pages; null at the end and at the beginning. */
  page: { next: string | null; previous: string | null };
}
/** A range of visible entries. */
export interface Range {
  /** The index of the first visible entry. */
  first: number;
  /** The index of the last visible entry. */
  last: number;
}

/** The consecutive pages of a list, and requests for their changes. */
export class FeedPages {
  /** The client that sends the requests. */
  readonly client: FeedClient;
  /** The href of the first page. */
  readonly href: string;
  /** True if there are no further pages. */
  readonly isAtEnd: boolean;
  /** The names of the sections on the loaded pages. */
  readonly sections: Set<string>;
  /** The items that the loaded pages omit, summed by kind and reason. */
  readonly omitted: Omitted[];
  /** The language of the texts (BCP 47), or null. */
  readonly language: string | null;
  /** The loaded pages: the number of cells, the token, and the href of the next page (null at the end). */
  readonly loaded: { count: number; syncToken?: string; next: string | null }[];
  /** The href for requesting changes, without tokens. */
  readonly changesHref: string;
  /** `client` sends the requests. `href` is that of the first page, such as `feed?changes=true`. */
  constructor(options: { client: FeedClient; href: string });
  /** Returns the href for requesting changes, with joined tokens. */
  changesHrefFor(tokens: string): string;
  /** Loads the next page and returns its cells. */
  next(options?: SendOptions): Promise<Cell[]>;
  /** Returns the pages around some cells for one request; null if changes cannot be requested. */
  range(cells: Range): { from: number; to: number; start: number; end: number; syncTokens: string[] } | null;
  /** Requests the changes of the pages around some cells; null if there are none. */
  fetchChanges(cells: Range): Promise<{ start: number; end: number; response: Changes } | null>;
  /** Returns true if the pages after a range, which ends before the page `to`, are still consecutive after a `response`. */
  continues(changes: { to: number; response: Changes }): boolean;
  /** Loads pages from an href on, without adding them, until they have a number of cells. */
  following(href: string | null, count: number): Promise<{ cells: Cell[] }[]>;
  /** Replaces the pages `from` to `to` by those of a `response`. Returns true if the following pages are still consecutive. */
  replace(changes: { from: number; to: number; response: Changes }): boolean;
  /** Returns true if the pages from an index on have these tokens. */
  matches(from: number, syncTokens: string[]): boolean;
  /** Returns true if changes of a page can be requested. */
  hasSyncToken(from: number): boolean;
  /** Returns the href of the page that contains the cell with an index, or null if it is unknown. */
  hrefAt(index: number): string | null;
  /** Ends the requests for changes of the loaded pages. */
  disableChanges(): void;
}

/** An ordered list of cells in sections, which is synchronized with the service. Dispatches `changed`, `held`, `outdated`, `reloading`. */
export class FeedList extends EventTarget {
  /** The visible entries, in order. */
  readonly entries: Entry[];
  /** The visible entries by section. */
  readonly sections: Section[];
  /** True if there are no further pages. */
  readonly isAtEnd: boolean;
  /** The pages of the list. A reload replaces them. */
  readonly pages: FeedPages;
  /**
   * The held changes of the service that concern the person, with the number of new cells; or null. Effects of the person's own gestures and
   * the places of ads are held without being counted.
   */
  readonly held: { inserted: number } | null;
  /** True if the list holds any changes. */
  readonly isHolding: boolean;
  /** Returns the number of leading entries that a person sees or has scrolled past. */
  pinned: () => number;
  /**
   * - client, href: the client, and the href of the first page. pages: existing pages instead of both.
   * - pinned: returns the number of leading entries that a person sees or has scrolled past, by default 0. Changes of the service do not
   *   move them: reconfigured cells of an equal `size` change in their places, removed ones have `isRemoved`, and the rest is held. Other
   *   changes are displayed at once.
   */
  constructor(options: { client: FeedClient; href: string; pinned?: () => number });
  constructor(options: { pages: FeedPages; pinned?: () => number });
  /** Adds a listener. The event `changed` has the batch update as its `detail`. */
  addEventListener(type: "changed", listener: (event: CustomEvent<Change>) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: "held" | "outdated" | "reloading", listener: (event: Event) => void, options?: boolean | AddEventListenerOptions): void;
  /** Displays the held changes. */
  showHeld(): void;
  /** Displays the held changes that are out of view. Call this after scrolling. */
  settle(): void;
  /** Returns the index path of an entry; null for headers and hidden entries. */
  indexPath(entry: Entry): IndexPath | null;
  /** Returns the href of the page that contained an entry, or null if the page has changed since. */
  pageHref(entry: Entry): string | null;
  /** Appends the next page. Concurrent calls share one request. Rejects with `UnavailableError` or `ProblemError`. */
  loadNext(): Promise<void>;
  /** Hides an entry, and the other cells of its item if it is the first one. Returns a function that shows them again. */
  hide(entry: Entry): () => void;
  /** Removes an entry that the service no longer has. */
  remove(entry: Entry): void;
  /** Replaces the cell of an entry. */
  reconfigure(entry: Entry, cell: Cell): void;
  /** Requests the changes around the visible entries, and applies them. */
  refresh(visible: Range): Promise<void>;
  /** Converts indices of visible entries to indices among all cells, as the service counts them. */
  serverRange(visible: Range): Range;
  /**
   * Applies changes. `from` and `to` are the range of pages, `start` and `end` that of their cells, and `syncTokens` the tokens in the request.
   * If the `response` does not match, the list reloads.
   */
  apply(changes: { from: number; to: number; start: number; end: number; syncTokens?: string[]; response: Changes }): Promise<void>;
  /** Loads the same number of pages again. */
  reload(): Promise<void>;
}

/** A synchronization of a list by server-sent events, otherwise by polling. */
export class FeedUpdates {
  /** False if the service has responded that it does not support streams. */
  readonly isLive: boolean;
  /** True while a stream is open. */
  readonly isStreaming: boolean;
  /**
   * - list: the list. client: sends the requests, by default that of the list.
   * - visible: returns the indices of the first and the last visible entry.
   * - interval: the time between two polling requests in milliseconds, by default 10,000.
   * - openTimeout: the maximum time until a stream begins in milliseconds, by default 10,000.
   * - idleTimeout: the maximum time without received bytes in milliseconds, by default 40,000.
   * - isLive: false if the list is only polled.
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

/**
 * Applies a response of `GET /feed/changes` to an array. Returns null if the changes do not match.
 *
 * - start, end: the range of elements in the request, by default all.
 * - id, make: return the id of an element's cell, and the element for an inserted cell.
 */
export function applyChanges<Element>(list: Element[], changes: unknown, options: {
  start?: number; end?: number; id: (element: Element) => string; make: (cell: Cell) => Element;
}): { list: Element[]; moved: Set<Element>; reconfigured: Map<Element, Cell> } | null;
/**
 * Returns the batch update between two arrays. `cell` returns the cell of an element. `moved` has the elements that leave their relative
 * position, by default the fewest. `reconfigured` maps elements to their new cells.
 */
export function batchUpdate<Element>(before: Element[], after: Element[], options: {
  cell: (element: Element) => { id: string }; moved?: Set<Element>; reconfigured?: Map<Element, unknown>;
}): BatchUpdate;
