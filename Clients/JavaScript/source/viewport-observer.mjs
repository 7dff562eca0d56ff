// Measures the visible fraction of cells in a browser, for `Impressions`.

const steps = Array.from({ length: 11 }, (_, index) => index / 10);

export class ViewportObserver {
  #observer;
  #entries = new Map();
  #elements = new Map();
  #insets = { top: 0, right: 0, bottom: 0, left: 0 };
  #isCovered = false;

  /**
   * - root: the document, or the shadow root that contains the elements. Why: the events of players do not leave a shadow root.
   * - isLoaded(element): returns false while pictures of an element are missing. It then counts as invisible; `update` measures it again.
   */
  constructor({ impressions, root = document, isLoaded = () => true }) {
    Object.assign(this, { impressions, root, isLoaded });
    impressions.currentShare = (entry) => new Promise((resolve) => {
      // The intersection observer runs once per frame, and a timer may fire first. So the share is measured in the next frame.
      requestAnimationFrame(() => resolve(this.#isHidden || !this.#elements.has(entry) ? 0 : this.#share(this.#elements.get(entry))));
    });
    this.#observe();
    // Media events do not bubble, so the listeners use the capture phase.
    for (const type of ["playing", "pause", "ended"]) root.addEventListener(type, ({ target }) => this.#playbackChanged(target), true);
    addEventListener("pagehide", () => impressions.flush({ keepalive: true }));
    document.addEventListener("visibilitychange", () => {
      this.#visibilityChanged();
      if (document.hidden) impressions.flush({ keepalive: true });
    });
  }

  /** The distances from each edge of the viewport that are covered, for example by a toolbar, in points. */
  set insets(insets) {
    if (Object.entries(insets).every(([edge, length]) => length === this.#insets[edge])) return;
    this.#insets = { ...this.#insets, ...insets };
    this.#observe();
  }

  /** True while all cells are covered, for example by a dialog. */
  set isCovered(isCovered) {
    if (this.#isCovered === isCovered) return;
    this.#isCovered = isCovered;
    this.#visibilityChanged();
  }

  /** Begins to observe an element that shows an entry. */
  observe(element, entry) {
    if (!this.impressions.isNeeded(entry)) return;
    this.#entries.set(element, entry);
    this.#elements.set(entry, element);
    this.#observer.observe(element);
  }

  /** Stops observing an element. */
  unobserve(element) {
    const entry = this.#entries.get(element);
    if (entry === undefined) return;
    this.#observer.unobserve(element);
    this.#entries.delete(element);
    this.#elements.delete(entry);
    this.impressions.leave(entry);
  }

  /** Measures an element again, for example after its pictures were loaded. */
  update(element) {
    if (!this.#entries.has(element)) return;
    this.#observer.unobserve(element);
    this.#observer.observe(element);
  }

  get #isHidden() {
    return document.hidden || this.#isCovered;
  }

  /** Creates an intersection observer for the uncovered part of the viewport. */
  #observe() {
    if (this.#observer) this.#intersectionChanged(this.#observer.takeRecords());
    this.#observer?.disconnect();
    const { top, right, bottom, left } = this.#insets;
    const rootMargin = `-${top}px -${right}px -${bottom}px -${left}px`;
    this.#observer = new IntersectionObserver((records) => this.#intersectionChanged(records), { threshold: steps, rootMargin });
    for (const element of this.#entries.keys()) this.#observer.observe(element);
  }

  #intersectionChanged(records) {
    for (const { target, intersectionRatio } of records) {
      const entry = this.#entries.get(target);
      if (entry === undefined) continue;
      if (this.#isHidden) this.impressions.leave(entry);
      else this.impressions.update(entry, isPaused(target) || !this.isLoaded(target) ? 0 : intersectionRatio);
    }
  }

  /** Stops all timers while the page is hidden, and restarts them when it is visible. */
  #visibilityChanged() {
    if (this.#isHidden) {
      this.impressions.leaveAll();
      return;
    }
    for (const element of this.#entries.keys()) this.update(element);
  }

  /** A player counts as visible only while it plays. */
  #playbackChanged(player) {
    for (const element of this.#entries.keys()) {
      if (element.contains(player)) this.update(element);
    }
  }

  #share(element) {
    if (isPaused(element) || !this.isLoaded(element)) return 0;
    const { top, right, bottom, left, width, height } = element.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const across = Math.min(right, clientWidth - this.#insets.right) - Math.max(left, this.#insets.left);
    const down = Math.min(bottom, clientHeight - this.#insets.bottom) - Math.max(top, this.#insets.top);
    return (Math.max(across, 0) * Math.max(down, 0)) / (width * height);
  }
}

/** Returns true if an element has a player that does not play. */
function isPaused(element) {
  const player = element.querySelector("video, audio");
  return player !== null && (player.paused || player.ended);
}
