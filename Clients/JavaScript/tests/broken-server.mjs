// A server that fails in every way, as it is told, one request after the other.
import { once } from "node:events";
import { createServer } from "node:http";

const json = { "Content-Type": "application/json" };

/** What becomes of a request: each is given request and response. */
export const ways = {
  drop: ({ socket }) => socket.destroy(),
  busy: (_, response) => response.writeHead(503, { "Retry-After": "0" }).end(),
  unable: (_, response) => response.writeHead(502).end("<h1>Bad gateway</h1>"),
  half(_, response) {
    response.writeHead(200, { ...json, "Content-Length": "1000" });
    response.write('{"items": [', () => response.destroy());
  },
  cut: (_, response) => response.writeHead(200, json).end('{"items": ['),
  portal: (_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Welcome</h1>"),
  silent() {},
  answer: (value, headers = {}) => (_, response) => response.writeHead(200, { ...json, ...headers }).end(JSON.stringify(value)),
  status: (status, value, headers = {}) => (_, response) => response.writeHead(status, { "Content-Type": "application/problem+json", ...headers }).end(JSON.stringify(value)),
};

export class BrokenServer {
  /** What becomes of the next requests; of all after them, the last. */
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
