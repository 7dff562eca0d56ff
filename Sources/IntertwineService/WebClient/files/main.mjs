// The page at `/`: the element `intertwine-feed`, with tabs, options in the URL, an inspector, and a saved scroll position.
import { Connection, FeedClient } from "./client/index.mjs";
import { storedViewer } from "./client/element/viewer-identity.mjs";
import "./client/element/intertwine-feed.mjs";
import { backgroundFetch } from "./background-fetch.mjs";
import "./documents.mjs";
import { reserveFilters, showFilters } from "./filters.mjs";
import { Inspector } from "./inspector.mjs";
import { say, translate } from "./page-words.mjs";
import { RequestLog } from "./request-log.mjs";
import { consoleAddress, order } from "./order.mjs";
import { ScrollPosition } from "./scroll-position.mjs";
import { showSwitches } from "./switches.mjs";
import { showTabs } from "./tabs.mjs";
import { ViewOptions } from "./view-options.mjs";
import { viewPanel } from "./view-panel.mjs";

/** The pages that are loaded to find the cell of a link. */
const linkedPages = 25;
const find = (id) => document.getElementById(id);
translate(document.body);
const feed = find("feed");
const options = new ViewOptions(location.search);
const requestLog = new RequestLog();
const connection = new Connection({ probe: new URL("readyz", document.baseURI).href, fetch: backgroundFetch });
// The element reports an unavailable service and continues when it is available again, so single requests are not retried.
const client = new FeedClient({
  base: document.baseURI, viewer: options.viewer ?? storedViewer(), attempts: 1, connection, requestLog,
  viewerHeader: document.querySelector('meta[name="viewer-header"]')?.content || "X-Viewer-ID",
});

Object.assign(feed, {
  client, imageFetch: backgroundFetch,
  commands: [{ name: "inspect", label: say("Inspect"), key: "i", paths: ["M12 11v6", "M12 7.2v.1"], run: (entry) => inspector.toggle(entry) }],
});
if (options.language) feed.setAttribute("language", options.language);
if (options.cells) feed.setAttribute("cells", options.cells);
if (options.text !== null) feed.setAttribute("text-scale", options.text);
if (options.width !== null) feed.style.maxWidth = `${options.width}px`;
feed.filters = options.list === "feed" ? options.filterValues : {};
showSwitches({ container: find("switches"), feed, options });
reserveFilters({ container: find("filters"), options });
// The button "Reload" loads the page again, so that a new version of it is used too.
feed.addEventListener("feedreload", (event) => {
  event.preventDefault();
  location.reload();
});
feed.addEventListener("feedchange", ({ detail: { count, isAtEnd } }) => {
  find("count").textContent = say(!isAtEnd ? "{count}+ cells" : count === 1 ? "{count} cell" : "{count} cells", { count });
  feed.dir = directionOf(feed.parts.list.pages.language);
});
let inspector;
let former = { hide() {}, close() {} };
feed.addEventListener("feedhome", (event) => {
  event.preventDefault();
  location.assign(options.search({ list: "feed", feed: null, section: null }) || "./");
});
feed.addEventListener("feedstart", () => {
  former.close();
  const { collection, list, skeletons } = feed.parts;
  inspector = new Inspector({
    panel: find("inspector"), log: requestLog, feed: collection, resized: () => feed.updateInsets(), operators: options.operators, move: consoleAddress && order(feed),
    explanation: (entry) => {
      const href = list.pageHref(entry);
      if (href === null || options.list !== "feed") return null;
      return options.explanation(href, { cell: entry.cell.id, viewer: client.viewer, cells: client.headers["Accept-Cells"] });
    },
  });
  former = inspector;
  if (options.list === "feed") inspector.reserve();
  else find("inspector").hidden = true;
  if (options.list === "feed") list.addEventListener("changed", () => inspector.open(list.entries), { once: true });
  // The switch of the width leaves the switches where they are.
  const alignContent = () => options.width === null && document.documentElement.style.setProperty("--content-width", `${collection.layout.contentWidth}px`);
  collection.addEventListener("laid-out", alignContent);
  alignContent();
  new ScrollPosition({ feed: collection, list, waiting: skeletons }).restore();
  // After a reload, the reader is elsewhere by now.
  if (!history.state?.position) showLinked();
});
feed.src = options.src;

// The element has set the languages of the client.
const feeds = client.feeds({ fetch: backgroundFetch }).catch(() => []);
showTabs({ tabs: find("tabs"), options, feeds });
showFilters({ container: find("filters"), feed, options, feeds });
const openView = viewPanel({ dialog: find("view"), options, feeds, sections: () => feed.parts.list.pages.sections });
find("view-button").addEventListener("click", openView);
find("help-button").addEventListener("click", () => find("help").showModal());
find("try-json").addEventListener("click", () => (inspector.isOpen ? inspector.hide() : inspector.showForm("JSON", feed.parts.list.entries)));
find("try-move").addEventListener("click", () => inspector.reorder(feed.parts.list.entries));
find("console").hidden = consoleAddress === null;
if (consoleAddress !== null) find("console").href = consoleAddress;
document.addEventListener("keydown", (event) => {
  const [target] = event.composedPath();
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || feed.hasDialog) return;
  const isText = target.closest?.("input, select, textarea") != null;
  if (event.key === "?") find("help").showModal();
  else if (event.key.toLowerCase() === "v" && !isText) openView();
  else if (event.key.toLowerCase() === "u" && !isText && !event.composedPath().includes(feed.parts.collection.element)) feed.undo();
  else if (event.key === "Escape" && inspector.isOpen) inspector.hide();
});

addEventListener("hashchange", showLinked);

/** Leads to the cell that the URL names, as in `#cell=article:1`, if it is on one of the first pages. */
async function showLinked() {
  const id = new URLSearchParams(location.hash.slice(1)).get("cell");
  if (id === null || feed.parts === null) return;
  const { list, collection } = feed.parts;
  const found = () => list.entries.find(({ cell }) => cell.id === id);
  try {
    for (let page = 0; found() === undefined && page < linkedPages && !list.isAtEnd; page += 1) await list.loadNext();
  } catch {
    // The element reports a service that is unavailable.
  }
  if (found() !== undefined) collection.focus(found());
}

/** Returns the direction of a language's script. The words of this page are English or German, so the feed alone has it. */
function directionOf(language) {
  try {
    return /^(Adlm|Arab|Hebr|Nkoo|Rohg|Syrc|Thaa)$/.test(new Intl.Locale(language).maximize().script) ? "rtl" : "ltr";
  } catch {
    // The service has sent no language.
    return "";
  }
}
