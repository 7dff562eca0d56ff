// Every request but those for pictures goes through here: it names the viewer, watches the connection, and keeps the journal.
import { resolveHere } from "./elements.mjs";

/** The server could not be reached, or said that it cannot serve now. */
export class Unavailable extends Error {}

export class Client {
  constructor({ identity, journal, connection }) {
    this.identity = identity;
    this.journal = journal;
    this.connection = connection;
  }

  /**
   * Sends a request and reads its answer.
   *
   * - owner, slot: the cell it is for and the action performed, for the journal.
   * - fetch: what sends it, where that is not the page itself.
   * Throws `Unavailable` where there is no answer, or one of 502, 503 or 504.
   */
  async send(href, { method = "GET", headers = {}, body, owner, slot, keepalive = false, fetch = window.fetch.bind(window) } = {}) {
    const url = resolveHere(href);
    if (url === null) throw new TypeError(`Not a link to follow: ${href}`);
    const sent = { ...headers, [this.identity.header]: this.identity.viewer };
    if (body !== undefined) sent["Content-Type"] = "application/json";
    const entry = this.journal.begin(owner, { slot, method, href, sent: headers });
    let response;
    let text;
    try {
      const init = { method, headers: sent, keepalive, redirect: "manual" };
      if (body !== undefined) init.body = JSON.stringify(body);
      response = await fetch(url, init);
      text = await response.text();
    } catch (error) {
      entry.ended("no answer");
      this.connection.lost();
      throw new Unavailable("no answer", { cause: error });
    }
    const value = parsed(response, text);
    entry.answered(response, value ?? text);
    if ([502, 503, 504].includes(response.status)) {
      this.connection.lost({ answered: true, pause: Number(response.headers.get("retry-after")) || 0 });
      throw new Unavailable(`answered ${response.status}`);
    }
    this.connection.confirmed();
    return { ok: response.ok || response.type === "opaqueredirect", status: response.status, value, tag: response.headers.get("etag") };
  }
}

/** What went wrong, in the server's words where it gave any (RFC 9457). */
export function problem(answer) {
  const { title, detail } = answer.value ?? {};
  return [title ?? `The server answered ${answer.status}`, detail].filter(Boolean).join(": ");
}

function parsed(response, text) {
  if (!/\bjson\b/.test(response.headers.get("content-type") ?? "")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
