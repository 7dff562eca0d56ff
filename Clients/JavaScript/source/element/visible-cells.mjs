// Reports the displayed cells, and the covered parts of the window, to the observer of impressions.
import { ViewportObserver } from "../viewport-observer.mjs";

/** Returns functions: `update()` reads the insets again, `loaded(view)` measures a view whose pictures were loaded. */
export function observeVisibleCells({ impressions, feed, root, insets }) {
  const observer = new ViewportObserver({ impressions, root, isLoaded: (element) => feed.view(element)?.hasPictures ?? true });
  const update = () => {
    observer.insets = { right: 0, left: 0, ...insets() };
  };
  update();
  // A dialog covers all cells.
  const dialogs = new MutationObserver(() => {
    observer.isCovered = [document, root].some((tree) => tree.querySelector("dialog[open]") !== null);
  });
  for (const tree of [document.body, root]) dialogs.observe(tree, { subtree: true, childList: true, attributeFilter: ["open"] });
  feed.addEventListener("entered", ({ detail: view }) => observer.observe(view.element, view.entry));
  feed.addEventListener("left", ({ detail: view }) => observer.unobserve(view.element));
  return { update, loaded: ({ element }) => observer.update(element) };
}
