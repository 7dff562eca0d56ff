// A panel with the descriptor of a cell and its requests with their responses.
import { displaySize } from "./client/index.mjs";
import { element } from "./client/element/elements.mjs";

export class Inspector {
  #entry = null;
  #unpin = null;
  #items = new Map();

  /**
   * - explanation(entry): returns the URL of the operators' page that explains the position of a cell, or null. resized(): called after the
   *   panel covers another part of the window.
   */
  constructor({ panel, log, feed, explanation, resized }) {
    Object.assign(this, { panel, log, feed, explanation, resized });
    log.addEventListener("entry", ({ detail }) => detail === this.#entry && this.#update());
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.hide();
    });
  }

  get isOpen() {
    return this.#entry !== null;
  }

  /** Shows a cell, or hides the panel if it shows that cell. */
  toggle(entry) {
    if (this.#entry === entry) this.hide();
    else this.show(entry);
  }

  show(entry) {
    this.#setEntry(null);
    this.#setEntry(entry);
    this.#items.clear();
    const names = { "aria-label": "Close the inspector", title: "Close (Esc)" };
    const close = element("button.tool.inspector-close", { type: "button", ...names }, "×");
    close.addEventListener("click", () => this.hide());
    const { width, height } = displaySize(entry.cell.size);
    this.requests = element("ol.requests");
    this.none = element("p.quiet", {}, "None yet.");
    const why = this.explanation(entry);
    const scroll = element(
      "div.inspector-scroll", { tabindex: "0", role: "group", "aria-label": "Descriptor and requests" },
      ...(why === null ? [] : [explanation(why, entry.name)]), element("h3", {}, "Requests"), this.none, this.requests,
      element("h3", {}, "Descriptor"), element("pre.json", {}, ...highlighted(entry.cell)),
      element("p", {}, element("a", { href: "web-client/playground.html" }, "Edit a kind in the playground")),
    );
    this.panel.replaceChildren(
      element("header", {}, element("div", {}, element("h2", {}, entry.cell.id ?? entry.name),
        element("p.quiet", {}, `${entry.cell.identifier} · ${width} × ${height}`)), close),
      scroll,
    );
    this.#setOpen(true, entry);
    this.#update();
    this.panel.focus({ preventScroll: true });
    // On a narrow screen the panel is at the bottom and may cover the cell.
    if (entry.index >= 0) this.feed.reveal(entry);
  }

  hide() {
    const entry = this.#entry;
    if (entry === null) return;
    this.#setEntry(null);
    this.#setOpen(false, entry);
    this.feed.focus(entry);
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
    }
  }
}

/** Returns an element that embeds the operators' page on demand. The page has the operators' origin and requests the data there. */
function explanation(href, name) {
  const details = element("details.why", {}, element("summary", {}, "Why is it here?"));
  const { origin } = new URL(href);
  const show = () => {
    const sandbox = "allow-scripts allow-same-origin allow-forms";
    return element("iframe", { src: href, title: `Why ${name} is here`, sandbox, referrerpolicy: "no-referrer" });
  };
  details.addEventListener("toggle", () => details.append(trusted() === origin ? show() : confirmation(origin, show)), { once: true });
  return details;
}

/** Returns a question that names the origin. Why: a link may name any server, whose page could ask for the operators' token. */
function confirmation(origin, show) {
  const go = element("button.round", { type: "button" }, "Show");
  const question = element("div.why-where", {}, element("p", {}, `The explanation is loaded from ${origin}. Is that your service?`), go);
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
  const content = text === undefined || text === "" ? [] : titled("Body", element("pre.json", {}, ...parts));
  return [element("p.href", {}, href), ...fields("Sent", Object.entries(sent)), ...fields("Response", headers), ...content];
}

/** Returns JSON with highlighted names, strings and other values. */
function highlighted(value) {
  const text = JSON.stringify(value, null, 2);
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    parts.push(text.slice(end, match.index));
    const kind = match[2] ? "name" : match[1] ? "string" : "value";
    parts.push(element(`span.json-${kind}`, {}, match[1] ?? match[0]), match[2] ?? "");
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}
