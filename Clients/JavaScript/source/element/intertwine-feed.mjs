// The element `<intertwine-feed src="/feed">`, which shows a feed, performs its actions, and follows its changes.
import { Actions, customSlots, labelOf } from "../actions.mjs";
import { Connection } from "../connection.mjs";
import { decodeImage } from "../decode-image.mjs";
import { DetailEvent } from "../detail-event.mjs";
import { FeedClient } from "../feed-client.mjs";
import { FeedList } from "../feed-list.mjs";
import { FeedUpdates } from "../feed-updates.mjs";
import { ImageLoader } from "../image-loader.mjs";
import { Impressions } from "../impressions.mjs";
import { Outbox } from "../outbox.mjs";
import { displaySize } from "../page.mjs";
import { makeRegistry } from "./cell-kinds.mjs";
import { cellMenu } from "./cell-menu.mjs";
import { CollectionLayout, columnWidth } from "./collection-layout.mjs";
import { CollectionView } from "./collection-view.mjs";
import { connectionBanner } from "./connection-banner.mjs";
import { element, resolve } from "./elements.mjs";
import { FeedLoader } from "./feed-loader.mjs";
import { firstPage, tableWidth } from "./first-page.mjs";
import { imageZoom } from "./image-zoom.mjs";
import { Interactions } from "./interactions.mjs";
import { Keyboard } from "./keyboard.mjs";
import { NewCells } from "./new-cells.mjs";
import { styles } from "./styles.mjs";
import { Toast } from "./toast.mjs";
import { UndoStack } from "./undo-stack.mjs";
import { browserStorage, storedViewer } from "./viewer-identity.mjs";
import { observeVisibleCells } from "./visible-cells.mjs";
import { languageOfWords, wordsOf } from "./words.mjs";

/** The words of the viewer's lists: the message for an empty list, and the command for each cell. */
const lists = {
  feed: { title: "empty" },
  saved: { title: "noSaved", text: "noSavedText", removal: "remove", done: "unsaved" },
  dismissed: { title: "noDismissed", text: "noDismissedText", removal: "restore", done: "listed" },
};
const outlines = 40;

/**
 * A custom element that shows a feed.
 *
 * Attributes: `src` (the URL of a feed, section or viewer's list), `filters` (the values of the feed's filters, as the query of a URL), `viewer` (the viewer's name; by default a random name that is stored in
 * the browser), `viewer-header`, `language` (`Accept-Language`), `cells` (`Accept-Cells`, or `own` for the cells with a view), and
 * `text-scale` (from 0.5 to 4; by default the font size of the root element, divided by 16 pixels), and `words` (a JSON object with texts of
 * the element by name, in place of its English or German ones; it has the language of `language`, of the nearest `lang`, or of the browser). Children:
 * `<template data-cell="IDENTIFIER">` defines a view, and `slot="empty"` the text for an empty feed.
 *
 * Events: `feedstart` (the parts exist), `feedchange` with `{ count, isAtEnd }`, and `signinrequired` with `{ error }` (a request failed because the
 * person must sign in; call `reload()` afterwards). Cancelable ones: `feedopen` with `{ href }`,
 * `feedpresent` with `{ presentation, entry }`, `feedreload` (the person asks to load the feed again), and `feedhome` (to leave an empty list, or an unknown feed).
 */
export class IntertwineFeed extends (globalThis.HTMLElement ?? class {}) {
  static observedAttributes = ["src", "filters", "viewer", "viewer-header", "language", "cells", "text-scale", "words"];

