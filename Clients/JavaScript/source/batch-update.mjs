// Applies a response of `GET /feed/changes` to a list, and computes the batch update for a collection view.
import { isCell, isSectionHeader } from "./page.mjs";

/** Returns true if a value is a complete set of changes: all members are arrays of objects. */
export function isChanges(changes) {
  const isObject = (value) => typeof value === "object" && value !== null;
  const lists = ["removed", "inserted", "moved", "reconfigured", "pages"];
  return isObject(changes) && lists.every((name) => Array.isArray(changes[name]) && changes[name].every(isObject));
}

/**
 * Returns the list after the changes, or null if the changes do not match this list and the client must reload its pages.
 *
 * - list: the elements that represent the cells, in order. `start` and `end`: the range that was sent to the service.
 * - id(element), make(cell): return a cell's id, and the element for an inserted cell.
 *
 * Returns `{ list, moved, reconfigured }`: the set of moved elements, and a map from elements to their new cells.
 */
export function applyChanges(list, changes, { start = 0, end = list.length, id, make }) {
  if (changes?.reload || !isChanges(changes)) return null;
  const { removed, inserted, moved, reconfigured, pages } = changes;
  const count = end - start;
  const size = count - removed.length + inserted.length;
  if (size < 0 || pages.reduce((sum, page) => sum + page.count, 0) !== size) return null;

  const removedIndices = new Set();
  const remove = (index, name) => {
    const isValid = isIndex(index, count) && !removedIndices.has(index) && id(list[start + index]) === name;
    removedIndices.add(index);
    return isValid;
  };
  const after = new Array(size);
  const insert = (index, element) => {
    if (!isIndex(index, size) || after[index] !== undefined) return false;
    after[index] = element;
    return true;
  };
  const isMatching = removed.every(({ index, id }) => remove(index, id)) && moved.every(({ from, id }) => remove(from, id)) &&
    inserted.every(({ index, cell }) => isCell(cell) && insert(index, make(cell))) &&
    moved.every(({ from, to }) => insert(to, list[start + from]));
  if (!isMatching) return null;

  let position = 0;
  for (let index = 0; index < count; index += 1) {
    if (removedIndices.has(index)) continue;
    while (after[position] !== undefined) position += 1;
    after[position] = list[start + index];
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
 * Returns the batch update between two lists by section: `{ sectionsRemoved, sectionsInserted, sectionsReconfigured, removed, inserted,
 * moved, reconfigured }`. Items have index paths `[section, item]`, in the order of `performBatchUpdates`.
 *
 * `cell(element)` returns the cell of an element. `moved` contains the elements that leave their relative position; it is computed if
 * missing. `reconfigured` maps elements that stay to their new cells.
 */
export function batchUpdate(before, after, { cell, moved = minimalMoves(before, after), reconfigured = new Map() }) {
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
  for (const element of before) {
    const [header, path] = from.of(element);
    if (path !== null && !present.has(element) && staying.has(header)) update.removed.push(path);
  }
  const former = new Set(before);
  for (const element of after) {
    const [header, path] = to.of(element);
    if (path === null) continue;
    const [formerHeader, formerPath] = former.has(element) ? from.of(element) : [undefined, null];
    const isListed = staying.has(header);
    const wasListed = formerPath !== null && staying.has(formerHeader);
    if (formerPath !== null && formerHeader === header && isListed && !moved.has(element)) {
      if (reconfigured.has(element)) update.reconfigured.push(path);
    } else if (wasListed && isListed) {
      update.moved.push({ from: formerPath, to: path });
      if (reconfigured.has(element)) update.reconfigured.push(path);
    } else if (wasListed) {
      update.removed.push(formerPath);
    } else if (isListed) {
      update.inserted.push(path);
    }
  }
  update.removed.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
  return update;
}

/** The index paths of a list's items by section. A list that does not begin with a header has a section without one. */
export class IndexPaths {
  /** The header elements of the sections in order; null for the section without a header. */
  headers = [];
  /** The section indices by header element. */
  sections = new Map();
  #paths = new Map();

  constructor(list, cell) {
    if (list.length === 0 || !isSectionHeader(cell(list[0]))) this.#begin(null);
    let item = 0;
    for (const element of list) {
      if (isSectionHeader(cell(element))) {
        this.#begin(element);
        item = 0;
        this.#paths.set(element, [element, null]);
      } else {
        this.#paths.set(element, [this.headers.at(-1), [this.headers.length - 1, item]]);
        item += 1;
      }
    }
  }

  /** Returns the header element of an element's section, and its index path; the index path of a header is null. */
  of(element) {
    return this.#paths.get(element);
  }

  #begin(header) {
    this.sections.set(header, this.headers.length);
    this.headers.push(header);
  }
}

/** Returns the smallest set of common elements that must move so that the others keep their order. */
export function minimalMoves(before, after) {
  const positions = new Map(before.map((element, index) => [element, index]));
  const common = after.filter((element) => positions.has(element));
  // Longest increasing subsequence in O(n log n): the smallest end for each length, and the predecessor of each element.
  const ends = [];
  const previous = new Array(common.length);
  common.forEach((element, index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (positions.get(common[ends[middle]]) < positions.get(element)) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1];
    ends[low] = index;
  });
  const moved = new Set(common);
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) moved.delete(common[index]);
  return moved;
}
