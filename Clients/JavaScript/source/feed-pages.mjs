// The consecutive pages of a list, and requests for their changes.
import { ProblemError } from "./responses.mjs";

/** The maximum number of pages in one request for changes. */
const maxPages = 16;
/** The maximum number of characters of tokens in a URL. */
const maxLineLength = 6500;

export class FeedPages {
  /** The loaded pages: `count` (of cells), `syncToken`, `next` (href of the next page), `href`, `omitted`. */
  loaded = [];
  /** The language of the texts, or null if the service does not send it. */
  language = null;
  /** The names of the sections on the loaded pages. */
  sections = new Set();
  #next;
  #lastResponse = {};
  /** True unless the service rejects tokens in a request body, which has space for any pages. */
  #acceptsBody = true;

  /** - href: the href of the first page, such as `feed?changes=true`. */
  constructor({ client, href }) {
    Object.assign(this, { client, href });
    this.#next = href;
  }

  get isAtEnd() {
    return this.#next === null;
  }

  /** Loads the next page and returns its cells. Throws `UnavailableError` or `ProblemError`. */
  async next(options) {
    if (this.isAtEnd) return [];
    const href = this.#next;
    const { cells, next, syncToken, sections, omitted, language } = await this.client.page(href, options);
    for (const section of sections) this.sections.add(section);
    this.#next = next;
    this.language = language;
    this.loaded.push({ count: cells.length, syncToken, next, href, omitted });
    return cells;
  }

  /** The items that the loaded pages omit: `{ kind, count, reason, identifiers, types }`, summed by kind and reason. */
  get omitted() {
    const found = new Map();
    for (const one of this.loaded.flatMap(({ omitted }) => omitted ?? [])) {
      if (typeof one?.kind !== "string" || !Number.isInteger(one.count)) continue;
      const key = JSON.stringify([one.kind, one.reason, one.identifiers, one.types]);
      found.set(key, { ...one, count: (found.get(key)?.count ?? 0) + one.count });
    }
    return [...found.values()];
  }

  /** The href for requesting changes, with the `client` parameter of the pages' href if present. */
  get changesHref() {
    const [path, query = ""] = this.href.split("?");
    const client = new URLSearchParams(query).get("client");
    return client === null ? `${path}/changes` : `${path}/changes?client=${encodeURIComponent(client)}`;
  }

  /** Returns the href for requesting changes, with joined tokens. */
  changesHrefFor(tokens) {
    return `${this.changesHref}${this.changesHref.includes("?") ? "&" : "?"}syncToken=${tokens}`;
  }

  /**
   * Returns the pages around the cells `first` to `last` for one request: `{ from, to, start, end, syncTokens }`, with the indices of the
   * pages and of their cells; or null if changes cannot be requested.
   *
   * - fitsLine: limits the tokens to the length of a URL.
   */
  range({ first, last }, { fitsLine = !this.#acceptsBody } = {}) {
    const range = this.#around(first, last, fitsLine);
    if (range === null) return null;
    const { from, to } = range;
    const count = (pages) => pages.reduce((sum, page) => sum + page.count, 0);
    const start = count(this.loaded.slice(0, from));
    const end = start + count(this.loaded.slice(from, to));
    return { from, to, start, end, syncTokens: this.loaded.slice(from, to).map((page) => page.syncToken) };
  }

  /**
   * Requests the changes of the pages around the cells `first` to `last`. Returns the range and the `response`, or null if there are no
   * changes or they cannot be requested.
   */
  async fetchChanges(cells) {
    const range = this.range(cells);
    if (range === null) return null;
    const { loaded } = this;
    const tokens = range.syncTokens.join(",");
    const condition = this.#lastResponse.tokens === tokens ? { "If-None-Match": this.#lastResponse.tag } : {};
    const { status, value, tag } = await this.#request(range.syncTokens, { Accept: "application/json", ...condition });
    if (status === 304 || loaded !== this.loaded) return null;
    if (!value) throw new ProblemError({ status, title: "The response contains no changes", value });
    return { ...range, response: value, validator: { tokens, tag } };
  }

  #request(syncTokens, headers) {
    const tokens = syncTokens.join(",");
    if (tokens.length <= maxLineLength) return this.client.send(this.changesHrefFor(tokens), { headers });
    // The request is safe, so it can be repeated without a key.
    return this.client.send(this.changesHref, { method: "POST", body: { syncTokens }, headers }).catch((error) => {
      if (error instanceof ProblemError) this.#acceptsBody = false;
      throw error;
    });
  }

