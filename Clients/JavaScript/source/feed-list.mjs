// An ordered list of cells in sections, which is synchronized with the service.
import { applyChanges, batchUpdate, IndexPaths, isChanges } from "./batch-update.mjs";
import { isAdvertisement } from "./bindings.mjs";
import { FeedPages } from "./feed-pages.mjs";
import { DetailEvent } from "./detail-event.mjs";
import { displayed } from "./held-changes.mjs";
import { isSectionHeader } from "./page.mjs";

/** The list's entry for one cell. It stays the same object while its cell is in the list, also if the cell is reconfigured. */
class Entry {
  /** The index among the visible entries, or -1. */
  index = -1;
  isHidden = false;
  /** True if the service has removed the cell, and the list holds this change. */
  isRemoved = false;
  /** True if the cell is on a loaded page of the service. */
  isListed = false;
  /** The accessible name of the cell, set when it is displayed. */
  name = null;

  constructor(cell, key) {
    this.cell = cell;
    this.key = key;
  }
}

/** The maximum number of cells that are loaded again after changed pages. */
const maxFollowing = 200;

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
 * - `held`: the list holds changes of the service; `held` describes those that concern the person.
 * - `outdated`: the service knows a newer state of a cell, so changes should be requested.
 * - `reloading`: the list loads its pages again.
 */
export class FeedList extends EventTarget {
  /** The visible entries, in order. */
  entries = [];
  /** The entries of the service's cells, in order. */
  #all = [];
  /** The cells of held reconfigurations by entry. Their sizes differ from those of the displayed cells. */
  #heldCells = new Map();
  #hidden = new Set();
  /**
   * The entries that gestures of the person concern and that the service does not list. It lists them again after an undo, also before the
   * undo's response arrives.
   */
  #dismissed = new Set();
  /** The entries that a gesture of the viewer shows again, until the service confirms it. */
  #returning = new Set();
  /** The entries that a change moved to a page that is not loaded. They are not removed. */
  #outside = new Set();
  #held = null;
  #isHolding = false;
  #keys = 0;
  #loading = null;
  #paths = null;
  /** True if the last response did not match the pages. */
  #hadMismatch = false;

  /**
   * - client, href: the `FeedClient`, and the href of the first page. pages: existing `FeedPages` instead of both.
   * - pinned(): returns the number of leading entries that a person sees or has scrolled past. The service's changes do not move them: what
   *   would is held until `showHeld`, or until `settle` finds it out of view. All other changes are displayed at once. Pinned cells are
   *   reconfigured in their places, unless their `size` differs.
   */
  constructor({ client, href, pages = new FeedPages({ client, href }), pinned = () => 0 }) {
    super();
    Object.assign(this, { pages, pinned });
  }

  /**
   * The held changes that concern the person: `{ inserted }`, with the number of new cells; null if there are none. What a gesture of the
   * person causes, and the places of ads, are held without being counted here.
   */
  get held() {
    return this.#held;
  }

  /** True if the list holds any changes. */
  get isHolding() {
    return this.#isHolding;
  }

