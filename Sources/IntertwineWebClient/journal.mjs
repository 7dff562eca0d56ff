// What each request of a cell answered, for the inspector.

const limit = 40;
const shown = [
  "content-type", "content-length", "content-encoding", "etag", "cache-control", "cache-status", "age", "vary", "link", "location",
  "retry-after", "x-request-id", "x-verdict", "image-error", "traceparent", "server-timing",
];

export class Journal extends EventTarget {
  #entries = new WeakMap();

  /** Requests on behalf of a cell, oldest first. */
  entries(owner) {
    return this.#entries.get(owner) ?? [];
  }

  /** Begins an entry; `finish` fills it in. */
  begin(owner, { slot, method, href, sent = {} }) {
    const entry = { slot, method, href, sent, began: performance.now(), state: "under way" };
    if (owner) {
      const entries = [...this.entries(owner), entry].slice(-limit);
      this.#entries.set(owner, entries);
      this.#tell(owner);
    }
    return {
      answered: (response, body) => {
        const headers = shown.filter((name) => response.headers.has(name)).map((name) => [name, response.headers.get(name)]);
        this.#finish(owner, entry, { state: "answered", status: response.status, headers, body });
      },
      ended: (state) => this.#finish(owner, entry, { state }),
    };
  }

  /** Notes something that was done without a request the page can watch, such as following a link. */
  note(owner, { slot, method, href, state }) {
    this.begin(owner, { slot, method, href }).ended(state);
  }

  #finish(owner, entry, outcome) {
    Object.assign(entry, outcome, { took: performance.now() - entry.began });
    if (owner) this.#tell(owner);
  }

  #tell(owner) {
    this.dispatchEvent(new CustomEvent("entry", { detail: owner }));
  }
}
