// Asks for pictures: each request has a name of its own, by which the service can be told to stop, and only a few are under way
// at once. Browsers open six connections to a host; what is left over is for the feed, for actions, and for cancelling.
import { retryAfter } from "./backoff.mjs";
import { PictureStore } from "./image-store.mjs";
import { Told } from "./told.mjs";
import { uuid } from "./uuid.mjs";

/** A request for a picture. `answer` is a promise of it, decoded. */
class ImageRequest {
  id = uuid();
  controller = new AbortController();
  isSent = false;
  /** Whether nobody waits for it any more: however it ends from then on, that says nothing about the service. */
  isGivenUp = false;

  constructor(href, { owner, priority }) {
    Object.assign(this, { href, owner, priority });
    this.answer = new Promise((succeed, fail) => Object.assign(this, { succeed, fail }));
    this.answer.catch(() => {});
  }

  /** Stops it on this side: a request that waits is never sent, the connection of one under way is closed. */
  abort() {
    this.isGivenUp = true;
    this.controller.abort();
  }
}

/** Why a picture did not come. `again` is how many seconds the service asked to wait, or null; `problem` what it said (RFC 9457). */
export class ImageFailure extends Error {
  name = "ImageFailure";

  constructor(message, { again = null, problem = null, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { again, problem });
  }
}

/** The href of a binding's picture for a screen with so many pixels a point: the next larger that is offered, or the largest. */
export function pictureHref(binding, scale = 1) {
  const { image, scales } = binding;
  const offered = Array.isArray(scales) ? scales.filter((one) => Number.isInteger(one) && one > 0).sort((a, b) => a - b) : [];
  if (offered.length === 0) return image;
  const chosen = offered.find((one) => one >= scale) ?? offered.at(-1);
  const original = image.replace(/@\dx$/, "");
  return chosen === 1 ? original : `${original}@${chosen}x`;
}

/** Dispatches `refused` with the problem where the service says why there is no picture. */
export class ImageLoader extends EventTarget {
  #waiting = new Set();
  #underWay = 0;

  /**
   * - decode(blob): makes of the bytes what the app shows; they are it where it is missing. fetch: what sends the requests.
   * - simultaneous: so many are under way at once. scale: how many pixels a point has. formats: what is decoded here, as `Accept` says it.
   * - actions: performs the `cancellation` of a cell whose picture nobody wants any more.
   */
  constructor({
    client, actions = null, fetch = client.fetch, decode = (blob) => blob, store = new PictureStore(), simultaneous = 4,
    scale = globalThis.devicePixelRatio ?? 1, formats = "image/avif,image/webp,image/png,image/*;q=0.8",
  }) {
    super();
    Object.assign(this, { client, actions, fetch, decode, store, simultaneous, scale, formats });
  }

  /**
   * Asks for the picture of a binding, or at an href. `owner.cell` is the cell that it is for; `priority()` how near it is to being
   * seen, the lowest first, asked for when there is room for one more.
   */
  request(picture, { owner = null, priority = () => 0 } = {}) {
    const href = typeof picture === "string" ? picture : pictureHref(picture, this.scale);
    const request = new ImageRequest(href, { owner, priority });
    const kept = this.store.get(href);
    if (kept !== undefined) {
      Promise.resolve(this.decode(kept)).then(request.succeed, request.fail);
      return request;
    }
    this.#waiting.add(request);
    this.#next();
    return request;
  }

  /**
   * Gives up a request: its cell has left. The service stops it by its name first, and may break off an answer that has begun;
   * closing the connection is for services that did not.
   */
  cancel(request) {
    if (request.isGivenUp) return;
    if (!request.isSent) {
      request.abort();
      if (this.#waiting.delete(request)) request.fail(new ImageFailure("cancelled before it was sent"));
      return;
    }
    request.isGivenUp = true;
    const stop = () => request.abort();
    const { owner, id } = request;
    const told = owner && this.actions?.perform("cancellation", owner, { values: { request: id }, attempts: 1, fetch: this.fetch });
    if (told) told.then(stop, stop);
    else stop();
  }

  async #next() {
    if (this.#underWay >= this.simultaneous) return;
    const request = this.#nearest();
    if (request === null) return;
    this.#underWay += 1;
    request.isSent = true;
    try {
      const bytes = await this.#load(request);
      this.store.keep(request.href, bytes);
      request.succeed(await this.decode(bytes));
    } catch (error) {
      request.fail(error);
    } finally {
      this.#underWay -= 1;
      this.#next();
    }
  }

  /** The waiting request that is nearest to being seen, of several the oldest. Takes it out. */
  #nearest() {
    let [nearest, least] = [null, Infinity];
    for (const request of this.#waiting) {
      const priority = request.priority();
      if (nearest === null || priority < least) [nearest, least] = [request, priority];
    }
    this.#waiting.delete(nearest);
    return nearest;
  }

  async #load(request) {
    const { id, href, owner, controller } = request;
    const { client } = this;
    const asked = { "X-Request-ID": id };
    const entry = client.journal.begin(owner, { slot: "configuration", method: "GET", href, sent: asked });
    const url = client.resolve(href);
    if (url === null) {
      entry.ended("no link to follow");
      throw new ImageFailure("no link");
    }
    let response;
    let bytes;
    try {
      response = await this.fetch(url, { headers: { Accept: this.formats, ...asked }, signal: controller.signal });
      bytes = await response.blob();
    } catch (cause) {
      entry.ended(request.isGivenUp ? "cancelled" : "no answer");
      if (request.isGivenUp) throw new ImageFailure("cancelled");
      client.connection?.lost();
      throw new ImageFailure("no answer", { cause });
    }
    if (response.ok) {
      entry.answered(response, `${bytes.type || "unknown type"}, ${bytes.size.toLocaleString("en")} bytes`);
      return bytes;
    }
    const problem = parsed(await bytes.text());
    entry.answered(response, problem);
    if (problem?.type) this.dispatchEvent(new Told("refused", problem));
    throw new ImageFailure(`answered ${response.status}`, { again: retryAfter(response.headers.get("retry-after")), problem });
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
