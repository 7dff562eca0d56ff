// An ordered list of cells in sections, which is synchronized with the service.
import { applyChanges, batchUpdate, IndexPaths, isChanges } from "./batch-update.mjs";
import { FeedPages } from "./feed-pages.mjs";
import { DetailEvent } from "./detail-event.mjs";
import { isSectionHeader } from "./page.mjs";

/** The list's entry for one cell. It stays the same object while its cell is in the list, also if the cell is reconfigured. */
class Entry {
  /** The index among the visible entries, or -1. */
  index = -1;
  isHidden = false;
  /** True if the service has removed the cell, and the list holds this change. */
  isRemoved = false;
  /** The accessible name of the cell, set when it is displayed. */
  name = null;

  constructor(cell, key) {
    this.cell = cell;
    this.key = key;
  }
}

const cellOf = (entry) => entry.cell;
const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** The detail of a `changed` event. The batch update is computed on first access. */
class Change {
  #update;
  #makeUpdate;

  constructor(more, makeUpdate) {
    Object.assign(this, more);
    this.#makeUpdate = makeUpdate;
  }

  get update() {
    this.#update ??= this.#makeUpdate();
    return this.#update;
  }
}

/**
 * Dispatches these events:
 *
 * - `changed`: `detail.update` is the batch update from the previous to the current entries. It is empty after a reload without
 *   differences, and if only the end of the list changed. `detail.appended` is the number of entries if the update only appends.
 *   `detail.keepsScrollPosition` is true if the service caused the update.
 * - `held`: the list holds changes of the service, described by `held`.
 * - `outdated`: the service knows a newer state of a cell, so changes should be requested.
 * - `reloading`: the list loads its pages again.
 */
export class FeedList extends EventTarget {
  /** The visible entries, in order. */
  entries = [];
  /** The entries of the service's cells, in order. */
  #all = [];
  /** The entries in the order before the held changes; null if the list holds none. */
  #former = null;
  /** The cells of held reconfigurations by entry. Their sizes differ from those of the displayed cells. */
  #heldCells = new Map();
  /** True if a gesture of the viewer causes the next change of the service, which is then not held. */
  #isExpectingChange = false;
  #keys = 0;
  #loading = null;
  #paths = null;
  /** True if the last response did not match the pages. */
  #hadMismatch = false;

  /**
   * - client, href: the `FeedClient`, and the href of the first page. pages: existing `FeedPages` instead of both.
   * - holds(before, after, reconfigured): returns true if the list should hold a change of the service from one array of entries to another,
   *   with a map from entries to their new cells. Why: the change would move cells that a person is reading. Held changes are displayed by
   *   `showHeld`. While a change is held, reconfigured cells change in their places, unless their `size` differs.
   */
  constructor({ client, href, pages = new FeedPages({ client, href }), holds = () => false }) {
    super();
    Object.assign(this, { pages, holds });
  }

