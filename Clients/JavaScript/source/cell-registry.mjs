// A registry of an app's views by reuse identifier, like the registration of cell classes in UIKit.
import { displaySize } from "./page.mjs";

/** The maximum number of pooled views for each identifier. */
const maxPooled = 60;

/** Returns an identifier as a structured field value (RFC 9651, section 3.3): a token if possible, otherwise a string. */
function fieldValue(identifier) {
  return /^[A-Za-z][\w:/!#$%&'*+.^`|~-]*$/.test(identifier) ? identifier : `"${identifier.replace(/["\\]/g, "\\$&")}"`;
}

/**
 * A registration is `{ make(identifier), bind(view, cell), size(cell), prepareForReuse(view), version }`; the last three are optional.
 * `version` is the newest version of the identifier's cells that the view supports, by default 1. A view can have any type.
 *
 *     registry.register("StoryCell", { make: () => new StoryView(), bind: (view, cell) => view.show(cell) });
 */
export class CellRegistry {
  #registrations = new Map();
  #pool = new Map();

  /** - fallback: the registration for cells with an unregistered identifier. */
  constructor({ fallback }) {
    this.fallback = fallback;
  }

  register(identifier, registration) {
    this.#registrations.set(identifier, registration);
    return this;
  }

  /** The registered identifiers. */
  get identifiers() {
    return Array.from(this.#registrations.keys());
  }

  /** The value of `Accept-Cells` for the registered identifiers. The service then sends no other cells. */
  get acceptCells() {
    const value = ([identifier, { version = 1 }]) => fieldValue(identifier) + (version === 1 ? "" : `;v=${version}`);
    return [...Array.from(this.#registrations, value), "*;q=0"].join(", ");
  }

  /** Returns true if an identifier is registered. */
  isRegistered(identifier) {
    return this.#registrations.has(identifier);
  }

  /** Returns a view for a cell: a pooled view of its identifier, or a new one. */
  dequeue({ identifier }) {
    return this.#pool.get(identifier)?.pop() ?? this.#registration(identifier).make(identifier);
  }

  /** Returns the size of a cell in points: `{ width, height }`. */
  size(cell) {
    return this.#registration(cell.identifier).size?.(cell) ?? displaySize(cell.size);
  }

  /** Fills a view with a cell. Additional arguments are passed to the registration's `bind`. */
  bind(view, cell, ...options) {
    this.#registration(cell.identifier).bind(view, cell, ...options);
  }

  /** Returns a view to the pool of an identifier. */
  recycle(identifier, view) {
    this.#registration(identifier).prepareForReuse?.(view);
    const pool = this.#pool.get(identifier) ?? [];
    if (pool.length < maxPooled) pool.push(view);
    this.#pool.set(identifier, pool);
  }

  #registration(identifier) {
    return this.#registrations.get(identifier) ?? this.fallback;
  }
}
