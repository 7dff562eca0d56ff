// A client whose only page has the given cells, for previews. It performs no actions, and sends nothing.
import { FeedClient } from "./client/index.mjs";

/** `cells` is a function that returns the cells of the page. */
export function pageClient(cells) {
  const noAction = { type: "about:blank", status: 404, title: "Not Found", detail: "A preview performs no actions." };
  const respond = (value, status = 200) => new Response(JSON.stringify(value), {
    status, headers: { "Content-Type": status === 200 ? "application/json" : "application/problem+json" },
  });
  return new FeedClient({
    base: document.baseURI, viewer: "preview", attempts: 1,
    fetch: async (url, { method = "GET" } = {}) => {
      if (new URL(url).pathname === "/events") return respond({ results: [] });
      if (method !== "GET") return respond(noAction, 404);
      return respond({ cells: cells(), page: { protocol: 1, limit: 20, next: null, previous: null } });
    },
  });
}
