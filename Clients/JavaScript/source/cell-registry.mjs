// Which of an app's views show which cells: one kind of view for each reuse identifier, as an app registers its cell classes.
import { shownSize } from "./page.mjs";

/** So many views wait for each identifier; what is beyond is left to the garbage collector. */
const most = 60;

/** An identifier as a structured field has it (RFC 9651, 3.3): a token where it can be one, and a text elsewhere. */
function item(identifier) {
  return /^[A-Za-z][\w:/!#$%&'*+.^`|~-]*$/.test(identifier) ? identifier : `"${identifier.replace(/["\\]/g, "\\$&")}"`;
}

/**
 * What is registered is `{ make(identifier), bind(view, cell), size(cell), prepareForReuse(view), version }`, of which the last three may be
 * missing: it shows cells of the identifier up to that version, 1 where none is said. A view is whatever the app shows cells with.
 */
export class CellRegistry {
  #kinds = new Map();
  #waiting = new Map();

  /** `fallback` shows cells of identifiers that nobody registered. */
  constructor({ fallback }) {
    this.fallback = fallback;
  }

  register(identifier, kind) {
    this.#kinds.set(identifier, kind);
    return this;
  }

  /** The identifiers that are registered: what the app can show. */
  get identifiers() {
    return Array.from(this.#kinds.keys());
  }

  /** What tells the service which cells the app knows (`Accept-Cells`); of all others it is then sent none. */
  get acceptCells() {
    const named = Array.from(this.#kinds, ([identifier, { version = 1 }]) => item(identifier) + (version === 1 ? "" : `;v=${version}`));
    return [...named, "*;q=0"].join(", ");
  }

  /** Whether cells of an identifier have a view of their own. */
  knows(identifier) {
    return this.#kinds.has(identifier);
  }

  /** A view for a cell: one that has shown a cell of its identifier before, or a new one. */
  dequeue({ identifier }) {
    return this.#waiting.get(identifier)?.pop() ?? this.#kind(identifier).make(identifier);
  }

  /** How large a cell is shown, in points: `{ width, height }`. */
  size(cell) {
    return this.#kind(cell.identifier).size?.(cell) ?? shownSize(cell.size);
  }

  /** Has a view show a cell. What else `bind` of its kind takes follows. */
  bind(view, cell, ...more) {
    this.#kind(cell.identifier).bind(view, cell, ...more);
  }

  /** Takes a view back that has shown a cell of an identifier. */
  enqueue(identifier, view) {
    this.#kind(identifier).prepareForReuse?.(view);
    const waiting = this.#waiting.get(identifier) ?? [];
    if (waiting.length < most) waiting.push(view);
    this.#waiting.set(identifier, waiting);
  }

  #kind(identifier) {
    return this.#kinds.get(identifier) ?? this.fallback;
  }
}
