// A panel with what an app receives for a cell, the same cell in code, and its requests with their responses.
import { displaySize } from "./client/index.mjs";
import { element } from "./client/element/elements.mjs";
import { highlighted, linesOf } from "./highlighted-json.mjs";
import { say, translate } from "./page-words.mjs";
import { elementSnippet, moveSnippet, swiftSnippet } from "./snippets.mjs";

/** A narrower window shows the panel on demand. */
const wide = matchMedia("(min-width: 1200px)");
const closedKey = "intertwine.panel";

export class Inspector {
  #entry = null;
  #unpin = null;
  #items = new Map();
  #events = new AbortController();
  /** True while the panel is beside the feed, and shows the cell with the focus. */
  #isBeside = false;
  #form = "JSON";

  /**
   * - explanation(entry): returns the URL of the operators' page that explains the position of a cell, or null. resized(): called after the
   *   panel covers another part of the window. operators: the URL of the admin listener, or null.
   * - move(entry): opens the order of an item in the console, or null.
   */
  constructor({ panel, log, feed, explanation, resized, operators, move }) {
    Object.assign(this, { panel, log, feed, explanation, resized, operators, move });
    const { signal } = this.#events;
    log.addEventListener("entry", ({ detail }) => detail === this.#entry && this.#update(), { signal });
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.hide();
    }, { signal });
    feed.addEventListener("laid-out", () => this.#showSize(), { signal });
    // The panel follows the pointer's selection while it is open.
    feed.element.addEventListener("focusin", ({ target }) => {
      const entry = feed.view(target)?.entry;
      if (this.#isBeside && entry !== undefined && entry !== this.#entry) this.show(entry, { isQuiet: true });
    }, { signal });
  }

  /** Ends the panel of a feed that is loaded again. */
  close() {
    this.#events.abort();
    this.#setEntry(null);
    this.panel.replaceChildren();
  }

  /** Reserves the place of the panel in a wide window, before the first layout, unless the person has closed it before. */
  reserve() {
    this.#isBeside = wide.matches && remembered(closedKey) === null;
    this.panel.hidden = !this.#isBeside;
    document.documentElement.classList.toggle("is-inspecting", this.#isBeside);
    if (this.#isBeside) this.panel.replaceChildren(element("p.inspector-scroll.quiet", {}, say("Here is what the app receives for a cell.")));
  }

  /** Shows a form of the inspected item, or of the first one. */
  showForm(name, entries) {
    const isItem = (entry) => entry !== null && !/^(ad|section):/.test(entry.cell.id);
    const entry = isItem(this.#entry) ? this.#entry : (firstOf(entries) ?? this.#entry);
    if (entry === null || entry === undefined) return;
    this.#form = name;
    if (wide.matches) {
      this.#isBeside = true;
      remember(closedKey, null);
    }
    this.show(entry, { isQuiet: wide.matches });
  }

  /** Shows how the inspected or first item is moved, and opens the console if it can be reached. */
  reorder(entries) {
    this.showForm("Move", entries);
    if (this.isOpen) this.move?.(this.#entry);
  }

  /** Shows the first cell of a kind that the service declares, in a reserved panel. */
  open(entries) {
    if (!this.#isBeside || this.isOpen) return;
    const entry = firstOf(entries);
    if (entry !== undefined) this.show(entry, { isQuiet: true });
    else this.#setOpen(false);
  }

  get isOpen() {
    return this.#entry !== null;
  }

  /** Shows a cell, or hides the panel if it shows that cell. */
  toggle(entry) {
    if (this.#entry === entry) this.hide();
    else this.show(entry);
  }

  /** Shows a cell. With `isQuiet`, the focus and the scroll position stay. */
  show(entry, { isQuiet = false } = {}) {
    this.#setEntry(null);
    this.#setEntry(entry);
    this.#items.clear();
    const names = { "aria-label": "Close the inspector", title: "Close (Esc)" };
    const close = element("button.tool.inspector-close", { type: "button", ...names }, "×");
    close.addEventListener("click", () => this.hide());
    this.size = element("p.quiet");
    this.requests = element("ol.requests");
    this.none = element("p.quiet", {}, "None yet.");
    const why = this.explanation(entry);
    const scroll = element(
      "div.inspector-scroll", { tabindex: "0", role: "group", "aria-label": "Descriptor and requests" },
      this.#forms(entry), ...(why === null ? [] : [explanation(why, entry.name)]), element("h3", {}, "Requests"), this.none, this.requests,
    );
    this.panel.replaceChildren(
      element("header", {}, element("div", {}, element("h2", {}, entry.cell.id === undefined ? entry.name : element("a", { href: `#${new URLSearchParams({ cell: entry.cell.id })}` }, entry.cell.id)),
        this.size), close),
      scroll,
    );
    translate(this.panel);
    this.#setOpen(true, entry);
    this.#showSize();
    this.#update();
    if (isQuiet) return;
    this.panel.focus({ preventScroll: true });
    // On a narrow screen the panel is at the bottom and may cover the cell.
    if (entry.index >= 0) this.feed.reveal(entry);
  }

  /** The feed may show the cell in another size: it fills its columns, and its row, with the text size of the person. */
  #showSize() {
    if (!this.isOpen) return;
    const { cell, index } = this.#entry;
    const { width, height } = displaySize(cell.size);
    const frame = this.feed.layout.frames[index];
    const isOther = frame !== undefined && (frame.width !== width || frame.height !== height);
    this.size.textContent = `${cell.identifier} · ${width}\u00A0×\u00A0${height}${isOther ? `, ${say("here\u00A0{size}", { size: `${frame.width}\u00A0×\u00A0${frame.height}` })}` : ""}`;
  }

  hide() {
    const entry = this.#entry;
    if (entry === null) return;
    if (this.#isBeside) remember(closedKey, "closed");
    this.#isBeside = false;
    this.#setEntry(null);
    this.#setOpen(false, entry);
    this.feed.focus(entry);
  }

  /** Returns the forms of a cell, one of which is displayed: the descriptor, code for apps and pages, and a command that moves the item. */
  #forms(entry) {
    const forms = {
      JSON: () => element("div", {}, element("pre.json", { dir: "ltr" }, ...highlighted(entry.cell)), ...playgroundLink(entry.cell)),
      Swift: () => code(swiftSnippet(entry.cell, document.baseURI)),
      Element: () => code(elementSnippet(entry.cell, document.baseURI)),
      Move: () => element("div", {}, ...this.#moving(entry), code(moveSnippet(entry, this.feed.entries, this.operators))),
    };
    const shown = element("div.form");
    const buttons = Object.entries(forms).map(([name, make]) => {
      const button = element("button.form-choice", { type: "button" }, name);
      button.addEventListener("click", () => choose(name, make));
      return button;
    });
    const choose = (name, make) => {
      this.#form = name;
      buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(Object.keys(forms)[index] === name)));
      shown.replaceChildren(translate(make()));
    };
    choose(this.#form, forms[this.#form]);
    return element("section", { "aria-label": "The cell" }, element("div.form-choices", { role: "group", "aria-label": "Form" }, ...buttons), shown);
  }

  /** Returns how an operator moves the item. The page itself may change nothing. */
  #moving(entry) {
    if (this.move === null) {
      return [element("p.quiet", {}, "An operator moves the item, and every open page follows. Run this on the machine of the service, and watch the cell:")];
    }
    const open = element("button.round", { type: "button" }, "Open the console beside the feed");
    open.addEventListener("click", () => this.move(entry));
    return [element("p.quiet", {}, "An operator moves the item, and every open page follows. Press an arrow in the console, and watch the cell."), open, element("p.quiet", {}, "The same as a command:")];
  }

  #setEntry(entry) {
    const change = (marked, isInspected) => {
      if (marked === null) return;
      marked.isInspected = isInspected;
      this.feed.viewOf(marked)?.element.classList.toggle("is-inspected", isInspected);
    };
    change(this.#entry, false);
    this.#unpin?.();
    this.#entry = entry;
    this.#unpin = entry && this.feed.pin(entry);
    change(entry, true);
  }

  /** Shows or hides the panel. The columns may become fewer; the cell stays in place. */
  #setOpen(isOpen, entry) {
    if (this.panel.hidden === !isOpen) return;
    const hold = this.feed.holding(entry);
    this.panel.hidden = !isOpen;
    document.documentElement.classList.toggle("is-inspecting", isOpen);
    this.resized();
    hold();
  }

  #update() {
    const entries = this.log.entries(this.#entry);
    this.none.hidden = entries.length > 0;
    for (const entry of entries) {
      let item = this.#items.get(entry);
      if (item === undefined) {
        item = { summary: element("summary"), body: element("div.request-body") };
        this.#items.set(entry, item);
        this.requests.prepend(element("li", {}, element("details", {}, item.summary, item.body)));
      }
      item.summary.replaceChildren(...summary(entry));
      item.body.replaceChildren(...body(entry));
      translate(item.body);
    }
  }
}

/** Returns the first cell of a kind that the service declares, otherwise the first one. */
const firstOf = (entries) => entries.find(({ cell }) => !/^(user|ad|section):/.test(cell.id)) ?? entries[0];

/** Returns a link to the playground with the declaration of a cell's kind, if the playground has it. */
function playgroundLink({ id }) {
  const [kind] = id.split(":");
  if (!["article", "event"].includes(kind)) return [];
  return [element("p", {}, element("a", { href: `web-client/playground.html#example=${kind}` }, "Edit this kind in the playground"))];
}

/** Returns code with a button that copies it. */
function code(text) {
  const copy = element("button.round.copy", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    const isCopied = await navigator.clipboard.writeText(text).then(() => true, () => false);
    copy.textContent = say(isCopied ? "Copied" : "Select the text to copy it");
  });
  return element("div.code", {}, element("pre.json", { dir: "ltr", tabindex: "0", role: "group", "aria-label": "Code" }, ...linesOf(text)), copy);
}

/** Returns a stored value, or null. A page without storage remembers nothing. */
function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The next page opens the panel again.
  }
}

/** Returns an element that embeds the operators' page on demand. The page has the operators' origin and requests the data there. */
function explanation(href, name) {
  const details = element("details.why", {}, element("summary", {}, "Why is it here?"));
  const { origin } = new URL(href);
  const show = () => {
    const sandbox = "allow-scripts allow-same-origin allow-forms";
    return element("iframe", { src: href, title: say("Why {name} is here", { name }), sandbox, referrerpolicy: "no-referrer" });
  };
  details.addEventListener("toggle", () => details.append(trusted() === origin ? show() : confirmation(origin, show)), { once: true });
  return details;
}

/** Returns a question that names the origin. Why: a link may name any server, whose page could ask for the operators' token. */
function confirmation(origin, show) {
  const go = element("button.round", { type: "button" }, say("Show"));
  const question = element("div.why-where", {}, element("p", {}, say("The explanation is loaded from {origin}. Is that your service?", { origin })), go);
  go.addEventListener("click", () => {
    trust(origin);
    question.replaceWith(show());
  });
  return question;
}

const trustKey = "intertwine.operators";

/** Returns the origin that the user of this tab accepted, or null. Without storage, each cell asks again. */
function trusted() {
  try {
    return sessionStorage.getItem(trustKey);
  } catch {
    return null;
  }
}

function trust(origin) {
  try {
    sessionStorage.setItem(trustKey, origin);
  } catch {
    // Without storage, the next cell asks again.
  }
}

function summary({ slot, method, status, state, duration }) {
  const outcome = status ? element("span.status", { "data-class": Math.floor(status / 100) }, status) : element("span.quiet", {}, state);
  const time = duration === undefined ? "" : `${duration < 10 ? duration.toFixed(1) : Math.round(duration)} ms`;
  return [element("span.method", {}, method), element("span.slot", {}, slot), outcome, element("span.duration", {}, time)];
}

function body({ href, sent, headers = [], body: text }) {
  const titled = (title, ...content) => [element("h4", {}, title), ...content];
  const rows = (pairs) => pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const fields = (title, pairs) => (pairs.length === 0 ? [] : titled(title, element("dl.fields", {}, ...rows(pairs))));
  const parts = typeof text === "string" ? [text] : highlighted(text ?? null);
  const content = text === undefined || text === "" ? [] : titled("Body", element("pre.json", { dir: "ltr" }, ...parts));
  return [element("p.href", {}, href), ...fields("Sent", Object.entries(sent)), ...fields("Response", headers), ...content];
}
