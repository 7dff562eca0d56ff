// Performs what stands in the slots of cells. One look-up serves every gesture, and nobody asks what kind of cell it is.
import { Unavailable } from "./answers.mjs";
import { uuid } from "./uuid.mjs";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * What performing a slot comes to: `{ request: { method, href, hasKey, body } }`, `{ link: { href } }`, `{ bind: bindings }`, or null
 * where there is nothing to do: the slot is missing, or of a type that is not known here.
 */
export function planned(cell, slot, values = {}) {
  return plannedAction(cell?.actions?.[slot], values);
}

const usual = ["configuration", "cancellation", "selection", "deselection", "dismissal", "impression"];

/** The slots that a kind has beyond the usual ones and that people can be offered: `{ slot, label }`. */
export function offered(cell) {
  return Object.entries(cell.actions ?? {}).flatMap(([slot, action]) => {
    const isOffered = !usual.includes(slot) && typeof action?.label === "string" && action.label !== "" && plannedAction(action, {}) !== null;
    return isOffered ? [{ slot, label: action.label }] : [];
  });
}

function plannedAction(action, values) {
  const { type, href, method = "POST", body, templated, bindings } = action ?? {};
  if (type === "bind") return bindings !== null && typeof bindings === "object" ? { bind: bindings } : null;
  if (typeof href !== "string") return null;
  if (type === "link") return { link: { href } };
  if (type !== "request" || !methods.includes(method)) return null;
  const request = { method, href: templated ? expanded(href, values) : href, hasKey: method === "POST" };
  return { request: body === undefined ? request : { ...request, body } };
}

/** URI templates (RFC 6570), as far as `{name}`. */
function expanded(href, values) {
  return href.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ""));
}

/** What came of a gesture. */
class Performance {
  /** What the service answered; undefined where it has not been told yet. */
  value;
  /** Whether the service is away, and is told once it is back. */
  isWaiting = false;
  /** How to take it back: `{ expires, isOpen, run() }`, or null where it cannot be. */
  undo = null;
}

export class Actions {
  /**
   * - client: sends the requests. outbox: keeps those for which the service is away, or null.
   * - bind(bindings, variables), open(href, owner, slot): what this app does for the types `bind` and `link`.
   */
  constructor({ client, outbox = null, bind = () => {}, open = () => {} }) {
    Object.assign(this, { client, outbox, bind, open });
  }

  /**
   * Performs a slot of `owner.cell`. A missing slot is legal: there is nothing to do, and the answer is null. Otherwise it answers
   * `{ value, isWaiting, undo }`.
   *
   * - key: of the gesture; repeated under the same key, it is performed once.
   * - values: for the variables of a template.
   * - body: what the slot takes, as its action's `input` describes.
   * - optimistic(): shows the effect at once, and answers what takes that back: called where the service refuses, and behind an undo.
   * - waits: whether the gesture may be sent later where the service is away. It is then sent once.
   * Throws `Unavailable` or `Refusal`.
   */
  async perform(slot, owner, variables = {}) {
    return this.#run(planned(owner.cell, slot, variables.values), slot, owner, variables);
  }

  /** Performs an action that came with an answer instead of with a cell. */
  async run(action, slot, owner, variables = {}) {
    return this.#run(plannedAction(action, variables.values ?? {}), slot, owner, variables);
  }

  async #run(plan, slot, owner, variables) {
    if (plan === null) return null;
    const performance = new Performance();
    if (plan.bind) this.bind(plan.bind, variables);
    else if (plan.link) this.open(plan.link.href, owner, slot);
    else await this.#send(performance, plan.request, slot, owner, variables);
    return performance;
  }

  async #send(performance, planned, slot, owner, { key = uuid(), optimistic, waits = false, body = planned.body, ...options }) {
    const takeBack = optimistic?.() ?? (() => {});
    const request = { ...planned, body };
    const { method, href } = request;
    // What waits goes first: a gesture may undo the one before.
    if (this.outbox?.waiting.length > 0) await this.outbox.flush();
    if (waits && this.outbox?.waiting.length > 0) {
      performance.isWaiting = true;
      this.#wait(performance, { key, request, owner, slot, takeBack });
      return;
    }
    try {
      const answer = await this.client.send(href, { method, body, key: request.hasKey ? key : undefined, owner, slot, ...options });
      this.#performed(performance, answer.value, owner, takeBack);
    } catch (error) {
      if (!(error instanceof Unavailable && error.isRetried && waits && this.outbox)) {
        takeBack();
        throw error;
      }
      performance.isWaiting = true;
      this.#wait(performance, { key, request, owner, slot, takeBack });
    }
  }

  #wait(performance, { key, request, owner, slot, takeBack }) {
    const kept = this.outbox.keep({ ...request, key, owner, slot });
    performance.undo = {
      expires: null, isOpen: true,
      run: async () => {
        // What has not been sent need never be; what has been is taken back as ever.
        this.outbox.drop(key);
        if (await performance.sent) await performance.undo?.run();
      },
    };
    performance.sent = kept.then((answer) => {
      performance.isWaiting = false;
      performance.undo = null;
      this.#performed(performance, answer.value, owner, takeBack);
      return true;
    }, () => {
      takeBack();
      return false;
    });
  }

  #performed(performance, value, owner, takeBack) {
    performance.value = value;
    const action = value?.undo;
    if (plannedAction(action, {})?.request === undefined) return;
    const deadline = Date.parse(action.expires);
    performance.undo = {
      expires: Number.isNaN(deadline) ? null : new Date(deadline),
      get isOpen() {
        return !(deadline <= Date.now());
      },
      run: async () => {
        const answer = await this.run(action, "undo", owner);
        takeBack();
        return answer;
      },
    };
  }
}