  /** Displays the held changes. */
  showHeld() {
    if (this.#isHolding) this.#release({ pinned: 0 });
  }

  /** Displays the held changes that are out of view now. */
  settle() {
    if (this.#isHolding) this.#release({});
  }

  #release({ pinned = this.pinned() }) {
    const cells = [...this.#heldCells].filter(([entry]) => entry.index < 0 || entry.index >= pinned);
    this.#show({ pinned, reconfigured: this.#configure(cells) });
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
    const others = this.#all.filter((other) => !other.isHidden && other !== entry && other.cell.primary === entry.cell.id);
    const hidden = [entry, ...others];
    this.#setHidden(hidden, true);
    return () => this.#setHidden(hidden, false);
  }

  /** Removes an entry that the service no longer has. */
  remove(entry) {
    this.#setAll(this.#all.filter((other) => other !== entry));
    this.#heldCells.delete(entry);
    this.#hidden.delete(entry);
    this.#dismissed.delete(entry);
    entry.isHidden = true;
    this.#show({ keepsScrollPosition: false });
  }

  /** Replaces the cell of an entry, for example by a cell in a response. */
  reconfigure(entry, cell) {
    if (!entry.isListed) return;
    this.#show({ reconfigured: this.#configure([[entry, cell]]) });
  }

  /** Requests the changes of the pages around the visible entries `first` to `last`, and applies them. */
  async refresh(visible) {
    if (this.#all.length === 0) return;
    const { pages } = this;
    const returning = [...this.#returning];
    for (let changes = null; changes === null;) {
      await this.#loading?.catch(() => {});
      changes = await pages.fetchChanges(this.serverRange(visible));
      if (pages !== this.pages) return;
      if (changes === null) break;
      // The requested range has another end now.
      if (this.#loading !== null) changes = null;
      else await this.apply(changes);
    }
    if (returning.length === 0 || pages !== this.pages) return;
    // The service has answered after their gestures.
    for (const entry of returning) {
      // Its answer need not contain their places.
      if (this.#returning.delete(entry) && !entry.isListed) this.#dismissed.add(entry);
    }
    this.#show({});
  }

  /** Converts indices of visible entries to indices among all cells, including hidden ones, as the service counts them. */
  serverRange({ first, last }) {
    const { entries } = this;
    // The list may hold moves, so the cells can have another order at the service, and it may hold removals: the nearest others replace those.
    const isListed = (entry) => entry?.isListed === true;
    let shown = entries.slice(first, last + 1).filter(isListed);
    if (shown.length === 0) shown = [entries.slice(0, first).findLast(isListed) ?? entries.slice(last + 1).find(isListed)];
    const wanted = new Set(shown);
    const at = (index) => Math.max(0, index);
    return { first: at(this.#all.findIndex((entry) => wanted.has(entry))), last: at(this.#all.findLastIndex((entry) => wanted.has(entry))) };
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
    const following = this.#all.length > end && !this.pages.continues(changes) ? await this.#loadFollowing(changes, this.#all.length - end) : [];
    if (following === null) return;
    const unlisted = this.#unlisted();
    const make = (cell) => unlisted.get(cell.id)?.shift() ?? new Entry(cell, ++this.#keys);
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
    const { moved } = outcome;
    const reconfigured = new Map(outcome.reconfigured);
    for (const { index, cell } of response.inserted) {
      const entry = outcome.list[start + index];
      if (entry.cell !== cell) reconfigured.set(entry, cell);
    }
    const hasChanges = [response.removed, response.inserted, response.moved, response.reconfigured].some(({ length }) => length > 0);
    const { isAtEnd } = this;
    const follows = this.pages.replace(changes);
    if (!hasChanges && follows) return;
    if (response.inserted.length > 0 && response.page?.next) this.#pushOut(this.#all.slice(start, end), new Set(outcome.list));
    const count = response.pages.reduce((sum, page) => sum + page.count, 0);
    const all = follows ? outcome.list : outcome.list.slice(0, start + count);
    if (!follows) {
      for (const entry of this.#all.slice(end)) this.#outside.add(entry);
      all.push(...this.#appended(following, new Set(all), reconfigured));
    }
    this.#replace(all, { moved, reconfigured, alwaysNotifies: isAtEnd !== this.isAtEnd });
  }

  /**
   * Loads the pages after changed ones, because their cells have slid over the ends of the pages. Returns the pages; null if the list has
   * changed in the meantime. Why limited: a long list would load hundreds of pages after each change; it loads the others when they are
   * near the view.
   */
  async #loadFollowing(changes, count) {
    await this.#loading?.catch(() => {});
    const { pages } = this;
    const { loaded } = pages;
    const length = loaded.length;
    const loading = pages.following(changes.response.page?.next ?? null, Math.min(count, maxFollowing)).catch(() => []);
    this.#loading = loading.finally(() => {
      this.#loading = null;
    });
    changes.following = await loading;
    const isSame = pages === this.pages && loaded === pages.loaded && length === loaded.length;
    return isSame ? changes.following.flatMap(({ cells }) => cells) : null;
  }

  /** Notes which entries an insertion has pushed over the end of the last page. */
  #pushOut(former, present) {
    for (const entry of former.reverse()) {
      if (present.has(entry)) return;
      this.#outside.add(entry);
    }
  }

  /** Returns the entries that may be listed again: displayed, hidden, dismissed and awaited ones. */
  #known() {
    return new Set([...this.entries, ...this.#hidden, ...this.#dismissed, ...this.#returning]);
  }

  /** Returns the known entries that no loaded page has, by id. */
  #unlisted() {
    const found = new Map();
    for (const entry of this.#known()) {
      if (!entry.isListed) found.set(entry.cell.id, [...(found.get(entry.cell.id) ?? []), entry]);
    }
    return found;
  }

  /** Returns the entries of further cells, and notes the new cells of known entries. */
  #appended(cells, present, reconfigured) {
    const known = new Map();
    for (const entry of new Set([...this.#all, ...this.#known()])) {
      if (!present.has(entry)) known.set(entry.cell.id, [...(known.get(entry.cell.id) ?? []), entry]);
    }
    return cells.map((cell) => {
      const entry = known.get(cell.id)?.shift();
      if (entry === undefined) return new Entry(cell, ++this.#keys);
      if (!isEqual(entry.cell, cell)) reconfigured.set(entry, cell);
      return entry;
    });
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
    const reconfigured = new Map();
    const all = this.#appended(cells, new Set(), reconfigured);
    this.pages = fresh;
    this.#heldCells.clear();
    this.#returning.clear();
    this.#outside.clear();
    this.#setAll(all);
    this.#show({ pinned: 0, reconfigured: this.#configure(reconfigured), alwaysNotifies: true });
  }

  async #load() {
    const pages = this.pages;
    const cells = await pages.next();
    if (pages !== this.pages) return;
    const unlisted = this.#unlisted();
    const appended = cells.map((cell) => unlisted.get(cell.id)?.shift() ?? new Entry(cell, ++this.#keys));
    const before = this.entries.slice();
    this.#all.push(...appended);
    for (const entry of appended) entry.isListed = true;
    // The cells of entries that are known already have places among the displayed ones.
    if (appended.some(({ cell }, number) => cell !== cells[number])) {
      this.#show({ alwaysNotifies: true, reconfigured: this.#configure(appended.map((entry, index) => [entry, cells[index]])) });
      return;
    }
    for (const entry of appended) entry.index = this.entries.push(entry) - 1;
    this.#paths = null;
    const after = this.entries.slice();
    this.#notify({ appended: appended.length }, () => batchUpdate(before, after, { cell: cellOf, moved: new Set() }));
  }

  #setHidden(entries, isHidden) {
    const affected = entries.filter((entry) => entry.isHidden !== isHidden);
    if (affected.length === 0) return;
    for (const entry of affected) {
      entry.isHidden = isHidden;
      if (isHidden) this.#hidden.add(entry);
      else this.#hidden.delete(entry);
      this.#dismissed.delete(entry);
      if (isHidden) this.#returning.delete(entry);
      else this.#returning.add(entry);
    }
    this.#show({ keepsScrollPosition: false });
    // The service may have removed the entry already, and will insert it again at its position.
    if (!isHidden) this.dispatchEvent(new Event("outdated"));
  }

  #setAll(all) {
    for (const entry of this.#all) entry.isListed = false;
    for (const entry of all) entry.isListed = true;
    this.#all = all;
    for (const entry of this.#hidden) {
      if (entry.isListed || this.#outside.has(entry)) continue;
      this.#hidden.delete(entry);
      this.#dismissed.add(entry);
    }
    for (const entry of this.#dismissed) {
      if (!entry.isListed) continue;
      // The person has restored the cell, here or elsewhere.
      this.#dismissed.delete(entry);
      entry.isHidden = false;
      this.#returning.add(entry);
    }
  }

  /** Replaces the entries by those of the service. `reconfigured` maps entries to their new cells, which the entries do not have yet. */
  #replace(all, { reconfigured, ...known }) {
    this.#setAll(all);
    const cells = new Map([...this.#heldCells, ...reconfigured].filter(([entry]) => entry.isListed));
    const pinned = this.pinned();
    // Pinned cells change in their places if they keep their size.
    const isHeld = ([entry, cell]) => entry.index >= 0 && entry.index < pinned && !isEqual(entry.cell.size, cell.size);
    const [held, shown] = [true, false].map((wanted) => [...cells].filter((one) => isHeld(one) === wanted));
    this.#heldCells = new Map(held);
    this.#show({ ...known, pinned, reconfigured: this.#configure(shown) });
    if (this.#isHolding) this.dispatchEvent(new Event("held"));
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
   * Displays the entries of the service, as far as they leave the first `pinned` ones in place. Notifies only of visible differences, or
   * always if `alwaysNotifies`: the service may confirm a change that is already displayed.
   */
  #show({ pinned = this.pinned(), keepsScrollPosition = true, alwaysNotifies = false, reconfigured = new Map(), moved }) {
    const before = this.entries;
    const wanted = this.#all.filter((entry) => !entry.isHidden);
    const isAwaited = (entry) => this.#returning.has(entry) || this.#outside.has(entry);
    const { entries: after, news, isReordered, isSame } = displayed({
      before, wanted, pinned, isAwaited, isReturning: (entry) => this.#returning.has(entry), isNews: ({ cell }) => !isSectionHeader(cell) && !isAdvertisement(cell),
    });
    for (const entry of before) entry.index = -1;
    const shown = new Map(reconfigured);
    after.forEach((entry, index) => {
      entry.index = index;
      const isRemoved = !entry.isListed && !isAwaited(entry);
      if (entry.isRemoved === isRemoved) return;
      entry.isRemoved = isRemoved;
      shown.set(entry, entry.cell);
    });
    for (const entry of before) if (entry.index < 0) entry.isRemoved = false;
    this.entries = after;
    this.#paths = null;
    for (const entry of this.#outside) if (entry.isListed || (entry.index < 0 && !entry.isHidden)) this.#outside.delete(entry);
    const wasHolding = this.#isHolding;
    this.#isHolding = !isSame || this.#heldCells.size > 0;
    this.#held = news > 0 || isReordered || this.#heldCells.size > 0 ? { inserted: news } : null;
    const hasOrder = after.length === before.length && after.every((entry, index) => entry === before[index]);
    const isVisible = !hasOrder || Array.from(shown.keys()).some((entry) => entry.index >= 0);
    if (!isVisible && !alwaysNotifies) {
      if (wasHolding !== this.#isHolding) this.dispatchEvent(new Event("held"));
      return;
    }
    // While changes are held, the moves of a response are not those on the screen, and the batch update computes them.
    const known = { reconfigured: shown, ...(moved && !wasHolding && isSame && { moved }) };
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
