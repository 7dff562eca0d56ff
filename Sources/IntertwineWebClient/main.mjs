// Composes the web client. All dependencies between its parts are defined here.
import {
  Actions, Connection, customSlots, decodeImage, FeedClient, FeedList, FeedUpdates, ImageLoader, Impressions, Outbox,
} from "./client/index.mjs";
import { backgroundFetch } from "./background-fetch.mjs";
import { makeRegistry } from "./cell-kinds.mjs";
import { cellMenu } from "./cell-menu.mjs";
import { CollectionLayout, columnWidth } from "./collection-layout.mjs";
import { CollectionView } from "./collection-view.mjs";
import { connectionBanner } from "./connection-banner.mjs";
import { element, resolve } from "./elements.mjs";
import { FeedLoader } from "./feed-loader.mjs";
import { imageZoom } from "./image-zoom.mjs";
import { Inspector } from "./inspector.mjs";
import { Interactions } from "./interactions.mjs";
import { RequestLog } from "./request-log.mjs";
import { Keyboard } from "./keyboard.mjs";
import { ScrollPosition } from "./scroll-position.mjs";
import { observeVisibleCells } from "./visible-cells.mjs";
import { Toast } from "./toast.mjs";
import { UndoStack } from "./undo-stack.mjs";
import { ViewOptions } from "./view-options.mjs";
import { viewPanel } from "./view-panel.mjs";
import { browserStorage, viewerIdentity } from "./viewer-identity.mjs";

const find = (id) => document.getElementById(id);
const code = (text) => element("code", {}, text);
const announce = (text) => {
  find("live").textContent = text;
};

// Returns the text for items that a page omits.
const omittedText = ({ kind, count, identifiers = [], types = [] }) =>
  `${count} ${kind} (${types.length > 0 ? `${types.join(", ")} of ` : ""}${identifiers.join(", ")} not supported)`;

const options = new ViewOptions(location.search);
const requestLog = new RequestLog();
const connection = new Connection(new URL("readyz", document.baseURI).href, { fetch: backgroundFetch });
const { header, viewer } = viewerIdentity(options.viewer);
// The page reports an unavailable service and continues when it is available again, so single requests are not retried.
const client = new FeedClient({ base: document.baseURI, viewer, viewerHeader: header, attempts: 1, connection, requestLog });
const actions = new Actions({
  client,
  outbox: new Outbox({ client, storage: browserStorage }),
  bind: (bindings, { view }) => view.bind(bindings),
  // The cell's link is opened by the browser, so the request is only logged.
  open: (href, owner, slot) => requestLog.add(owner, { slot, method: "GET", href, state: "opened in a tab" }),
});
const images = new ImageLoader({ client, actions, fetch: backgroundFetch, decode: decodeImage });

const { clientWidth } = document.documentElement;
find("feed").classList.toggle("is-table", options.isTable);
find("feed").style.maxWidth = `${options.contentWidth(clientWidth)}px`;
const list = new FeedList(client, options.href(clientWidth));
// The first page defines the width of the columns for all pages.
let column;
const layout = (width, entries) => {
  if (column === undefined && entries.length > 0) column = columnWidth(entries.map(({ cell }) => cell.size));
  return new CollectionLayout({ width, column, isTable: options.isTable });
};
// The viewer's lists: the message for an empty list, and the command for each cell.
const lists = {
  feed: { empty: ["This feed is empty.", ["Operators add items with ", code("intertwine import FILE"),
    " or with a remote source."]] },
  saved: { empty: ["No saved cells.", ["Cells that you save in a feed are listed here."]], removal: "Remove", done: "is no longer saved." },
  dismissed: { empty: ["No dismissed cells.", ["Cells that you dismiss in a feed are listed here and can be restored."]], removal: "Restore",
    done: "is in the feed again." },
};
const { empty, removal, done } = lists[options.list];
const registry = makeRegistry({ images, actions, removal, distance: (entry) => feed.distance(entry), language: () => list.pages.language });
client.headers = options.headers(registry.acceptCells);
const feed = new CollectionView({
  element: find("feed"),
  list,
  makeLayout: layout,
  registry,
});
if (options.list === "feed") {
  const updates = new FeedUpdates({ list, visible: () => feed.shown });
  feed.addEventListener("rendered", () => updates.visibleRangeChanged());
}
const alignContent = () => document.documentElement.style.setProperty("--content-width", `${feed.layout.contentWidth}px`);
feed.addEventListener("laid-out", alignContent);
alignContent();
new FeedLoader({ feed, list, connection, state: find("state"), skeletons: find("skeletons"), empty });
connection.addEventListener("restored", () => feed.views.forEach((view) => view.retry()));

