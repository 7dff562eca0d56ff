// Performs what stands in the slots of cells. One lookup serves every interaction, and nobody asks what kind of cell it is.
import { uuid } from "./elements.mjs";

export class ActionsPerformer {
  #handlers = new Map();

  register(type, handler) {
    this.#handlers.set(type, handler);
    return this;
  }

  /**
   * Performs a slot of `owner.cell`. A missing slot is legal: there is nothing to do, and the answer is null.
   * Variables are for the handler: `view` to bind, `key` of a gesture, `values` for a template.
   */
  async perform(slot, owner, variables = {}) {
    const action = owner.cell.actions?.[slot];
    return action ? this.run(action, slot, owner, variables) : null;
  }

  /** Performs an action that came with an answer instead of with the cell, such as an undo. */
  async run(action, slot, owner, variables = {}) {
    const handler = this.#handlers.get(action.type);
    return handler ? handler(action, { slot, owner, ...variables }) : null;
  }
}

/** `bind`: fill the named parts of the cell. */
export function bind(action, { view }) {
  view.bind(action.bindings);
  return null;
}

/** `request`: send it. A gesture that is repeated under the same `key` runs once on the server. */
export function request(client, background) {
  return (action, { slot, owner, key = uuid(), values = {} }) => {
    const method = action.method ?? "POST";
    return client.send(action.templated ? expand(action.href, values) : action.href, {
      method,
      body: action.body,
      headers: method === "POST" ? { "Idempotency-Key": key } : {},
      owner,
      slot,
      fetch: slot === "cancellation" ? background : undefined,
    });
  };
}

/** `link`: the cell's face is the link, and the browser follows it; what is left to do is to note it. */
export function link(journal) {
  return (action, { slot, owner }) => {
    journal.note(owner, { slot, method: "GET", href: action.href, state: "opened in a tab" });
    return null;
  };
}

/** URI templates (RFC 6570), as far as `{name}`. */
function expand(href, values) {
  return href.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ""));
}
