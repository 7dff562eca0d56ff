// The pages of a list, one after the other, by the hrefs that the server gives; and what became of those that are held.
import { problem } from "./client.mjs";

/** So many pages can be asked about at once, in so many characters of a request's line. */
const most = 16;
const longest = 6500;

/** The server refused a page, and asking again would not help. `status` is the answer's. */
export class FeedRefusal extends Error {
  constructor(answer) {
    super(problem(answer));
    this.status = answer.status;
  }
}

export class FeedPages {
  /** How many cells each page has, what its changes are asked for with, and the href of the page behind it. */
  held = [];
  /** The sections that pages have met. */
  sections = new Set();
  #next;
  #known = {};

  constructor(client, href) {
    Object.assign(this, { client, href });
    this.#next = href;
  }

  /** Whether the server said that there is no further page. */
  get isAtEnd() {
    return this.#next === null;
  }

  /** The cells of the next page. Throws `Unavailable` or `FeedRefusal`. */
  async next() {
    if (this.isAtEnd) return [];
    const answer = await this.client.send(this.#next, { headers: { Accept: "application/json" } });
    const { items, page } = answer.value ?? {};
    if (!answer.ok || !Array.isArray(items)) throw new FeedRefusal(answer);
    const cells = items.filter((cell) => cell !== null && typeof cell === "object");
    for (const section of page?.sections ?? []) this.sections.add(section);
    this.#next = page?.next ?? null;
    this.held.push({ count: cells.length, since: page?.since, next: this.#next });
    return cells;
  }

  /**
   * What became of the pages around the cells from `first` to `last`: the server's answer, with `start`, the index from which it
   * counts, and `end`, the index behind the cells it speaks of. Null where nothing did, or where it cannot be asked.
   */
  async changes({ first, last }) {
    const range = this.#around(first, last);
    if (range === null) return null;
    const { from, to } = range;
    const since = this.held.slice(from, to).map((page) => page.since).join(",");
    const held = this.held;
    const answer = await this.client.send(`${this.href.split("?")[0]}/changes?since=${since}`, {
      headers: { Accept: "application/json", ...(this.#known.since === since ? { "If-None-Match": this.#known.tag } : {}) },
    });
    if (answer.status === 304) return null;
    if (!answer.ok || !answer.value) throw new FeedRefusal(answer);
    if (held !== this.held) return null;
    const count = (pages) => pages.reduce((sum, page) => sum + page.count, 0);
    const start = count(held.slice(0, from));
    return { ...answer.value, start, end: start + count(held.slice(from, to)), from, to, known: { since, tag: answer.tag } };
  }

  /** Holds the pages of an answer in place of those asked about. Answers whether the pages behind them still follow. */
  hold({ from, to, pages, page, known }) {
    this.#known = known;
    const follows = this.held[to - 1].next === page.next;
    const fresh = pages.map(({ count, since }) => ({ count, since, next: null }));
    if (fresh.length > 0) fresh.at(-1).next = page.next;
    this.held = [...this.held.slice(0, from), ...fresh, ...(follows ? this.held.slice(to) : [])];
    if (!follows || to >= this.held.length) this.#next = this.held.at(-1)?.next ?? page.next;
    return follows;
  }

  /** Asks about the pages that are held no more. */
  forget() {
    for (const page of this.held) page.since = undefined;
  }

  /** As many pages around those cells as can be asked about, or null. */
  #around(first, last) {
    const ends = [];
    for (const { count } of this.held) ends.push((ends.at(-1) ?? 0) + count);
    const at = (index) => Math.max(0, ends.findIndex((end) => index < end));
    let [from, to] = [at(first), Math.min(this.held.length, at(last) + 1)];
    let room = longest;
    const fits = (page) => typeof page?.since === "string" && (room -= page.since.length + 1) >= 0;
    if (to - from > most || to <= from || !this.held.slice(from, to).every(fits)) return null;
    // More of them, before and behind in turn, for as long as there is room.
    for (let grew = true; grew && to - from < most;) {
      grew = false;
      if (to < this.held.length && fits(this.held[to])) [to, grew] = [to + 1, true];
      if (from > 0 && to - from < most && fits(this.held[from - 1])) [from, grew] = [from - 1, true];
    }
    return { from, to };
  }
}
