// A collection view, which displays many cells with few views. A cell near the viewport gets a view from the registry, and returns it when
// it is far away. The list defines the cells, the layout their frames.
import { isSectionHeader } from "../page.mjs";

/**
 * Distances from the viewport in points: cells within `around` have a view, cells beyond `beyond` are recycled, and cells within `near`
 * load their images.
 */
const around = 2200;
const beyond = 2600;
const near = 150;
/** The distance from the end of the list at which the next page is loaded. */
const ahead = 1200;
/**
 * The limits of a frame for cells that are not visible yet: milliseconds of scripts, and cells. The browser needs several times as long for
 * style, layout and paint of a new cell.
 */
const budget = 5;
const cellsPerFrame = 6;
const glide = { duration: 240, easing: "cubic-bezier(.2, .7, .2, 1)" };

/** Dispatches `entered` and `left` with a view, `laid-out`, `rendered`, and `wanting` near the end of the list. */
export class CollectionView extends EventTarget {
  #views = new Map();
  #byElement = new WeakMap();
  #pinned = new Set();
  #frame = null;
  #layout;
  #events = new AbortController();
  // A layout during the observation would change observed sizes again, which the browser reports as an error.
  #resizes = new ResizeObserver(() => requestAnimationFrame(() => this.#events.signal.aborted || this.resized()));
  /** The indices of the visible cells at the last rendering. */
  #seen = { first: 0, end: 0 };
  /** The id of the cell that gets the focus when it appears, or null. */
  #pendingFocus = null;

