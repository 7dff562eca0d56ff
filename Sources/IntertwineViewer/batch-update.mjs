// Applies what `GET /feed/changes` answers to a list, as a batch update of a collection view.

/**
 * The list after the changes. `list` holds whatever stands for the cells, in their order; `make(cell)` makes one more, and
 * `reconfigure(one, cell)` gives one a new cell. `start` is the index in the list from which the server counts.
 */
export function updated(list, { removed, inserted, moved, reconfigured }, { start = 0, make, reconfigure }) {
  const leaving = new Set([...removed.map(({ index }) => index), ...moved.map(({ from }) => from)]);
  const after = list.filter((_, index) => !leaving.has(index - start));
  const arriving = [
    ...inserted.map(({ index, cell }) => ({ to: index, one: make(cell) })),
    ...moved.map(({ from, to }) => ({ to, one: list[start + from] })),
  ];
  for (const { to, one } of arriving.sort((a, b) => a.to - b.to)) after.splice(start + to, 0, one);
  for (const { index, cell } of reconfigured) reconfigure(after[start + index], cell);
  return after;
}
