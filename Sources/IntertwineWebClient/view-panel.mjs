// The dialog for the options. It sets the page's URL, which loads the page again.
import { element } from "./elements.mjs";

const fields = [
  { name: "list", label: "List", choices: [["feed", "Feed"], ["saved", "Saved"], ["dismissed", "Dismissed"]] },
  { name: "feed", label: "Feed", hint: "main" },
  { name: "section", label: "Section", hint: "all" },
  { name: "layout", label: "Layout", choices: [["collection", "Collection"], ["table", "Table"]] },
  { name: "width", label: "Width", hint: "the window’s", type: "number" },
  { name: "viewer", label: "Viewer", hint: "this browser’s" },
  { name: "language", label: "Language", hint: "the browser’s, or de, en;q=0.5" },
  { name: "cells", label: "Cells", hint: "all, own, or A, B;v=2, *;q=0" },
  { name: "operators", label: "Operators", hint: "admin listener, http://127.0.0.1:8081/" },
];

/**
 * Returns a function that opens the dialog.
 *
 * - sections(): returns the names of the known sections. feeds(): returns a promise of the service's feeds, empty if they are not listed.
 */
export function viewPanel({ dialog, options, sections, feeds }) {
  const known = { section: element("datalist", { id: "section-names" }), feed: element("datalist", { id: "feed-names" }) };
  const inputs = fields.map(({ name, label, choices, hint, type = "text" }) => {
    const id = `view-${name}`;
    const input = choices
      ? element("select", { id, name }, ...choices.map(([value, text]) => element("option", { value }, text)))
      : element("input", { id, name, type, placeholder: hint, min: type === "number" ? 1 : null, max: type === "number" ? 10_000 : null,
        autocomplete: "off", spellcheck: "false", list: known[name]?.id });
    input.value = options[name] ?? "";
    return element("div.view-field", {}, element("label", { for: id }, label), input);
  });
  const apply = element("button.button", { type: "submit" }, "Show");
  const cancel = element("button.button.is-quiet", { type: "button" }, "Cancel");
  const form = element("form", {}, ...inputs, ...Object.values(known), element("div.view-buttons", {}, cancel, apply));
  dialog.append(form);
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    location.assign(`${location.pathname}${options.search({ ...given, width: Number(given.width) || null })}`);
  });
  const offer = (list, values) => list.replaceChildren(...Array.from(values, (value) => element("option", { value })));
  return async () => {
    offer(known.section, sections());
    dialog.showModal();
    const listed = await feeds();
    offer(known.feed, listed.map(({ name }) => name));
    const shown = listed.find(({ name }) => name === (options.feed ?? "main"))?.sections ?? [];
    offer(known.section, new Set([...shown.map(({ name }) => name), ...sections()]));
  };
}