  // The page may have set properties before the element was defined. The fields keep those values.
  /** The client. If it is not set, the element makes one for the origin of `src`. */
  client = this.client ?? null;
  /** Sends the requests for images; by default those of the client do. */
  imageFetch = this.imageFetch ?? null;
  /** Returns the bearer token of a request, as the option `token` of `FeedClient` does. Set it before `src`. */
  token = this.token ?? null;
  /** Further commands for each cell: `{ name, label, key, paths, run(entry) }`, with the paths of an icon in a box of 24 by 24. */
  commands = this.commands ?? [];
  /** The functions that show screens, by the name in presentations: `show(arguments, entry)` returns a promise of the end. */
  screens = this.screens ?? {};
  #session = null;
  #insets = { top: 0, bottom: 0 };
  #textScale = 1;
  #locale = "en";
  /** Where the feed was scrolled to, for an element that is removed and added again: `{ src, id, index, offset, height }`. */
  #place = null;
  #words = wordsOf("en");

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styles()];
    // A value that was set before the definition would hide the accessor. A read-only property ignores it.
    for (const name of ["src", "filters", "viewer", "parts", "textScale"]) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete this[name];
      Reflect.set(this, name, value);
    }
  }

  /** The URL of the first page. */
  get src() {
    return this.getAttribute("src");
  }

  set src(src) {
    this.setAttribute("src", src);
  }

  /** The values of the feed's filters by name: `{ category: ["music", "art"] }`. */
  get filters() {
    const values = new URLSearchParams(this.getAttribute("filters") ?? "");
    return Object.fromEntries([...new Set(values.keys())].map((name) => [name, values.getAll(name)]));
  }

  set filters(filters) {
    const values = Object.entries(filters ?? {}).flatMap(([name, chosen]) => chosen.map((value) => [name, value]));
    if (values.length === 0) this.removeAttribute("filters");
    else this.setAttribute("filters", new URLSearchParams(values));
  }

  /** The viewer's name, or null. */
  get viewer() {
    return this.getAttribute("viewer");
  }

  set viewer(viewer) {
    if (viewer === null || viewer === undefined) this.removeAttribute("viewer");
    else this.setAttribute("viewer", viewer);
  }

  /** The parts of the running element: `{ list, collection, images, actions, interactions, connection, skeletons }`, or null. */
  get parts() {
    return this.#session;
  }

  /** The size of text, divided by its default size. */
  get textScale() {
    return this.#textScale;
  }

  connectedCallback() {
    // The templates follow the start tag.
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => this.#start(), { once: true });
    else this.#start();
  }

  disconnectedCallback() {
    const place = this.#place;
    this.#end();
    this.#place = place;
  }

  attributeChangedCallback(name, before, after) {
    if (name === "text-scale") this.#updateTextScale();
    else if (this.isConnected && before !== after && document.readyState !== "loading") this.reload();
  }

  /** Loads the feed again from its first page. */
  reload() {
    this.#end();
    this.#start();
  }

  /** Performs the first action of the newest notice, such as an undo. */
  undo() {
    this.#session?.toast.act();
  }

  /** True while the element shows a dialog. */
  get hasDialog() {
    return this.shadowRoot.querySelector("dialog[open]") !== null;
  }

  /** Reads the `scroll-padding` of the document again: the part of the window that other elements cover. */
  updateInsets() {
    const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(document.documentElement);
    this.#insets = { top: parseFloat(scrollPaddingTop) || 0, bottom: parseFloat(scrollPaddingBottom) || 0 };
    this.style.setProperty("--inset-top", `${this.#insets.top}px`);
    this.#session?.updateVisibility();
  }

  /** Reads the text scale again. The cells get their new heights. */
  #updateTextScale() {
    const declared = Number(this.getAttribute("text-scale"));
    const scale = declared > 0 ? declared : parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    const limited = Math.min(Math.max(scale, 0.5), 4) || 1;
    if (limited === this.#textScale) return;
    this.#textScale = limited;
    this.style.setProperty("--intertwine-text-scale", limited);
    this.#session?.collection.relayout();
  }

  #start() {
    if (this.#session !== null || !this.isConnected || this.src === null) return;
    const declared = this.getAttribute("language")?.split(",")[0].split(";")[0].trim();
    this.#locale = languageOfWords(declared || this.closest("[lang]")?.lang || navigator.language);
    this.#words = wordsOf(this.#locale, this.getAttribute("words"));
    const invalid = invalidAttribute(this);
    if (invalid !== null) {
      this.#showInvalid(invalid);
      return;
    }
    const screen = document.documentElement.clientWidth;
    // The margins of a page beside the element are not a narrow column.
    const width = this.clientWidth > 0 && this.clientWidth < screen - 64 ? this.clientWidth : screen;
    this.#updateTextScale();
    const first = firstPage({ src: this.src, filters: this.filters, width, available: this.clientWidth || screen, scale: devicePixelRatio });
    this.#session = this.#makeSession(first);
    this.updateInsets();
    this.dispatchEvent(new DetailEvent("feedstart"));
    this.#session.collection.schedule();
    if (this.#place?.src === this.src) this.#restore(this.#session, this.#place);
  }

  /** Loads the pages up to a place, and scrolls there, unless the person scrolls meanwhile. */
  async #restore({ collection, list }, { id, index, offset, height }) {
    this.style.minHeight = `${height}px`;
    const { scrollY } = globalThis;
    try {
      while (list.entries.length <= index && !list.isAtEnd && this.#session?.list === list) await list.loadNext();
      const entry = list.entries.find(({ cell }) => cell.id === id) ?? list.entries[index];
      if (entry !== undefined && this.#session?.list === list && globalThis.scrollY === scrollY) collection.hold({ entry, offset });
    } catch {
      // The element reports an unavailable service.
    } finally {
      this.style.minHeight = "";
    }
  }

  /** Remembers the place of the first visible cell. A removed element has none any more. */
  #remember({ collection }) {
    if (!this.isConnected) return;
    const { top } = this.getBoundingClientRect();
    const anchor = top < 0 ? collection.anchor() : null;
    this.#place = anchor && { src: this.src, id: anchor.entry.cell.id, index: anchor.entry.index, offset: anchor.offset, height: collection.layout.height };
  }

  #showInvalid(name) {
    const title = element("h2.state-title", {}, this.#words("feedRefused"));
    const text = element("p", {}, this.#words("invalid", { name }));
    const attributes = { id: "state", "aria-label": this.#words("state"), lang: this.#locale, part: "state" };
    this.shadowRoot.replaceChildren(element("section.state", attributes, title, text));
  }

  #end() {
    this.#session?.end();
    this.#session = null;
    this.#place = null;
    this.shadowRoot.replaceChildren();
  }

  /** Composes the parts. All dependencies between them are defined here. */
  #makeSession({ base, href, isTable, list: listName }) {
    const root = this.shadowRoot;
    const surface = this.#makeSurface(isTable);
    const client = this.client ?? this.#makeClient(base);
    const connection = (client.connection ??= new Connection({ probe: client.resolve("readyz"), fetch: client.fetch }));
    const actions = new Actions({
      client,
      outbox: new Outbox({ client, storage: browserStorage }),
      bind: (bindings, { view }) => view.bind(bindings),
      // The browser opens the cell's link, so the request is only logged.
      open: (link, owner, slot) => client.requestLog.begin(owner, { slot, method: "GET", href: link }).end("opened in a tab"),
    });
    const images = new ImageLoader({ client, actions, fetch: this.imageFetch ?? client.fetch, decode: decodeImage });
    const list = new FeedList({ client, href });
    const words = this.#words;
    const { title, text, removal: removalWord, done } = lists[listName];
    const removal = removalWord && words(removalWord);
    const registry = makeRegistry({
      templates: this.querySelectorAll(":scope > template[data-cell]"), textScale: () => this.#textScale,
      parts: {
        base: client.base, images, actions, removal, commands: this.commands,
        distance: (entry) => collection.distance(entry), language: () => list.pages.language, words, locale: () => this.#locale,
        loaded: (view) => seen?.loaded(view),
      },
    });
    this.#setHeaders(client, registry);
    const collection = new CollectionView({ element: surface.feed, list, makeLayout: layouts(isTable), registry, insets: () => this.#insets });
    const alignContent = () => this.style.setProperty("--content-width", `${collection.layout.contentWidth}px`);
    collection.addEventListener("laid-out", alignContent);
    collection.addEventListener("rendered", () => this.#remember({ collection }));
    alignContent();

    const updates = listName === "feed" ? new FeedUpdates({ list, visible: () => collection.shown }) : null;
    if (updates !== null) collection.addEventListener("rendered", () => updates.visibleRangeChanged());
    const empty = [words(title), [listName === "feed" ? element("slot", { name: "empty" }) : words(text)]];
    const goBack = () => this.#ask("feedhome", { list: listName }) && (this.src = this.src.replace(/(saved|dismissed|feeds\/[^?]*)(?=$|\?)/, "feed"));
    const loader = new FeedLoader({
      feed: collection, list, connection, empty, words, goBack, isOwn: listName !== "feed", state: surface.state, skeletons: surface.skeletons, reload: () => this.#ask("feedreload") && this.reload(),
    });
    const announce = (message) => {
      surface.live.textContent = message;
    };
    const newCells = new NewCells({ list, collection, pill: surface.pill, announce, words });

    const toast = new Toast(surface.toasts);
    reportRefusedImages(images, toast, words);
    const signIn = ({ detail }) => this.dispatchEvent(new DetailEvent("signinrequired", detail));
    client.addEventListener("signinrequired", signIn);
    const retryImages = () => collection.views.forEach((view) => view.retry());
    connection.addEventListener("restored", retryImages);
    const endBanner = connectionBanner({ connection, banner: surface.banner, toast, words });
    const interactions = new Interactions({
      actions, feed: collection, toast, undo: new UndoStack(toast, words), announce, root, words, open: (link) => this.#open(link, client.base),
    });
    const zoom = imageZoom({ images, root, words });
    interactions.registerScreen("ImageZoom", zoom);
    for (const [name, show] of Object.entries(this.screens)) interactions.registerScreen(name, show);
    interactions.present = (presentation, entry) => this.#ask("feedpresent", { presentation, entry });
    const impressions = new Impressions({ client });
    const seen = observeVisibleCells({ impressions, feed: collection, root, insets: () => this.#insets });
    // A click counts only after the impression. The press precedes the request of the link.
    for (const type of ["pointerdown", "click"]) {
      surface.feed.addEventListener(type, ({ target }) => target.closest("a.cell-face") && impressions.flush({ keepalive: true }));
    }

    const dismiss = (entry) => (removal ? interactions.removeFromList(entry, listName, done) : interactions.dismiss(entry));
    this.#handleGestures({ root, surface, collection, interactions, actions, dismiss, removal });
    list.addEventListener("changed", () => this.#changed(list, surface));

    const resized = () => this.updateInsets();
    addEventListener("resize", resized);
    // The element `.ruler` has the font size of the root element as its width.
    // A layout during the observation would change observed sizes again, which the browser reports as an error.
    const fontSizes = new ResizeObserver(() => requestAnimationFrame(() => this.#updateTextScale()));
    fontSizes.observe(surface.ruler);
    const end = () => {
      fontSizes.disconnect();
      removeEventListener("resize", resized);
      connection.removeEventListener("restored", retryImages);
      client.removeEventListener("signinrequired", signIn);
      updates?.close();
      loader.close();
      newCells.close();
      endBanner();
      collection.close();
    };
    return { client, list, collection, images, actions, interactions, connection, toast, skeletons: surface.skeletons, updateVisibility: seen.update, end };
  }

  /** Creates the elements that do not depend on the feed. */
  #makeSurface(isTable) {
    const surface = {
      feed: element(`div.feed${isTable ? ".is-table" : ""}`, { role: "feed", "aria-label": this.#words("feed"), "aria-busy": "true", part: "feed" }),
      skeletons: element("div.skeletons", { "aria-hidden": "true" }, ...Array.from({ length: outlines }, () => element("i"))),
      state: element("section.state", { id: "state", "aria-label": this.#words("state"), hidden: true, part: "state" }),
      omitted: element("p.end", { id: "omitted", hidden: true }),
      end: element("p.end", { id: "end", hidden: true, part: "end" }),
      pill: element("button.button.pill", { type: "button", hidden: true, part: "pill" }),
      banner: element("section.banner", { id: "banner", "aria-label": this.#words("connection"), hidden: true, part: "banner" }),
      toasts: element("div.toasts", { id: "toasts", role: "group", "aria-label": this.#words("notices"), part: "notices" }),
      ruler: element("i.ruler", { "aria-hidden": "true" }),
      live: element("p.visually-hidden", { id: "live", role: "status", "aria-live": "polite" }),
    };
    // The words of the element have their own language; those of the cells have that of the feed.
    for (const part of Object.values(surface)) {
      part.lang = this.#locale;
      if (part !== surface.feed) part.dir = "auto";
    }
    if (isTable) surface.feed.style.maxWidth = `${tableWidth}px`;
    this.shadowRoot.replaceChildren(...Object.values(surface));
    return surface;
  }

  #makeClient(base) {
    return new FeedClient({
      base, viewer: this.getAttribute("viewer") || (this.token === null ? storedViewer() : null),
      viewerHeader: this.getAttribute("viewer-header") ?? undefined, token: this.token, attempts: 1,
    });
  }

  /** Sets the header fields of every request: languages, and supported cells. */
  #setHeaders(client, registry) {
    const [language, cells] = ["language", "cells"].map((name) => this.getAttribute(name));
    const accepted = cells === "own" ? registry.acceptCells : cells;
    client.headers = { ...client.headers, ...(language && { "Accept-Language": language }), ...(accepted && { "Accept-Cells": accepted }) };
  }

  #handleGestures({ root, surface, collection, interactions, actions, dismiss, removal }) {
    const openMenu = cellMenu({
      root, words: this.#words,
      commands: (entry) => [
        ...customSlots(entry.cell).map(({ slot, label }) => ({ name: slot, label, run: () => interactions.perform(entry, slot, label) })),
        ...this.commands.map(({ name, label, run }) => ({ name, label, run: () => run(entry) })),
        ...(removal ?? entry.cell.actions?.dismissal
          ? [{ name: "dismiss", label: removal ?? labelOf(entry.cell.actions.dismissal, this.#words("dismiss")), run: () => dismiss(entry) }]
          : []),
      ],
    });
    const select = (entry) => collection.viewOf(entry)?.face?.click();
    new Keyboard({ feed: collection, select, dismiss, commands: this.commands });
    surface.feed.addEventListener("keydown", (event) => {
      const isText = event.target.closest("input, select, textarea") !== null;
      if (!isText && !event.ctrlKey && !event.metaKey && !event.altKey && event.key.toLowerCase() === "u") this.undo();
    });
    surface.feed.addEventListener("click", ({ target }) => {
      const view = collection.view(target);
      if (view === undefined) return;
      const { entry } = view;
      const tool = target.closest(".tool")?.dataset.tool;
      const action = target.closest("[data-action]")?.dataset.action;
      if (tool === "dismiss") dismiss(entry);
      else if (tool === "save") interactions.perform(entry, action, labelOf(entry.cell.actions?.[action], action));
      else if (tool === "more") openMenu(target.closest(".tool"), entry);
      else if (tool !== undefined) this.commands.find(({ name }) => name === tool)?.run(entry);
      else if (action === "dismissal") dismiss(entry);
      else if (action === "selection" || target.matches("button.cell-face")) interactions.select(entry);
      else if (action !== undefined) interactions.perform(entry, action, labelOf(entry.cell.actions?.[action], action));
      else if (target.matches("a.cell-face")) actions.perform("selection", entry);
    });
  }

  #changed(list, { omitted, end }) {
    const count = list.entries.length;
    omitted.hidden = list.pages.omitted.length === 0;
    omitted.textContent = this.#words("omitted", { items: list.pages.omitted.map((one) => omittedText(one, this.#words)).join(", ") });
    end.hidden = !list.isAtEnd || count === 0;
    end.textContent = this.#words(count === 1 ? "endOne" : "end", { count });
    this.dispatchEvent(new DetailEvent("feedchange", { count, isAtEnd: list.isAtEnd }));
  }

  /** Opens a link in a tab, unless the page handles it. */
  #open(href, base) {
    const url = resolve(href, base);
    if (url !== null && this.#ask("feedopen", { href: url })) open(url, "_blank", "noopener");
  }

  /** Dispatches a cancelable event. Returns false if the page handles it. */
  #ask(type, detail = null) {
    return this.dispatchEvent(new CustomEvent(type, { detail, cancelable: true, bubbles: true, composed: true }));
  }
}

/** Returns the name of the first attribute whose value no request can contain, or null. */
function invalidAttribute(feed) {
  const fields = {
    language: (value) => ["Accept-Language", value], cells: (value) => ["Accept-Cells", value], "viewer-header": (value) => [value, ""],
  };
  if (feed.src.trim() === "" || resolve(feed.src, document.baseURI) === null) return "src";
  // The client encodes other characters of the name.
  if (/[\0\r\n]/.test(feed.viewer ?? "")) return "viewer";
  return Object.keys(fields).find((name) => feed.hasAttribute(name) && !isField(...fields[name](feed.getAttribute(name)))) ?? null;
}

function isField(name, value) {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

/** Returns a function that makes layouts. The first page defines the width of the columns for all pages. */
function layouts(isTable) {
  let column;
  return (width, entries) => {
    if (column === undefined && entries.length > 0) column = columnWidth(entries.map(({ cell }) => displaySize(cell.size)));
    return new CollectionLayout({ width, column, isTable });
  };
}

/** Returns the text for items that a page omits. */
function omittedText({ kind, count, identifiers = [], types = [] }, words) {
  const named = types.length > 0 ? words("omittedTypes", { types: types.join(", ") }) : "";
  return words("omittedItem", { count, kind, types: named, identifiers: identifiers.join(", ") });
}

/** Reports a missing image that operators can enable, each reason once, because it affects many cells. */
function reportRefusedImages(images, toast, words) {
  const reasons = new Set();
  images.addEventListener("refused", ({ detail: { type, detail } }) => {
    if (!type.endsWith("-denied") || reasons.has(type)) return;
    reasons.add(type);
    toast.show(words("imagesMissing", { detail }), { seconds: 15 });
  });
}

// A server that renders pages imports this module without a document. The browser defines the element.
if (globalThis.customElements && !customElements.get("intertwine-feed")) customElements.define("intertwine-feed", IntertwineFeed);
