// Loads the next pages of the list, and shows a message for an empty list or a refused page.
import { ProblemError, UnavailableError } from "../responses.mjs";
import { element } from "./elements.mjs";

/** After so many consecutive pages without cells, the person decides to load more. */
const maxEmptyPages = 5;

export class FeedLoader {
  #isLoading = false;
  #isRefused = false;
  #emptyPages = 0;
  #events = new AbortController();

  /**
   * - state: the element for the message. skeletons: the outlines that are displayed until the first cells arrive. empty: the message for
   *   an empty list. reload(): loads the list again. goBack(): leads from an empty list of the viewer (`isOwn`), or from an unknown feed, to the
   *   feed. words: those of the element.
   */
  constructor({ feed, list, connection, state, skeletons, empty, reload, goBack, isOwn, words }) {
    Object.assign(this, { feed, list, connection, state, skeletons, empty, reload, goBack, isOwn, words });
    feed.addEventListener("wanting", () => this.loadNext());
    // The next page is loaded only if its cells are near: an image that fails and another that does not restore the connection again and again.
    connection.addEventListener("restored", () => (this.list.entries.length > 0 ? this.feed.schedule() : this.loadNext()), { signal: this.#events.signal });
    list.addEventListener("changed", () => this.#update());
    feed.addEventListener("rendered", () => this.#showBusy());
  }

  /** Ends the loading of further pages. */
  close() {
    this.#events.abort();
  }

  async loadNext() {
    if (this.#isLoading || this.#hasStopped || this.#events.signal.aborted || this.list.isAtEnd || this.connection.isLost) return;
    const { length } = this.list.pages.loaded;
    await this.run(() => this.list.loadNext());
    const { loaded } = this.list.pages;
    if (loaded.length > length) this.#emptyPages = loaded.at(-1).count > 0 ? 0 : this.#emptyPages + 1;
    if (this.#emptyPages === maxEmptyPages && !this.list.isAtEnd) this.#pause();
    this.feed.schedule();
  }

  get #hasStopped() {
    return this.#isRefused || this.#emptyPages >= maxEmptyPages;
  }

  /** Runs a function that loads pages, and shows a message if the service refuses. */
  async run(load) {
    this.#isLoading = true;
    this.#showBusy();
    try {
      await load();
    } catch (error) {
      // If the service is unavailable, loading continues when the connection is restored.
      if (error instanceof UnavailableError) return;
      if (!(error instanceof ProblemError)) console.warn("A page cannot be loaded.", error);
      this.#refused(error);
    } finally {
      this.#isLoading = false;
      this.#showBusy();
    }
  }

  /** The ARIA role `feed` requires articles, except while it is busy. Cells that are far away have none. */
  #showBusy() {
    const isBusy = String(this.#isLoading || (this.list.entries.length > 0 && !this.feed.hasViews));
    if (this.feed.element.ariaBusy !== isBusy) this.feed.element.ariaBusy = isBusy;
  }

  #update() {
    this.skeletons.hidden = true;
    const isEmpty = this.list.isAtEnd && this.list.entries.length === 0;
    this.state.hidden = !isEmpty && !this.#hasStopped;
    if (isEmpty && this.isOwn) this.#show(...this.empty, this.words("goBack"), this.goBack);
    else if (isEmpty) this.#show(...this.empty);
  }

  #pause() {
    this.state.hidden = false;
    this.#show(this.words("emptyPages", { count: maxEmptyPages }), [this.words("furtherPages")], this.words("loadMore"), () => {
      this.#emptyPages = 0;
      this.state.hidden = true;
      this.loadNext();
    });
  }

  #refused({ message, needsSignIn, type }) {
    this.#isRefused = true;
    this.skeletons.hidden = true;
    this.state.hidden = false;
    const hasCells = this.list.entries.length > 0;
    const isUnknown = /\/problems\/unknown-(feed|section)$/.test(type ?? "");
    this.#show(this.words(hasCells ? "pageRefused" : "feedRefused"), [needsSignIn ? this.words("signIn") : isUnknown ? this.words("noFeed") : message], ...(isUnknown ? [this.words("goBack"), this.goBack] : []));
  }

  #show(title, text, label = this.words("reload"), press = () => this.reload()) {
    // The ARIA role `feed` requires articles.
    const isFeed = this.list.entries.length > 0;
    Object.assign(this.feed.element, { role: isFeed ? "feed" : null, ariaLabel: isFeed ? this.words("feed") : null });
    const button = element("button.button", { type: "button" }, label);
    button.addEventListener("click", press);
    this.state.replaceChildren(element("h2.state-title", {}, title), element("p", {}, ...text), button);
  }
}
