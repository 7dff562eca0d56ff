// Asks for pictures: each request has a name of its own, by which the server can be told to stop, and only a few are under way
// at once. Browsers open six connections to a host; what is left over is for the feed, for actions, and for cancelling.
import { backgroundFetch } from "./background-fetch.mjs";
import { resolveHere, uuid } from "./elements.mjs";

const simultaneous = 4;

/** A request for a picture. `answer` is a promise of its element, decoded. */
class ImageRequest {
  id = uuid();
  controller = new AbortController();
  isSent = false;
  /** Whether nobody waits for it any more: however it ends from then on, that says nothing about the server. */
  isGivenUp = false;

  constructor(href, owner) {
    this.href = href;
    this.owner = owner;
    this.answer = new Promise((answer, fail) => Object.assign(this, { succeed: answer, fail }));
  }

  /** Stops it on this side: a request that waits is never sent, the connection of one under way is closed. */
  abort() {
    this.isGivenUp = true;
    this.controller.abort();
  }
}

/** Why a picture did not come. `again` is how many seconds the server asked to wait, or null; `problem` what it said (RFC 9457). */
export class ImageFailure extends Error {
  constructor(message, { again = null, problem = null } = {}) {
    super(message);
    Object.assign(this, { again, problem });
  }
}

/** Dispatches `refused` with the problem where the server says why there is no picture. */
export class ImageRequests extends EventTarget {
  #waiting = [];
  #underWay = 0;

  constructor({ journal, connection, store }) {
    super();
    Object.assign(this, { journal, connection, store });
  }

  request(href, owner) {
    const request = new ImageRequest(href, owner);
    const kept = this.store.get(href);
    if (kept !== undefined) {
      decoded(kept).then(request.succeed, request.fail);
      return request;
    }
    this.#waiting.push(request);
    this.#next();
    return request;
  }

  async #next() {
    if (this.#underWay >= simultaneous) return;
    const request = this.#waiting.shift();
    if (request === undefined) return;
    if (request.isGivenUp) {
      request.fail(new ImageFailure("cancelled before it was sent"));
      this.#next();
      return;
    }
    this.#underWay += 1;
    request.isSent = true;
    try {
      const bytes = await this.#load(request);
      this.store.keep(request.href, bytes);
      request.succeed(await decoded(bytes));
    } catch (error) {
      request.fail(error);
    } finally {
      this.#underWay -= 1;
      this.#next();
    }
  }

  async #load(request) {
    const { id, href, owner, controller } = request;
    const headers = { "X-Request-ID": id };
    const entry = this.journal.begin(owner, { slot: "configuration", method: "GET", href, sent: headers });
    const url = resolveHere(href);
    if (url === null) {
      entry.ended("no link to follow");
      throw new ImageFailure("no link");
    }
    let response;
    try {
      response = await backgroundFetch(url, { headers, signal: controller.signal });
    } catch (error) {
      entry.ended(request.isGivenUp ? "cancelled" : "no answer");
      if (request.isGivenUp) throw new ImageFailure("cancelled");
      this.connection.lost();
      throw new ImageFailure("no answer", { cause: error });
    }
    const bytes = await response.blob();
    if (response.ok) {
      entry.answered(response, `${bytes.type || "unknown type"}, ${bytes.size.toLocaleString("en")} bytes`);
      return bytes;
    }
    const problem = parsed(await bytes.text());
    entry.answered(response, problem);
    if (problem?.type) this.dispatchEvent(new CustomEvent("refused", { detail: problem }));
    throw new ImageFailure(`answered ${response.status}`, { again: Number(response.headers.get("retry-after")) || null, problem });
  }
}

/** An image element of the bytes, once it can be shown. */
async function decoded(bytes) {
  const image = new Image();
  const url = URL.createObjectURL(bytes);
  image.alt = "";
  image.draggable = false;
  image.src = url;
  try {
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  return image;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
