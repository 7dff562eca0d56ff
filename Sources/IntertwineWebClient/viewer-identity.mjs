// The viewer's name. In production an authenticating proxy sends it; here it is a random name that is stored in the browser.
import { uuid } from "./client/index.mjs";

const key = "intertwine.viewer";

/** Returns the request field for the viewer's name, and its value: `viewer`, or the stored name. */
export function viewerIdentity(viewer) {
  const header = document.querySelector('meta[name="viewer-header"]')?.content || "X-Viewer-ID";
  return { header, viewer: viewer ?? storedName() };
}

/** The storage for queued gestures, or null if the browser denies it. */
export const browserStorage = (() => {
  try {
    return localStorage;
  } catch {
    return null;
  }
})();

function storedName() {
  try {
    const known = localStorage.getItem(key);
    if (known) return known;
    const made = uuid();
    localStorage.setItem(key, made);
    return made;
  } catch {
    // Without storage, the name is used until the page is closed.
    return uuid();
  }
}
