// A form for an item, from the JSON Schema of its kind. Each field has a class. The service validates the values; the form shows its errors.

let count = 0

function create(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** A field with one control and a label. Its value is undefined if the control is empty. */
class Field {
  constructor(name, control, isRequired, hint = "") {
    this.control = control
    control.id = `field-${++count}`
    control.required = isRequired
    this.error = create("span", { className: "error", id: `${control.id}-error` })
    control.setAttribute("aria-describedby", this.error.id)
    const notes = [hint, isRequired ? "" : "optional"].filter(Boolean).join(", ")
    const label = create("label", {}, create("span", { textContent: notes ? `${name} (${notes})` : name }), control)
    this.element = create("div", {}, label, this.error)
  }

  /** Shows an error of this field; an empty text removes it. */
  show(_, text) {
    this.error.textContent = text
    if (text) this.control.setAttribute("aria-invalid", "true")
    else this.control.removeAttribute("aria-invalid")
    return this.control
  }
}

class TextField extends Field {
  constructor(name, schema, isRequired) {
    const isLong = schema.format !== "uri" && (schema.maxLength ?? 0) > 512
    super(name, create(isLong ? "textarea" : "input", { autocomplete: "off" }), isRequired)
  }

  get value() { return this.control.value === "" && !this.isEmptyText ? undefined : this.control.value }
  set value(value) {
    // Some texts may be empty, such as that of a decorative image.
    this.isEmptyText = value === ""
    if (this.isEmptyText) this.control.required = false
    this.control.value = value ?? ""
  }
}

class NumberField extends Field {
  constructor(name, schema, isRequired) {
    const isWhole = schema.type === "integer"
    const control = create("input", { type: "number", step: isWhole ? "1" : "any" })
    control.min = schema.minimum ?? (isWhole ? Number.MIN_SAFE_INTEGER : "")
    control.max = schema.maximum ?? (isWhole ? Number.MAX_SAFE_INTEGER : "")
    super(name, control, isRequired)
  }

  get value() { return this.control.value === "" ? undefined : this.control.valueAsNumber }
  set value(value) { this.control.value = value ?? "" }
}

class ChoiceField extends Field {
  constructor(name, values, isRequired) {
    const options = values.map((value, index) => new Option(String(value), index))
    super(name, create("select", {}, ...(isRequired && values.length === 1 ? [] : [new Option("", "")]), ...options), isRequired)
    this.values = values
  }

  get value() { return this.control.value === "" ? undefined : this.values[this.control.value] }
  set value(value) {
    const index = this.values.indexOf(value)
    this.control.value = index < 0 ? (this.control.options[0]?.value ?? "") : String(index)
  }
}

/** A list of texts, one in each line. */
class ListField extends Field {
  constructor(name, schema, isRequired) {
    super(name, create("textarea"), isRequired, "one in each line")
  }

  get value() {
    const lines = this.control.value.split("\n").map((line) => line.trim()).filter(Boolean)
    return lines.length > 0 || this.isEmptyList ? lines : undefined
  }

  set value(value) {
    this.isEmptyList = value?.length === 0
    this.control.value = (value ?? []).join("\n")
  }
}

/** A value of any other schema, as JSON. */
class JSONField extends Field {
  constructor(name, schema, isRequired) {
    super(name, create("textarea", { spellcheck: false }), isRequired, "JSON")
    this.control.addEventListener("input", () => this.control.setCustomValidity(this.isValid ? "" : "Enter JSON."))
  }

  get isValid() {
    try {
      JSON.parse(this.control.value || "null")
      return true
    } catch {
      return false
    }
  }

  get value() { return this.control.value === "" ? undefined : JSON.parse(this.control.value) }
  set value(value) { this.control.value = value === undefined || value === null ? "" : JSON.stringify(value, null, 2) }
}

/** The fields of an object. Its value is undefined if all fields are empty. */
class ObjectField {
  constructor(name, fields) {
    this.fields = fields
    this.error = create("span", { className: "error" })
    this.element = create("fieldset", {}, create("legend", { textContent: name }), this.error, ...[...fields.values()].map((field) => field.element))
  }

  get value() {
    // Members without a field are kept.
    const values = { ...this.members }
    for (const [name, field] of this.fields) {
      const value = field.value
      if (value === undefined) delete values[name]
      else values[name] = value
    }
    return Object.keys(values).length > 0 ? values : undefined
  }

  set value(value) {
    this.members = value ?? {}
    for (const [name, field] of this.fields) field.value = this.members[name] ?? undefined
  }

  show([name, ...rest], text) {
    const field = this.fields.get(name)
    if (field) return field.show(rest, text)
    this.error.textContent = text
    return text ? null : undefined
  }
}

/** One text for all languages, or one text for each of several languages. */
class LanguagesField extends ObjectField {
  constructor(name, text, languages, isRequired) {
    const one = new TextField("all languages", text, false)
    super(`${name} (${isRequired ? "in all languages, or by language" : "optional"})`,
      new Map([["", one], ...languages.map((language) => [language, new TextField(language, text, false)])]))
    for (const [language, field] of this.fields) if (language !== "") field.control.lang = language
  }

  get value() {
    const { "": one, ...texts } = super.value ?? {}
    return Object.keys(texts).length > 0 ? texts : one
  }

  set value(value) { super.value = typeof value === "string" ? { "": value } : value }

  show(path, text) { return super.show(path.length === 0 ? [""] : path, text) }
}

/** Returns the field for a schema. `$ref` refers to the definitions of the document. */
function createField(name, schema, isRequired, document) {
  let resolved = schema
  while (resolved.$ref?.startsWith("#/$defs/")) resolved = document.$defs?.[resolved.$ref.slice(8)] ?? {}
  const [first, second] = resolved.anyOf ?? []
  if (resolved.anyOf?.length === 2 && second.type === "null") return createField(name, first, isRequired, document)
  if (resolved.anyOf?.length === 2 && first.type === "string" && second.type === "object" && second.properties) {
    return new LanguagesField(name, first, Object.keys(second.properties), isRequired)
  }
  const types = [resolved.type ?? []].flat()
  if (resolved.enum) return new ChoiceField(name, resolved.enum, isRequired)
  if (types.includes("boolean")) return new ChoiceField(name, [true, false], isRequired)
  if (types.includes("string")) return new TextField(name, resolved, isRequired)
  if (types.includes("number") || types.includes("integer")) return new NumberField(name, resolved, isRequired)
  if (types.includes("object") && resolved.properties) return new ObjectField(name, createFields(resolved, document, isRequired))
  if (types.includes("array") && createField("", resolved.items ?? {}, false, document) instanceof TextField) return new ListField(name, resolved, isRequired)
  if (types.includes("array") && resolved.items?.enum) return new ListField(name, resolved, isRequired)
  return new JSONField(name, resolved, isRequired)
}

/** Returns the fields of an object. The service validates the required members of an optional object. */
function createFields(schema, document, isRequired = true) {
  const required = new Set(isRequired ? schema.required : [])
  return new Map(Object.entries(schema.properties ?? {}).map(([name, property]) => [name, createField(name, property, required.has(name), document)]))
}

/** The form of an item. `kind` and `id` are those of the path, and have no field. */
export class ItemForm {
  #fields

  constructor(schema) {
    const { kind, id, ...properties } = schema.properties ?? {}
    this.#fields = new ObjectField("Fields", createFields({ ...schema, properties }, schema))
    this.element = this.#fields.element
  }

  /** The item. Members without a field are kept. */
  get item() { return this.#fields.value ?? {} }
  set item(item) { this.#fields.value = item }

  /**
   * Shows errors of a problem at their fields, and focuses the first field with an error. An empty list removes all errors.
   *
   * @returns True if a field has an error.
   */
  show(errors) {
    for (const element of this.element.querySelectorAll("[aria-invalid]")) element.removeAttribute("aria-invalid")
    for (const element of this.element.querySelectorAll(".error")) element.textContent = ""
    const controls = errors.filter(({ pointer }) => pointer !== undefined).map(({ pointer, detail }) => {
      const path = pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      return this.#fields.show(path, detail)
    })
    controls.find(Boolean)?.focus()
    return controls.length > 0
  }
}
