// A form for the input of a slot, generated from the JSON Schema in its action's `input`.
import { element } from "./elements.mjs";

/** Returns a member's schema without the alternative `null` of an optional member. */
function withoutNull(schema) {
  const some = (schema.anyOf ?? schema.oneOf ?? []).find(({ type }) => type !== "null");
  const { type } = some ?? schema;
  return { ...schema, ...some, type: Array.isArray(type) ? type.find((one) => one !== "null") : type };
}

/** Returns the form control for a member's schema. */
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

function value(input, { type }, isRequired) {
  if (type === "boolean") return input.checked || isRequired ? input.checked : undefined;
  if (input.value === "") return undefined;
  return type === "number" || type === "integer" ? Number(input.value) : input.value;
}

/** Returns a promise of the input, or of null if the person cancels. */
export function askForInput({ properties = {}, required = [] }, title) {
  const members = Object.entries(properties).map(([name, declared], index) => {
    const id = `input-${index}`;
    const schema = withoutNull(declared);
    const isRequired = required.includes(name);
    const input = control(id, name, schema, isRequired);
    return { name, schema, isRequired, input, row: element("div.view-field", {}, element("label", { for: id }, schema.title ?? name), input) };
  });
  const cancel = element("button.button.is-quiet", { type: "button" }, "Cancel");
  const send = element("button.button", { type: "submit" }, "Send");
  const form = element("form", {}, ...members.map(({ row }) => row), element("div.view-buttons", {}, cancel, send));
  const dialog = element("dialog.help.view", { "aria-labelledby": "input-title" }, element("h2", { id: "input-title" }, title), form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    let given = null;
    cancel.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      given = Object.fromEntries(members.map(({ name, schema, isRequired, input }) => [name, value(input, schema, isRequired)]).filter(([, one]) => one !== undefined));
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(given);
    });
  });
}
