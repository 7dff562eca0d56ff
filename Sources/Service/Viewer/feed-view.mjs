// The collection view: puts cells where their sizes want them, asks for more before the end comes into sight, and tells each
// cell when it comes near the viewport and when it leaves.
import { FeedRefusal } from "./feed-data-source.mjs";
import { Unavailable } from "./client.mjs";

/** How far ahead of the viewport the next page is asked for, and how far around it pictures are. */
const ahead = "0px 0px 900px 0px";
const near = "150px 0px 150px 0px";

export class FeedView extends EventTarget {
  #views = new Map();
  #near = new Set();
  #count = 0;
  #isFilling = false;
  #appearance = new IntersectionObserver((entries) => this.#appeared(entries), { rootMargin: near });
  #reach = new IntersectionObserver((entries) => entries.at(-1).isIntersecting && this.#fill(), { rootMargin: ahead });

  constructor({ element, sentinel, source, makeView, connection }) {
    super();
    Object.assign(this, { element, sentinel, source, makeView });
    this.#watch();
    connection.addEventListener("restored", () => {
      for (const view of this.#near) view.appear();
      this.#watch();
    });
  }

  /** The view of the cell that an element stands in. */
  view(target) {
    return this.#views.get(target?.closest?.(".cell"));
  }

  get elements() {
    return Array.from(this.element.children);
  }

  /** Takes a cell out, and answers what puts it back into its place. */
  hide(view) {
    const place = document.createComment("dismissed");
    const neighbour = view.element.nextElementSibling ?? view.element.previousElementSibling;
    const hadFocus = view.element.contains(document.activeElement);
    view.element.replaceWith(place);
    this.#leave(view);
    this.#tell();
    if (hadFocus) this.dispatchEvent(new CustomEvent("focus-moved", { detail: neighbour }));
    return ({ focus = false } = {}) => {
      place.replaceWith(view.element);
      this.#enter(view);
      this.#tell();
      if (focus) this.dispatchEvent(new CustomEvent("focus-moved", { detail: view.element }));
    };
  }

  #append(cells) {
    const added = cells.map((cell) => this.makeView(cell, ++this.#count));
    this.element.append(...added.map((view) => view.element));
    added.forEach((view) => this.#enter(view));
    this.#tell();
  }

  #enter(view) {
    this.#views.set(view.element, view);
    this.#appearance.observe(view.element);
    this.dispatchEvent(new CustomEvent("entered", { detail: view }));
  }

  #leave(view) {
    this.#appearance.unobserve(view.element);
    this.dispatchEvent(new CustomEvent("left", { detail: view }));
    if (this.#near.delete(view)) view.disappear();
  }

  #appeared(entries) {
    for (const { target, isIntersecting } of entries) {
      const view = this.#views.get(target);
      if (!target.isConnected || this.#near.has(view) === isIntersecting) continue;
      if (isIntersecting) {
        this.#near.add(view);
        view.appear();
      } else {
        this.#near.delete(view);
        view.disappear();
      }
    }
  }

  /** An observer speaks of changes; observed anew, it says at once whether the sentinel is in reach. */
  #watch() {
    this.#reach.unobserve(this.sentinel);
    this.#reach.observe(this.sentinel);
  }

  async #fill() {
    if (this.#isFilling || this.source.isAtEnd) return;
    this.#isFilling = true;
    this.element.ariaBusy = "true";
    try {
      this.#append(await this.source.loadNext());
    } catch (error) {
      // Where the server is gone, the connection says when to go on.
      if (error instanceof FeedRefusal) this.dispatchEvent(new CustomEvent("refused", { detail: error }));
      else if (!(error instanceof Unavailable)) throw error;
      return;
    } finally {
      this.#isFilling = false;
      this.element.ariaBusy = "false";
    }
    this.#watch();
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("changed", { detail: { count: this.element.childElementCount, isAtEnd: this.source.isAtEnd } }));
  }
}
