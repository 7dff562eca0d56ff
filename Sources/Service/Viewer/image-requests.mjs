// Asks for pictures: each request has a name of its own, by which the server can be told to stop, and only a few are under way
// at once. Browsers open six connections to a host; what is left over is for the feed, for actions, and for cancelling.
import { backgroundFetch } from "./background-fetch.mjs";
import { resolve, uuid } from "./elements.mjs";

const simultaneous = 4;

/** A request for a picture. `answer` is a promise of its bytes. */
class ImageRequest {
  id = uuid();
  controller = new AbortController();
  isSent = false;

  constructor(href, owner) {
    this.href = href;
    this.owner = owner;
    this.answer = new Promise((answer, fail) => Object.assign(this, { succeed: answer, fail }));
  }

  get isCancelled() {
    return this.controller.signal.aborted;
  }

  /** Stops it on this side: a request that waits is never sent, the connection of one under way is closed. */
  abort() {
    this.controller.abort();
  }
}

/** Why a picture did not come. `again` is how many seconds the server asked to wait, or null. */
export class ImageFailure extends Error {
  constructor(message, { again = null, isConnection = false } = {}) {
    super(message);
    this.again = again;
    this.isConnection = isConnection;
  }
}

export class ImageRequests {
  #waiting = [];
  #underWay = 0;

  constructor({ journal, connection }) {
    this.journal = journal;
    this.connection = connection;
  }

  request(href, owner) {
    const request = new ImageRequest(href, owner);
    this.#waiting.push(request);
    this.#next();
    return request;
  }

  async #next() {
    if (this.#underWay >= simultaneous) return;
    const request = this.#waiting.shift();
    if (request === undefined) return;
    if (request.isCancelled) {
      request.fail(new ImageFailure("cancelled before it was sent"));
      this.#next();
      return;
    }
    this.#underWay += 1;
    request.isSent = true;
    try {
      request.succeed(await this.#load(request));
    } catch (error) {
      request.fail(error);
    } finally {
      this.#underWay -= 1;
      this.#next();
    }
  }

  async #load({ id, href, owner, controller }) {
    const headers = { "X-Request-ID": id };
    const entry = this.journal.begin(owner, { slot: "configuration", method: "GET", href, sent: headers });
    const url = resolve(href);
    if (url === null || new URL(url).origin !== location.origin) {
      entry.ended("not allowed: pictures come through the image proxy");
      throw new ImageFailure("another origin");
    }
    let response;
    try {
      response = await backgroundFetch(url, { headers, signal: controller.signal });
    } catch (error) {
      entry.ended(controller.signal.aborted ? "cancelled" : "no answer");
      if (controller.signal.aborted) throw new ImageFailure("cancelled");
      this.connection.lost();
      throw new ImageFailure("no answer", { isConnection: true, cause: error });
    }
    const bytes = await response.blob();
    if (response.ok) {
      entry.answered(response, `${bytes.type || "unknown type"}, ${bytes.size.toLocaleString("en")} bytes`);
      return bytes;
    }
    entry.answered(response, await bytes.text());
    throw new ImageFailure(`answered ${response.status}`, { again: Number(response.headers.get("retry-after")) || null });
  }
}
