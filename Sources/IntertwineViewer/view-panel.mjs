// The dialog that changes what is shown: it writes the page's URL, and the page begins anew by that.
import { element } from "./elements.mjs";

const fields = [
  { name: "list", label: "List", choices: [["feed", "Feed"], ["saved", "Saved"], ["dismissed", "Dismissed"]] },
  { name: "feed", label: "Feed", hint: "main" },
  { name: "section", label: "Section", hint: "all" },
  { name: "layout", label: "Layout", choices: [["collection", "Collection"], ["table", "Table"]] },
  { name: "width", label: "Width", hint: "the window’s", type: "number" },
  { name: "viewer", label: "Viewer", hint: "this browser’s" },
];

/** Answers what opens the dialog. `sections` are the names that pages have told so far. */
export function viewPanel({ dialog, options, sections }) {
  const names = element("datalist", { id: "section-names" });
  const inputs = fields.map(({ name, label, choices, hint, type = "text" }) => {
    const id = `view-${name}`;
    const input = choices
      ? element("select", { id, name }, ...choices.map(([value, text]) => element("option", { value }, text)))
      : element("input", { id, name, type, placeholder: hint, min: type === "number" ? 1 : null, max: type === "number" ? 10_000 : null,
        autocomplete: "off", spellcheck: "false", list: name === "section" ? names.id : null });
    input.value = options[name] ?? "";
    return element("div.view-field", {}, element("label", { for: id }, label), input);
  });
  const apply = element("button.button", { type: "submit" }, "Show");
  const cancel = element("button.button.is-quiet", { type: "button" }, "Cancel");
  const form = element("form", {}, ...inputs, names, element("div.view-buttons", {}, cancel, apply));
  dialog.append(form);
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    location.assign(`${location.pathname}${options.search({ ...given, width: Number(given.width) || null })}`);
  });
  return () => {
    names.replaceChildren(...Array.from(sections(), (value) => element("option", { value })));
    dialog.showModal();
  };
}
