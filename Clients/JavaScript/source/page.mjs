// A page of cells, decoded from a response.
import { ProblemError } from "./responses.mjs";

const defaultSize = { width: 300, height: 200 };
const maxLength = 4096;

/**
 * Returns the display size of a cell in points. The default of an invalid width is 300, of an invalid height 200.
 *
 * - textScale: the size of text, divided by its default size, from 0.5 to 4. The part `textHeight` of the height follows it.
 */
export function displaySize(size, textScale = 1) {
  const points = (value, fallback) => (Number.isFinite(value) && value > 0 ? Math.min(value, maxLength) : fallback);
  const height = points(size?.height, defaultSize.height);
  const scale = Math.min(Math.max(textScale, 0.5), 4) || 1;
  const growth = Math.ceil(Math.min(points(size?.textHeight, 0), height) * (scale - 1));
  return { width: points(size?.width, defaultSize.width), height: height + growth };
}

/** Returns true if a cell is a section header. A header begins its section and is not one of its items. */
export function isSectionHeader(cell) {
  return cell.id.startsWith("section:");
}

export class Page {
  /**
   * - syncToken: the token for requesting changes of the page, or undefined. omitted: the items that the page omits, as reported by the
   *   service.
   * - language: the language of the texts, or null.
   * - isDegraded: true if the ranker of the feed failed, so that the page has an earlier ranking or the feed's own order.
   */
  constructor({ cells, next, previous, syncToken, sections, omitted, language, isDegraded = false }) {
    Object.assign(this, { cells, next, previous, syncToken, sections, omitted, language, isDegraded });
  }

  /** Decodes a page. Throws `ProblemError` if the value is not a page. */
  static parse(value, language = null) {
    const { cells: entries, page } = value ?? {};
    if (!Array.isArray(entries)) throw new ProblemError({ status: 200, title: "The response is not a page", value });
    const cells = entries.filter(isCell);
    const href = (value) => (typeof value === "string" ? value : null);
    const list = (value) => (Array.isArray(value) ? value : []);
    // If cells were omitted here, the indices differ from the service's, so changes cannot be requested.
    const syncToken = cells.length === entries.length && typeof page?.syncToken === "string" ? page.syncToken : undefined;
    return new Page({
      cells, syncToken, language, next: href(page?.next), previous: href(page?.previous),
      sections: list(page?.sections).filter((name) => typeof name === "string"), omitted: list(page?.omitted),
      isDegraded: page?.degraded === true,
    });
  }
}

/** Returns true if a value is a cell: an object with an id. */
export function isCell(value) {
  return typeof value?.id === "string" && value.id !== "";
}
