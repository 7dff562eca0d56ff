// Keeps a list in step with the service: asks now and then what became of the pages around what is seen, and has the list apply it.
import { FeedRefusal } from "./feed-pages.mjs";
import { Unavailable } from "./client.mjs";

const pause = 10_000;

export class FeedChanges {
  #timer;
  #isAsking = false;

  /** `shown()` answers the indices, first and last, of what is seen in the list. */
  constructor({ list, connection, shown }) {
    Object.assign(this, { list, connection, shown });
    document.addEventListener("visibilitychange", () => this.#turned());
    list.addEventListener("outdated", () => this.ask());
    this.#turned();
  }

  /** Asks now instead of at the end of the pause. */
  async ask() {
    clearTimeout(this.#timer);
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      if (!this.connection.isLost) await this.list.follow(this.shown());
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof FeedRefusal)) throw error;
    } finally {
      this.#isAsking = false;
      this.#turned();
    }
  }

  /** Nobody looks at a page that is hidden. */
  #turned() {
    clearTimeout(this.#timer);
    if (!document.hidden) this.#timer = setTimeout(() => this.ask(), pause);
  }
}
