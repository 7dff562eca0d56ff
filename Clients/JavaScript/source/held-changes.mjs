// The entries that a list displays while it holds changes of the service. What a person sees or has scrolled past stays in place; all other
// changes are displayed.
import { minimalMoves } from "./batch-update.mjs";

/**
 * - before: the displayed entries. wanted: those of the service. pinned: the number of displayed entries that stay in place.
 * - isAwaited(entry): returns true if a missing entry stays, because the service will list it again. isReturning(entry): returns true if the
 *   person shows the entry again, which then appears at once. isNews(entry): returns true if the entry counts as new or moved.
 *
 * Returns `{ entries, news, isReordered, isSame }`: the entries to display, the number of new ones that are not, true if other changes of
 * pinned entries are held, and true if nothing is held.
 */
export function displayed({ before, wanted, pinned, isAwaited, isReturning, isNews }) {
  const prefix = before.slice(0, pinned).filter((entry) => !entry.isHidden);
  if (prefix.every((entry, index) => entry === wanted[index])) return { entries: wanted, news: 0, isReordered: false, isSame: true };
  const place = new Map(wanted.map((entry, index) => [entry, index]));
  // Ads change their places with every other cell, so the order of the others counts.
  const listed = prefix.filter((entry) => place.has(entry));
  const hasNews = listed.some(isNews);
  const common = hasNews ? listed.filter(isNews) : listed;
  const moved = minimalMoves(common, wanted);
  const anchors = new Set(common.filter((entry) => !moved.has(entry)));
  // Everything after the last pinned entry that keeps its order is out of view.
  const last = common.findLast((entry) => anchors.has(entry));
  const border = last === undefined ? -1 : place.get(last);
  const entries = [...prefix];
  const present = new Set(prefix);
  const shown = new Set(before);
  // A cell that a change moves upwards stays below until then, and is never missing.
  const kept = wanted.filter((entry, index) => index < border && shown.has(entry) && !present.has(entry));
  let news = 0;
  // Cells that return directly after the border come before the pinned ones that have left their page.
  let isAdjacent = true;
  for (let index = 0; index < wanted.length && (index <= border || isAdjacent); index += 1) {
    const entry = wanted[index];
    if (present.has(entry)) continue;
    if (isReturning(entry) && !shown.has(entry)) {
      let at = placeAfter(anchors, entries, wanted, index);
      // The ads between the anchor and the cell.
      while (at < entries.length && !isNews(entries[at]) && place.get(entries[at]) < index) at += 1;
      entries.splice(at, 0, entry);
      present.add(entry);
      anchors.add(entry);
    } else if (index > border) {
      isAdjacent = false;
    } else if (!shown.has(entry) && isNews(entry)) {
      news += 1;
    }
  }
  entries.push(...kept, ...wanted.slice(border + 1).filter((entry) => !present.has(entry)));
  const isReordered = (hasNews && kept.some(isNews)) || prefix.some((entry) => isNews(entry) && !place.has(entry) && !isAwaited(entry)) || [...moved].some(isNews);
  return { entries, news, isReordered, isSame: entries.length === wanted.length && entries.every((entry, index) => entry === wanted[index]) };
}

/** Returns the index after the nearest anchor that precedes `wanted[index]`. */
function placeAfter(anchors, entries, wanted, index) {
  const before = wanted.findLast((entry, other) => other < index && anchors.has(entry));
  return entries.indexOf(before) + 1;
}
