// The cells in their order, those that were dismissed a moment ago at their places among them.
import { applied, difference, IndexPaths, isReadable } from "./batch-update.mjs";
import { FeedPages } from "./feed-pages.mjs";
import { Told } from "./told.mjs";

/** One place in the list, for as long as its cell stays: views come and go, and cells are configured anew. */
class Entry {
  /** Where it is shown: its index among the entries, or -1. */
  index = -1;
  isHidden = false;
  /** What the cell is called, once it has been shown. */
  name = null;

  constructor(cell, key) {
    this.cell = cell;
    this.key = key;
  }
}

const cellOf = (entry) => entry.cell;

/** What `changed` tells: a batch update by index paths, worked out once somebody asks. */
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
 * Dispatches `changed`, whose `detail.update` leads from what was shown before to what is shown now, and is empty after a reload that
 * found nothing new, or where only the end of the list is another; `detail.appended` says how many came at the end where that is all,
 * `detail.keepsPlace` that nobody here has asked for it. Dispatches `outdated` where the service knows more of a cell than the list, and
 * `reloading` where it takes its pages anew.
 */
export class FeedList extends EventTarget {
  /** What is shown, in order. */
  entries = [];
  #all = [];
  #keys = 0;
  #loading = null;
  #paths = null;
  /** Whether the pages were taken anew because an answer was not about them. */
  #wasAstray = false;

  /** `pages` are those to show; or a client, and the href of the first page. */
  constructor(pages, href) {
    super();
    this.pages = href === undefined ? pages : new FeedPages(pages, href);
  }

  get isAtEnd() {
    return this.pages.isAtEnd;
  }

  /** The entries by sections: `{ header, entries }`, the header's entry null for those before the first one. */
  get sections() {
    const sections = this.#indexPaths.headers.map((header) => ({ header, entries: [] }));
    for (const entry of this.entries) {
      const path = this.indexPath(entry);
      if (path !== null) sections[path[0]].entries.push(entry);
    }
    return sections;
  }

  /** Where an entry stands, as `[section, item]`; null for headers and for what is not shown. */
  indexPath(entry) {
    return this.#indexPaths.of(entry)?.[1] ?? null;
  }

