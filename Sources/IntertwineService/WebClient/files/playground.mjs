// The playground: the cells of a sample item by an edited declaration. The service validates the declaration and makes the cells; the element
// shows them. The service stores nothing.
import { FeedClient } from "./client/index.mjs";
import { element } from "./client/element/elements.mjs";
import "./client/element/intertwine-feed.mjs";
import "./documents.mjs";
import { Editor } from "./editor.mjs";
import { highlighted } from "./highlighted-json.mjs";
import { examples } from "./playground-examples.mjs";
import { pageClient } from "./page-client.mjs";
import { fragmentOf, keep, kept, textsOf } from "./share.mjs";

const textSizes = [[1, "Normal text"], [0.85, "Small text"], [1.3, "Large text"], [2, "Very large text"], [3, "Largest text"]];
const layouts = { collection: "Cell", table: "Table row" };
/** The milliseconds without input after which the service gets the texts. */
const pause = 250;

const find = (id) => document.getElementById(id);
const inputs = {};
for (const name of ["declaration", "item"]) inputs[name] = new Editor(find(name), () => changed());
/** The chosen values of the switches. `layout` is "all" for every layout, language and text size. */
const chosen = { layout: "collection", language: null, text: 1, width: "", scheme: "" };
const client = new FeedClient({
  base: document.baseURI, viewer: "playground", viewerHeader: document.querySelector('meta[name="viewer-header"]')?.content || "X-Viewer-ID",
});
/** The displayed cells by language and layout. */
const cells = new Map();
const key = (language, layout) => `${language ?? ""} ${layout}`;
/** True if the JSON of the cell is open. On a phone, the texts are below it. */
let received = !matchMedia("(max-width: 900px)").matches;
/** The pages of the last valid texts. */
let last = [];
let request = null;
let timer = null;

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

/** Shows the pages of a response: the chosen one, or all. */
function show(pages) {
  const languages = Array.from(new Set(pages.map(({ language }) => language ?? null)));
  if (!languages.includes(chosen.language)) chosen.language = languages[0];
  const hasCells = ({ layout }) => pages.some((page) => page.layout === layout && page.cells.length > 0);
  if (chosen.layout !== "all" && !hasCells(chosen)) chosen.layout = Object.keys(layouts).find((layout) => hasCells({ layout })) ?? "all";
  showSwitches(languages, hasCells);
  if (chosen.layout === "all") showAll(pages);
  else showOne(pages);
}

function showOne(pages) {
  cells.clear();
  for (const page of pages) cells.set(key(page.language, page.layout), page.cells);
  const name = key(chosen.language, chosen.layout);
  const [cell] = cells.get(name) ?? [];
  const shown = element("div.one", { "data-width": chosen.width }, figure(name, chosen.layout, chosen.text, `${cell?.identifier ?? "No cell"}`));
  if (chosen.width !== "") shown.style.maxWidth = `${chosen.width}px`;
  shown.style.colorScheme = chosen.scheme;
  find("cells").replaceChildren(shown, element("details", { open: received },
    element("summary", {}, element("h3", {}, "What the app receives")), element("pre.json", { dir: "ltr" }, ...highlighted(cell ?? null))));
  find("cells").querySelector("details").addEventListener("toggle", ({ target }) => (received = target.open));
}

/** Shows the choices above the cell. */
function showSwitches(languages, hasCells) {
  const group = (label, name, choices) => element("div.switch-group", { role: "group", "aria-label": label }, element("span.switch-label", { "aria-hidden": "true" }, label), ...choices.map(([value, text]) => {
    const button = element("button.switch", { type: "button", "aria-pressed": String(chosen[name] === value), "data-switch": `${name}-${value}` }, text);
    button.addEventListener("click", () => {
      chosen[name] = value;
      show(last);
      find("switches").querySelector(`[data-switch="${CSS.escape(`${name}-${value}`)}"]`)?.focus();
    });
    return button;
  }));
  const isOne = chosen.layout !== "all";
  find("switches").replaceChildren(
    group("Layout", "layout", [...Object.entries(layouts).filter(([layout]) => hasCells({ layout })), ["all", "All"]]),
    ...(isOne && languages.length > 1 ? [group("Language", "language", languages.map((tag) => [tag, tag === null ? "Any" : tag]))] : []),
    ...(isOne ? [
      group("Text size", "text", [[1, "100 %"], [1.3, "130 %"], [2, "200 %"]]),
      group("Width", "width", [["", "Full"], ["768", "Tablet"], ["390", "Phone"]]),
      group("Colours", "scheme", [["", "System"], ["light", "Light"], ["dark", "Dark"]]),
    ] : []),
  );
}

