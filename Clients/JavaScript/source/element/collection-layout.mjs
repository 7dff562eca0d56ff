// A layout of cells in columns, or in rows as in a table. It only computes numbers.

const defaultWidth = 300;
/** The distance in points between cards, and below a section header. */
const cardGap = 16;
const headerGap = 12;
/** A column may be this share narrower than the feed's cells, so that small windows have two. */
const narrowest = 0.9;

/** Returns the width of the columns: the most frequent width of the cells. */
export function columnWidth(sizes) {
  const counts = new Map();
  for (const { width } of sizes) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width] = Array.from(counts).reduce((most, other) => (other[1] > most[1] ? other : most), [defaultWidth, 0]);
  return width;
}

export class CollectionLayout {
  frames = [];
  #rows = [];
  #filled = 0;

  /** - width: the available width in points. column: the width of a column, at least. isTable: true for one cell per row, without gaps. */
  constructor({ width, column = defaultWidth, isTable = false }) {
    this.width = width;
    this.isTable = isTable;
    this.gap = isTable ? 0 : cardGap;
    this.columns = isTable ? 1 : Math.max(1, Math.floor((width + this.gap) / (column * narrowest + this.gap)));
    /** The columns fill the width. */
    this.track = (width + this.gap) / this.columns - this.gap;
    this.contentWidth = width;
  }

  get height() {
    const row = this.#rows.at(-1);
    return row === undefined ? 0 : row.bottom + row.below;
  }

  /**
   * Adds the next cell. It gets as many columns as its width needs. All cells of a row have one height, and fill the row: if the next cell
   * has no room in it, they become wider.
   *
   * - height(width): returns the height of the cell at a width.
   */
  add({ width }, height, { isSectionHeader = false } = {}) {
    const span = isSectionHeader ? this.columns : Math.min(this.columns, Math.max(1, Math.round((width + this.gap) / (this.track + this.gap))));
    let row = this.#rows.at(-1);
    if (row === undefined || this.#filled + span > this.columns) {
      if (row !== undefined && !row.isHeader && !isSectionHeader) this.#fill(row);
      const below = this.isTable ? 0 : isSectionHeader ? headerGap : this.gap;
      row = { top: this.height, bottom: 0, below, first: this.frames.length, isHeader: isSectionHeader };
      this.#rows.push(row);
      this.#filled = 0;
    }
    const left = Math.round(this.#filled * (this.track + this.gap));
    const right = Math.round((this.#filled + span) * (this.track + this.gap) - this.gap);
    this.frames.push({ left, top: row.top, width: right - left, height: Math.ceil(height(right - left)), row: this.#rows.length - 1 });
    this.#filled += span;
    this.#level(row);
  }

  /** Gives all cells of a row the height of the highest. */
  #level(row) {
    const height = Math.max(...this.frames.slice(row.first).map((frame) => frame.height));
    row.bottom = row.top + height;
    for (let index = row.first; index < this.frames.length; index += 1) {
      if (this.frames[index].height !== height) this.frames[index] = { ...this.frames[index], height };
    }
  }

  /** Distributes the free columns of a row to its cells. */
  #fill(row) {
    const free = this.columns - this.#filled;
    if (free === 0) return;
    const count = this.frames.length - row.first;
    const more = (free * (this.track + this.gap)) / count;
    for (let number = 0; number < count; number += 1) {
      const frame = this.frames[row.first + number];
      const left = Math.round(frame.left + number * more);
      this.frames[row.first + number] = { ...frame, left, width: Math.round(frame.left + frame.width + (number + 1) * more) - left };
    }
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
