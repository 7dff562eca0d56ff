// A layout of cells in columns, or in rows as in a table, with the sizes of the feed. It only computes numbers.

import { displaySize } from "../page.mjs";

const defaultWidth = 300;
/** The distance in points between the columns; between the rows, with the band below the cards; and below a section header. */
const columnGap = 20;
const rowGap = 52;
const headerGap = 12;
/** The height of a line of the band, and the height of the band without larger text. */
const bandLine = 20;
const band = 44;

/** Returns the width of the columns: the most frequent width of the cells. */
export function columnWidth(sizes) {
  const counts = new Map();
  for (const { width } of sizes.map(displaySize)) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width] = Array.from(counts).reduce((most, other) => (other[1] > most[1] ? other : most), [defaultWidth, 0]);
  return width;
}

export class CollectionLayout {
  frames = [];
  #rows = [];
  #filled = 0;

  /**
   * - width: the available width in points. column: the width of a column. isTable: true for one cell per row, without gaps. textScale: the
   *   text scale of the band between the rows.
   */
  constructor({ width, column = defaultWidth, isTable = false, textScale = 1 }) {
    this.width = width;
    this.isTable = isTable;
    this.rowGap = rowGap - band + Math.ceil(Math.max(band, bandLine * textScale));
    this.gap = isTable ? 0 : columnGap;
    this.track = isTable ? width : Math.min(column, width);
    this.columns = isTable ? 1 : Math.max(1, Math.floor((width + this.gap) / (column + this.gap)));
    /** The distance between the outer edges of the first and the last column. */
    this.contentWidth = this.columns * (this.track + this.gap) - this.gap;
    this.inset = Math.max(0, Math.floor((width - this.contentWidth) / 2));
  }

  get height() {
    const row = this.#rows.at(-1);
    return row === undefined ? 0 : row.bottom + row.below;
  }

  /**
   * Adds the next cell. A cell that is wider than its columns is centred on them; one that is wider than the available width is cut. All
   * cells of a row have one height. A section header has a row of its own.
   */
  add(size, { isSectionHeader = false } = {}) {
    const { height, ...wanted } = displaySize(size);
    const width = Math.min(wanted.width, this.width);
    const span = isSectionHeader ? this.columns : Math.min(this.columns, Math.ceil((width + this.gap) / (this.track + this.gap)));
    let row = this.#rows.at(-1);
    if (row === undefined || this.#filled + span > this.columns) {
      const below = this.isTable ? 0 : isSectionHeader ? headerGap : this.rowGap;
      row = { top: this.height, bottom: 0, below, first: this.frames.length };
      this.#rows.push(row);
      this.#filled = 0;
    }
    const space = span * (this.track + this.gap) - this.gap;
    const start = this.inset + this.#filled * (this.track + this.gap);
    const left = isSectionHeader ? start : Math.max(0, Math.min(this.width - width, Math.round(start + (space - width) / 2)));
    const rowHeight = Math.max(row.bottom - row.top, height);
    this.frames.push({ left, top: row.top, width, height: rowHeight, contentHeight: height, row: this.#rows.length - 1 });
    if (row.top + rowHeight > row.bottom) {
      row.bottom = row.top + rowHeight;
      for (let index = row.first; index < this.frames.length - 1; index += 1) this.frames[index] = { ...this.frames[index], height: rowHeight };
    }
    this.#filled += span;
  }

  /** Returns the cells of all rows between `top` and `bottom`: `{ first, end }`, with `end` excluded. */
  range(top, bottom) {
    const rows = this.#rows;
    const first = lowest(rows.length, (row) => rows[row].bottom > top);
    const end = lowest(rows.length, (row) => rows[row].top >= bottom);
    const cell = (row) => (row < rows.length ? rows[row].first : this.frames.length);
    return { first: cell(first), end: Math.max(cell(first), cell(end)) };
  }

  /** Returns the horizontally nearest cell of the next row, up (-1) or down (1); undefined if there is no such row. */
  neighbour(index, direction) {
    const { row, left, width } = this.frames[index];
    const other = this.#rows[row + direction];
    if (other === undefined) return undefined;
    const distance = (cell) => Math.abs(this.frames[cell].left + this.frames[cell].width / 2 - left - width / 2);
    let nearest = other.first;
    for (let cell = other.first; this.frames[cell]?.row === row + direction; cell += 1) {
      if (distance(cell) < distance(nearest)) nearest = cell;
    }
    return nearest;
  }
}

/** Returns the lowest number below `count` for which `holds` is true, or `count`. The predicate must be monotonic. */
function lowest(count, holds) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
