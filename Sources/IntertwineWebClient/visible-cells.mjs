// Reports the displayed cells, and the covered parts of the viewport, to the client package.
import { ViewportObserver } from "./client/index.mjs";

export function observeVisibleCells({ impressions, feed, bar, panel }) {
  const observer = new ViewportObserver(impressions);
  const update = () => {
    const box = panel.getBoundingClientRect();
    const isBeside = box.top <= bar.offsetHeight;
    observer.insets = { top: bar.offsetHeight, right: isBeside ? box.width : 0, bottom: isBeside ? 0 : box.height };
  };
  update();
  const resizes = new ResizeObserver(update);
  for (const cover of [bar, panel]) resizes.observe(cover);
  // A dialog covers all cells.
  const dialogChanged = () => {
    observer.isCovered = document.querySelector("dialog[open]") !== null;
  };
  new MutationObserver(dialogChanged).observe(document.body, { subtree: true, childList: true, attributeFilter: ["open"] });
  feed.addEventListener("entered", ({ detail: view }) => observer.observe(view.element, view.entry));
  feed.addEventListener("left", ({ detail: view }) => observer.unobserve(view.element));
}
