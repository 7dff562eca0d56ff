// The worker of background-fetch.mjs.

const controllers = new Map();

addEventListener("message", async ({ data: { id, href, init, abort } }) => {
  if (abort) {
    controllers.get(id)?.abort();
    return;
  }
  const controller = new AbortController();
  controllers.set(id, controller);
  try {
    const response = await fetch(href, { ...init, signal: controller.signal });
    const body = await response.blob();
    // A browser hides the status of a redirect. A `Response` with the status 0 cannot be made.
    const status = response.type === "opaqueredirect" ? 303 : response.status;
    postMessage({ id, status, headers: [...response.headers], body });
  } catch (error) {
    postMessage({ id, failure: error.message || error.name });
  } finally {
    controllers.delete(id);
  }
});