  /** Returns true if the pages from an index on have these tokens. */
  matches(from, syncTokens) {
    return syncTokens.every((token, index) => this.loaded[from + index]?.syncToken === token);
  }

  /** Returns true if changes of a page can be requested. */
  hasSyncToken(from) {
    return this.loaded[from]?.syncToken !== undefined;
  }

  /** Returns true if the pages after a range are still consecutive after a response. */
  continues({ to, response: { page } }) {
    return this.loaded[to - 1]?.next === (page?.next ?? null);
  }

  /** Loads pages from an href on, without adding them, until they have a number of cells: `{ cells, page }`, as `loaded` has the pages. */
  async following(href, count) {
    const pages = [];
    for (let next = href, found = 0; next !== null && found < count; found += pages.at(-1).cells.length) {
      const page = await this.client.page(next);
      pages.push({ cells: page.cells, page: { count: page.cells.length, syncToken: page.syncToken, next: page.next, href: next, omitted: page.omitted } });
      next = page.next;
    }
    return pages;
  }

  /**
   * Replaces the pages of a range by those of a response. Returns true if the following pages are still consecutive. If they are not, the
   * pages `following` replace them.
   */
  replace({ from, to, response: { pages, page }, following = [], validator = {} }) {
    this.#lastResponse = validator;
    const next = page?.next ?? null;
    const follows = this.loaded[to - 1].next === next;
    const fresh = pages.map(({ count, syncToken }, index) => {
      return { count, syncToken, next: null, href: null, omitted: this.loaded[from + index]?.omitted };
    });
    if (fresh.length > 0) fresh[0].href = this.loaded[from].href;
    if (fresh.length > 0) fresh.at(-1).next = next;
    this.loaded = [...this.loaded.slice(0, from), ...fresh, ...(follows ? this.loaded.slice(to) : following.map(({ page }) => page))];
    if (!follows || to >= this.loaded.length) this.#next = this.loaded.at(-1)?.next ?? next;
    return follows;
  }

  /** Returns the href of the page that contains the cell with an index, or null if it is unknown. */
  hrefAt(index) {
    let end = 0;
    for (const { count, href } of this.loaded) if (index >= 0 && index < (end += count)) return href;
    return null;
  }

  /** Requests no changes of the loaded pages any more. */
  disableChanges() {
    for (const page of this.loaded) page.syncToken = undefined;
  }

  /** Returns as many pages around the cells as fit into one request, or null if the first one has no token. */
  #around(first, last, fitsLine) {
    const ends = [];
    for (const { count } of this.loaded) ends.push((ends.at(-1) ?? 0) + count);
    const at = (index) => Math.max(0, ends.findIndex((end) => index < end));
    let from = at(first);
    let to = from;
    const end = Math.min(this.loaded.length, at(last) + 1, from + maxPages);
    let space = maxLineLength;
    const fits = (page) => typeof page?.syncToken === "string" && (space -= page.syncToken.length + 1) >= 0;
    // All pages with visible cells fit into a body. Further pages are added only if they fit into the URL.
    while (to < end && (fits(this.loaded[to]) || (!fitsLine && this.loaded[to].syncToken !== undefined))) to += 1;
    if (to === from) return null;
    // Add pages after and before in turn, as long as they fit.
    for (let grew = true; grew && to - from < maxPages;) {
      grew = false;
      if (to < this.loaded.length && fits(this.loaded[to])) [to, grew] = [to + 1, true];
      if (from > 0 && to - from < maxPages && fits(this.loaded[from - 1])) [from, grew] = [from - 1, true];
    }
    return { from, to };
  }
}
