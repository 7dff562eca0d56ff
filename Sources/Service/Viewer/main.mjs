// Composes the viewer by hand: who knows whom is all said here.
import { ActionsPerformer, bind, link, request } from "./actions-performer.mjs";
import { advertisementCell } from "./advertisement-cell.mjs";
import { backgroundFetch } from "./background-fetch.mjs";
import { CellRegistry } from "./cell-registry.mjs";
import { CellView } from "./cell-view.mjs";
import { circularUserCell } from "./circular-user-cell.mjs";
import { Client } from "./client.mjs";
import { Connection } from "./connection.mjs";
import { connectionBanner } from "./connection-banner.mjs";
import { FeedDataSource } from "./feed-data-source.mjs";
import { FeedView } from "./feed-view.mjs";
import { ImageRequests } from "./image-requests.mjs";
import { imageZoom } from "./image-zoom.mjs";
import { Impressions } from "./impressions.mjs";
import { Inspector } from "./inspector.mjs";
import { Interactions } from "./interactions.mjs";
import { Journal } from "./journal.mjs";
import { Keyboard } from "./keyboard.mjs";
import { sectionHeaderCell } from "./section-header-cell.mjs";
import { Toast } from "./toast.mjs";
import { userSnapshotCell } from "./user-snapshot-cell.mjs";
import { viewerIdentity } from "./viewer-identity.mjs";

const find = (id) => document.getElementById(id);
const announce = (text) => {
  find("live").textContent = text;
};

const registry = new CellRegistry()
  .register("UserSnapshotCollectionViewCell", userSnapshotCell)
  .register("CircularUserCollectionViewCell", circularUserCell)
  .register("AdvertisementCollectionViewCell", advertisementCell)
  .register("SectionHeaderCollectionReusableView", sectionHeaderCell);

const journal = new Journal();
const connection = new Connection(new URL("readyz", document.baseURI).href);
const client = new Client({ identity: viewerIdentity(), journal, connection });
const requests = new ImageRequests({ journal, connection });
const performer = new ActionsPerformer()
  .register("bind", bind)
  .register("request", request(client, backgroundFetch))
  .register("link", link(journal));

const feed = new FeedView({
  element: find("feed"),
  sentinel: find("sentinel"),
  source: new FeedDataSource(client, "feed"),
  connection,
  makeView(cell, number) {
    const view = new CellView({ cell, number, registry, requests, performer });
    performer.perform("configuration", view);
    return view;
  },
});
const toast = new Toast(find("toasts"));
const interactions = new Interactions({ performer, feed, toast, announce }).registerScreen("ImageZoom", imageZoom(requests));
const inspector = new Inspector({ panel: find("inspector"), journal });
new Impressions({ client, connection, feed, bar: document.querySelector(".bar"), panel: find("inspector") });
connectionBanner({ connection, banner: find("banner"), announce, toast });

const inspect = (element) => inspector.toggle(feed.view(element));
const dismiss = (element) => interactions.dismiss(feed.view(element));
new Keyboard({ feed, commands: { inspect, dismiss, select: (element) => feed.view(element).face?.click() } });

feed.element.addEventListener("click", ({ target }) => {
  const view = feed.view(target);
  const tool = target.closest(".tool")?.dataset.tool;
  if (tool === "inspect") inspect(target);
  else if (tool === "dismiss") dismiss(target);
  else if (target.matches("a.cell-face")) performer.perform("selection", view);
  else if (target.matches("button.cell-face")) interactions.select(view);
});

feed.addEventListener("changed", ({ detail: { count, isAtEnd } }) => {
  const cells = `${count} ${count === 1 ? "cell" : "cells"}`;
  find("count").textContent = isAtEnd ? cells : `${cells} so far`;
  find("end").hidden = !isAtEnd;
  find("end").textContent = count === 0 ? "The feed is empty." : `That is all: ${cells}.`;
});
feed.addEventListener("refused", ({ detail }) => {
  toast.show(detail.message, { seconds: 3600, action: { label: "Start over", run: () => location.reload() } });
});

find("help-button").addEventListener("click", () => find("help").showModal());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "?") find("help").showModal();
  else if (event.key.toLowerCase() === "u") toast.act();
  else if (event.key === "Escape" && inspector.isOpen) inspector.hide();
});
