// Views that show nothing at the moment, by the identifier of the cells that they are for.

/** So many wait for each identifier; what is beyond is left to the garbage collector. */
const most = 60;

export class ReuseQueue {
  #views = new Map();

  /** A view that has shown a cell of this identifier before, or undefined. */
  dequeue(identifier) {
    return this.#views.get(identifier)?.pop();
  }

  enqueue(identifier, view) {
    const waiting = this.#views.get(identifier) ?? [];
    if (waiting.length < most) waiting.push(view);
    this.#views.set(identifier, waiting);
  }
}