  /**
   * The held changes: `{ inserted, isHarmless }`, with the number of held new cells before the end of the list; null if there are none.
   */
  get held() {
    if (this.#former === null) return null;
    const former = new Set(this.#former);
    const after = this.#all.filter(({ isHidden }) => !isHidden);
    const last = after.findLastIndex((entry) => former.has(entry));
    const inserted = after.slice(0, last + 1).filter((entry) => !former.has(entry) && !isSectionHeader(entry.cell)).length;
    return { inserted, isHarmless: !this.holds(this.entries, after, this.#heldCells) };
  }

  /** Displays the held changes. */
  showHeld() {
    if (this.#former === null) return;
    this.#former = null;
    this.#show(this.#all, { alwaysNotifies: false, reconfigured: this.#configure(this.#heldCells) });
  }

  get isAtEnd() {
    return this.pages.isAtEnd;
  }

  /** The entries by section: `{ header, entries }`. The header is null for entries before the first header. */
  get sections() {
    const sections = this.#indexPaths.headers.map((header) => ({ header, entries: [] }));
    for (const entry of this.entries) {
      const path = this.indexPath(entry);
      if (path !== null) sections[path[0]].entries.push(entry);
    }
    return sections;
  }

  /** Returns the index path `[section, item]` of an entry; null for headers and hidden entries. */
  indexPath(entry) {
    return this.#indexPaths.of(entry)?.[1] ?? null;
  }

  /** Returns the href of the page that contained an entry, or null if the page has changed since. */
  pageHref(entry) {
    return this.pages.hrefAt(this.#all.indexOf(entry));
  }

  /** Appends the next page. Concurrent calls share one request. Throws `UnavailableError` or `ProblemError`. */
  loadNext() {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Hides an entry, and the other cells of its item if it is the first one (`primary`). Returns a function that shows them again at their positions. */
  hide(entry) {
    const hidden = [entry, ...this.#all.filter(({ cell, isHidden }) => !isHidden && cell.primary === entry.cell.id)];
    this.#setHidden(hidden, true);
    return () => this.#setHidden(hidden, false);
  }

  /** Removes an entry that the service no longer has. */
  remove(entry) {
    const rest = (entries) => entries.filter((other) => other !== entry);
    if (this.#former !== null) this.#former = rest(this.#former);
    this.#all = rest(this.#all);
    this.#heldCells.delete(entry);
    this.#show(this.#former ?? this.#all, { keepsScrollPosition: false });
  }

  /** Replaces the cell of an entry, for example by a cell in a response. */
  reconfigure(entry, cell) {
    if (!this.#all.includes(entry)) return;
    this.#show(this.#former ?? this.#all, { reconfigured: this.#configure([[entry, cell]]) });
  }

  /** Requests the changes of the pages around the visible entries `first` to `last`, and applies them. */
  async refresh(visible) {
    if (this.#all.length === 0) return;
    const { pages } = this;
    for (let changes = null; changes === null;) {
      await this.#loading?.catch(() => {});
      changes = await pages.fetchChanges(this.serverRange(visible));
      if (changes === null || pages !== this.pages) return;
      // The requested range has another end now.
      if (this.#loading !== null) changes = null;
      else await this.apply(changes);
    }
  }

  /** Converts indices of visible entries to indices among all cells, including hidden ones, as the service counts them. */
  serverRange({ first, last }) {
    const { entries } = this;
    // A held change may have removed the entry at an index. The nearest other entry replaces it.
    const isKnown = (entry) => entry !== undefined && !entry.isRemoved;
    const nearest = (index, step) => {
      let near = index;
      while (near >= 0 && near < entries.length && !isKnown(entries[near])) near += step;
      return entries[near];
    };
    const at = (index, step) => Math.max(0, this.#all.indexOf(nearest(index, step) ?? nearest(index, -step)));
    return { first: at(first, -1), last: at(last, 1) };
  }

  /** Applies changes of a range of pages (`FeedPages.range`). If they do not match, the list reloads. */
  async apply(changes) {
    const { from, start, end, syncTokens, response } = changes;
    if (syncTokens !== undefined && !this.pages.matches(from, syncTokens)) {
      // The changes arrived both by stream and by polling; the first response has been applied.
      const known = isChanges(response) ? response.pages.map((page) => page.syncToken) : [];
      const isKnown = known.length > 0 && this.pages.matches(from, known);
      if (!isKnown && this.pages.hasSyncToken(from)) await this.reload();
      return;
    }
    const make = (cell) => new Entry(cell, ++this.#keys);
    const outcome = applyChanges(this.#all, response, { start, end, id: (entry) => entry.cell.id, make });
    if (outcome === null) {
      // A proxy that modifies pages would cause a mismatch again, so changes of these pages are no longer requested.
      const isRepeatedMismatch = !response.reload && this.#hadMismatch;
      this.#hadMismatch = !response.reload;
      if (isRepeatedMismatch) this.pages.disableChanges();
      else await this.reload();
      return;
    }
    this.#hadMismatch = false;
    const { list, moved, reconfigured } = outcome;
    const hasChanges = [response.removed, response.inserted, response.moved, response.reconfigured].some(({ length }) => length > 0);
    const { isAtEnd } = this;
    const follows = this.pages.replace(changes);
    if (!hasChanges && follows) return;
    const count = response.pages.reduce((sum, page) => sum + page.count, 0);
    const alwaysNotifies = isAtEnd !== this.isAtEnd;
    const following = follows ? [] : this.#all.slice(end);
    this.#replace(follows ? list : list.slice(0, start + count), { moved, reconfigured, alwaysNotifies, following });
  }

  /** Loads the same number of pages again. Entries whose cells still exist are kept. */
  async reload() {
    this.dispatchEvent(new Event("reloading"));
    const { pages } = this;
    const fresh = new FeedPages({ client: pages.client, href: pages.href });
    const cells = [];
    do cells.push(...(await fresh.next()));
    while (!fresh.isAtEnd && fresh.loaded.length < pages.loaded.length);
    // Another call has reloaded the pages in the meantime.
    if (pages !== this.pages) return;
    const known = new Map();
    for (const entry of this.#all) known.set(entry.cell.id, [...(known.get(entry.cell.id) ?? []), entry]);
    const reconfigured = new Map();
    const all = cells.map((cell) => {
      const entry = known.get(cell.id)?.shift();
      if (entry === undefined) return new Entry(cell, ++this.#keys);
      if (!isEqual(entry.cell, cell)) reconfigured.set(entry, cell);
      return entry;
    });
    this.pages = fresh;
    this.#heldCells.clear();
    for (const entry of all) entry.isHidden = false;
    this.#replace(all, { reconfigured, alwaysNotifies: true });
  }

  async #load() {
    const pages = this.pages;
    const cells = await pages.next();
    if (pages !== this.pages) return;
    const appended = cells.map((cell) => new Entry(cell, ++this.#keys));
    const before = this.entries.slice();
    this.#all.push(...appended);
    this.#former?.push(...appended);
    for (const entry of appended) entry.index = this.entries.push(entry) - 1;
    this.#paths = null;
    const after = this.entries.slice();
    this.#notify({ appended: appended.length }, () => batchUpdate(before, after, { cell: cellOf, moved: new Set() }));
  }

  #setHidden(entries, isHidden) {
    const affected = entries.filter((entry) => entry.isHidden !== isHidden);
    if (affected.length === 0) return;
    for (const entry of affected) entry.isHidden = isHidden;
    if (!(this.#former ?? this.#all).includes(entries[0])) {
      // The service has already removed the entry, and will insert it again at its position.
      this.#isExpectingChange = true;
      this.dispatchEvent(new Event("outdated"));
      return;
    }
    this.#show(this.#former ?? this.#all, { moved: new Set(), keepsScrollPosition: false });
  }

  /**
   * Replaces the entries by those of the service, now or when the held changes are displayed.
   *
   * - reconfigured: a map from entries to their new cells, which the entries do not have yet.
   * - following: the entries after the changed range that must be loaded again; null if all entries were loaded again.
   */
  #replace(all, { reconfigured, following = null, ...known }) {
    const present = new Set(all);
    const cells = new Map([...this.#heldCells, ...reconfigured].filter(([entry]) => present.has(entry)));
    const mayHold = following !== null && !this.#isExpectingChange;
    const isHeld = mayHold && this.holds(this.entries, all.filter(({ isHidden }) => !isHidden), cells);
    this.#isExpectingChange = false;
    const outdated = new Set(following);
    const former = (this.#former ?? this.#all).filter((entry) => !outdated.has(entry));
    const releasesHeld = !isHeld && this.#former !== null;
    this.#all = all;
    this.#former = isHeld ? former : null;
    if (!isHeld) {
      this.#heldCells.clear();
      // The moves of this change are not those of the held ones. The batch update then computes them.
      if (releasesHeld) delete known.moved;
      this.#show(all, { ...known, reconfigured: this.#configure(cells) });
      return;
    }
    // Removed cells and reconfigured cells of an equal size change in their places.
    const [resized, others] = [false, true].map((isSame) => [...cells].filter(([entry, cell]) => isEqual(entry.cell.size, cell.size) === isSame));
    this.#heldCells = new Map(resized);
    const shown = this.#configure(others);
    for (const entry of former) {
      if (entry.isRemoved !== present.has(entry)) continue;
      entry.isRemoved = !present.has(entry);
      shown.set(entry, entry.cell);
    }
    this.#show(former, { alwaysNotifies: known.alwaysNotifies, reconfigured: shown, moved: new Set() });
    this.dispatchEvent(new Event("held"));
  }

  /** Gives entries their new cells, which are then not held. Returns them as a map. */
  #configure(cells) {
    const configured = new Map(cells);
    for (const [entry, cell] of configured) {
      entry.cell = cell;
      this.#heldCells.delete(entry);
    }
    return configured;
  }

  /**
   * Displays entries. Notifies only of visible differences, or always if `alwaysNotifies`: the service may confirm a change that is
   * already displayed.
   */
  #show(all, { keepsScrollPosition = true, alwaysNotifies = false, ...known }) {
    const before = this.entries;
    for (const entry of before) entry.index = -1;
    const after = all.filter((entry) => !entry.isHidden);
    after.forEach((entry, index) => {
      entry.index = index;
    });
    this.entries = after;
    this.#paths = null;
    const isEqual = after.length === before.length && after.every((entry, index) => entry === before[index]);
    const isVisible = !isEqual || Array.from(known.reconfigured?.keys() ?? []).some((entry) => entry.index >= 0);
    if (!isVisible && !alwaysNotifies) return;
    this.#notify(keepsScrollPosition ? { keepsScrollPosition } : {}, () => batchUpdate(before, after.slice(), { cell: cellOf, ...known }));
  }

  #notify(detail, makeUpdate) {
    this.dispatchEvent(new DetailEvent("changed", new Change(detail, makeUpdate)));
  }

  get #indexPaths() {
    this.#paths ??= new IndexPaths(this.entries, cellOf);
    return this.#paths;
  }
}
