// The options of the page. They are in its URL, so that a link shows the same view to everyone.

const lists = ["feed", "saved", "dismissed"];
const maxWidth = 10_000;

export class ViewOptions {
  /** - search: the query of the page's URL. Invalid values are ignored. */
  constructor(search) {
    const parameters = new URLSearchParams(search);
    const width = Number(parameters.get("width"));
    this.list = lists.includes(parameters.get("list")) ? parameters.get("list") : "feed";
    this.feed = parameters.get("feed") || null;
    this.section = parameters.get("section") || null;
    this.layout = parameters.get("layout") === "table" ? "table" : "collection";
    this.width = Number.isInteger(width) && width >= 1 && width <= maxWidth ? width : null;
    this.viewer = parameters.get("viewer")?.replace(/[\0-\x1f\x7f]/g, "") || null;
    const text = Number(parameters.get("text"));
    this.text = text >= 0.5 && text <= 4 ? text : null;
    this.language = fieldValue(parameters.get("language"));
    this.cells = fieldValue(parameters.get("cells"));
    /** The values of the feed's filters. The page's URL has them as `filter.NAME`, because a field can be named as an option. */
    this.filters = new URLSearchParams([...parameters].filter(([name]) => name.startsWith("filter.")).map(([name, value]) => [name.slice(7), value]));
    this.operators = /^https?:\/\//.test(parameters.get("operators") ?? "") ? parameters.get("operators") : null;
  }

  /**
   * Returns the URL of the operators' page that explains a feed page, from the page's href and the request's other parameters; null if the
   * option `operators` is missing.
   */
  explanation(href, { cell, viewer, cells }) {
    if (this.operators === null || !URL.canParse(this.operators)) return null;
    const asked = new URLSearchParams(href.split("?")[1] ?? "");
    const parameters = new URLSearchParams({ cell });
    for (const name of ["cursor", "limit", "layout", "width"]) if (asked.has(name)) parameters.set(name, asked.get(name));
    for (const [name, value] of this.filters) parameters.append(name, value);
    const more = { feed: this.feed, section: this.section, viewer, cells, languages: this.language };
    for (const [name, value] of Object.entries(more)) if (value) parameters.set(name, value);
    const url = new URL("explain", this.operators);
    url.hash = parameters;
    return url.href;
  }

  /** The values of the filters by name. */
  get filterValues() {
    return Object.fromEntries([...new Set(this.filters.keys())].map((name) => [name, this.filters.getAll(name)]));
  }

  /** The URL of the first page. */
  get src() {
    const feed = this.feed ?? (this.section === null ? null : "main");
    const parts = feed === null ? ["feed"] : ["feeds", feed, ...(this.section === null ? [] : ["sections", this.section])];
    const path = this.list === "feed" ? parts.map(encodeURIComponent).join("/") : this.list;
    const query = new URLSearchParams();
    if (this.layout === "table") query.set("layout", "table");
    return query.size > 0 ? `${path}?${query}` : path;
  }

  /** Returns the query of the page's URL with changed options. Default values are omitted. */
  search(changed) {
    const { list, feed, section, layout, width, viewer, text, language, cells, operators, filters } = { ...this, ...changed };
    const query = new URLSearchParams();
    if (list !== "feed") query.set("list", list);
    if (feed) query.set("feed", feed);
    if (section) query.set("section", section);
    if (layout === "table") query.set("layout", layout);
    if (width) query.set("width", String(width));
    if (viewer) query.set("viewer", viewer);
    if (text) query.set("text", String(text));
    if (language) query.set("language", language);
    if (cells) query.set("cells", cells);
    if (operators) query.set("operators", operators);
    // Another feed has other filters.
    if (list === "feed" && (feed || null) === this.feed) for (const [name, value] of filters) query.append(`filter.${name}`, value);
    return query.size > 0 ? `?${query}` : "";
  }
}

/** Returns a valid header field value, or null. */
function fieldValue(text) {
  return /^[\x21-\x7e][\x20-\x7e]{0,999}$/.test(text ?? "") ? text : null;
}
