// Applies what `GET /feed/changes` answers to a list, and says it as a batch update of a collection view.
import { isCell, isHeader } from "./page.mjs";

/** Whether an answer has all the parts of one that says what became of pages, each of them a list of objects. */
export function isReadable(answer) {
  const isObject = (one) => typeof one === "object" && one !== null;
  return isObject(answer) && ["removed", "inserted", "moved", "reconfigured", "pages"].every((name) => Array.isArray(answer[name]) && answer[name].every(isObject));
}

/**
 * The list after the changes, or null where the answer is not about this list, which then has to be taken anew.
 *
 * - list: whatever stands for the cells, in their order. `start` and `end`: the part of it that the service was asked about.
 * - id(one), make(cell): a cell's id, and what stands for one more cell.
 * Answers `{ list, moved, reconfigured }`: what moved, as a set, and the new cells of what stays, by what stands for them.
 */
export function applied(list, answer, { start = 0, end = list.length, id, make }) {
  if (answer?.reload || !isReadable(answer)) return null;
  const { removed, inserted, moved, reconfigured, pages } = answer;
  const count = end - start;
  const size = count - removed.length + inserted.length;
  if (size < 0 || pages.reduce((sum, page) => sum + page.count, 0) !== size) return null;

  const leaving = new Set();
  const leaves = (index, name) => {
    const isThere = isIndex(index, count) && !leaving.has(index) && id(list[start + index]) === name;
    leaving.add(index);
    return isThere;
  };
  const after = new Array(size);
  const arrives = (index, one) => {
    if (!isIndex(index, size) || after[index] !== undefined) return false;
    after[index] = one;
    return true;
  };
  const isAbout = removed.every(({ index, id }) => leaves(index, id)) && moved.every(({ from, id }) => leaves(from, id)) &&
    inserted.every(({ index, cell }) => isCell(cell) && arrives(index, make(cell))) &&
    moved.every(({ from, to }) => arrives(to, list[start + from]));
  if (!isAbout) return null;

  let place = 0;
  for (let index = 0; index < count; index += 1) {
    if (leaving.has(index)) continue;
    while (after[place] !== undefined) place += 1;
    after[place] = list[start + index];
  }
  const shown = new Map();
  for (const { index, cell } of reconfigured) {
    if (!isIndex(index, size) || !isCell(cell) || id(after[index]) !== cell.id) return null;
    shown.set(after[index], cell);
  }
  return {
    list: [...list.slice(0, start), ...after, ...list.slice(end)],
    moved: new Set(moved.map(({ from }) => list[start + from])),
    reconfigured: shown,
  };
}

function isIndex(value, count) {
  return Number.isInteger(value) && value >= 0 && value < count;
}

/**
 * What leads from one list to another, in sections: `{ sectionsRemoved, sectionsInserted, sectionsReconfigured, removed, inserted,
 * moved, reconfigured }`, items by index paths `[section, item]`, in the order that `performBatchUpdates` takes.
 *
 * `cell(one)` is the cell of what stands in the lists; `moved` says what does not keep its place among the others, and is found out
 * where nobody says; `reconfigured` has what stays and shows something else.
 */
export function difference(before, after, { cell, moved = displaced(before, after), reconfigured = new Map() }) {
  const from = new IndexPaths(before, cell);
  const to = new IndexPaths(after, cell);
  const staying = new Set(from.headers.filter((header) => to.sections.has(header) && !moved.has(header)));
  const update = {
    sectionsRemoved: from.headers.flatMap((header, index) => (staying.has(header) ? [] : [index])).reverse(),
    sectionsInserted: to.headers.flatMap((header, index) => (staying.has(header) ? [] : [index])),
    sectionsReconfigured: to.headers.flatMap((header, index) => (staying.has(header) && reconfigured.has(header) ? [index] : [])),
    removed: [], inserted: [], moved: [], reconfigured: [],
  };
  const present = new Set(after);
  for (const one of before) {
    const [header, path] = from.of(one);
    if (path !== null && !present.has(one) && staying.has(header)) update.removed.push(path);
  }
  const former = new Set(before);
  for (const one of after) {
    const [header, path] = to.of(one);
    if (path === null) continue;
    const [formerHeader, formerPath] = former.has(one) ? from.of(one) : [undefined, null];
    const isThere = staying.has(header);
    const wasThere = formerPath !== null && staying.has(formerHeader);
    if (formerPath !== null && formerHeader === header && isThere && !moved.has(one)) {
      if (reconfigured.has(one)) update.reconfigured.push(path);
    } else if (wasThere && isThere) {
      update.moved.push({ from: formerPath, to: path });
      if (reconfigured.has(one)) update.reconfigured.push(path);
    } else if (wasThere) {
      update.removed.push(formerPath);
    } else if (isThere) {
      update.inserted.push(path);
    }
  }
  update.removed.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
  return update;
}

/** Where items stand in the sections of a list. A list that does not begin with a header has a section without one. */
export class IndexPaths {
  /** What stands for the headers of the sections in order; null for the section without one. */
  headers = [];
  /** The indices of sections by their headers. */
  sections = new Map();
  #paths = new Map();

  constructor(list, cell) {
    if (list.length === 0 || !isHeader(cell(list[0]))) this.#begin(null);
    let item = 0;
    for (const one of list) {
      if (isHeader(cell(one))) {
        this.#begin(one);
        item = 0;
        this.#paths.set(one, [one, null]);
      } else {
        this.#paths.set(one, [this.headers.at(-1), [this.headers.length - 1, item]]);
        item += 1;
      }
    }
  }

  /** The header of the section that something stands in, and its index path; null in its place for the header itself. */
  of(one) {
    return this.#paths.get(one);
  }

  #begin(header) {
    this.sections.set(header, this.headers.length);
    this.headers.push(header);
  }
}

/** The fewest of what is in both lists that have to move for the others to keep their order. */
function displaced(before, after) {
  const places = new Map(before.map((one, index) => [one, index]));
  const common = after.filter((one) => places.has(one));
  // The longest run of rising places, by patience: the lowest end for each length, and who came before each.
  const ends = [];
  const previous = new Array(common.length);
  common.forEach((one, index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places.get(common[ends[middle]]) < places.get(one)) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1];
    ends[low] = index;
  });
  const moved = new Set(common);
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) moved.delete(common[index]);
  return moved;
}
