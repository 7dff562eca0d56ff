// Tells the server which cells were seen: at least half of a cell for one second, once for each time it was served.

const share = 0.5;
const second = 1000;
const pause = 2000;
/** The server takes 500 in one request; a request that outlives the page may carry 64 KiB. */
const batch = 100;
/** How many wait for a server that is gone. */
const most = 1000;

export class Impressions {
  #timers = new Map();
  #seen = new WeakSet();
  #waiting = new Map();
  #flush;
  #observer;
  /** How much of the viewport the bar and the inspector cover, from each edge. */
  #edges;

  constructor({ client, connection, feed, bar, panel }) {
    Object.assign(this, { client, feed, bar, panel });
    this.#look();
    const covers = new ResizeObserver(() => this.#look());
    for (const cover of [bar, panel]) covers.observe(cover);
    // A dialog lies over everything, and nobody looks at what is behind it.
    new MutationObserver(() => this.#turned()).observe(document.body, { subtree: true, attributeFilter: ["open"] });
    connection.addEventListener("restored", () => this.#send());
    feed.addEventListener("entered", ({ detail: view }) => {
      if (view.cell.actions?.impression && !this.#seen.has(view.entry)) this.#observer.observe(view.element);
    });
    feed.addEventListener("left", ({ detail: view }) => this.#stop(view.element));
    addEventListener("pagehide", () => this.#send({ keepalive: true }));
    document.addEventListener("visibilitychange", () => {
      this.#turned();
      if (document.hidden) this.#send({ keepalive: true });
    });
  }

  get #isCovered() {
    return document.hidden || document.querySelector("dialog[open]") !== null;
  }

  /** Observes what is left of the viewport. */
  #look() {
    const panel = this.panel.getBoundingClientRect();
    const isBeside = panel.top <= this.bar.offsetHeight;
    const edges = { top: this.bar.offsetHeight, right: isBeside ? panel.width : 0, bottom: isBeside ? 0 : panel.height };
    if (this.#edges && Object.entries(edges).every(([edge, covered]) => covered === this.#edges[edge])) return;
    this.#edges = edges;
    if (this.#observer) this.#changed(this.#observer.takeRecords());
    this.#observer?.disconnect();
    const rootMargin = `-${edges.top}px -${edges.right}px -${edges.bottom}px 0px`;
    this.#observer = new IntersectionObserver((entries) => this.#changed(entries), { threshold: share, rootMargin });
    this.#again();
  }

  #changed(entries) {
    for (const { target, intersectionRatio } of entries) {
      if (intersectionRatio < share) this.#stopTimer(target);
      else if (!this.#isCovered) this.#startTimer(target);
    }
  }

  #startTimer(target) {
    if (this.#timers.has(target)) return;
    // The observer speaks of frames, and timers may come before the next one: what it shows is looked at then.
    const timer = setTimeout(() => requestAnimationFrame(() => this.#ripe(target, timer)), second);
    this.#timers.set(target, timer);
  }

  /** A second is over: the cell counts if it has not left meanwhile, whoever has not heard of that yet. */
  #ripe(target, timer) {
    this.#changed(this.#observer.takeRecords());
    if (this.#timers.get(target) !== timer) return;
    if (this.#share(target) >= share) {
      this.#saw(target);
      return;
    }
    this.#stopTimer(target);
    this.#observeAnew(target);
  }

  #share(target) {
    const { top, right, bottom, left, width, height } = target.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const across = Math.min(right, clientWidth - this.#edges.right) - Math.max(left, 0);
    const down = Math.min(bottom, clientHeight - this.#edges.bottom) - Math.max(top, this.#edges.top);
    return (Math.max(across, 0) * Math.max(down, 0)) / (width * height);
  }

  #stopTimer(target) {
    clearTimeout(this.#timers.get(target));
    this.#timers.delete(target);
  }

  #stop(target) {
    this.#observer.unobserve(target);
    this.#stopTimer(target);
  }

  #saw(target) {
    this.#stop(target);
    const entry = this.feed.view(target)?.entry;
    const action = entry?.cell.actions?.impression;
    if (!action || !Array.isArray(action.body) || typeof action.href !== "string") return;
    this.#seen.add(entry);
    this.#keep(action.href, action.body.map((event) => ({ event, entry })));
    this.#flush ??= setTimeout(() => this.#send(), pause);
  }

  #keep(href, seen) {
    this.#waiting.set(href, [...(this.#waiting.get(href) ?? []), ...seen].slice(-most));
  }

  /** A page that nobody looks at shows nothing: what ripens stops, and begins again once somebody does. */
  #turned() {
    if (!this.#isCovered) this.#again();
    else for (const target of this.#timers.keys()) this.#stopTimer(target);
  }

  #again() {
    for (const { entry, element } of this.feed.views) {
      if (entry.cell.actions?.impression && !this.#seen.has(entry)) this.#observeAnew(element);
    }
  }

  /** Makes the observer say once more whether it is in sight. */
  #observeAnew(target) {
    this.#observer.unobserve(target);
    this.#observer.observe(target);
  }

  #send({ keepalive = false } = {}) {
    clearTimeout(this.#flush);
    this.#flush = undefined;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [href, seen] of waiting) {
      while (seen.length > 0) this.#post(href, seen.splice(0, batch), keepalive);
    }
  }

  async #post(href, seen, keepalive) {
    const owner = seen[0].entry;
    const entries = seen.slice(1).map(({ entry }) => this.client.journal.begin(entry, { slot: "impression", method: "POST", href }));
    try {
      const answer = await this.client.send(href, {
        method: "POST", body: seen.map(({ event }) => event), owner, slot: "impression", keepalive,
      });
      entries.forEach((entry) => entry.ended(`answered ${answer.status}, with others`));
    } catch {
      entries.forEach((entry) => entry.ended("no answer"));
      this.#keep(href, seen);
    }
  }
}
