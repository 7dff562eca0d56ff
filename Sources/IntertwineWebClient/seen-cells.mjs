// Tells the client package which cells are in sight, and what lies over them.
import { ViewportWatch } from "./client/index.mjs";

export function watchSeenCells({ impressions, feed, bar, panel }) {
  const watch = new ViewportWatch(impressions);
  const look = () => {
    const box = panel.getBoundingClientRect();
    const isBeside = box.top <= bar.offsetHeight;
    watch.edges = { top: bar.offsetHeight, right: isBeside ? box.width : 0, bottom: isBeside ? 0 : box.height };
  };
  look();
  const covers = new ResizeObserver(look);
  for (const cover of [bar, panel]) covers.observe(cover);
  // A dialog lies over everything, and nobody looks at what is behind it.
  const turned = () => {
    watch.isCovered = document.querySelector("dialog[open]") !== null;
  };
  new MutationObserver(turned).observe(document.body, { subtree: true, childList: true, attributeFilter: ["open"] });
  feed.addEventListener("entered", ({ detail: view }) => watch.observe(view.element, view.entry));
  feed.addEventListener("left", ({ detail: view }) => watch.unobserve(view.element));
}
