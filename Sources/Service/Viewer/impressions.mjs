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
  #observer = new IntersectionObserver((entries) => this.#changed(entries), { threshold: share });

  constructor({ client, connection, feed }) {
    Object.assign(this, { client, feed });
    connection.addEventListener("restored", () => this.#send());
    feed.addEventListener("entered", ({ detail: view }) => {
      if (view.cell.actions?.impression && !this.#seen.has(view)) this.#observer.observe(view.element);
    });
    feed.addEventListener("left", ({ detail: view }) => this.#stop(view.element));
    addEventListener("pagehide", () => this.#send({ keepalive: true }));
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#hidden() : this.#again()));
  }

  #changed(entries) {
    for (const { target, intersectionRatio } of entries) {
      if (intersectionRatio < share) this.#stopTimer(target);
      else if (!document.hidden) this.#startTimer(target);
    }
  }

  #startTimer(target) {
    if (this.#timers.has(target)) return;
    this.#timers.set(target, setTimeout(() => this.#saw(target), second));
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
    const view = this.feed.view(target);
    const action = view?.cell.actions?.impression;
    if (!action || !Array.isArray(action.body) || typeof action.href !== "string") return;
    this.#seen.add(view);
    this.#keep(action.href, action.body.map((event) => ({ event, view })));
    this.#flush ??= setTimeout(() => this.#send(), pause);
  }

  #keep(href, seen) {
    this.#waiting.set(href, [...(this.#waiting.get(href) ?? []), ...seen].slice(-most));
  }

  /** A page that nobody looks at shows nothing: what ripens stops, what is ripe is sent. */
  #hidden() {
    for (const target of this.#timers.keys()) this.#stopTimer(target);
    this.#send({ keepalive: true });
  }

  /** Observing anew makes the observer say once more what is in sight. */
  #again() {
    for (const target of this.feed.elements) {
      const view = this.feed.view(target);
      if (!view?.cell.actions?.impression || this.#seen.has(view)) continue;
      this.#observer.unobserve(target);
      this.#observer.observe(target);
    }
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
    const owner = seen[0].view;
    const entries = seen.slice(1).map(({ view }) => this.client.journal.begin(view, { slot: "impression", method: "POST", href }));
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
