// A form for the input of a slot, generated from the JSON Schema in its action's `input`.
import { ProblemError, UnavailableError } from "../responses.mjs";
import { element } from "./elements.mjs";

/** A longer text is entered in several lines. */
const longestLine = 200;
/** More choices are a list instead of buttons. */
const maxButtons = 6;

let forms = 0;

/** Returns a member's schema without the alternative `null` of an optional member. */
function withoutNull(schema) {
  const some = [schema.anyOf, schema.oneOf].find(Array.isArray)?.find((one) => one?.type !== "null");
  const { type } = some ?? schema;
  return { ...schema, ...some, type: Array.isArray(type) ? type.find((one) => one !== "null") : type };
}

/** Returns the title of a member: from its declaration, otherwise its name in words, such as "First name" for `firstName`. */
function titleOf({ title }, name) {
  if (typeof title === "string" && title !== "") return title;
  const words = name.replace(/[_-]+/g, " ").replace(/([a-z\d])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A field of the form: a title, a control, and a place for an error. */
class Field {
  constructor({ form, name, declared, isRequired, words }) {
    this.words = words;
    this.name = name;
    this.schema = withoutNull(declared);
    this.isRequired = isRequired && this.schema.type !== "boolean";
    this.id = `${form}-${name}`;
    const title = [titleOf(this.schema, name), ...(this.isRequired ? [element("span.field-required", {}, words("required"))] : [])];
    const hint = typeof this.schema.description === "string" ? [element("p.field-hint", { id: `${this.id}-hint` }, this.schema.description)] : [];
    this.error = element("p.field-error", { id: `${this.id}-error`, hidden: true });
    this.describedBy = [...hint, this.error].map(({ id }) => id).join(" ");
    this.element = this.#isButtons
      ? element("fieldset.field", { "aria-describedby": this.describedBy }, element("legend", {}, ...title), ...hint, ...this.#buttons(), this.error)
      : this.schema.type === "boolean"
        ? element("div.field.is-switch", {}, this.#control(), element("label", { for: this.id }, ...title), ...hint, this.error)
        : element("div.field", {}, element("label", { for: this.id }, ...title), ...hint, this.#control(), this.error);
    this.controls = Array.from(this.element.querySelectorAll("input, select, textarea"));
  }

  /** The value, or undefined if the field is empty. */
  get value() {
    const [control] = this.controls;
    if (this.schema.type === "boolean") return control.checked;
    const text = this.#isButtons ? (this.controls.find(({ checked }) => checked)?.value ?? "") : control.value;
    if (text === "") return undefined;
    if (this.schema.type === "number" || this.schema.type === "integer") return Number(text);
    return control.type === "datetime-local" ? new Date(text).toISOString() : text;
  }

  /** Shows the browser's finding on the value. Returns true if the value is valid. */
  check() {
    const invalid = this.controls.find((control) => !control.checkValidity());
    this.show(invalid?.validationMessage ?? null);
    return invalid === undefined;
  }

  /** Shows an error beside the field, or none for null. */
  show(message) {
    this.error.textContent = message ?? "";
    this.error.hidden = message === null;
    for (const control of this.controls) control.setAttribute("aria-invalid", String(message !== null));
  }

  get #isButtons() {
    const { enum: choices } = this.schema;
    return Array.isArray(choices) && choices.length <= maxButtons;
  }

  #buttons() {
    return this.schema.enum.map((choice, index) => {
      const id = `${this.id}-${index}`;
      const input = element("input", { id, type: "radio", name: this.name, value: choice, required: this.isRequired });
      return element("div.choice", {}, input, element("label", { for: id }, choice));
    });
  }

  #control() {
    const { type, enum: choices, format, maxLength, minimum, maximum, pattern } = this.schema;
    const shared = { id: this.id, name: this.name, required: this.isRequired, "aria-describedby": this.describedBy };
    if (Array.isArray(choices)) {
      const options = choices.map((choice) => element("option", { value: choice }, choice));
      return element("select", shared, element("option", { value: "" }, this.words(this.isRequired ? "choose" : "none")), ...options);
    }
    if (type === "boolean") return element("input", { ...shared, type: "checkbox" });
    if (type === "number" || type === "integer") {
      return element("input", { ...shared, type: "number", step: type === "integer" ? 1 : "any", min: minimum, max: maximum });
    }
    if (format === "date" || isDate(pattern)) return element("input", { ...shared, type: "date" });
    if (format === "date-time") return element("input", { ...shared, type: "datetime-local" });
    if (format !== "uri" && maxLength > longestLine) return element("textarea", { ...shared, maxlength: maxLength, rows: 4 });
    const kind = format === "uri" ? "url" : format === "email" ? "email" : "text";
    return element("input", { ...shared, type: kind, maxlength: maxLength, pattern: expressionOf(pattern, "v") === null ? null : pattern, autocomplete: "off" });
  }
}

/** Returns true if a pattern describes dates: the service has no format for a day or a time. */
function isDate(pattern) {
  const expression = expressionOf(pattern, "u");
  return expression !== null && expression.test("2026-05-01") && !expression.test("2026-05-32") && !expression.test("a");
}

/** Returns the regular expression of a pattern, or null if it is invalid with these flags. */
function expressionOf(pattern, flags) {
  try {
    return typeof pattern === "string" ? new RegExp(pattern, flags) : null;
  } catch {
    return null;
  }
}

/**
 * Shows the form, and sends the input. Returns a promise of the result of `send`, or of null if the person cancels. The form stays open, with
 * an error beside the field, while the service refuses the input.
 *
 * - title: the title of the form. root: the tree for the dialog. send(body): sends the input. words: those of the element.
 */
export function askForInput({ input: { properties, required }, title, root, send, words }) {
  const form = `form-${++forms}`;
  const isRequired = (name) => Array.isArray(required) && required.includes(name);
  const fields = Object.entries(properties ?? {}).filter(([, declared]) => declared !== null && typeof declared === "object")
    .map(([name, declared]) => new Field({ form, name, declared, isRequired: isRequired(name), words }));
  const failure = element("p.field-error", { role: "alert" });
  const cancel = element("button.button.is-quiet", { type: "button" }, words("cancel"));
  const submit = element("button.button", { type: "submit" }, words("send"));
  const content = element("form", { novalidate: true }, ...fields.map((field) => field.element), failure, element("div.dialog-buttons", {}, cancel, submit));
  const dialog = element("dialog.dialog", { "aria-labelledby": `${form}-title` }, element("h2", { id: `${form}-title` }, title), content);
  root.append(dialog);
  dialog.showModal();
  return new Promise((resolve, reject) => {
    let result = null;
    const focusFirstError = () => fields.find(({ error }) => !error.hidden)?.controls[0].focus();
    cancel.addEventListener("click", () => dialog.close());
    content.addEventListener("submit", async (event) => {
      event.preventDefault();
      failure.textContent = "";
      if (fields.map((field) => field.check()).includes(false)) {
        focusFirstError();
        return;
      }
      submit.disabled = true;
      try {
        result = await send(Object.fromEntries(fields.map(({ name, value }) => [name, value]).filter(([, value]) => value !== undefined)));
        dialog.close();
      } catch (error) {
        if (!(error instanceof ProblemError || error instanceof UnavailableError)) {
          dialog.close();
          reject(error);
          return;
        }
        const unknown = showErrors(error, fields, words);
        if (unknown !== null) failure.textContent = unknown;
        else focusFirstError();
      } finally {
        submit.disabled = false;
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
  });
}

/** Shows the errors of the service beside their fields. Returns the message if no field has an error, otherwise null. */
function showErrors(error, fields, words) {
  if (error instanceof UnavailableError) return words("tryLater");
  let isShown = false;
  for (const { pointer, detail, code } of error.errors) {
    const field = fields.find(({ name }) => pointer === `/${name}`);
    if (field === undefined) continue;
    field.show(detail ?? code);
    isShown = true;
  }
  return isShown ? null : error.message;
}
