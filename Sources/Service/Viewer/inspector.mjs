// Beside a cell, on demand: its descriptor, and what each request made for it answered.
import { element } from "./elements.mjs";

export class Inspector {
  #view = null;
  #items = new Map();

  constructor({ panel, journal }) {
    Object.assign(this, { panel, journal });
    journal.addEventListener("entry", ({ detail }) => detail === this.#view && this.#update());
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.hide();
    });
  }

  get isOpen() {
    return this.#view !== null;
  }

  /** Shows a cell, or hides the panel where it shows that cell already. */
  toggle(view) {
    if (this.#view === view) this.hide();
    else this.show(view);
  }

  show(view) {
    this.#view?.element.classList.remove("is-inspected");
    this.#view = view;
    this.#items.clear();
    view.element.classList.add("is-inspected");
    const names = { "aria-label": "Close the inspector", title: "Close (Esc)" };
    const close = element("button.tool.inspector-close", { type: "button", ...names }, "×");
    close.addEventListener("click", () => this.hide());
    const { width, height } = view.size;
    this.requests = element("ol.requests");
    this.none = element("p.quiet", {}, "None yet.");
    const scroll = element(
      "div.inspector-scroll", { tabindex: "0", role: "group", "aria-label": "Descriptor and requests" },
      element("h3", {}, "Requests"), this.none, this.requests,
      element("h3", {}, "Descriptor"), element("pre.json", {}, ...highlighted(view.cell)),
    );
    this.panel.replaceChildren(
      element("header", {}, element("div", {}, element("h2", {}, view.cell.id ?? view.name),
        element("p.quiet", {}, `${view.cell.identifier} · ${width} × ${height}`)), close),
      scroll,
    );
    this.#keepPlace(view.element, () => {
      this.panel.hidden = false;
      document.body.classList.add("is-inspecting");
    });
    this.#update();
    this.panel.focus({ preventScroll: true });
    // On a narrow screen the panel comes up from below, and may cover the cell.
    const { left, top } = this.panel.getBoundingClientRect();
    const cell = view.element.getBoundingClientRect();
    if (cell.right > left && cell.bottom > top) view.element.scrollIntoView({ block: "start", behavior: "instant" });
  }

  hide() {
    const view = this.#view;
    if (view === null) return;
    this.#view = null;
    view.element.classList.remove("is-inspected");
    this.#keepPlace(view.element, () => {
      this.panel.hidden = true;
      document.body.classList.remove("is-inspecting");
    });
    view.element.focus({ preventScroll: true });
  }

  /** The panel may leave room for fewer columns: the cell stays where the eye is. */
  #keepPlace(cell, change) {
    const before = cell.getBoundingClientRect().top;
    change();
    window.scrollBy({ top: cell.getBoundingClientRect().top - before, behavior: "instant" });
  }

  #update() {
    const entries = this.journal.entries(this.#view);
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
