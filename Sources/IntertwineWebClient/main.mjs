// Composes the viewer by hand: who knows whom is all said here.
import {
  Actions, Connection, decodedImage, FeedClient, FeedList, FeedUpdates, ImageLoader, Impressions, offered, Outbox,
} from "./client/index.mjs";
import { backgroundFetch } from "./background-fetch.mjs";
import { cellKinds } from "./cell-kinds.mjs";
import { cellMenu } from "./cell-menu.mjs";
import { CollectionLayout, columnWidth } from "./collection-layout.mjs";
import { CollectionView } from "./collection-view.mjs";
import { connectionBanner } from "./connection-banner.mjs";
import { element } from "./elements.mjs";
import { FeedFiller } from "./feed-filler.mjs";
import { imageZoom } from "./image-zoom.mjs";
import { Inspector } from "./inspector.mjs";
import { Interactions } from "./interactions.mjs";
import { Journal } from "./journal.mjs";
import { Keyboard } from "./keyboard.mjs";
import { Position } from "./position.mjs";
import { watchSeenCells } from "./seen-cells.mjs";
import { Toast } from "./toast.mjs";
import { UndoStack } from "./undo-stack.mjs";
import { ViewOptions } from "./view-options.mjs";
import { viewPanel } from "./view-panel.mjs";
import { rememberedStorage, viewerIdentity } from "./viewer-identity.mjs";

const find = (id) => document.getElementById(id);
const code = (text) => element("code", {}, text);
const announce = (text) => {
  find("live").textContent = text;
};

// What a page does not show, and why.
const leftOut = ({ kind, count, identifiers = [], types = [] }) =>
  `${count} ${kind} (${types.length > 0 ? `${types.join(", ")} of ` : ""}${identifiers.join(", ")} not known)`;

const options = new ViewOptions(location.search);
const journal = new Journal();
const connection = new Connection(new URL("readyz", document.baseURI).href, { fetch: backgroundFetch });
const { header, viewer } = viewerIdentity(options.viewer);
// The page says that the service is away and goes on once it is back, instead of asking again for each request.
const client = new FeedClient({ base: document.baseURI, viewer, viewerHeader: header, attempts: 1, connection, journal });
const actions = new Actions({
  client,
  outbox: new Outbox({ client, storage: rememberedStorage }),
  bind: (bindings, { view }) => view.bind(bindings),
  // The cell's face is the link, and the browser follows it; what is left to do is to note it.
  open: (href, owner, slot) => journal.note(owner, { slot, method: "GET", href, state: "opened in a tab" }),
});
const images = new ImageLoader({ client, actions, fetch: backgroundFetch, decode: decodedImage });

const { clientWidth } = document.documentElement;
find("feed").classList.toggle("is-table", options.isTable);
find("feed").style.maxWidth = `${options.room(clientWidth)}px`;
const list = new FeedList(client, options.href(clientWidth));
// The first page says how wide the columns are: later ones are laid into them.
let column;
const layout = (width, entries) => {
  if (column === undefined && entries.length > 0) column = columnWidth(entries.map(({ cell }) => cell.size));
  return new CollectionLayout({ width, column, isTable: options.isTable });
};
// What a viewer's own lists are: what is said of an empty one, and what can be done with each cell.
const lists = {
  feed: { empty: ["There is nothing in this feed yet.", ["What operators put in shows up here: ", code("intertwine import FILE"),
    ", or one of the sources that the service follows."]] },
  saved: { empty: ["Nothing is saved.", ["What you save in a feed stands here."]], removal: "Remove", done: "is not saved any more." },
  dismissed: { empty: ["Nothing is dismissed.", ["What you dismiss in a feed stands here, and can be restored."]], removal: "Restore",
    done: "is back in the feed." },
};
const { empty, removal, done } = lists[options.list];
const registry = cellKinds({ images, actions, removal, distance: (entry) => feed.distance(entry), language: () => list.pages.language });
client.headers = options.headers(registry.acceptCells);
const feed = new CollectionView({
  element: find("feed"),
  list,
  makeLayout: layout,
  registry,
});
if (options.list === "feed") {
  const updates = new FeedUpdates({ list, shown: () => feed.shown });
  feed.addEventListener("rendered", () => updates.moved());
}
const aligned = () => document.documentElement.style.setProperty("--content-width", `${feed.layout.contentWidth}px`);
feed.addEventListener("laid-out", aligned);
aligned();
new FeedFiller({ feed, list, connection, state: find("state"), skeletons: find("skeletons"), empty });
connection.addEventListener("restored", () => feed.views.forEach((view) => view.retry()));

const toast = new Toast(find("toasts"));
// What operators can do something about, each reason once: what is missing for one cell is missing for many.
const reasons = new Set();
images.addEventListener("refused", ({ detail: { type, detail } }) => {
  if (!type.endsWith("-denied") || reasons.has(type)) return;
  reasons.add(type);
  toast.show(`Some pictures are missing. ${detail ?? ""}`, { seconds: 15 });
});
const undo = new UndoStack(toast);
const interactions = new Interactions({ actions, feed, toast, undo, announce }).registerScreen("ImageZoom", imageZoom(images));
const inspector = new Inspector({
  panel: find("inspector"), journal, feed,
  explanation: (entry) => {
    const href = list.pageHref(entry);
    if (href === null || options.list !== "feed") return null;
    return options.explanation(href, { cell: entry.cell.id, viewer: client.viewer, cells: client.headers["Accept-Cells"] });
  },
});
watchSeenCells({ impressions: new Impressions({ client }), feed, bar: document.querySelector(".bar"), panel: find("inspector") });
connectionBanner({ connection, banner: find("banner"), toast });

const inspect = (entry) => inspector.toggle(entry);
const dismiss = (entry) => (removal ? interactions.takeOff(entry, options.list, done) : interactions.dismiss(entry));
const openMenu = cellMenu((entry) => [
  ...offered(entry.cell).map(({ slot, label }) => ({ name: slot, label, run: () => interactions.perform(entry, slot, label) })),
  { name: "inspect", label: "Inspect", run: () => inspect(entry) },
  ...(removal ?? entry.cell.actions?.dismissal ? [{ name: "dismiss", label: removal ?? entry.cell.actions.dismissal.label ?? "Dismiss", run: () => dismiss(entry) }] : []),
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
  find("omitted").textContent = `Left out: ${list.pages.omitted.map(leftOut).join(", ")}.`;
  find("end").hidden = !list.isAtEnd || count === 0;
  find("end").textContent = `That is all: ${cells}.`;
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

await new Position({ feed, list, waiting: find("skeletons") }).restore();
feed.schedule();