const toast = new Toast(find("toasts"));
// Reports a missing image that operators can enable, each reason once, because it affects many cells.
const reasons = new Set();
images.addEventListener("refused", ({ detail: { type, detail } }) => {
  if (!type.endsWith("-denied") || reasons.has(type)) return;
  reasons.add(type);
  toast.show(`Some images are missing. ${detail ?? ""}`, { seconds: 15 });
});
const undo = new UndoStack(toast);
const openLink = (href) => {
  const url = resolve(href);
  if (url !== null) open(url, "_blank", "noopener");
};
const interactions = new Interactions({ actions, feed, toast, undo, announce, open: openLink }).registerScreen("ImageZoom", imageZoom(images));
const inspector = new Inspector({
  panel: find("inspector"), log: requestLog, feed,
  explanation: (entry) => {
    const href = list.pageHref(entry);
    if (href === null || options.list !== "feed") return null;
    return options.explanation(href, { cell: entry.cell.id, viewer: client.viewer, cells: client.headers["Accept-Cells"] });
  },
});
observeVisibleCells({ impressions: new Impressions({ client }), feed, bar: document.querySelector(".bar"), panel: find("inspector") });
connectionBanner({ connection, banner: find("banner"), toast });

const inspect = (entry) => inspector.toggle(entry);
const dismiss = (entry) => (removal ? interactions.removeFromList(entry, options.list, done) : interactions.dismiss(entry));
const openMenu = cellMenu((entry) => [
  ...customSlots(entry.cell).map(({ slot, label }) => ({ name: slot, label, run: () => interactions.perform(entry, slot, label) })),
  { name: "inspect", label: "Inspect", run: () => inspect(entry) },
  ...(removal ?? entry.cell.actions?.dismissal
    ? [{ name: "dismiss", label: removal ?? entry.cell.actions.dismissal.label ?? "Dismiss", run: () => dismiss(entry) }]
    : []),
]);
new Keyboard({ feed, commands: { inspect, dismiss, select: (entry) => feed.viewOf(entry)?.face?.click() } });

feed.element.addEventListener("click", ({ target }) => {
  const view = feed.view(target);
  if (view === undefined) return;
  const tool = target.closest(".tool");
  if (tool?.dataset.tool === "inspect") inspect(view.entry);
  else if (tool?.dataset.tool === "dismiss") dismiss(view.entry);
  else if (tool?.dataset.tool === "more") openMenu(tool, view.entry);
  else if (target.matches("a.cell-face")) actions.perform("selection", view.entry);
  else if (target.matches("button.cell-face")) interactions.select(view.entry);
});

list.addEventListener("changed", () => {
  const count = list.entries.length;
  const cells = `${count} ${count === 1 ? "cell" : "cells"}`;
  find("count").textContent = list.isAtEnd ? cells : `${count}+ cells`;
  find("omitted").hidden = list.pages.omitted.length === 0;
  find("omitted").textContent = `Omitted: ${list.pages.omitted.map(omittedText).join(", ")}.`;
  find("end").hidden = !list.isAtEnd || count === 0;
  find("end").textContent = `End of the feed: ${cells}.`;
});

const openView = viewPanel({
  dialog: find("view"), options, sections: () => list.pages.sections, feeds: () => client.feeds({ fetch: backgroundFetch }).catch(() => []),
});
find("view-button").addEventListener("click", openView);
find("help-button").addEventListener("click", () => find("help").showModal());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "?") find("help").showModal();
  else if (event.key.toLowerCase() === "v" && !event.target.closest("input")) openView();
  else if (event.key.toLowerCase() === "u") toast.act();
  else if (event.key === "Escape" && inspector.isOpen) inspector.hide();
});

await new ScrollPosition({ feed, list, waiting: find("skeletons") }).restore();
feed.schedule();
