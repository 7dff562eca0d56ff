// Where cells stand: in rows of columns, or one below the other as in a table, each at the size that the feed gives. Only numbers.

import { shownSize } from "./client/index.mjs";

const usual = 300;

/** How wide the columns for these cells are: as wide as most of them. */
export function columnWidth(sizes) {
  const counts = new Map();
  for (const { width } of sizes.map(shownSize)) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width] = Array.from(counts).reduce((most, other) => (other[1] > most[1] ? other : most), [usual, 0]);
  return width;
}

export class CollectionLayout {
  frames = [];
  #rows = [];
  #filled = 0;

  /** `width` is the room in points, `column` how wide a column is; `isTable` gives each cell a row of its own, without gaps. */
  constructor({ width, column = usual, isTable = false }) {
    this.width = width;
    this.gap = isTable ? 0 : 20;
    this.track = isTable ? width : Math.min(column, width);
    this.columns = isTable ? 1 : Math.max(1, Math.floor((width + this.gap) / (column + this.gap)));
    /** From the left edge of the first column to the right edge of the last. */
    this.contentWidth = this.columns * (this.track + this.gap) - this.gap;
    this.inset = Math.max(0, Math.floor((width - this.contentWidth) / 2));
  }

  get height() {
    return this.#rows.at(-1)?.bottom ?? 0;
  }

  /**
   * Places the next cell. One that is wider than its columns stands out of them evenly, one that is wider than the room is cut there.
   * A cell that `isHeader` begins a row and has it for itself.
   */
  add(size, { isHeader = false } = {}) {
    const { height, ...wanted } = shownSize(size);
    const width = Math.min(wanted.width, this.width);
    const span = isHeader ? this.columns : Math.min(this.columns, Math.ceil((width + this.gap) / (this.track + this.gap)));
    let row = this.#rows.at(-1);
    if (row === undefined || this.#filled + span > this.columns) {
      row = { top: row === undefined ? 0 : row.bottom + this.gap, bottom: 0, first: this.frames.length };
      this.#rows.push(row);
      this.#filled = 0;
    }
    const room = span * (this.track + this.gap) - this.gap;
    const start = this.inset + this.#filled * (this.track + this.gap);
    const left = isHeader ? start : Math.max(0, Math.min(this.width - width, Math.round(start + (room - width) / 2)));
    this.frames.push({ left, top: row.top, width, height, row: this.#rows.length - 1 });
    row.bottom = Math.max(row.bottom, row.top + height);
    this.#filled += span;
  }

  /** The cells of all rows that meet the stretch from `top` to `bottom`: `{ first, end }`, the end not included. */
  range(top, bottom) {
    const rows = this.#rows;
    const first = lowest(rows.length, (row) => rows[row].bottom > top);
    const end = lowest(rows.length, (row) => rows[row].top >= bottom);
    const cell = (row) => (row < rows.length ? rows[row].first : this.frames.length);
    return { first: cell(first), end: Math.max(cell(first), cell(end)) };
  }

  /** The cell of the next row, up (-1) or down (1), whose middle is nearest to this one's; undefined where there is none. */
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

/** The lowest number below `count` for which `holds`, or `count`. It holds for all numbers above one for which it does. */
function lowest(count, holds) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
