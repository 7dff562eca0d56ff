// The playground: the cells of a sample item by an edited declaration, in all layouts, languages and text sizes. The service validates the
// declaration and makes the cells; the element shows them. Nothing is stored.
import { FeedClient } from "./client/index.mjs";
import { element } from "./client/element/elements.mjs";
import "./client/element/intertwine-feed.mjs";
import { sampleDeclaration, sampleItem } from "./playground-sample.mjs";

const textSizes = [[1, "Normal text"], [0.85, "Small text"], [1.3, "Large text"], [2, "Very large text"], [3, "Largest text"]];
const layouts = { collection: "Cell", table: "Table row" };
/** The milliseconds without input after which the service gets the texts. */
const pause = 250;

const find = (id) => document.getElementById(id);
const inputs = { declaration: find("declaration"), item: find("item") };
const client = new FeedClient({
  base: document.baseURI, viewer: "playground", viewerHeader: document.querySelector('meta[name="viewer-header"]')?.content || "X-Viewer-ID",
});
/** The displayed cells by language and layout. */
const cells = new Map();
const key = (language, layout) => `${language ?? ""} ${layout}`;
let request = null;
let timer = null;

/** Returns a client for an element: its only page has the cells of a language and a layout. */
function pageClient(name) {
  const noAction = { type: "about:blank", status: 404, title: "Not Found", detail: "The playground performs no actions." };
  const respond = (value, status = 200) => new Response(JSON.stringify(value), {
    status, headers: { "Content-Type": status === 200 ? "application/json" : "application/problem+json" },
  });
  return new FeedClient({
    base: document.baseURI, viewer: "playground", attempts: 1,
    fetch: async (url, { method = "GET" } = {}) => {
      if (new URL(url).pathname === "/events") return respond({ results: [] });
      if (method !== "GET") return respond(noAction, 404);
      return respond({ cells: cells.get(name) ?? [], page: { protocol: 1, limit: 20, next: null, previous: null } });
    },
  });
}

/** Returns a picture in place of the images of the item, and no content for their cancellations. */
async function sampleImage(_, { method = "GET" } = {}) {
  if (method !== "GET") return new Response(null, { status: 204 });
  const canvas = element("canvas", { width: 480, height: 320 });
  const context = canvas.getContext("2d");
  const sky = context.createLinearGradient(0, 0, 480, 320);
  sky.addColorStop(0, "#7f8fd0");
  sky.addColorStop(1, "#d8a06c");
  context.fillStyle = sky;
  context.fillRect(0, 0, 480, 320);
  context.fillStyle = "#fff8";
  context.beginPath();
  context.arc(240, 160, 90, 0, 2 * Math.PI);
  context.fill();
  const bytes = await new Promise((resolve) => canvas.toBlob(resolve));
  return new Response(bytes, { headers: { "Content-Type": "image/png" } });
}

/** Shows the pages of a response. Elements of equal language and layout are kept. */
function show(pages) {
  const known = cells.size > 0 && cells.size === pages.length && pages.every(({ language, layout }) => cells.has(key(language, layout)));
  cells.clear();
  for (const page of pages) cells.set(key(page.language, page.layout), page.cells);
  const preview = find("cells");
  if (known) {
    for (const figure of preview.querySelectorAll(".sizes")) {
      figure.previousElementSibling.hidden = figure.hidden = cells.get(figure.dataset.page).length === 0;
    }
    for (const feed of preview.querySelectorAll("intertwine-feed")) feed.reload();
    return;
  }
  const languages = Array.from(new Set(pages.map(({ language }) => language ?? null)));
  preview.replaceChildren(...languages.flatMap((language) => [
    element("h3", {}, language === null ? "All languages" : languageName(language)),
    ...Object.entries(layouts).flatMap(([layout, title]) => {
      const name = key(language, layout);
      const isEmpty = (cells.get(name) ?? []).length === 0;
      return [element("h4", { hidden: isEmpty }, title), element("div.sizes", { "data-page": name, hidden: isEmpty },
        ...textSizes.map(([scale, size]) => figure(name, layout, scale, size)))];
    }),
  ]));
}

function figure(name, layout, scale, size) {
  const feed = element("intertwine-feed", { "text-scale": scale });
  Object.assign(feed, { client: pageClient(name), imageFetch: sampleImage });
  feed.src = layout === "table" ? "/feed?layout=table" : "/feed";
  return element("figure", {}, element("figcaption", {}, size), feed);
}

function languageName(tag) {
  try {
    return `${new Intl.DisplayNames(["en"], { type: "language" }).of(tag)} (${tag})`;
  } catch {
    return tag;
  }
}

/** Sends the texts to the service, and shows the cells or the errors. */
async function update() {
  request?.abort();
  const current = new AbortController();
  request = current;
  const body = { declaration: inputs.declaration.value, item: inputs.item.value };
  try {
    const { value } = await client.send("/web-client/playground", { method: "POST", body, signal: current.signal });
    if (request !== current) return;
    report([]);
    show(value.pages);
    find("state").textContent = "Valid";
  } catch (error) {
    if (request !== current || current.signal.aborted) return;
    report(error.errors?.length > 0 ? error.errors : [{ detail: error.problem?.detail ?? error.detail ?? "The service is unavailable." }]);
    find("state").textContent = "Not valid";
  }
}

/** Shows errors, and marks the texts that they are in. */
function report(errors) {
  const list = find("problems");
  list.hidden = errors.length === 0;
  list.replaceChildren(...errors.map(({ detail }) => element("li", {}, detail)));
  for (const [name, input] of Object.entries(inputs)) {
    input.setAttribute("aria-invalid", String(errors.some(({ pointer }) => pointer === `/${name}`)));
  }
  find("cells").classList.toggle("is-outdated", errors.length > 0);
}

inputs.declaration.value = sampleDeclaration;
inputs.item.value = sampleItem;
for (const input of Object.values(inputs)) {
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, pause);
  });
}
update();
