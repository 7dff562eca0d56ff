// Asks for more cells as they are wanted, and says in a sentence where there are none and what to do then.
import { Refusal, Unavailable } from "./client/index.mjs";
import { element } from "./elements.mjs";

export class FeedFiller {
  #isFilling = false;
  #isRefused = false;

  /** `state` is where the sentence stands, `skeletons` what stands for cells until the first ones come; `empty` what an empty list says. */
  constructor({ feed, list, connection, state, skeletons, empty }) {
    Object.assign(this, { feed, list, connection, state, skeletons, empty });
    feed.addEventListener("wanting", () => this.fill());
    connection.addEventListener("restored", () => this.fill());
    list.addEventListener("changed", () => this.#tell());
  }

  async fill() {
    if (this.#isFilling || this.#isRefused || this.list.isAtEnd || this.connection.isLost) return;
    await this.attempt(() => this.list.loadNext());
    this.feed.schedule();
  }

  /** Runs what loads pages; where the server refuses one, that is told. */
  async attempt(load) {
    this.#isFilling = true;
    this.feed.element.ariaBusy = "true";
    try {
      await load();
    } catch (error) {
      // Where the server is gone, the connection says when to go on.
      if (error instanceof Refusal) this.#refused(error);
      else if (!(error instanceof Unavailable)) throw error;
    } finally {
      this.#isFilling = false;
      this.feed.element.ariaBusy = "false";
    }
  }

  #tell() {
    this.skeletons.hidden = true;
    const isEmpty = this.list.isAtEnd && this.list.entries.length === 0;
    this.state.hidden = !isEmpty;
    if (!isEmpty) return;
    this.#show(...this.empty, "Look again");
  }

  #refused({ message }) {
    this.#isRefused = true;
    this.skeletons.hidden = true;
    this.state.hidden = false;
    const isBegun = this.list.entries.length > 0;
    this.#show(isBegun ? "The feed does not go on here." : "The feed cannot be shown.", [message], "Start over");
  }

  #show(title, text, label) {
    // Without articles it is no feed.
    const isFeed = this.list.entries.length > 0;
    Object.assign(this.feed.element, { role: isFeed ? "feed" : null, ariaLabel: isFeed ? "Feed" : null });
    const button = element("button.button", { type: "button" }, label);
    button.addEventListener("click", () => location.reload());
    this.state.replaceChildren(element("h2.state-title", {}, title), element("p.quiet", {}, ...text), button);
  }
}
