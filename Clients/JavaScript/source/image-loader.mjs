// A loader of images with few concurrent requests. Why: browsers open six connections to a host, and the feed, actions and cancellations
// need some of them. The service cancels a request by its id.
import { retryAfter } from "./backoff.mjs";
import { DetailEvent } from "./detail-event.mjs";
import { ImageCache } from "./image-cache.mjs";
import { uuid } from "./uuid.mjs";

/** A request for an image. `image` is a promise of the decoded image. */
class ImageRequest {
  id = uuid();
  controller = new AbortController();
  isSent = false;
  /** True after a cancellation: the result then says nothing about the state of the service. */
  isCancelled = false;

  constructor(href, { owner, priority }) {
    Object.assign(this, { href, owner, priority });
    this.image = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.image.catch(() => {});
  }

  /** Aborts the request in the client: a queued request is never sent, and the connection of a sent one is closed. */
  abort() {
    this.isCancelled = true;
    this.controller.abort();
  }
}

/** An error for an image that could not be loaded. */
export class ImageError extends Error {
  name = "ImageError";

  /** - retryAfter: the delay in seconds that the service requested, or null. problem: the problem details (RFC 9457), or null. */
  constructor(message, { retryAfter = null, problem = null, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { retryAfter, problem });
  }
}

/** Returns the href of an image binding for a scale in pixels per point: the smallest sufficient scale on offer, or the largest one. */
export function imageHref(binding, scale = 1) {
  const { href, scales } = binding;
  const offered = Array.isArray(scales) ? scales.filter((one) => Number.isInteger(one) && one > 0).sort((a, b) => a - b) : [];
  if (offered.length === 0) return href;
  const chosen = offered.find((one) => one >= scale) ?? offered.at(-1);
  const original = href.replace(/@\dx$/, "");
  return chosen === 1 ? original : `${original}@${chosen}x`;
}

/**
 * A loader of the images of cells. Dispatches `refused` with the problem details if the service refuses an image.
 *
 *     const request = images.request(binding, { owner: entry, priority: () => entry.index });
 *     view.append(await request.image);
 */
export class ImageLoader extends EventTarget {
  #queue = new Set();
  #active = 0;

  /**
   * - decode(blob): converts the bytes to the app's image type; without it, images are blobs. fetch: sends the requests.
   * - maxConcurrent: the maximum number of concurrent requests. scale: the pixels per point. formats: the `Accept` field.
   * - actions: performs the `cancellation` of cells.
   */
  constructor({
    client, actions = null, fetch = client.fetch, decode = (blob) => blob, cache = new ImageCache(), maxConcurrent = 4,
    scale = globalThis.devicePixelRatio ?? 1, formats = "image/avif,image/webp,image/png,image/*;q=0.8",
  }) {
    super();
    Object.assign(this, { client, actions, fetch, decode, cache, maxConcurrent, scale, formats });
  }

  /**
   * Requests the image of a binding or of an href.
   *
   * - owner: an object whose `cell` shows the image.
   * - priority(): returns the distance of the image from the visible area. The queued request with the lowest value is sent next.
   */
  request(image, { owner = null, priority = () => 0 } = {}) {
    const href = typeof image === "string" ? image : imageHref(image, this.scale);
    const request = new ImageRequest(href, { owner, priority });
    const cached = this.cache.get(href);
    if (cached !== undefined) {
      Promise.resolve(this.decode(cached)).then(request.resolve, request.reject);
      return request;
    }
    this.#queue.add(request);
    this.#sendNext();
    return request;
  }

  /** Cancels a request whose cell is no longer displayed: first in the service, by the cell's action, then by closing the connection. */
  cancel(request) {
    if (request.isCancelled) return;
    if (!request.isSent) {
      request.abort();
      if (this.#queue.delete(request)) request.reject(new ImageError("cancelled before it was sent"));
      return;
    }
    request.isCancelled = true;
    const abort = () => request.abort();
    const { owner, id } = request;
    const options = { values: { request: id }, attempts: 1, fetch: this.fetch, reportsLoss: false };
    const cancellation = owner && this.actions?.perform("cancellation", owner, options);
    if (cancellation) cancellation.then(abort, abort);
    else abort();
  }

  async #sendNext() {
    if (this.#active >= this.maxConcurrent) return;
    const request = this.#takeNearest();
    if (request === null) return;
    this.#active += 1;
    request.isSent = true;
    try {
      const bytes = await this.#load(request);
      this.cache.set(request.href, bytes);
      request.resolve(await this.decode(bytes));
    } catch (error) {
      request.reject(error);
    } finally {
      this.#active -= 1;
      this.#sendNext();
    }
  }

  /** Removes and returns the queued request with the lowest priority value, the oldest of several. */
  #takeNearest() {
    let [nearest, least] = [null, Infinity];
    for (const request of this.#queue) {
      const priority = request.priority();
      if (nearest === null || priority < least) [nearest, least] = [request, priority];
    }
    this.#queue.delete(nearest);
    return nearest;
  }

  async #load(request) {
    const { id, href, owner, controller } = request;
    const { client } = this;
    const sent = { "X-Request-ID": id };
    const entry = client.requestLog.begin(owner, { slot: "configuration", method: "GET", href, sent });
    const url = client.resolve(href);
    if (url === null) {
      entry.end("invalid link");
      throw new ImageError("invalid link");
    }
    let response;
    let bytes;
    try {
      response = await this.fetch(url, { headers: { Accept: this.formats, ...sent }, signal: controller.signal });
      bytes = await response.blob();
    } catch (cause) {
      entry.end(request.isCancelled ? "cancelled" : "no response");
      if (request.isCancelled) throw new ImageError("cancelled");
      client.connection?.reportLoss();
      throw new ImageError("no response", { cause });
    }
    if (response.ok) {
      entry.complete(response, `${bytes.type || "unknown type"}, ${bytes.size.toLocaleString("en")} bytes`);
      return bytes;
    }
    const problem = parsed(await bytes.text());
    entry.complete(response, problem);
    if (problem?.type) this.dispatchEvent(new DetailEvent("refused", problem));
    throw new ImageError(`status ${response.status}`, { retryAfter: retryAfter(response.headers.get("retry-after")), problem });
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
