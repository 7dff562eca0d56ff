// Asks people what a slot takes, as its action's `input` says: a JSON Schema of one object, whose members kinds declare as fields.
import { element } from "./elements.mjs";

/** The element that a value is given in, by the member's schema. */
function control(id, name, { type, enum: choices, format, maxLength, minimum, maximum }, isRequired) {
  const shared = { id, name, required: isRequired };
  if (Array.isArray(choices)) {
    const none = isRequired ? [] : [element("option", { value: "" }, "")];
    return element("select", shared, ...none, ...choices.map((choice) => element("option", { value: choice }, choice)));
  }
  if (type === "boolean") return element("input", { ...shared, required: false, type: "checkbox" });
  if (type === "number" || type === "integer") {
    return element("input", { ...shared, type: "number", step: type === "integer" ? 1 : "any", min: minimum, max: maximum });
  }
  return element("input", { ...shared, type: format === "uri" ? "url" : "text", maxlength: maxLength, autocomplete: "off" });
}

function value(input, { type }) {
  if (type === "boolean") return input.checked;
  if (input.value === "") return undefined;
  return type === "number" || type === "integer" ? Number(input.value) : input.value;
}

/** A promise of the values that are given, or of null where somebody thinks better of it. */
export function askForInput({ properties = {}, required = [] }, title) {
  const members = Object.entries(properties).map(([name, schema], index) => {
    const id = `input-${index}`;
    const input = control(id, name, schema, required.includes(name));
    return { name, schema, input, row: element("div.view-field", {}, element("label", { for: id }, schema.title ?? name), input) };
  });
  const cancel = element("button.button.is-quiet", { type: "button" }, "Cancel");
  const send = element("button.button", { type: "submit" }, "Send");
  const form = element("form", {}, ...members.map(({ row }) => row), element("div.view-buttons", {}, cancel, send));
  const dialog = element("dialog.help.view", { "aria-labelledby": "input-title" }, element("h2", { id: "input-title" }, title), form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((answer) => {
    let given = null;
    cancel.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      given = Object.fromEntries(members.map(({ name, schema, input }) => [name, value(input, schema)]).filter(([, one]) => one !== undefined));
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(given);
    });
  });
}
