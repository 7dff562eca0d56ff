// Beside a cell, on demand: its descriptor, and what each request made for it answered.
import { shownSize } from "./client/index.mjs";
import { element } from "./elements.mjs";

export class Inspector {
  #entry = null;
  #unpin = null;
  #items = new Map();

  /** `explanation(entry)` is the page that tells operators why a cell stands where it does, or null. */
  constructor({ panel, journal, feed, explanation }) {
    Object.assign(this, { panel, journal, feed, explanation });
    journal.addEventListener("entry", ({ detail }) => detail === this.#entry && this.#update());
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.hide();
    });
  }

  get isOpen() {
    return this.#entry !== null;
  }

  /** Shows a cell, or hides the panel where it shows that cell already. */
  toggle(entry) {
    if (this.#entry === entry) this.hide();
    else this.show(entry);
  }

  show(entry) {
    this.#mark(null);
    this.#mark(entry);
    this.#items.clear();
    const names = { "aria-label": "Close the inspector", title: "Close (Esc)" };
    const close = element("button.tool.inspector-close", { type: "button", ...names }, "×");
    close.addEventListener("click", () => this.hide());
    const { width, height } = shownSize(entry.cell.size);
    this.requests = element("ol.requests");
    this.none = element("p.quiet", {}, "None yet.");
    const why = this.explanation(entry);
    const scroll = element(
      "div.inspector-scroll", { tabindex: "0", role: "group", "aria-label": "Descriptor and requests" },
      ...(why === null ? [] : [explained(why, entry.name)]), element("h3", {}, "Requests"), this.none, this.requests,
      element("h3", {}, "Descriptor"), element("pre.json", {}, ...highlighted(entry.cell)),
    );
    this.panel.replaceChildren(
      element("header", {}, element("div", {}, element("h2", {}, entry.cell.id ?? entry.name),
        element("p.quiet", {}, `${entry.cell.identifier} · ${width} × ${height}`)), close),
      scroll,
    );
    this.#turn(true, entry);
    this.#update();
    this.panel.focus({ preventScroll: true });
    // On a narrow screen the panel comes up from below, and may cover the cell.
    const { left, top } = this.panel.getBoundingClientRect();
    const below = left > 0 ? 24 : innerHeight - top + 24;
    if (entry.index >= 0) this.feed.reveal(entry, { below });
  }

  hide() {
    const entry = this.#entry;
    if (entry === null) return;
    this.#mark(null);
    this.#turn(false, entry);
    this.feed.focus(entry);
  }

  #mark(entry) {
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

  /** The panel may leave room for fewer columns: the cell stays where the eye is. */
  #turn(isOpen, entry) {
    const hold = this.feed.holding(entry);
    this.panel.hidden = !isOpen;
    document.body.classList.toggle("is-inspecting", isOpen);
    hold();
  }

  #update() {
    const entries = this.journal.entries(this.#entry);
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

/** The operators' page that explains a cell, once somebody wants to know. It is of their origin, and asks there for what it may be told. */
function explained(href, name) {
  const details = element("details.why", {}, element("summary", {}, "Why is it here?"));
  const { origin } = new URL(href);
  const show = () => {
    const sandbox = "allow-scripts allow-same-origin allow-forms";
    return element("iframe", { src: href, title: `Why ${name} is here`, sandbox, referrerpolicy: "no-referrer" });
  };
  details.addEventListener("toggle", () => details.append(trusted() === origin ? show() : question(origin, show)), { once: true });
  return details;
}

/** A link can name anybody's server, and its page may ask for the operators' token: whose it is stands there before it is shown. */
function question(origin, show) {
  const go = element("button.round", { type: "button" }, "Ask there");
  const asked = element("div.why-where", {}, element("p", {}, `Operators ask at ${origin}. Is that your service?`), go);
  go.addEventListener("click", () => {
    trust(origin);
    asked.replaceWith(show());
  });
  return asked;
}

const trustKey = "intertwine.operators";

/** The origin that this tab was allowed to ask, or null; where nothing can be kept, it is asked each time. */
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
    // It is asked again.
  }
}

function summary({ slot, method, status, state, took }) {
  const outcome = status ? element("span.status", { "data-class": Math.floor(status / 100) }, status) : element("span.quiet", {}, state);
  const duration = took === undefined ? "" : `${took < 10 ? took.toFixed(1) : Math.round(took)} ms`;
  return [element("span.method", {}, method), element("span.slot", {}, slot), outcome, element("span.took", {}, duration)];
}

function body({ href, sent, headers = [], body: text }) {
  const titled = (title, ...content) => [element("h4", {}, title), ...content];
  const rows = (pairs) => pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  const fields = (title, pairs) => (pairs.length === 0 ? [] : titled(title, element("dl.fields", {}, ...rows(pairs))));
  const parts = typeof text === "string" ? [text] : highlighted(text ?? null);
  const content = text === undefined || text === "" ? [] : titled("Body", element("pre.json", {}, ...parts));
  return [element("p.href", {}, href), ...fields("Sent", Object.entries(sent)), ...fields("Answered", headers), ...content];
}

/** JSON with names, strings and other values told apart. */
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
