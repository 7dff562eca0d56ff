// Runs before the page's scripts and measures the time of the first cells and the layout shift.
window.watched = { firstPage: null, shift: 0, worst: "" };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    watched.shift += entry.value;
    watched.worst = entry.sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? String(node)).join(" | ");
  }
}).observe({ type: "layout-shift", buffered: true });
const watchCells = () => {
  if (!document.querySelector("intertwine-feed")?.shadowRoot?.querySelector(".cell")) requestAnimationFrame(watchCells);
  else setTimeout(() => (watched.firstPage = performance.now()));
};
watchCells();