  /**
   * - makeLayout(width, entries): returns an empty layout. registry: its views are bound with an entry and a frame, and have `isCurrent`,
   *   `show(entry, frame)`, `place(frame)`, `number(count)`, `appear()`, `disappear()` and `prepareForReuse()`.
   * - insets(): returns the points at the upper and lower edge of the window that other elements cover: `{ top, bottom }`.
   */
  constructor({ element, list, makeLayout, registry, insets }) {
    super();
    Object.assign(this, { element, list, makeLayout, registry, insets });
    this.motion = matchMedia("(prefers-reduced-motion: reduce)");
    this.#updateLayout();
    const { signal } = this.#events;
    list.addEventListener("changed", ({ detail }) => this.#changed(detail), { signal });
    list.pinned = () => this.#pinnedCount;
    // Elements other than the window may scroll.
    addEventListener("scroll", () => this.schedule(), { passive: true, capture: true, signal });
    addEventListener("resize", () => this.schedule(), { signal });
    // Any input of the user cancels the pending focus.
    for (const gesture of ["keydown", "pointerdown"]) addEventListener(gesture, () => (this.#pendingFocus = null), { capture: true, signal });
    this.#resizes.observe(element);
  }

  /** Removes all views, and ends all observations. */
  close() {
    this.#events.abort();
    this.#resizes.disconnect();
    cancelAnimationFrame(this.#frame);
    for (const [entry, view] of this.#views) this.#recycle(entry, view);
  }

  get layout() {
    return this.#layout;
  }

  get entries() {
    return this.list.entries;
  }

  /** The indices of the first and the last visible entry. */
  get shown() {
    const { first, end } = this.#layout.range(this.#top, this.#top + innerHeight);
    return { first, last: Math.max(first, end - 1) };
  }

  /** The displayed views, in the order of the list. */
  get views() {
    return Array.from(this.#views.values()).sort((a, b) => a.entry.index - b.entry.index);
  }

  /** True if a cell is displayed. */
  get hasViews() {
    return this.#views.size > 0;
  }

  /** Returns the view that contains an element. */
  view(target) {
    return this.#byElement.get(target?.closest?.(".cell"));
  }

  /** Returns the number of cells between an entry and the visible cells. */
  distance({ index }) {
    return Math.max(this.#seen.first - index, index - this.#seen.end + 1, 0);
  }

  viewOf(entry) {
    return this.#views.get(entry);
  }

  /** Keeps the view of an entry on the page, until the returned function is called. */
  pin(entry) {
    this.#pinned.add(entry);
    return () => this.#pinned.delete(entry);
  }

  /** Scrolls by the smallest distance that makes an entry visible, at least `below` points above the lower edge. */
  reveal(entry, { below = 24 } = {}) {
    const { top, height } = this.#layout.frames[entry.index];
    const start = this.element.getBoundingClientRect().top + top;
    const { top: covered, bottom } = this.insets();
    const over = start - covered - 24;
    const under = start + height - (innerHeight - bottom - below);
    if (over < 0) scrollBy({ top: over, behavior: "instant" });
    else if (under > 0) scrollBy({ top: Math.min(over, under), behavior: "instant" });
    this.#render();
  }

  /** Scrolls to the cell of an entry and focuses it. If the service has removed the cell, its new entry gets the focus when it appears. */
  focus(entry) {
    this.#pendingFocus = null;
    if (entry === undefined) return;
    const there = entry.index >= 0 ? entry : this.entries.find(({ cell }) => cell.id === entry.cell.id);
    if (there === undefined) {
      this.#pendingFocus = entry.cell.id;
      return;
    }
    this.reveal(there);
    this.#views.get(there)?.element.focus({ preventScroll: true });
  }

  /** Returns the first visible entry and its distance from the upper edge: `{ entry, offset }`; null without entries. */
  anchor() {
    const top = this.#top;
    const { first } = this.#layout.range(Math.max(0, top + 1), Infinity);
    const entry = this.entries[first];
    return entry === undefined ? null : { entry, offset: this.#layout.frames[first].top - top };
  }

  /** Scrolls so that an entry has the distance `offset` from the upper edge. */
  hold({ entry, offset }) {
    const frame = this.#layout.frames[entry.index];
    const moved = frame === undefined ? 0 : frame.top - this.#top - offset;
    if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: "instant" });
  }

  /** Creates a new layout if the width has changed, and keeps the visible cells in place. */
  resized() {
    if (this.#layout.width !== this.element.clientWidth) this.holding(this.view(this.#focused)?.entry)();
  }

  /** Creates a new layout for other sizes of the cells, and keeps the visible cells in place. */
  relayout() {
    this.holding(this.view(this.#focused)?.entry, { always: true })();
  }

  /**
   * Is called before the available width changes. The returned function creates a new layout and keeps an entry in place; with `always`,
   * also for the same width.
   */
  holding(entry, { always = false } = {}) {
    const isSeen = entry !== undefined && entry.index >= 0 && this.#isInSight(entry);
    const anchor = isSeen ? { entry, offset: this.#layout.frames[entry.index].top - this.#top } : this.#top > 0 ? this.anchor() : null;
    return () => {
      if (!always && this.#layout.width === this.element.clientWidth) return;
      this.#updateLayout();
      for (const view of this.#views.values()) view.place(this.#layout.frames[view.entry.index]);
      if (anchor !== null) this.hold(anchor);
      this.#render();
    };
  }

  /** Renders in the next frame. */
  schedule() {
    this.#frame ??= requestAnimationFrame(() => this.#render());
  }

  /** The scrolled distance in points, from the upper edge of the cells to the upper edge of the uncovered window. */
  get #top() {
    return this.insets().top - this.element.getBoundingClientRect().top;
  }

  /** The element with the focus in the same tree, or null. */
  get #focused() {
    return this.element.getRootNode().activeElement;
  }

  /** The number of cells that are visible or above; 0 if none is visible. */
  get #pinnedCount() {
    const { first, end } = this.#layout.range(this.#top, this.#top + innerHeight);
    return end <= first ? 0 : end;
  }

  #isInSight(entry) {
    const { first, end } = this.#layout.range(this.#top, this.#top + innerHeight);
    return first <= entry.index && entry.index < end;
  }

  #updateLayout() {
    this.#layout = this.makeLayout(this.element.clientWidth, this.entries);
    for (const { cell } of this.entries) this.#add(cell);
    this.#layoutChanged();
  }

  #add(cell) {
    const size = this.registry.size(cell);
    const isHeader = isSectionHeader(cell);
    this.#layout.add(size, isHeader || size.heightAt === undefined ? () => size.height : size.heightAt, { isSectionHeader: isHeader });
  }

  #layoutChanged() {
    this.element.style.height = `${this.#layout.height}px`;
    this.dispatchEvent(new Event("laid-out"));
  }

  #changed({ appended, keepsScrollPosition = false }) {
    if (appended !== undefined && appended < this.entries.length) {
      for (const { cell } of this.entries.slice(this.entries.length - appended)) this.#add(cell);
      this.#layoutChanged();
      // The last row may be higher now.
      for (const view of this.#views.values()) view.place(this.#layout.frames[view.entry.index]);
      if (this.list.isAtEnd) for (const view of this.#views.values()) view.number(this.entries.length);
      this.#render();
      return;
    }
    const focused = this.view(this.#focused)?.entry;
    const place = focused && this.#views.get(focused).index;
    const anchor = keepsScrollPosition && this.#top > 0 ? this.#anchorAmongStaying(focused) : null;
    const before = scrollY;
    this.#updateLayout();
    if (anchor !== null) this.hold(anchor);
    this.#animateMoves(scrollY - before);
    this.#render({ isArriving: appended === undefined });
    // If the focused cell was removed, the focus moves to its neighbour.
    if (focused?.index < 0) this.focus(this.entries[Math.min(place, this.entries.length - 1)]);
    else if (focused && this.#focused === null) this.#views.get(focused)?.element.focus({ preventScroll: true });
    const awaited = this.#pendingFocus === null ? undefined : this.entries.find(({ cell }) => cell.id === this.#pendingFocus);
    if (awaited !== undefined) this.focus(awaited);
  }

  /** Returns a visible entry that stays in the list, with its former offset: the focused one, otherwise the first. */
  #anchorAmongStaying(focused) {
    const top = this.#top;
    const isStaying = ({ entry, frame }) => entry.index >= 0 && frame.top + frame.height > top && frame.top < top + innerHeight;
    const views = Array.from(this.#views.values()).filter(isStaying).sort((a, b) => a.index - b.index);
    const view = views.find(({ entry }) => entry === focused) ?? views[0];
    return view === undefined ? null : { entry: view.entry, offset: view.frame.top - top };
  }

  /**
   * Recycles views of removed cells, and animates all others from their former to their new frames. `scrolled` is the scrolled distance
   * since then.
   */
  #animateMoves(scrolled) {
    const way = this.element.matches(":dir(rtl)") ? -1 : 1;
    for (const [entry, view] of this.#views) {
      if (entry.index < 0 || view.identifier !== entry.cell.identifier) {
        this.#recycle(entry, view);
        continue;
      }
      const from = view.frame;
      const to = this.#layout.frames[entry.index];
      if (!view.isCurrent) view.show(entry, to);
      else view.place(to);
      view.number(this.#count);
      const [across, down] = [way * (from.left - to.left), from.top - to.top + scrolled];
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
    this.#recycleDistant(this.#layout.range(top - beyond, bottom + beyond));
    const seen = this.#layout.range(top - near, bottom + near);
    const wanted = this.#layout.range(top - around, bottom + around);
    for (let index = seen.first; index < seen.end; index += 1) this.#show(index, isArriving);
    const isComplete = this.#prepare(seen, wanted);
    this.#sortElements();
    // Without a width, the element is in a hidden part of the page.
    const isVisible = this.element.clientWidth > 0;
    for (const [entry, view] of this.#views) {
      if (isVisible && seen.first <= entry.index && entry.index < seen.end) view.appear();
      else view.disappear();
    }
    if (!isComplete) this.schedule();
    this.dispatchEvent(new Event("rendered"));
    if (this.#layout.height - bottom < ahead) this.dispatchEvent(new Event("wanting"));
  }

  #recycleDistant({ first, end }) {
    const focused = this.#focused;
    for (const [entry, view] of this.#views) {
      const isNeeded = (first <= entry.index && entry.index < end) || this.#pinned.has(entry) || view.element.contains(focused);
      if (!isNeeded) this.#recycle(entry, view);
    }
  }

  /** Shows cells around the visible ones, nearest first, within the limits of a frame. Returns false if one is reached. */
  #prepare(seen, { first, end }) {
    const until = performance.now() + budget;
    const most = this.#views.size + cellsPerFrame;
    for (let step = 0; seen.end + step < end || seen.first - 1 - step >= first; step += 1) {
      if (performance.now() > until || this.#views.size >= most) return false;
      if (seen.end + step < end) this.#show(seen.end + step);
      if (seen.first - 1 - step >= first) this.#show(seen.first - 1 - step);
    }
    return true;
  }

  /** Displays an entry: dequeue, size, bind. */
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
    this.registry.recycle(view.identifier, view);
  }

  /** Sorts the elements in the order of the list, for the tab order and for screen readers. */
  #sortElements() {
    const focused = this.#focused;
    let next = this.element.firstElementChild;
    for (const { element } of this.views) {
      if (element === next) next = next.nextElementSibling;
      else this.element.insertBefore(element, next);
    }
    if (focused !== this.#focused && this.element.contains(focused)) focused.focus({ preventScroll: true });
  }
}
