// Performs the actions in the slots of cells. All slots are performed in the same way, independent of the kind of cell.
import { UnavailableError } from "./responses.mjs";
import { uuid } from "./uuid.mjs";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Returns the operation for a slot of a cell: `{ request: { method, href, hasKey, body } }`, `{ link: { href } }`, `{ bind: bindings }`, or
 * null for no operation: the slot is missing, or its action has an unknown type.
 */
export function resolveAction(cell, slot, values = {}) {
  return resolved(cell?.actions?.[slot], values);
}

/** Returns the label of an action, or another text if it has none. */
export function labelOf(action, otherwise) {
  return typeof action?.label === "string" && action.label !== "" ? action.label : otherwise;
}

const standardSlots = ["configuration", "cancellation", "selection", "deselection", "dismissal", "impression"];

/** Returns the labelled slots that a kind declares in addition to the standard ones, for a menu: `{ slot, label }`. */
export function customSlots(cell) {
  return Object.entries(cell.actions ?? {}).flatMap(([slot, action]) => {
    const label = labelOf(action, null);
    return !standardSlots.includes(slot) && label !== null && resolved(action, {}) !== null ? [{ slot, label }] : [];
  });
}

function resolved(action, values) {
  const { type, href, method = "POST", body, templated, bindings } = action ?? {};
  if (type === "bind") return bindings !== null && typeof bindings === "object" ? { bind: bindings } : null;
  if (typeof href !== "string") return null;
  if (type === "link") return { link: { href } };
  if (type !== "request" || !methods.includes(method)) return null;
  const request = { method, href: templated ? expanded(href, values) : href, hasKey: method === "POST" };
  return { request: body === undefined ? request : { ...request, body } };
}

/** Expands a URI template (RFC 6570, limited to `{name}`). */
function expanded(href, values) {
  return href.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ""));
}

/** The result of a gesture. */
class Invocation {
  /** The id, or null. An invocation without performed commands has none. */
  id = null;
  /** The slot that was performed, or null. */
  slot = null;
  /** The commands in order: `{ command, outcome }`. */
  commands = [];
  /** The screen that the app should show, or null. */
  presentation = null;
  /** The href that the app should open, or null. */
  open = null;
  /** The undo of the gesture, `{ expiresAt, isAvailable, run() }`, or null if it cannot be undone. */
  undo = null;
  /** True if the service is unavailable and the request is sent later. */
  isQueued = false;
  /** The JSON value of the response; undefined while the request is queued. */
  value;

  /** Reads a response. Members of an unexpected type are ignored. */
  read(value) {
    const text = (one) => (typeof one === "string" ? one : null);
    this.value = value;
    this.id = text(value?.invocation?.id);
    this.slot = text(value?.slot);
    this.commands = Array.isArray(value?.commands) ? value.commands.filter((one) => typeof one?.command === "string") : [];
    this.presentation = typeof value?.presentation?.screen === "string" ? value.presentation : null;
    this.open = text(value?.open?.href);
  }
}

/**
 * A performer of actions. Each gesture has an idempotency key, so that the service performs it once.
 *
 *     const actions = new Actions({ client });
 *     const invocation = await actions.perform("dismissal", entry, { optimistic: () => list.hide(entry) });
 *     await invocation.undo?.run();
 */
export class Actions {
  /**
   * - client: sends the requests. outbox: queues requests while the service is unavailable, or null.
   * - bind(bindings, options), open(href, owner, slot): the app's implementation of the action types `bind` and `link`.
   */
  constructor({ client, outbox = null, bind = () => {}, open = () => {} }) {
    Object.assign(this, { client, outbox, bind, open });
  }

  /**
   * Performs a slot of `owner.cell`. Returns null if there is no operation, otherwise an invocation: `{ id, slot, commands,
   * presentation, open, undo, isQueued, value }`.
   *
   * - key: the idempotency key of the gesture. Requests with an equal key are performed once.
   * - values: the variables of a URI template.
   * - body: the input of the slot, as described by its action's `input`.
   * - optimistic(): shows the effect immediately, and returns a function that reverts it. It is called if the service refuses, and after an
   *   undo.
   * - queueable: true if the request may be queued while the service is unavailable. It is then sent once.
   *
   * Throws `UnavailableError` or `ProblemError`.
   */
  async perform(slot, owner, options = {}) {
    return this.#run(resolveAction(owner.cell, slot, options.values), slot, owner, options);
  }

  /** Performs an action of a response, such as an undo. */
  async run(action, slot, owner, options = {}) {
    return this.#run(resolved(action, options.values ?? {}), slot, owner, options);
  }

  async #run(operation, slot, owner, options) {
    if (operation === null) return null;
    const { body, ...rest } = options;
    const invocation = new Invocation();
    if (operation.bind) this.bind(operation.bind, options);
    else if (operation.link) this.open(operation.link.href, owner, slot);
    else await this.#send(invocation, body === undefined ? operation.request : { ...operation.request, body }, slot, owner, rest);
    return invocation;
  }

  async #send(invocation, request, slot, owner, { key = uuid(), optimistic, queueable = false, ...options }) {
    const revert = optimistic?.() ?? (() => {});
    const { method, href, body } = request;
    // Queued requests are sent first: a gesture may revert the previous one.
    if (this.outbox?.pending.length > 0) await this.outbox.flush();
    if (queueable && this.outbox?.pending.length > 0) {
      this.#enqueue(invocation, { key, request, owner, slot, revert });
      return;
    }
    try {
      const response = await this.client.send(href, { method, body, key: request.hasKey ? key : undefined, answer: "commands", owner, slot, ...options });
      this.#complete(invocation, response.value, owner, revert);
    } catch (error) {
      // A person who must sign in sees that nothing was performed.
      if (!(error instanceof UnavailableError && error.isRetryable && !error.needsSignIn && queueable && this.outbox)) {
        revert();
        throw error;
      }
      this.#enqueue(invocation, { key, request, owner, slot, revert });
    }
  }

  #enqueue(invocation, { key, request, owner, slot, revert }) {
    invocation.isQueued = true;
    const pending = this.outbox.enqueue({ ...request, key, owner, slot });
    invocation.undo = {
      expiresAt: null, isAvailable: true,
      run: async () => {
        // A request that was not sent is removed; a sent one is undone by a request.
        this.outbox.remove(key);
        if (await invocation.sent) await invocation.undo?.run();
      },
    };
    invocation.sent = pending.then((response) => {
      invocation.isQueued = false;
      invocation.undo = null;
      this.#complete(invocation, response.value, owner, revert);
      return true;
    }, () => {
      revert();
      return false;
    });
  }

  #complete(invocation, value, owner, revert) {
    invocation.read(value);
    const action = value?.undo;
    if (resolved(action, {})?.request === undefined) return;
    const deadline = Date.parse(action.expiresAt);
    invocation.undo = {
      expiresAt: Number.isNaN(deadline) ? null : new Date(deadline),
      get isAvailable() {
        return !(deadline <= Date.now());
      },
      run: async () => {
        const result = await this.run(action, "undo", owner);
        revert();
        return result;
      },
    };
  }
}
