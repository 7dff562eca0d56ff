// The cells behind the view: page after page, by the hrefs that the server gives.
import { problem } from "./client.mjs";

/** The server refused a page, and asking again would not help. */
export class FeedRefusal extends Error {}

export class FeedDataSource {
  #next;
  #loading = null;

  constructor(client, href) {
    this.client = client;
    this.#next = href;
  }

  /** Whether the server said that there is no further page. */
  get isAtEnd() {
    return this.#next === null;
  }

  /** The cells of the next page; one request at a time, whoever asks. Throws `Unavailable` or `FeedRefusal`. */
  loadNext() {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load() {
    if (this.isAtEnd) return [];
    const answer = await this.client.send(this.#next, { headers: { Accept: "application/json" } });
    const { items, page } = answer.value ?? {};
    if (!answer.ok || !Array.isArray(items)) throw new FeedRefusal(problem(answer));
    this.#next = page?.next ?? null;
    return items.filter((cell) => cell !== null && typeof cell === "object");
  }
}
