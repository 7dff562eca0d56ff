// Who looks. In production whatever authenticates in front of the service says so; here a random name in this browser does.
import { uuid } from "./client/index.mjs";

const key = "intertwine.viewer";

/** The request field that names the viewer, and its value: `viewer`, or this browser's. */
export function viewerIdentity(viewer) {
  const header = document.querySelector('meta[name="viewer-header"]')?.content || "X-Viewer-ID";
  return { header, viewer: viewer ?? remembered() };
}

/** Where the viewer's gestures wait for a service that is away; null where nothing can be stored. */
export const rememberedStorage = (() => {
  try {
    return localStorage;
  } catch {
    return null;
  }
})();

function remembered() {
  try {
    const known = localStorage.getItem(key);
    if (known) return known;
    const made = uuid();
    localStorage.setItem(key, made);
    return made;
  } catch {
    // Storage can be denied: the viewer then lives as long as the page.
    return uuid();
  }
}
