// How much of the cells in a page is in sight, for `Impressions`. For browsers only.

const steps = Array.from({ length: 11 }, (_, index) => index / 10);

export class ViewportWatch {
  #observer;
  #entries = new Map();
  #elements = new Map();
  #edges = { top: 0, right: 0, bottom: 0, left: 0 };
  #isCovered = false;

  constructor(impressions) {
    this.impressions = impressions;
    impressions.shareNow = (entry) => new Promise((answer) => {
      // The observer speaks of frames, and timers may come before the next one: what it shows is looked at then.
      requestAnimationFrame(() => answer(this.#isHidden || !this.#elements.has(entry) ? 0 : this.#share(this.#elements.get(entry))));
    });
    this.#look();
    // Media events do not bubble, and are caught on their way down.
    for (const type of ["playing", "pause", "ended"]) document.addEventListener(type, ({ target }) => this.#played(target), true);
    addEventListener("pagehide", () => impressions.send({ keepalive: true }));
    document.addEventListener("visibilitychange", () => {
      this.#turned();
      if (document.hidden) impressions.send({ keepalive: true });
    });
  }

  /** How much of the viewport something covers, from each edge in points. */
  set edges(edges) {
    if (Object.entries(edges).every(([edge, covered]) => covered === this.#edges[edge])) return;
    this.#edges = { ...this.#edges, ...edges };
    this.#look();
  }

  /** Whether all of the cells are covered, by a dialog such as. */
  set isCovered(isCovered) {
    if (this.#isCovered === isCovered) return;
    this.#isCovered = isCovered;
    this.#turned();
  }

  /** From now on an element shows an entry. */
  observe(element, entry) {
    if (!this.impressions.isWanted(entry)) return;
    this.#entries.set(element, entry);
    this.#elements.set(entry, element);
    this.#observer.observe(element);
  }

  /** An element shows nothing any more. */
  unobserve(element) {
    const entry = this.#entries.get(element);
    if (entry === undefined) return;
    this.#observer.unobserve(element);
    this.#entries.delete(element);
    this.#elements.delete(entry);
    this.impressions.leave(entry);
  }

  get #isHidden() {
    return document.hidden || this.#isCovered;
  }

  /** Observes what is left of the viewport. */
  #look() {
    if (this.#observer) this.#changed(this.#observer.takeRecords());
    this.#observer?.disconnect();
    const { top, right, bottom, left } = this.#edges;
    const rootMargin = `-${top}px -${right}px -${bottom}px -${left}px`;
    this.#observer = new IntersectionObserver((records) => this.#changed(records), { threshold: steps, rootMargin });
    for (const element of this.#entries.keys()) this.#observer.observe(element);
  }

  #changed(records) {
    for (const { target, intersectionRatio } of records) {
      const entry = this.#entries.get(target);
      if (entry === undefined) continue;
      if (this.#isHidden) this.impressions.leave(entry);
      else this.impressions.update(entry, isAtRest(target) ? 0 : intersectionRatio);
    }
  }

  /** A page that nobody looks at shows nothing: what ripens stops, and begins again once somebody does. */
  #turned() {
    if (this.#isHidden) {
      this.impressions.leaveAll();
      return;
    }
    for (const element of this.#entries.keys()) {
      this.#observer.unobserve(element);
      this.#observer.observe(element);
    }
  }

  /** What plays counts as seen while it does. */
  #played(player) {
    for (const element of this.#entries.keys()) {
      if (!element.contains(player)) continue;
      this.#observer.unobserve(element);
      this.#observer.observe(element);
    }
  }

  #share(element) {
    if (isAtRest(element)) return 0;
    const { top, right, bottom, left, width, height } = element.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const across = Math.min(right, clientWidth - this.#edges.right) - Math.max(left, this.#edges.left);
    const down = Math.min(bottom, clientHeight - this.#edges.bottom) - Math.max(top, this.#edges.top);
    return (Math.max(across, 0) * Math.max(down, 0)) / (width * height);
  }
}

/** Whether an element has something to play that does not. */
function isAtRest(element) {
  const player = element.querySelector("video, audio");
  return player !== null && (player.paused || player.ended);
}
