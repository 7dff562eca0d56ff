// A log of the requests for each cell and their responses, for the inspector.

const maxEntries = 40;
const shownFields = [
  "content-type", "content-length", "content-encoding", "etag", "cache-control", "cache-status", "age", "vary", "link", "location",
  "retry-after", "x-request-id", "x-verdict", "image-error", "traceparent", "server-timing",
];

export class RequestLog extends EventTarget {
  #entries = new WeakMap();

  /** Returns the requests for a cell, oldest first. */
  entries(owner) {
    return this.#entries.get(owner) ?? [];
  }

  /** Adds an entry for a request. The returned object completes it. */
  begin(owner, { slot, method, href, sent = {} }) {
    const entry = { slot, method, href, sent, startedAt: performance.now(), state: "pending" };
    if (owner) {
      const entries = [...this.entries(owner), entry].slice(-maxEntries);
      this.#entries.set(owner, entries);
      this.#notify(owner);
    }
    return {
      complete: (response, body) => {
        const headers = shownFields.filter((name) => response.headers.has(name)).map((name) => [name, response.headers.get(name)]);
        this.#finish(owner, entry, { state: "complete", status: response.status, headers, body });
      },
      end: (state) => this.#finish(owner, entry, { state }),
    };
  }

  /** Adds an entry for a request that the page cannot observe, such as an opened link. */
  add(owner, { slot, method, href, state }) {
    this.begin(owner, { slot, method, href }).end(state);
  }

  #finish(owner, entry, outcome) {
    Object.assign(entry, outcome, { duration: performance.now() - entry.startedAt });
    if (owner) this.#notify(owner);
  }

  #notify(owner) {
    this.dispatchEvent(new CustomEvent("entry", { detail: owner }));
  }
}
