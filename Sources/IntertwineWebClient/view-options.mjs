// What the page shows, all of it in its URL: a link shows the same to anybody.

const lists = ["feed", "saved", "dismissed"];
const widest = 10_000;
const row = 720;

export class ViewOptions {
  /** `search` is that of the page's URL. What is not understood is as if it were not there. */
  constructor(search) {
    const given = new URLSearchParams(search);
    const width = Number(given.get("width"));
    this.list = lists.includes(given.get("list")) ? given.get("list") : "feed";
    this.feed = given.get("feed") || null;
    this.section = given.get("section") || null;
    this.layout = given.get("layout") === "table" ? "table" : "collection";
    this.width = Number.isInteger(width) && width >= 1 && width <= widest ? width : null;
    this.viewer = given.get("viewer")?.replace(/[\0-\x1f\x7f]/g, "") || null;
    this.language = told(given.get("language"));
    this.cells = told(given.get("cells"));
    this.operators = /^https?:\/\//.test(given.get("operators") ?? "") ? given.get("operators") : null;
  }

  /**
   * The page that tells operators why the cells of a feed's page stand there, by that page's href and what else it was asked with; null where
   * nobody said where operators ask.
   */
  explanation(href, { cell, viewer, cells }) {
    if (this.operators === null || !URL.canParse(this.operators)) return null;
    const asked = new URLSearchParams(href.split("?")[1] ?? "");
    const told = new URLSearchParams({ cell });
    for (const name of ["cursor", "limit", "layout", "width"]) if (asked.has(name)) told.set(name, asked.get(name));
    for (const [name, value] of Object.entries({ feed: this.feed, section: this.section, viewer, cells, languages: this.language })) if (value) told.set(name, value);
    const url = new URL("explain", this.operators);
    url.hash = told;
    return url.href;
  }

  /** What every request says of the client: its languages, and which cells it knows (`own`: those that the viewer was made for). */
  headers(acceptCells) {
    const cells = this.cells === "own" ? acceptCells : this.cells;
    return { ...(this.language && { "Accept-Language": this.language }), ...(cells && { "Accept-Cells": cells }) };
  }

  get isTable() {
    return this.layout === "table";
  }

  /** How much of so much room the cells may take, in points. */
  room(width) {
    return Math.min(width, this.width ?? (this.isTable ? row : Infinity));
  }

  /** What the service is told of the client's width, or null for cells as large as usual. */
  told(screen) {
    if (this.width !== null) return this.width;
    if (this.isTable) return Math.min(row, screen - 32);
    // Where there is room for one column, cells are as wide as they would be in an app on this screen.
    return screen < 668 ? screen : null;
  }

  /** Where the first page is asked for, by a client of this width. */
  href(screen) {
    const feed = this.feed ?? (this.section === null ? null : "main");
    const parts = feed === null ? ["feed"] : ["feeds", feed, ...(this.section === null ? [] : ["sections", this.section])];
    const path = this.list === "feed" ? parts.map(encodeURIComponent).join("/") : this.list;
    const query = new URLSearchParams();
    if (this.isTable) query.set("layout", "table");
    if (this.told(screen) !== null) query.set("width", String(this.told(screen)));
    const scale = Math.min(3, Math.ceil(globalThis.devicePixelRatio ?? 1));
    if (scale > 1) query.set("scale", String(scale));
    if (this.list === "feed") query.set("changes", "true");
    return query.size > 0 ? `${path}?${query}` : path;
  }

  /** The search of the page's URL with some options changed; what is as usual is left out. */
  search(changed) {
    const { list, feed, section, layout, width, viewer, language, cells, operators } = { ...this, ...changed };
    const query = new URLSearchParams();
    if (list !== "feed") query.set("list", list);
    if (feed) query.set("feed", feed);
    if (section) query.set("section", section);
    if (layout === "table") query.set("layout", layout);
    if (width) query.set("width", String(width));
    if (viewer) query.set("viewer", viewer);
    if (language) query.set("language", language);
    if (cells) query.set("cells", cells);
    if (operators) query.set("operators", operators);
    return query.size > 0 ? `?${query}` : "";
  }
}

/** What a request's field can say, or null. */
function told(text) {
  return /^[\x21-\x7e][\x20-\x7e]{0,999}$/.test(text ?? "") ? text : null;
}
