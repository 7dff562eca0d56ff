// `fetch` in a worker, for requests that are cancelled as a matter of course: browsers report a cancelled picture's 499
// or a late cancellation's 404 as errors on the page's console, where they would hide real ones.

let worker;
let count = 0;
const waiting = new Map();

/** Like `fetch`, with `method`, `headers` and `signal`; the body is complete when it answers. */
export function backgroundFetch(href, { signal, ...init } = {}) {
  worker ??= start();
  const id = ++count;
  return new Promise((answer, fail) => {
    if (signal?.aborted) {
      fail(aborted());
      return;
    }
    const leave = () => {
      waiting.delete(id);
      worker.postMessage({ id, abort: true });
      fail(aborted());
    };
    signal?.addEventListener("abort", leave, { once: true });
    waiting.set(id, (message) => {
      signal?.removeEventListener("abort", leave);
      if (message.failure) fail(new TypeError(message.failure));
      else answer(response(message));
    });
    worker.postMessage({ id, href, init });
  });
}

function start() {
  const started = new Worker(new URL("./background-fetch-worker.mjs", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data }) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  });
  return started;
}

function response({ status, headers, body }) {
  // These two statuses have no body, and `Response` refuses one.
  return new Response(status === 204 || status === 304 ? null : body, { status, headers });
}

function aborted() {
  return new DOMException("The request was cancelled.", "AbortError");
}
