// The pages of a list, one after the other, by the hrefs that the service gives; and what became of those that are held.
import { Refusal } from "./answers.mjs";

/** So many pages can be asked about at once; in a request's line they have so many characters. */
const most = 16;
const longest = 6500;

export class FeedPages {
  /** How many cells each page has, what its changes are asked for with, and the href of the page behind it. */
  held = [];
  /** The language of the texts, where the service says it; null where not. */
  language = null;
  /** The sections that pages have met. */
  sections = new Set();
  #next;
  #known = {};
  /** Whether the service takes the question as a request's body, which has room for any pages. */
  #takesPost = true;

  /** `href` is where the first page is asked for, such as `feed?changes=true`. */
  constructor(client, href) {
    Object.assign(this, { client, href });
    this.#next = href;
  }

  /** Whether the service said that there is no further page. */
  get isAtEnd() {
    return this.#next === null;
  }

  /** The cells of the next page. Throws `Unavailable` or `Refusal`. */
  async next(options) {
    if (this.isAtEnd) return [];
    const href = this.#next;
    const { cells, next, since, sections, omitted, language } = await this.client.page(href, options);
    for (const section of sections) this.sections.add(section);
    this.#next = next;
    this.language = language;
    this.held.push({ count: cells.length, since, next, href, omitted });
    return cells;
  }

  /** What the service left out of the pages that are held: `{ kind, count, reason, identifiers, types }`, each kind and reason once. */
  get omitted() {
    const found = new Map();
    for (const one of this.held.flatMap(({ omitted }) => omitted ?? [])) {
      if (typeof one?.kind !== "string" || !Number.isInteger(one.count)) continue;
      const key = JSON.stringify([one.kind, one.reason, one.identifiers, one.types]);
      found.set(key, { ...one, count: (found.get(key)?.count ?? 0) + one.count });
    }
    return [...found.values()];
  }

  /** Where changes are asked for: by the client that the pages were asked for by, where the URL names one. */
  get changesHref() {
    const [path, query = ""] = this.href.split("?");
    const client = new URLSearchParams(query).get("client");
    return client === null ? `${path}/changes` : `${path}/changes?client=${encodeURIComponent(client)}`;
  }

  /** The same for pages whose `since` are in a line. */
  changesOf(line) {
    return `${this.changesHref}${this.changesHref.includes("?") ? "&" : "?"}since=${line}`;
  }

  /**
   * The pages around the cells from `first` to `last` that are asked about together: `{ from, to, start, end, since }`, or null.
   * `fitsLine`: no more than a request's line has room for.
   */
  range({ first, last }, { fitsLine = !this.#takesPost } = {}) {
    const range = this.#around(first, last, fitsLine);
    if (range === null) return null;
    const { from, to } = range;
    const count = (pages) => pages.reduce((sum, page) => sum + page.count, 0);
    const start = count(this.held.slice(0, from));
    const end = start + count(this.held.slice(from, to));
    return { from, to, start, end, since: this.held.slice(from, to).map((page) => page.since) };
  }

  /**
   * What became of the pages around the cells from `first` to `last`: the service's answer, with the range it is about. Null where
   * nothing did, or where it cannot be asked.
   */
  async changes(cells) {
    const range = this.range(cells);
    if (range === null) return null;
    const { held } = this;
    const since = range.since.join(",");
    const known = this.#known.since === since ? { "If-None-Match": this.#known.tag } : {};
    const { status, value, tag } = await this.#ask(range.since, { Accept: "application/json", ...known });
    if (status === 304 || held !== this.held) return null;
    if (!value) throw new Refusal({ status, title: "These are no changes", value });
    return { ...range, answer: value, known: { since, tag } };
  }

  #ask(since, headers) {
    const line = since.join(",");
    if (line.length <= longest) return this.client.send(this.changesOf(line), { headers });
    // It only asks, and may be sent again.
    return this.client.send(this.changesHref, { method: "POST", body: { since }, headers }).catch((error) => {
      if (error instanceof Refusal) this.#takesPost = false;
      throw error;
    });
  }

  /** Whether the pages from one on are those whose changes are asked for with `since`. */
  isHeld(from, since) {
    return since.every((one, index) => this.held[from + index]?.since === one);
  }

  /** Whether changes of a page can be asked for. */
  isAskedAbout(from) {
    return this.held[from]?.since !== undefined;
  }

  /** Holds the pages of an answer in place of those asked about. Answers whether the pages behind them still follow. */
  hold({ from, to, answer: { pages, page }, known = {} }) {
    this.#known = known;
    const next = page?.next ?? null;
    const follows = this.held[to - 1].next === next;
    const fresh = pages.map(({ count, since }, index) => ({ count, since, next: null, href: null, omitted: this.held[from + index]?.omitted }));
    if (fresh.length > 0) fresh[0].href = this.held[from].href;
    if (fresh.length > 0) fresh.at(-1).next = next;
    this.held = [...this.held.slice(0, from), ...fresh, ...(follows ? this.held.slice(to) : [])];
    if (!follows || to >= this.held.length) this.#next = this.held.at(-1)?.next ?? next;
    return follows;
  }

  /** The href of the page that has the cell with an index, or null where nobody knows. */
  hrefAt(index) {
    let end = 0;
    for (const { count, href } of this.held) if (index >= 0 && index < (end += count)) return href;
    return null;
  }

  /** Asks about the pages that are held no more. */
  forget() {
    for (const page of this.held) page.since = undefined;
  }

  /** As many pages around those cells as can be asked about, from the first of them on; null where there is none. */
  #around(first, last, fitsLine) {
    const ends = [];
    for (const { count } of this.held) ends.push((ends.at(-1) ?? 0) + count);
    const at = (index) => Math.max(0, ends.findIndex((end) => index < end));
    let from = at(first);
    let to = from;
    const end = Math.min(this.held.length, at(last) + 1, from + most);
    let room = longest;
    const fits = (page) => typeof page?.since === "string" && (room -= page.since.length + 1) >= 0;
    // A body has room for all that are shown; more than those are worth none.
    while (to < end && (fits(this.held[to]) || (!fitsLine && this.held[to].since !== undefined))) to += 1;
    if (to === from) return null;
    // More of them, before and behind in turn, for as long as there is room.
    for (let grew = true; grew && to - from < most;) {
      grew = false;
      if (to < this.held.length && fits(this.held[to])) [to, grew] = [to + 1, true];
      if (from > 0 && to - from < most && fits(this.held[from - 1])) [from, grew] = [from - 1, true];
    }
    return { from, to };
  }
}
