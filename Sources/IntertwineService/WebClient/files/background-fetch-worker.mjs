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
    postMessage({ id, status: response.status, headers: [...response.headers], body });
  } catch (error) {
    postMessage({ id, failure: error.message || error.name });
  } finally {
    controllers.delete(id);
  }
});
