// The name of a viewer without an account: a random name that is stored in the browser.
import { uuid } from "../uuid.mjs";

const key = "intertwine.viewer";

/** The storage for queued gestures, or null if the browser denies it. */
export const browserStorage = (() => {
  try {
    return localStorage;
  } catch {
    return null;
  }
})();

/** Returns the stored name. Without storage, the name is used until the page is closed. */
export function storedViewer() {
  try {
    const known = browserStorage?.getItem(key);
    if (known) return known;
    const made = uuid();
    browserStorage?.setItem(key, made);
    return made;
  } catch {
    return uuid();
  }
}
