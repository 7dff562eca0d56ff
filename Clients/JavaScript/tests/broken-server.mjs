// A test server that fails in a given way for each request.
import { once } from "node:events";
import { createServer } from "node:http";
import { Backoff, FeedClient } from "../source/index.mjs";

const jsonFields = { "Content-Type": "application/json" };

/** The replies. Each gets the request and the response. */
export const replies = {
  drop: ({ socket }) => socket.destroy(),
  busy: (_, response) => response.writeHead(503, { "Retry-After": "0" }).end(),
  unable: (_, response) => response.writeHead(502).end("<h1>Bad gateway</h1>"),
  half(_, response) {
    response.writeHead(200, { ...jsonFields, "Content-Length": "1000" });
    response.write('{"cells": [', () => response.destroy());
  },
  cut: (_, response) => response.writeHead(200, jsonFields).end('{"cells": ['),
  portal: (_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Welcome</h1>"),
  silent() {},
  json: (value, headers = {}) => (_, response) => response.writeHead(200, { ...jsonFields, ...headers }).end(JSON.stringify(value)),
  status: (status, value, headers = {}) => (_, response) => response.writeHead(status, { "Content-Type": "application/problem+json", ...headers }).end(JSON.stringify(value)),
};

export class BrokenServer {
  /** The behaviours for the next requests; the last one stays in effect. */
  next = [];
  requests = [];

  static async start(...next) {
    const server = new BrokenServer();
    server.next = next;
    server.server = createServer(async (request, response) => {
      const { method, url, headers } = request;
      let body = "";
      for await (const chunk of request) body += chunk;
      server.requests.push({ method, url, headers, body });
      const way = server.next.length > 1 ? server.next.shift() : server.next[0];
      way(request, response);
    }).listen(0, "127.0.0.1");
    await once(server.server, "listening");
    server.url = `http://127.0.0.1:${server.server.address().port}/`;
    return server;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

export const page = (...ids) => ({ cells: ids.map(cell), page: { limit: 20, next: null, previous: null, syncToken: "A" } });
export const request = (id, slot) => ({ type: "request", method: "POST", href: `/cells/${id}/${slot}` });
export const cell = (id) => ({ id, identifier: "A", size: { width: 1, height: 1 }, actions: { dismissal: request(id, "dismissal"), selection: request(id, "selection") } });
export const undo = { type: "request", method: "DELETE", href: "/invocations/1", expiresAt: "2999-01-01T00:00:00Z" };
export const quick = () => new Backoff({ initialDelay: 1, maxDelay: 5 });

/** Runs a test with a client and a server that replies in the given order. */
export async function against(next, body, options = {}) {
  const server = await BrokenServer.start(...[next].flat());
  try {
    const client = new FeedClient({ base: server.url, viewer: "v", backoff: quick, ...options });
    await body(client, server);
  } finally {
    server.stop();
  }
}
