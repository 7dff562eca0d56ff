// Gestures for which the service was away. They are sent once it is back, in the order in which they were made, each under its key.
import { Unavailable } from "./answers.mjs";
import { Told } from "./told.mjs";

/** For so long the service knows a key again; later the same gesture would be performed twice. */
const longest = 24 * 60 * 60 * 1000;
/** How many gestures wait at most. */
const most = 200;

/** Dispatches `sent` and `refused`, with the gesture and `answer` or `error` as details. */
export class Outbox extends EventTarget {
  #waiting = [];
  #underWay = null;
  #flushing = null;
  #settle = new Map();
  /** Keys of what was sent or taken back, and is still stored where storage takes nothing any more. */
  #ended = new Set();

  /**
   * - connection: says when the service is back. Without one, `flush()` is for the app to call.
   * - storage: where gestures outlive the page, with `getItem` and `setItem`, such as `localStorage`; those of one viewer by `name`. Several
   *   pages may share it: what one has kept is sent by whichever comes to it first, or by both under one key.
   */
  constructor({ client, connection = client.connection, storage = null, name = `intertwine.outbox.${client.viewer}`, now = Date.now }) {
    super();
    Object.assign(this, { client, storage, name, now });
    this.#waiting = this.#stored();
    connection?.addEventListener("restored", () => this.flush());
    // What an earlier page left is sent as soon as the app is set up: the service may be there all along, and never be back.
    if (connection && !connection.isLost && this.#waiting.length > 0) setTimeout(() => this.flush());
  }

  /** The gestures that wait, the oldest first. */
  get waiting() {
    return this.#waiting.slice();
  }

  /** Keeps a request for later; the promise is of its answer, and fails with `Refusal`, or with `Unavailable` where it was never sent. */
  keep({ key, method, href, body, hasKey = method === "POST", owner, slot }) {
    if (this.#waiting.length >= most) return Promise.reject(new Unavailable("too many gestures wait already"));
    const gesture = { key, method, href, body, hasKey, owner, slot, made: this.now() };
    this.#waiting.push(gesture);
    this.#store((stored) => [...stored, gesture]);
    return new Promise((succeed, fail) => this.#settle.set(key, { succeed, fail }));
  }

  /** Gives up a gesture; answers whether it had not been sent. */
  drop(key) {
    const index = this.#waiting.findIndex((gesture) => gesture.key === key);
    if (index < 0 || this.#underWay?.key === key) return false;
    this.#waiting.splice(index, 1);
    this.#settle.get(key)?.fail(new Unavailable("taken back before it was sent"));
    this.#settle.delete(key);
    this.#forget(key);
    return true;
  }

  /** Sends what waits; one at a time, whoever asks. Ends where the service is away. */
  flush() {
    this.#flushing ??= this.#sendAll().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #sendAll() {
    for (;;) {
      this.#merge();
      const [gesture] = this.#waiting;
      if (gesture === undefined) return;
      if (this.now() - gesture.made >= longest) {
        this.#end(gesture, "refused", { error: new Unavailable("the service was away for too long") });
        continue;
      }
      this.#underWay = gesture;
      try {
        const { key, method, href, body, hasKey, owner, slot } = gesture;
        const answer = await this.client.send(href, { method, body, key: hasKey ? key : undefined, owner, slot });
        this.#end(gesture, "sent", { answer });
      } catch (error) {
        if (error instanceof Unavailable) return;
        this.#end(gesture, "refused", { error });
      } finally {
        this.#underWay = null;
      }
    }
  }

  #end(gesture, type, outcome) {
    this.#waiting = this.#waiting.filter(({ key }) => key !== gesture.key);
    this.#forget(gesture.key);
    const settle = this.#settle.get(gesture.key);
    this.#settle.delete(gesture.key);
    if (type === "sent") settle?.succeed(outcome.answer);
    else settle?.fail(outcome.error);
    this.dispatchEvent(new Told(type, { gesture, ...outcome }));
  }

  #stored() {
    try {
      const stored = JSON.parse(this.storage?.getItem(this.name) ?? "[]");
      const isGesture = ({ key, href, made } = {}) => typeof key === "string" && typeof href === "string" && Number.isFinite(made);
      return stored.filter((gesture) => gesture !== null && isGesture(gesture)).slice(0, most);
    } catch {
      return [];
    }
  }

  /** Takes over what other pages have kept, and lets go of what was theirs and is sent or taken back by now. */
  #merge() {
    if (this.storage === null) return;
    const found = this.#stored();
    this.#ended = new Set(found.map(({ key }) => key).filter((key) => this.#ended.has(key)));
    const stored = found.filter(({ key }) => !this.#ended.has(key));
    const keys = new Set(stored.map(({ key }) => key));
    const own = this.#waiting.filter(({ key }) => this.#settle.has(key) || keys.has(key));
    const known = new Set(own.map(({ key }) => key));
    this.#waiting = [...own, ...stored.filter(({ key }) => !known.has(key))].sort((one, other) => one.made - other.made);
  }

  #forget(key) {
    this.#ended.add(key);
    this.#store((stored) => stored.filter((gesture) => gesture.key !== key));
  }

  /** Changes what is stored, in which other pages have theirs. */
  #store(change) {
    try {
      const gestures = change(this.#stored()).slice(-most);
      this.storage?.setItem(this.name, JSON.stringify(gestures.map(({ owner, ...gesture }) => gesture)));
    } catch {
      // Storage can be full or denied: the gestures then live as long as the page.
    }
  }
}
