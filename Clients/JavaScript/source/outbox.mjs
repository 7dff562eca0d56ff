// A queue of requests for an unavailable service. They are sent in the order of the gestures, each with its idempotency key.
import { DetailEvent } from "./detail-event.mjs";
import { ProblemError, UnavailableError } from "./responses.mjs";

/** The time in milliseconds for which the service remembers a key. Why: afterwards a repeated gesture would be performed twice. */
const maxAge = 24 * 60 * 60 * 1000;
const maxPending = 200;

/** A queue of gestures. Dispatches `sent` and `refused`, with `{ gesture, response }` or `{ gesture, error }` as details. */
export class Outbox extends EventTarget {
  #pending = [];
  #active = null;
  #flushing = null;
  #completions = new Map();
  /** The keys of completed gestures that are still in the storage because it could not be written. */
  #ended = new Set();

  /**
   * - connection: dispatches `restored` if the service is available again. Without one, the app calls `flush()`.
   * - storage: stores gestures beyond the life of the page, with `getItem` and `setItem`, such as `localStorage`. name: the key of one
   *   viewer's gestures. Several pages may share the storage; a gesture is then sent by either page or by both, with one key.
   */
  constructor({ client, connection = client.connection, storage = null, name = `intertwine.outbox.${client.viewer}`, now = Date.now }) {
    super();
    Object.assign(this, { client, storage, name, now });
    this.#pending = this.#stored();
    connection?.addEventListener("restored", () => this.flush());
    // Gestures of an earlier page are sent at the start: an available service never dispatches `restored`.
    if (connection && !connection.isLost && this.#pending.length > 0) setTimeout(() => this.flush());
  }

  /** The queued gestures, oldest first. */
  get pending() {
    return this.#pending.slice();
  }

  /** Queues a request. The promise has its response, and rejects with `ProblemError`, or with `UnavailableError` if it was never sent. */
  enqueue({ key, method, href, body, hasKey = method === "POST", owner, slot }) {
    if (this.#pending.length >= maxPending) return Promise.reject(new UnavailableError("the queue is full"));
    const gesture = { key, method, href, body, hasKey, owner, slot, createdAt: this.now() };
    this.#pending.push(gesture);
    this.#store((stored) => [...stored, gesture]);
    return new Promise((resolve, reject) => this.#completions.set(key, { resolve, reject }));
  }

  /** Removes a gesture. Returns false if it was sent or does not exist. */
  remove(key) {
    const index = this.#pending.findIndex((gesture) => gesture.key === key);
    if (index < 0 || this.#active?.key === key) return false;
    this.#pending.splice(index, 1);
    this.#completions.get(key)?.reject(new UnavailableError("removed before it was sent"));
    this.#completions.delete(key);
    this.#removeStored(key);
    return true;
  }

  /** Sends the queued gestures until the service is unavailable. Concurrent calls share one run. */
  flush() {
    this.#flushing ??= this.#sendAll().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #sendAll() {
    for (;;) {
      this.#merge();
      const [gesture] = this.#pending;
      if (gesture === undefined) return;
      if (this.now() - gesture.createdAt >= maxAge) {
        this.#end(gesture, "refused", { error: new UnavailableError("the service was unavailable for too long") });
        continue;
      }
      this.#active = gesture;
      try {
        const { key, method, href, body, hasKey, owner, slot } = gesture;
        const response = await this.client.send(href, { method, body, key: hasKey ? key : undefined, answer: "commands", owner, slot });
        this.#end(gesture, "sent", { response });
      } catch (error) {
        // Gestures wait until the viewer is signed in again. An error of the function `token` means the same.
        const isSignedOut = error.needsSignIn || (this.client.token && !(error instanceof ProblemError));
        if (error instanceof UnavailableError || isSignedOut) return;
        this.#end(gesture, "refused", { error });
      } finally {
        this.#active = null;
      }
    }
  }

  #end(gesture, type, outcome) {
    this.#pending = this.#pending.filter(({ key }) => key !== gesture.key);
    this.#removeStored(gesture.key);
    const completion = this.#completions.get(gesture.key);
    this.#completions.delete(gesture.key);
    if (type === "sent") completion?.resolve(outcome.response);
    else completion?.reject(outcome.error);
    this.dispatchEvent(new DetailEvent(type, { gesture, ...outcome }));
  }

  #stored() {
    try {
      const stored = JSON.parse(this.storage?.getItem(this.name) ?? "[]");
      const isGesture = ({ key, href, createdAt } = {}) => typeof key === "string" && typeof href === "string" && Number.isFinite(createdAt);
      return stored.filter((gesture) => gesture !== null && isGesture(gesture)).slice(0, maxPending);
    } catch {
      return [];
    }
  }

  /** Adds gestures that other pages stored, and removes gestures that other pages sent or removed. */
  #merge() {
    if (this.storage === null) return;
    const found = this.#stored();
    this.#ended = new Set(found.map(({ key }) => key).filter((key) => this.#ended.has(key)));
    const stored = found.filter(({ key }) => !this.#ended.has(key));
    const keys = new Set(stored.map(({ key }) => key));
    const own = this.#pending.filter(({ key }) => this.#completions.has(key) || keys.has(key));
    const known = new Set(own.map(({ key }) => key));
    this.#pending = [...own, ...stored.filter(({ key }) => !known.has(key))].sort((one, other) => one.createdAt - other.createdAt);
  }

  #removeStored(key) {
    this.#ended.add(key);
    this.#store((stored) => stored.filter((gesture) => gesture.key !== key));
  }

  /** Updates the storage, which may contain gestures of other pages. */
  #store(change) {
    try {
      const gestures = change(this.#stored()).slice(-maxPending);
      this.storage?.setItem(this.name, JSON.stringify(gestures.map(({ owner, ...gesture }) => gesture)));
    } catch {
      // The storage can be full or denied. The gestures then live as long as the page.
    }
  }
}
