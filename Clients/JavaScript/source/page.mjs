// A page of cells as the service answers it, without what a client cannot use.
import { Refusal } from "./answers.mjs";

const usual = { width: 300, height: 200 };
const largest = 4096;

/** A cell's size in points as it is shown: what is no size is 300 by 200. */
export function shownSize(size) {
  const points = (value, otherwise) => (Number.isFinite(value) && value > 0 ? Math.min(value, largest) : otherwise);
  return { width: points(size?.width, usual.width), height: points(size?.height, usual.height) };
}

/** Whether a cell is the header of a section: the section begins with it, and it is none of its items. */
export function isHeader(cell) {
  return cell.id.startsWith("section:");
}

export class Page {
  /**
   * `since` is what changes of it are asked for with, or undefined; `omitted` what was left out, as the service tells it; `language` that
   * of its texts, or null.
   */
  constructor({ cells, next, previous, since, sections, omitted, language }) {
    Object.assign(this, { cells, next, previous, since, sections, omitted, language });
  }

  /** Reads an answer. Throws `Refusal` where it is no page. */
  static of(value, language = null) {
    const { items, page } = value ?? {};
    if (!Array.isArray(items)) throw new Refusal({ status: 200, title: "This is no page of a feed", value });
    const cells = items.filter(isCell);
    const href = (value) => (typeof value === "string" ? value : null);
    const list = (value) => (Array.isArray(value) ? value : []);
    // With cells left out, indices would not be the service's.
    const since = cells.length === items.length && typeof page?.since === "string" ? page.since : undefined;
    return new Page({
      cells, since, language, next: href(page?.next), previous: href(page?.previous),
      sections: list(page?.sections).filter((name) => typeof name === "string"), omitted: list(page?.omitted),
    });
  }
}

/** Whether a value can be shown as a cell at all: it has an id. */
export function isCell(value) {
  return typeof value?.id === "string" && value.id !== "";
}
