// The collection view: a few views for many cells. What comes near the viewport is dequeued, sized and bound; what leaves it goes back
// to the registry. Its list says what there is, its layout where it stands.
import { isHeader } from "./client/index.mjs";

/** How far around the viewport cells are in the page, from where on they are taken out, and how far around it pictures are; in points. */
const around = 2200;
const beyond = 2600;
const near = 150;
/** How far before its end the list is asked for more. */
const ahead = 900;
/** How many milliseconds of a frame go into what is not in sight yet. */
const budget = 5;
const glide = { duration: 240, easing: "cubic-bezier(.2, .7, .2, 1)" };

/** Dispatches `entered` and `left` with views, `laid-out`, `rendered`, and `wanting` where the end of the list comes near. */
export class CollectionView extends EventTarget {
  #views = new Map();
  #byElement = new WeakMap();
  #pinned = new Set();
  #frame = null;
  #layout;
  /** The indices of what is in sight, as it was last rendered. */
  #seen = { first: 0, end: 0 };
  /** The id of the cell that gets the focus when it comes; null where none is waited for. */
  #awaited = null;

  /**
   * `makeLayout(width, entries)` answers an empty layout for these entries. The views of `registry` are bound with an entry and its frame, and have `show(entry, frame)`,
   * `place(frame)`, `number(count)`, `appear()`, `disappear()` and `prepareForReuse()`.
   */
  constructor({ element, list, makeLayout, registry }) {
    super();
    Object.assign(this, { element, list, makeLayout, registry });
    this.motion = matchMedia("(prefers-reduced-motion: reduce)");
    this.#layOut();
    list.addEventListener("changed", ({ detail }) => this.#changed(detail));
    addEventListener("scroll", () => this.schedule(), { passive: true });
    addEventListener("resize", () => this.schedule());
    // Whoever goes on meanwhile is not called back.
    for (const gesture of ["keydown", "pointerdown"]) addEventListener(gesture, () => (this.#awaited = null), { capture: true });
    new ResizeObserver(() => this.resized()).observe(element);
  }

  get layout() {
    return this.#layout;
  }

  get entries() {
    return this.list.entries;
  }

  /** The indices of the first and the last entry that is seen. */
  get shown() {
    const { first, end } = this.#layout.range(this.#top, this.#top + innerHeight);
    return { first, last: Math.max(first, end - 1) };
  }

  /** The views that are in the page, in the order of the list. */
  get views() {
    return Array.from(this.#views.values()).sort((a, b) => a.entry.index - b.entry.index);
  }

  /** The view of the cell that an element stands in. */
  view(target) {
    return this.#byElement.get(target?.closest?.(".cell"));
  }

  /** How many cells an entry is away from what is in sight. */
  distance({ index }) {
    return Math.max(this.#seen.first - index, index - this.#seen.end + 1, 0);
  }

  viewOf(entry) {
    return this.#views.get(entry);
  }

  /** Keeps an entry's view in the page wherever it stands, until the answer is called. */
  pin(entry) {
    this.#pinned.add(entry);
    return () => this.#pinned.delete(entry);
  }

  /** Scrolls as little as it takes to have an entry in sight, `below` points above the lower edge. */
  reveal(entry, { below = 24 } = {}) {
    const { top, height } = this.#layout.frames[entry.index];
    const start = this.element.getBoundingClientRect().top + top;
    const { bottom: bar } = document.querySelector(".bar").getBoundingClientRect();
    const over = start - bar - 24;
    const under = start + height - (innerHeight - below);
    if (over < 0) scrollBy({ top: over, behavior: "instant" });
    else if (under > 0) scrollBy({ top: Math.min(over, under), behavior: "instant" });
    this.#render();
  }

  /** Brings an entry's cell into sight and gives it the focus: at once, or when it comes, in another entry where the service took it out. */
  focus(entry) {
    this.#awaited = null;
    if (entry === undefined) return;
    const there = entry.index >= 0 ? entry : this.entries.find(({ cell }) => cell.id === entry.cell.id);
    if (there === undefined) {
      this.#awaited = entry.cell.id;
      return;
    }
    this.reveal(there);
    this.#views.get(there)?.element.focus({ preventScroll: true });
  }

  /** What stands at the upper edge of what is seen, and how far below it: `{ entry, offset }`, or null where there is nothing. */
  anchor() {
    const top = this.#top;
    const { first } = this.#layout.range(Math.max(0, top + 1), Infinity);
    const entry = this.entries[first];
    return entry === undefined ? null : { entry, offset: this.#layout.frames[first].top - top };
  }

  /** Scrolls so that an entry stands at `offset` again. */
  hold({ entry, offset }) {
    const frame = this.#layout.frames[entry.index];
    const moved = frame === undefined ? 0 : frame.top - this.#top - offset;
    if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: "instant" });
  }

  /** Lays everything out anew where the room has another width; what is looked at stays where it is. */
  resized() {
    if (this.#layout.width !== this.element.clientWidth) this.holding(this.view(document.activeElement)?.entry)();
  }

  /** To be called before what changes the room; the answer, called behind it, lays out anew and keeps an entry in its place. */
  holding(entry) {
    const isSeen = entry !== undefined && entry.index >= 0 && this.#isInSight(entry);
    const anchor = isSeen ? { entry, offset: this.#layout.frames[entry.index].top - this.#top } : this.#top > 0 ? this.anchor() : null;
    return () => {
      if (this.#layout.width === this.element.clientWidth) return;
      this.#layOut();
      for (const view of this.#views.values()) view.place(this.#layout.frames[view.entry.index]);
      if (anchor !== null) this.hold(anchor);
      this.#render();
    };
  }

  /** Renders with the next frame. */
  schedule() {
    this.#frame ??= requestAnimationFrame(() => this.#render());
  }

  /** How far the viewport has gone below the upper edge of the cells, in points. */
  get #top() {
    const { bottom: bar } = document.querySelector(".bar").getBoundingClientRect();
    return bar - this.element.getBoundingClientRect().top;
  }

  #isInSight(entry) {
    const { first, end } = this.#layout.range(this.#top, this.#top + innerHeight);
    return first <= entry.index && entry.index < end;
  }

  #layOut() {
    this.#layout = this.makeLayout(this.element.clientWidth, this.entries);
    for (const { cell } of this.entries) this.#layout.add(this.registry.size(cell), { isHeader: isHeader(cell) });
    this.#laidOut();
  }

  #laidOut() {
    this.element.style.height = `${this.#layout.height}px`;
    this.dispatchEvent(new Event("laid-out"));
  }

  #changed({ appended, keepsPlace = false }) {
    if (appended !== undefined && appended < this.entries.length) {
      for (const { cell } of this.entries.slice(this.entries.length - appended)) {
        this.#layout.add(this.registry.size(cell), { isHeader: isHeader(cell) });
      }
      this.#laidOut();
      if (this.list.isAtEnd) for (const view of this.#views.values()) view.number(this.entries.length);
      this.#render();
      return;
    }
    const focused = this.view(document.activeElement)?.entry;
    const place = focused && this.#views.get(focused).index;
    const anchor = keepsPlace && this.#top > 0 ? this.#staying(focused) : null;
    const before = scrollY;
    this.#layOut();
    if (anchor !== null) this.hold(anchor);
    this.#move(scrollY - before);
    this.#render({ isArriving: appended === undefined });
    // Whoever was on a cell that is gone goes on with its neighbour.
    if (focused?.index < 0) this.focus(this.entries[Math.min(place, this.entries.length - 1)]);
    else if (focused && document.activeElement === document.body) this.#views.get(focused)?.element.focus({ preventScroll: true });
    const awaited = this.#awaited === null ? undefined : this.entries.find(({ cell }) => cell.id === this.#awaited);
    if (awaited !== undefined) this.focus(awaited);
  }

  /** What is seen and stays in the list that has just changed, and where it still stands: the focused one, or else the first. */
  #staying(focused) {
    const top = this.#top;
    const isStaying = ({ entry, frame }) => entry.index >= 0 && frame.top + frame.height > top && frame.top < top + innerHeight;
    const views = Array.from(this.#views.values()).filter(isStaying).sort((a, b) => a.index - b.index);
    const view = views.find(({ entry }) => entry === focused) ?? views[0];
    return view === undefined ? null : { entry: view.entry, offset: view.frame.top - top };
  }

  /** Takes out what is gone, and lets the rest glide to its new places: from where it was seen, before the page was scrolled by so much. */
  #move(scrolled) {
    for (const [entry, view] of this.#views) {
      if (entry.index < 0 || view.identifier !== entry.cell.identifier) {
        this.#recycle(entry, view);
        continue;
      }
      const from = view.frame;
      const to = this.#layout.frames[entry.index];
      if (view.cell !== entry.cell) view.show(entry, to);
      else view.place(to);
      view.number(this.#count);
      const [across, down] = [from.left - to.left, from.top - to.top + scrolled];
      if (Math.abs(across) + Math.abs(down) >= 1 && !this.motion.matches && Math.abs(down) < innerHeight) {
        view.element.animate([{ translate: `${across}px ${down}px` }, { translate: "0 0" }], glide);
      }
    }
  }

  get #count() {
    return this.list.isAtEnd ? this.entries.length : -1;
  }

  #render({ isArriving = false } = {}) {
    cancelAnimationFrame(this.#frame);
    this.#frame = null;
    const top = -this.element.getBoundingClientRect().top;
    const bottom = top + innerHeight;
    this.#seen = this.#layout.range(top, bottom);
    this.#takeOut(this.#layout.range(top - beyond, bottom + beyond));
    const seen = this.#layout.range(top - near, bottom + near);
    const wanted = this.#layout.range(top - around, bottom + around);
    for (let index = seen.first; index < seen.end; index += 1) this.#show(index, isArriving);
    const isComplete = this.#prepare(seen, wanted);
    this.#order();
    for (const [entry, view] of this.#views) {
      if (seen.first <= entry.index && entry.index < seen.end) view.appear();
      else view.disappear();
    }
    if (!isComplete) this.schedule();
    this.dispatchEvent(new Event("rendered"));
    if (this.#layout.height - bottom < ahead) this.dispatchEvent(new Event("wanting"));
  }

  #takeOut({ first, end }) {
    for (const [entry, view] of this.#views) {
      const isKept = (first <= entry.index && entry.index < end) || this.#pinned.has(entry) || view.element.contains(document.activeElement);
      if (!isKept) this.#recycle(entry, view);
    }
  }

  /** Shows what is around what is seen, the nearest first, as far as the frame has time for it. */
  #prepare(seen, { first, end }) {
    const until = performance.now() + budget;
    for (let step = 0; seen.end + step < end || seen.first - 1 - step >= first; step += 1) {
      if (performance.now() > until) return false;
      if (seen.end + step < end) this.#show(seen.end + step);
      if (seen.first - 1 - step >= first) this.#show(seen.first - 1 - step);
    }
    return true;
  }

  /** Dequeue, size, bind. */
  #show(index, isArriving = false) {
    const entry = this.entries[index];
    if (this.#views.has(entry)) return;
    const view = this.registry.dequeue(entry.cell);
    this.#byElement.set(view.element, view);
    this.#views.set(entry, view);
    this.registry.bind(view, entry.cell, entry, this.#layout.frames[index]);
    view.number(this.#count);
    if (isArriving && !this.motion.matches) view.element.animate([{ opacity: 0 }, { opacity: 1 }], glide);
    this.dispatchEvent(new CustomEvent("entered", { detail: view }));
  }

  #recycle(entry, view) {
    this.#views.delete(entry);
    this.dispatchEvent(new CustomEvent("left", { detail: view }));
    view.element.remove();
    this.registry.enqueue(view.identifier, view);
  }

  /** Puts the elements into the order in which they are read: whoever walks by tab or ear meets cells as they stand. */
  #order() {
    const focused = document.activeElement;
    let next = this.element.firstElementChild;
    for (const { element } of this.views) {
      if (element === next) next = next.nextElementSibling;
      else this.element.insertBefore(element, next);
    }
    if (focused !== document.activeElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
  }
}