/** Shows every layout, language and text size. Elements of equal language and layout are kept. */
function showAll(pages) {
  const isAll = find("cells").querySelector(".sizes") !== null;
  const known = isAll && cells.size > 0 && cells.size === pages.length && pages.every(({ language, layout }) => cells.has(key(language, layout)));
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
  Object.assign(feed, { client: pageClient(() => cells.get(name) ?? []), imageFetch: sampleImage });
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
    last = value.pages;
    show(last);
    find("state").textContent = "Valid";
  } catch (error) {
    if (request !== current || current.signal.aborted) return;
    report(error.errors?.length > 0 ? error.errors : [{ detail: error.problem?.detail ?? error.detail ?? "The service is unavailable." }]);
    find("state").textContent = "Not valid";
  }
}

/** Shows errors: beside their lines, and as a list that leads there. */
function report(errors) {
  const list = find("problems");
  list.hidden = errors.length === 0;
  const lineOf = (detail) => Number(/^(?:item \d+, )?line (\d+)/.exec(detail)?.[1] ?? 0) || null;
  list.replaceChildren(...errors.map(({ detail, pointer }) => {
    const editor = inputs[pointer?.slice(1)];
    const line = lineOf(detail);
    if (editor === undefined || line === null) return element("li", {}, detail);
    const go = element("button", { type: "button" }, detail);
    go.addEventListener("click", () => editor.select(line));
    return element("li", {}, go);
  }));
  for (const [name, editor] of Object.entries(inputs)) {
    editor.report(errors.filter(({ pointer }) => pointer === `/${name}`).map(({ detail }) => ({ line: lineOf(detail), text: detail.replace(/^line \d+(, column \d+)?: /, "") })));
  }
  find("cells").classList.toggle("is-outdated", errors.length > 0);
  if (errors.length > 0 && find("cells").childElementCount === 0) find("cells").append(element("p.none", {}, "The texts have a fault, so there are no cells yet."));
}

const texts = () => ({ declaration: inputs.declaration.value, item: inputs.item.value });

/** The edited texts, to which the choice "Your text" returns from an example. */
let own = null;

const nameOf = ({ declaration, item }) => Object.keys(examples).find((name) => examples[name].declaration === declaration && examples[name].item === item) ?? "";

/** Chooses the example that the texts are, or the person's own text. */
function choose() {
  const name = nameOf(texts());
  if (name === "") own = texts();
  find("own-text").hidden = own === null;
  find("example").value = name;
}

function changed() {
  keep(texts());
  choose();
  clearTimeout(timer);
  timer = setTimeout(update, pause);
}

function load({ declaration, item }) {
  inputs.declaration.value = declaration;
  inputs.item.value = item;
  choose();
  update();
}

/** Shows the texts of the link, otherwise those of this tab, otherwise an example. */
async function begin() {
  const name = new URLSearchParams(location.hash.slice(1)).get("example");
  const example = Object.hasOwn(examples, name ?? "") ? examples[name] : null;
  load((await textsOf(location.hash)) ?? example ?? kept() ?? examples.event);
}

/** Copies a text, and says so on the button. */
async function copy(button, text) {
  const label = button.textContent;
  const isCopied = await navigator.clipboard.writeText(text).then(() => true, () => false);
  button.textContent = isCopied ? "Copied" : "Not allowed";
  setTimeout(() => (button.textContent = label), 2000);
}

find("example").append(element("option", { value: "", id: "own-text", hidden: true }, "Your text"), ...Object.keys(examples).map((name) => element("option", { value: name }, name[0].toUpperCase() + name.slice(1))));
find("example").addEventListener("change", ({ target }) => {
  history.replaceState(null, "", location.pathname);
  load(examples[target.value] ?? own);
  keep(texts());
});
find("copy").addEventListener("click", ({ target }) => copy(target, inputs.declaration.value));
find("share").addEventListener("click", async ({ target }) => {
  history.replaceState(null, "", await fragmentOf(texts()));
  copy(target, location.href);
});
addEventListener("hashchange", begin);
begin();
