// Loads the next pages of the list, and shows a message for an empty list or a refused page.
import { ProblemError, UnavailableError } from "../responses.mjs";
import { element } from "./elements.mjs";

export class FeedLoader {
  #isLoading = false;
  #isRefused = false;
  #events = new AbortController();

  /**
   * - state: the element for the message. skeletons: the outlines that are displayed until the first cells arrive. empty: the message for
   *   an empty list. reload(): loads the list again.
   */
  constructor({ feed, list, connection, state, skeletons, empty, reload }) {
    Object.assign(this, { feed, list, connection, state, skeletons, empty, reload });
    feed.addEventListener("wanting", () => this.loadNext());
    connection.addEventListener("restored", () => this.loadNext(), { signal: this.#events.signal });
    list.addEventListener("changed", () => this.#update());
  }

  /** Ends the loading of further pages. */
  close() {
    this.#events.abort();
  }

  async loadNext() {
    if (this.#isLoading || this.#isRefused || this.#events.signal.aborted || this.list.isAtEnd || this.connection.isLost) return;
    await this.run(() => this.list.loadNext());
    this.feed.schedule();
  }

  /** Runs a function that loads pages, and shows a message if the service refuses. */
  async run(load) {
    this.#isLoading = true;
    this.feed.element.ariaBusy = "true";
    try {
      await load();
    } catch (error) {
      // If the service is unavailable, loading continues when the connection is restored.
      if (error instanceof ProblemError) this.#refused(error);
      else if (!(error instanceof UnavailableError)) throw error;
    } finally {
      this.#isLoading = false;
      this.feed.element.ariaBusy = "false";
    }
  }

  #update() {
    this.skeletons.hidden = true;
    const isEmpty = this.list.isAtEnd && this.list.entries.length === 0;
    this.state.hidden = !isEmpty;
    if (!isEmpty) return;
    this.#show(...this.empty, "Reload");
  }

  #refused({ message }) {
    this.#isRefused = true;
    this.skeletons.hidden = true;
    this.state.hidden = false;
    const hasCells = this.list.entries.length > 0;
    this.#show(hasCells ? "The next page cannot be loaded." : "The feed cannot be loaded.", [message], "Reload");
  }

  #show(title, text, label) {
    // The ARIA role `feed` requires articles.
    const isFeed = this.list.entries.length > 0;
    Object.assign(this.feed.element, { role: isFeed ? "feed" : null, ariaLabel: isFeed ? "Feed" : null });
    const button = element("button.button", { type: "button" }, label);
    button.addEventListener("click", () => this.reload());
    this.state.replaceChildren(element("h2.state-title", {}, title), element("p", {}, ...text), button);
  }
}