  /** The href of the page that an entry came on, or null where the page has changed since it was asked for. */
  pageHref(entry) {
    return this.pages.hrefAt(this.#all.indexOf(entry));
  }

  /** Appends the next page; one request at a time, whoever asks. Throws `Unavailable` or `Refusal`. */
  loadNext() {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Takes an entry out of what is shown, with its companions (`id#photos`), and answers what puts them back into their places. */
  hide(entry) {
    const hidden = [entry, ...this.#all.filter(({ cell, isHidden }) => !isHidden && cell.id.startsWith(`${entry.cell.id}#`))];
    this.#turn(hidden, true);
    return () => this.#turn(hidden, false);
  }

  /** Takes an entry out for good: the service has it no more. */
  remove(entry) {
    this.#replace(this.#all.filter((other) => other !== entry), { keepsPlace: false });
  }

  /** Gives an entry another cell in place, such as one that the service has answered. */
  reconfigure(entry, cell) {
    if (!this.#all.includes(entry)) return;
    entry.cell = cell;
    this.#replace(this.#all, { reconfigured: new Map([[entry, cell]]) });
  }

  /** Asks what became of the pages around the entries from `first` to `last`, and applies it. */
  async follow(shown) {
    if (this.#all.length === 0) return;
    const { pages } = this;
    for (let changes = null; changes === null;) {
      await this.#loading?.catch(() => {});
      changes = await pages.changes(this.within(shown));
      if (changes === null || pages !== this.pages) return;
      // What was asked about has another end by now.
      if (this.#loading !== null) changes = null;
      else await this.apply(changes);
    }
  }

  /** The indices of entries among all cells that the service knows, the hidden ones too. */
  within({ first, last }) {
    const [from, to] = [first, last].map((index) => Math.max(0, this.#all.indexOf(this.entries[index])));
    return { first: from, last: to };
  }

  /** Applies what the service says of a range of pages (`FeedPages.range`), or takes the pages anew where it cannot be applied. */
  async apply(changes) {
    const { from, start, end, since, answer } = changes;
    if (since !== undefined && !this.pages.isHeld(from, since)) {
      // It was told, and asked about at the same time: what came first has been applied.
      const known = isReadable(answer) ? answer.pages.map((page) => page.since) : [];
      const isKnown = known.length > 0 && this.pages.isHeld(from, known);
      if (!isKnown && this.pages.isAskedAbout(from)) await this.reload();
      return;
    }
    const make = (cell) => new Entry(cell, ++this.#keys);
    const outcome = applied(this.#all, answer, { start, end, id: (entry) => entry.cell.id, make });
    if (outcome === null) {
      // Somebody in between who changes the pages would do so again: such pages are not asked about any more.
      const isAstray = !answer.reload && this.#wasAstray;
      this.#wasAstray = !answer.reload;
      if (isAstray) this.pages.forget();
      else await this.reload();
      return;
    }
    this.#wasAstray = false;
    const { list, moved, reconfigured } = outcome;
    const isTouched = [answer.removed, answer.inserted, answer.moved, answer.reconfigured].some(({ length }) => length > 0);
    const { isAtEnd } = this;
    const follows = this.pages.hold(changes);
    if (!isTouched && follows) return;
    for (const [entry, cell] of reconfigured) entry.cell = cell;
    const count = answer.pages.reduce((sum, page) => sum + page.count, 0);
    const isTold = isAtEnd !== this.isAtEnd;
    this.#replace(follows ? list : list.slice(0, start + count), { moved, reconfigured, isTold });
  }

  /** Takes as many pages anew as are held. Entries whose cells are there again stay. */
  async reload() {
    this.dispatchEvent(new Event("reloading"));
    const { pages } = this;
    const fresh = new FeedPages(pages.client, pages.href);
    const cells = [];
    do cells.push(...(await fresh.next()));
    while (!fresh.isAtEnd && fresh.held.length < pages.held.length);
    // Somebody else has taken them anew meanwhile.
    if (pages !== this.pages) return;
    const known = new Map();
    for (const entry of this.#all) known.set(entry.cell.id, [...(known.get(entry.cell.id) ?? []), entry]);
    const reconfigured = new Map();
    const all = cells.map((cell) => {
      const entry = known.get(cell.id)?.shift();
      if (entry === undefined) return new Entry(cell, ++this.#keys);
      if (JSON.stringify(entry.cell) !== JSON.stringify(cell)) {
        entry.cell = cell;
        reconfigured.set(entry, cell);
      }
      return entry;
    });
    this.pages = fresh;
    for (const entry of all) entry.isHidden = false;
    this.#replace(all, { reconfigured, isTold: true });
  }

  async #load() {
    const pages = this.pages;
    const cells = await pages.next();
    if (pages !== this.pages) return;
    const appended = cells.map((cell) => new Entry(cell, ++this.#keys));
    const before = this.entries.slice();
    this.#all.push(...appended);
    for (const entry of appended) entry.index = this.entries.push(entry) - 1;
    this.#paths = null;
    const after = this.entries.slice();
    this.#tell({ appended: appended.length }, () => difference(before, after, { cell: cellOf, moved: new Set() }));
  }

  #turn(entries, isHidden) {
    const turned = entries.filter((entry) => entry.isHidden !== isHidden);
    if (turned.length === 0) return;
    for (const entry of turned) entry.isHidden = isHidden;
    if (!this.#all.includes(entries[0])) {
      // The service had taken it out already, and puts it in where it belongs.
      this.dispatchEvent(new Event("outdated"));
      return;
    }
    this.#replace(this.#all, { moved: new Set(), keepsPlace: false });
  }

  /** Tells of it where it can be seen, or where `isTold` says so: what the service confirms has been shown already. */
  #replace(all, { keepsPlace = true, isTold = false, ...known }) {
    const before = this.entries;
    for (const entry of this.#all) entry.index = -1;
    this.#all = all;
    const after = all.filter((entry) => !entry.isHidden);
    after.forEach((entry, index) => {
      entry.index = index;
    });
    this.entries = after;
    this.#paths = null;
    const isSame = after.length === before.length && after.every((entry, index) => entry === before[index]);
    const isShown = !isSame || Array.from(known.reconfigured?.keys() ?? []).some((entry) => entry.index >= 0);
    if (!isShown && !isTold) return;
    this.#tell(keepsPlace ? { keepsPlace } : {}, () => difference(before, after.slice(), { cell: cellOf, ...known }));
  }

  #tell(detail, makeUpdate) {
    this.dispatchEvent(new Told("changed", new Change(detail, makeUpdate)));
  }

  get #indexPaths() {
    this.#paths ??= new IndexPaths(this.entries, cellOf);
    return this.#paths;
  }
}
