// Pictures that have come lately: a cell that comes back into sight shows its own at once, without a request.

export class PictureStore {
  #bytes = new Map();
  #total = 0;

  /** `most`: of so many bytes at most. */
  constructor({ most = 64 * 1024 * 1024 } = {}) {
    this.most = most;
  }

  /** The picture at an href as a `Blob`, or undefined. */
  get(href) {
    const bytes = this.#bytes.get(href);
    if (bytes !== undefined) this.#bytes.delete(href), this.#bytes.set(href, bytes);
    return bytes;
  }

  /** Keeps a picture, and lets go of those that nobody has asked for the longest. */
  keep(href, bytes) {
    if (this.#bytes.has(href)) return;
    this.#bytes.set(href, bytes);
    this.#total += bytes.size;
    for (const [oldest, { size }] of this.#bytes) {
      if (this.#total <= this.most) break;
      this.#bytes.delete(oldest);
      this.#total -= size;
    }
  }
}
