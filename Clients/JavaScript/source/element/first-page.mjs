// The address of a feed's first page, from the attribute `src` and the screen.

/** The width of a table in points. */
export const tableWidth = 720;
/** Wider screens have several columns, so the service's sizes are used. */
const singleColumn = 668;

/**
 * Returns `{ base, href, isTable, list }`: the URL of the service, the href of the first page, true for a table, and the name of the
 * viewer's list (`feed`, `saved` or `dismissed`).
 *
 * - src: the URL of a page, such as `/feed?layout=table`. Its query is kept. filters: the values of the feed's filters by name.
 * - width: the width of the screen in points, for cells that have a share of it. available: the width for the rows of a table.
 * - scale: the pixels per point.
 */
export function firstPage({ src, filters, width, available, scale }) {
  const url = new URL(src, document.baseURI);
  const query = url.searchParams;
  const isTable = query.get("layout") === "table";
  const [name] = url.pathname.match(/[^/]*$/);
  const list = ["saved", "dismissed"].includes(name) ? name : "feed";
  if (!query.has("width") && isTable) query.set("width", String(Math.min(tableWidth, Math.round(available))));
  else if (!query.has("width") && width < singleColumn) query.set("width", String(Math.round(width)));
  const pixels = Math.min(3, Math.ceil(scale));
  if (!query.has("scale") && pixels > 1) query.set("scale", String(pixels));
  if (list === "feed") query.set("changes", "true");
  for (const [name, values] of list === "feed" ? Object.entries(filters) : []) for (const value of values) query.append(name, value);
  return { base: url.origin + "/", href: url.pathname.slice(1) + url.search, isTable, list };
}
