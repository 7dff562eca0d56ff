// The cells in their order, those that were dismissed a moment ago at their places among them.
import { updated } from "./batch-update.mjs";
import { FeedPages } from "./feed-pages.mjs";

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

/**
 * Dispatches `changed`, with `appended` where cells came only at the end and `keepsPlace` where nobody here has asked for it; and
 * `outdated` where the server knows more of a cell than the list.
 */
export class FeedList extends EventTarget {
  /** What is shown, in order. */
  entries = [];
  #all = [];
  #keys = 0;
  #loading = null;

  constructor(pages) {
    super();
    this.pages = pages;
  }

  get isAtEnd() {
    return this.pages.isAtEnd;
  }

  /** Appends the next page; one request at a time, whoever asks. Throws `Unavailable` or `FeedRefusal`. */
  loadNext() {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Takes an entry out of what is shown, and answers what puts it back into its place. */
  hide(entry) {
    this.#turn(entry, true);
    return () => this.#turn(entry, false);
  }

  /** Takes an entry out for good: the server has it no more. */
  remove(entry) {
    this.#all = this.#all.filter((other) => other !== entry);
    entry.index = -1;
    this.#number();
    this.#tell();
  }

  /** Asks what became of the pages around the entries from `first` to `last`, and applies it. */
  async follow({ first, last }) {
    if (this.#loading !== null || this.#all.length === 0) return;
    const { pages } = this;
    const [from, to] = [first, last].map((index) => Math.max(0, this.#all.indexOf(this.entries[index])));
    const changes = await pages.changes({ first: from, last: to });
    if (changes === null || this.#loading !== null || pages !== this.pages) return;
    if (changes.reload) return this.reload();
    const options = {
      start: changes.start,
      make: (cell) => new Entry(cell, ++this.#keys),
      reconfigure: (entry, cell) => {
        if (entry) entry.cell = cell;
      },
    };
    const after = updated(this.#all, changes, options);
    const count = changes.pages.reduce((sum, page) => sum + page.count, 0);
    if (after.length - this.#all.length !== count - (changes.end - changes.start)) {
      // Somebody in between has changed the pages: what the server says of them is not about this list.
      pages.forget();
      return;
    }
    const isTouched = [changes.removed, changes.inserted, changes.moved, changes.reconfigured].some(({ length }) => length > 0);
    const follows = pages.hold(changes);
    if (!isTouched && follows) return;
    this.#replace(follows ? after : after.slice(0, changes.start + count));
  }

  /** Takes as many pages anew as are held. Entries whose cells are there again stay. */
  async reload() {
    const fresh = new FeedPages(this.pages.client, this.pages.href);
    const cells = [];
    while (!fresh.isAtEnd && fresh.held.length < this.pages.held.length) cells.push(...(await fresh.next()));
    const known = Map.groupBy(this.#all, ({ cell }) => cell.id);
    this.pages = fresh;
    this.#replace(cells.map((cell) => {
      const entry = known.get(cell.id)?.shift() ?? new Entry(cell, ++this.#keys);
      return Object.assign(entry, { cell, isHidden: false });
    }));
  }

  #replace(all) {
    for (const entry of this.#all) entry.index = -1;
    this.#all = all;
    this.#number();
    this.#tell({ keepsPlace: true });
  }

  async #load() {
    const pages = this.pages;
    const cells = await pages.next();
    if (pages !== this.pages) return;
    const appended = cells.map((cell) => new Entry(cell, ++this.#keys));
    this.#all.push(...appended);
    for (const entry of appended) entry.index = this.entries.push(entry) - 1;
    this.#tell({ appended: appended.length });
  }

  #turn(entry, isHidden) {
    entry.isHidden = isHidden;
    if (!this.#all.includes(entry)) {
      // The server had taken it out already, and puts it in where it belongs.
      this.dispatchEvent(new Event("outdated"));
      return;
    }
    this.#number();
    this.#tell();
  }

  #number() {
    this.entries = this.#all.filter((entry) => !entry.isHidden);
    for (const entry of this.#all) entry.index = -1;
    this.entries.forEach((entry, index) => {
      entry.index = index;
    });
  }

  #tell(detail = {}) {
    this.dispatchEvent(new CustomEvent("changed", { detail }));
  }
}
