// The dialog for the options. It sets the page's URL, which loads the page again.
import { element } from "./client/element/elements.mjs";
import { say, translate } from "./page-words.mjs";
import { showScheme, storedScheme } from "./switches.mjs";

const textSizes = [["", "The browser’s"], ["0.85", "Small"], ["1", "Normal"], ["1.3", "Large"], ["2", "Very large"], ["3", "Largest"]];
const schemes = [["", "The system’s"], ["light", "Light"], ["dark", "Dark"]];
const layouts = { collection: say("Collection"), table: say("Table") };

/** Returns a row with a label and a control. */
function row(label, control) {
  return element("div.view-field", {}, element("label", { for: control.id }, label), control);
}

/** Returns a picker of `[value, text]`. A value that is not among the choices is added. */
function picker(name, choices, value) {
  const select = element("select", { id: `view-${name}`, name });
  offer(select, choices, value);
  return select;
}

function offer(select, choices, value) {
  const isKnown = choices.some(([choice]) => choice === value);
  const all = isKnown ? choices : [...choices, [value, value]];
  select.replaceChildren(...all.map(([choice, text]) => element("option", { value: choice }, text)));
  select.value = value;
}

/** Returns a text field for a raw value. */
function rawField(name, placeholder, value, attributes = {}) {
  const input = element("input", { id: `view-${name}`, name, type: "text", placeholder, autocomplete: "off", spellcheck: "false", ...attributes });
  input.value = value ?? "";
  return input;
}

/** Returns the name of a language in that language, such as "Deutsch (de)". */
function languageName(tag) {
  try {
    const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag);
    return name && name !== tag ? `${name} (${tag})` : tag;
  } catch {
    return tag;
  }
}

/**
 * Returns a function that opens the dialog.
 *
 * - sections(): returns the names of the known sections. feeds: a promise of the service's feeds, empty if they are not listed.
 */
export function viewPanel({ dialog, options, sections, feeds }) {
  const languages = Array.from(new Set([...navigator.languages, "en", "de"]), (tag) => [tag, languageName(tag)]);
  const feed = picker("feed", [["", "Main"]], options.feed ?? "");
  const section = picker("section", [["", "All sections"]], options.section ?? "");
  const layout = picker("layout", Object.entries(layouts), options.layout);
  const language = picker("language", [["", "The browser’s"], ...languages], options.language ?? "");
  const viewer = picker("viewer", [["", "This browser"], ["guest", "A guest"], ["ada", "ada"], ["bob", "bob"]], options.viewer ?? "");
  const text = picker("text", textSizes, String(options.text ?? ""));
  const scheme = picker("scheme", schemes, storedScheme() ?? "");
  const cells = picker("cells", [["", "All cells"], ["own", "Cells with a view of their own"]], options.cells ?? "");
  const raw = [
    ["Width", rawField("width", "the window’s, in points", options.width, { type: "number", min: 1, max: 10_000 })],
    ["Viewer", rawField("viewer-text", "a name", "")],
    ["Accept-Language", rawField("language-text", "de, en;q=0.5", "")],
    ["Accept-Cells", rawField("cells-text", "A, B;v=2, *;q=0", "")],
    ["Admin listener", rawField("operators", "http://127.0.0.1:8081/", options.operators)],
  ];
  const developer = element("details.view-developer", { open: options.width !== null || options.operators !== null },
    element("summary", {}, "Developer"), ...raw.map(([label, control]) => row(label, control)));
  const apply = element("button.button", { type: "submit" }, "Show");
  const cancel = element("button.button.is-quiet", { type: "button" }, "Cancel");
  const form = element("form", {}, row("Feed", feed), row("Section", section), row("Layout", layout), row("Text size", text),
    row("Language", language), row("Colours", scheme), row("Viewer", viewer), row("Cells", cells), developer, element("div.view-buttons", {}, cancel, apply));
  dialog.append(form);
  translate(dialog);
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    showScheme(values.scheme || null);
    const chosen = (name) => values[`${name}-text`] || values[name];
    const list = values.feed !== (options.feed ?? "") || values.section ? "feed" : options.list;
    const changed = { ...values, list, viewer: chosen("viewer"), language: chosen("language"), cells: chosen("cells"), text: Number(values.text) || null, width: Number(values.width) || null };
    location.assign(`${location.pathname}${options.search(changed)}`);
  });

  const showSections = (listed) => {
    const shown = listed.find(({ name }) => name === (feed.value || "main"));
    const known = new Map((shown?.sections ?? []).map(({ name, title }) => [name, title ?? name]));
    if (feed.value === (options.feed ?? "")) for (const name of sections()) if (!known.has(name)) known.set(name, name);
    offer(section, [["", say("All sections")], ...known], known.has(section.value) || section.value === options.section ? section.value : "");
    const offered = Object.entries(layouts).filter(([name]) => shown?.layouts?.includes(name) ?? true);
    offer(layout, offered, layout.value);
  };
  return async () => {
    dialog.showModal();
    const listed = await feeds;
    const others = listed.filter(({ name }) => name !== "main").map(({ name, title }) => [name, title ?? name]);
    offer(feed, [["", listed.find(({ name }) => name === "main")?.title ?? say("Main")], ...others], feed.value);
    showSections(listed);
    feed.onchange = () => showSections(listed);
  };
}
