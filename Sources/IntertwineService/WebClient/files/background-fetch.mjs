// `fetch` in a worker, for requests that are often cancelled. Why: browsers report the 499 of a cancelled image, or the 404 of a late
// cancellation, as errors on the page's console, which would hide real errors.

let worker;
let count = 0;
const pending = new Map();

/**
 * Returns the response of a request, as `fetch` does, with `method`, `headers` and `signal`. The promise resolves after the complete body.
 */
export function backgroundFetch(href, { signal, ...init } = {}) {
  worker ??= start();
  const id = ++count;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(aborted());
      return;
    }
    const abort = () => {
      pending.delete(id);
      worker.postMessage({ id, abort: true });
      reject(aborted());
    };
    signal?.addEventListener("abort", abort, { once: true });
    pending.set(id, (message) => {
      signal?.removeEventListener("abort", abort);
      if (message.failure) reject(new TypeError(message.failure));
      else resolve(response(message));
    });
    worker.postMessage({ id, href, init });
  });
}

function start() {
  const started = new Worker(new URL("./background-fetch-worker.mjs", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data }) => {
    pending.get(data.id)?.(data);
    pending.delete(data.id);
  });
  return started;
}

function response({ status, headers, body }) {
  // A response with these two statuses has no body, and the constructor of `Response` rejects one.
  return new Response(status === 204 || status === 304 ? null : body, { status, headers });
}

function aborted() {
  return new DOMException("The request was cancelled.", "AbortError");
}
