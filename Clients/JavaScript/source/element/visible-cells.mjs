// Reports the displayed cells, and the covered parts of the window, to the observer of impressions.
import { ViewportObserver } from "../viewport-observer.mjs";

/** Returns a function `update()`, which reads the insets again. */
export function observeVisibleCells({ impressions, feed, root, insets }) {
  const observer = new ViewportObserver({ impressions, root });
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
  return update;
}
