/** A bounded LRU cache of images, so that a cell that becomes visible again shows its image without a request. */
export class ImageCache {
  #images = new Map();
  #total = 0;

  constructor({ maxBytes = 64 * 1024 * 1024 } = {}) {
    this.maxBytes = maxBytes;
  }

  /** Returns the image of an href as a `Blob`, or undefined. */
  get(href) {
    const image = this.#images.get(href);
    if (image !== undefined) this.#images.delete(href), this.#images.set(href, image);
    return image;
  }

  /** Stores an image, and evicts the least recently used ones above `maxBytes`. */
  set(href, image) {
    if (this.#images.has(href)) return;
    this.#images.set(href, image);
    this.#total += image.size;
    for (const [oldest, { size }] of this.#images) {
      if (this.#total <= this.maxBytes) break;
      this.#images.delete(oldest);
      this.#total -= size;
    }
  }
}
