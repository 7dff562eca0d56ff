// A form for an item, from the JSON Schema of its kind. Each field has a class. The service validates the values; the form shows its errors.
// A field that the operator has not edited keeps its stored value, also one that its control cannot show exactly.

import { ads, create, suggest } from "/console/shell.mjs"
import { pictureOf } from "/items/item-list.mjs"

let count = 0

/** Returns the name of a field in words: `avatarUrl` is "Avatar URL". */
function inWords(name) {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase().replace(/\burl\b/g, "URL")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns a description of a schema without the marks of code. */
const plain = (text = "") => text.replaceAll("`", "")

/** Returns the name of a language with its tag, such as "German (de)"; a text that is no tag stays as it is. */
function languageName(tag) {
  try {
    const name = new Intl.DisplayNames("en", { type: "language" }).of(tag)
    return name === tag ? tag : `${name} (${tag})`
  } catch {
    return tag
  }
}

const isScalar = (value) => ["string", "number"].includes(typeof value)

/** A field with one control and a label. The value is undefined if the control is empty. */
class Field {
  /** `stored` is the value in the item; undefined if the item has none. */
  constructor(name, control, isRequired, stored, notes = [], { title, description } = {}, isHinted = true) {
    this.control = control
    this.stored = stored ?? undefined
    control.id = `field-${++count}`
    control.required = isRequired
    control.value = this.textOf(this.stored)
    // The control may show other line breaks than the stored value has.
    this.shown = control.value
    this.error = create("span", { className: "error", id: `${control.id}-error` })
    const help = create("span", { className: "help", id: `${control.id}-help`, textContent: plain(description), hidden: !description })
    control.setAttribute("aria-describedby", description ? `${this.error.id} ${help.id}` : this.error.id)
    const hint = [...notes, ...(isRequired || !isHinted ? [] : ["optional"])].join(", ")
    const label = title ?? inWords(name)
    this.element = create("div", {}, create("label", {}, create("span", { textContent: hint ? `${label} (${hint})` : label }), control), help, this.error)
    this.element.dataset.name = name
  }

  get value() {
    if (this.control.value === this.shown) return this.stored
    return this.control.value === "" ? undefined : this.parse(this.control.value)
  }

  /** Returns the text of the control for a value. */
  textOf(value) { return value === undefined ? "" : String(value) }

  parse(text) { return text }

  /** Shows an error of the value at a path below the field. Returns the control. */
  show(path, text) {
    this.error.textContent = [this.error.textContent, text].filter(Boolean).join(" ")
    this.control.setAttribute("aria-invalid", "true")
    return this.control
  }
}

/** Returns true if a schema accepts the empty text. A URL or a date is not empty. */
function allowsEmptyText({ minLength = 0, format, pattern }) {
  if (minLength > 0 || format !== undefined) return false
  try {
    return pattern === undefined || new RegExp(pattern, "u").test("")
  } catch {
    return true
  }
}

const isDate = ({ format, pattern }) => /^date/.test(format ?? "") || /^\^?\(?(\\d|\[0-9\])\{4\}-/.test(pattern ?? "")

/** Returns how far the clock of a zone is ahead of UTC at a time, in milliseconds. */
function offsetOf(zone, at) {
  const names = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" }
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, hourCycle: "h23", ...names }).formatToParts(at)
  const { year, month, day, hour, minute, second } = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]))
  return Date.UTC(year, month - 1, day, hour, minute, second) - at
}

/** Returns the moment of a local time in a zone, as `Date` reads one in the browser's: the first of two, and a skipped one by the offset before. */
function instant(local, zone) {
  const wanted = Date.parse(`${local}Z`)
  try {
    const [before, after] = [-1, 1].map((day) => wanted - offsetOf(zone, wanted + day * 86_400_000))
    const isAfter = wanted - offsetOf(zone, before) !== before && wanted - offsetOf(zone, after) === after
    return new Date(isAfter ? after : before).toISOString().replace(".000", "")
  } catch {
    return new Date(local).toISOString().replace(".000", "")
  }
}

/** Returns the local time in a zone of a text with a time, for a control; empty if it has none. */
function local(text, zone) {
  const at = Math.floor(Date.parse(text) / 1_000) * 1_000
  if (!/T/.test(text) || !Number.isFinite(at)) return ""
  try {
    return new Date(at + offsetOf(zone, at)).toISOString().slice(0, 16)
  } catch {
    return new Date(at + offsetOf(undefined, at)).toISOString().slice(0, 16)
  }
}

class TextField extends Field {
  zone = () => undefined

  constructor(name, schema, isRequired, stored, isHinted = true) {
    const isURL = schema.format === "uri" || /\[Hh\]\[Tt\]/.test(schema.pattern ?? "")
    const isLong = /[\r\n]/.test(stored ?? "") || (!isURL && (schema.maxLength ?? 0) > 512)
    const mayBeEmpty = allowsEmptyText(schema)
    super(name, create(isLong ? "textarea" : "input", { autocomplete: "off", inputMode: isURL ? "url" : "" }), isRequired && !mayBeEmpty, stored, [], schema, isHinted)
    this.focus = schema["x-focus"]
    if (isURL && (this.focus || /picture|image|avatar|poster|photo|content|background|logo|cover|thumbnail/i.test(name))) this.#preview()
    if (isDate(schema)) this.#offerDate()
    for (const event of ["input", "change"]) this.control.addEventListener(event, () => this.#check(schema, isURL))
    if (!mayBeEmpty) return
    // An empty text differs from no text: an image with an empty alternative text is decorative.
    this.empty = create("input", { type: "checkbox", checked: stored === "" })
    this.empty.addEventListener("change", () => this.#update())
    this.element.append(create("label", { className: "check" }, this.empty, ` ${name} is the empty text`))
    this.#update()
  }

  /** A stored value that is not edited is the service's to judge. */
  #check({ pattern, maxLength = Infinity }, isURL) {
    const text = this.control.value
    let fits = true
    try {
      fits = pattern === undefined || text === "" || new RegExp(pattern, "u").test(text)
    } catch { /* The service checks it. */ }
    const form = isURL ? "Enter a URL that begins with https:// or http://." : isDate({ pattern }) ? "Enter a date such as 2027-01-31T08:00:00Z." : "The text does not have the form of this field."
    this.control.setCustomValidity(text === this.shown || fits ? ([...text].length > maxLength ? `The text is longer than ${maxLength} characters.` : "") : form)
  }

  #update() { this.control.disabled = this.empty.checked }

  /** Shows the picture of the URL. */
  #preview() {
    const image = this.image = create("img", { className: "preview", alt: "", hidden: true })
    const note = create("span", { className: "help" })
    // Its height is reserved, so that the fields below do not move when the picture arrives.
    const frame = create("span", { className: "frame" }, image, note)
    const show = async () => {
      const url = this.control.value.trim()
      image.hidden = true
      note.textContent = ""
      frame.hidden = !/^https?:\/\/./i.test(url)
      if (!/^https?:\/\/./i.test(url) || /\.(mp4|webm|mp3|m4a|ogg|wav|m3u8)$/i.test(url)) return
      try {
        image.src = await pictureOf(url)
        image.hidden = false
      } catch (error) {
        note.textContent = `The picture cannot be shown: ${error.message}`
      }
    }
    this.control.addEventListener("change", show)
    this.element.append(frame)
    show()
  }

  /** Lets the operator choose the point of the picture that crops keep. The two number fields have it too, for the keyboard. */
  chooseFocus(x, y) {
    const mark = create("span", { className: "focus-point", hidden: true })
    const place = () => {
      const [left, top] = [x, y].map(({ control }) => Number(control.value))
      mark.hidden = this.image.hidden || x.control.value === "" || y.control.value === ""
      Object.assign(mark.style, { left: `${left * 100}%`, top: `${top * 100}%` })
    }
    this.image.addEventListener("click", (event) => {
      const box = this.image.getBoundingClientRect()
      const shares = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]
      for (const [index, { control }] of [x, y].entries()) {
        control.value = String(Math.round(Math.min(1, Math.max(0, shares[index])) * 1_000) / 1_000)
        control.dispatchEvent(new Event("input", { bubbles: true }))
      }
    })
    this.image.addEventListener("load", place)
    for (const { control } of [x, y]) control.addEventListener("input", place)
    const help = create("span", { className: "help", textContent: `Click the part of the picture that crops keep: ${inWords(x.element.dataset.name)} and ${inWords(y.element.dataset.name)}.` })
    const focus = create("span", { className: "focus" })
    this.image.replaceWith(focus)
    focus.append(this.image, mark)
    focus.parentElement.after(help)
  }

  /** A date picker that fills in the text, which may have another offset. Its times are those of `zone()`. */
  #offerDate() {
    const picker = create("input", { type: "datetime-local", ariaLabel: `Choose ${inWords(this.element.dataset.name)}` })
    picker.addEventListener("change", () => {
      if (!picker.value) return
      this.control.value = instant(picker.value, this.zone())
      this.control.dispatchEvent(new Event("input", { bubbles: true }))
    })
    const note = create("span", { className: "help" })
    this.follow = () => {
      picker.value = local(this.control.value, this.zone())
      note.textContent = `The picker is in ${this.zone() ?? Intl.DateTimeFormat().resolvedOptions().timeZone}.`
    }
    for (const event of ["input", "change"]) this.control.addEventListener(event, this.follow)
    this.follow()
    this.control.placeholder = "2027-01-31T08:00:00Z"
    this.element.querySelector("label").after(picker, note)
    this.element.classList.add("date")
  }

  get value() {
    if (this.empty?.checked) return ""
    return this.stored === "" && this.control.value === "" ? undefined : super.value
  }
}

class NumberField extends Field {
  constructor(name, schema, isRequired, stored) {
    const isWhole = schema.type === "integer"
    const control = create("input", { type: "number", step: isWhole ? "1" : "any" })
    control.min = schema.minimum ?? (isWhole ? Number.MIN_SAFE_INTEGER : "")
    control.max = schema.maximum ?? (isWhole ? Number.MAX_SAFE_INTEGER : "")
    super(name, control, isRequired, stored, [], schema)
  }

  parse(text) { return Number(text) }
}

class ChoiceField extends Field {
  constructor(name, values, isRequired, stored, schema) {
    const labels = schema["x-labels"]
    super(name, create("select", {}, ...["", ...values.map(String)].map((text) => new Option(member(labels, text) ?? text, text))), isRequired, stored, [], schema)
    this.values = values
  }

  parse(text) { return this.values.find((value) => String(value) === text) }
}

/** A box for a Boolean value. An optional one can have no value, which the box shows as unchecked and a text says. */
class FlagField {
  constructor(name, isRequired, stored, { title, description } = {}) {
    this.value = stored ?? (isRequired ? false : undefined)
    this.control = create("input", { type: "checkbox", id: `field-${++count}` })
    this.error = create("span", { className: "error", id: `${this.control.id}-error` })
    this.note = create("span", { className: "help", id: `${this.control.id}-note`, hidden: isRequired })
    this.clear = create("button", { type: "button", textContent: "Clear", ariaLabel: `Clear ${title ?? inWords(name)}` })
    this.control.setAttribute("aria-describedby", `${this.error.id} ${this.note.id}`)
    this.control.addEventListener("change", () => this.#set(this.control.checked, isRequired))
    this.clear.addEventListener("click", () => {
      this.#set(undefined, isRequired)
      this.control.focus()
      this.control.dispatchEvent(new Event("input", { bubbles: true }))
    })
    const label = create("label", { className: "check" }, this.control, ` ${title ?? inWords(name)}`)
    const help = create("span", { className: "help", textContent: plain(description), hidden: !description })
    this.element = create("div", {}, create("div", { className: "flag" }, label, this.note, this.clear), help, this.error)
    this.element.dataset.name = name
    this.#set(this.value, isRequired)
  }

  #set(value, isRequired) {
    this.value = value
    this.control.checked = value === true
    this.note.textContent = value === undefined ? "not set" : value ? "yes" : "no"
    this.clear.hidden = isRequired || value === undefined
  }

  show(path, text) {
    return Field.prototype.show.call(this, path, text)
  }
}

/** A list of texts or ids, one in each line. */
class ListField extends Field {
  constructor(name, isRequired, stored, schema, notes = []) {
    super(name, create("textarea", { spellcheck: false }), isRequired, stored, ["one in each line", ...notes], schema)
  }

  /** Adds a control that appends one of what `load` suggests. */
  offer(label, load) {
    const pick = create("input", { autocomplete: "off", placeholder: "ad:7" })
    const take = () => {
      const [value, lines] = [pick.value.trim(), this.control.value.split("\n").filter(Boolean)]
      if (value && !lines.includes(value)) this.control.value = [...lines, value].join("\n")
      pick.value = ""
      this.control.dispatchEvent(new Event("input", { bubbles: true }))
    }
    pick.addEventListener("change", take)
    pick.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return
      // It would save the form.
      event.preventDefault()
      take()
    })
    this.element.querySelector("label").after(create("label", {}, create("span", { textContent: label }), pick))
    suggest(pick, load)
    return this
  }

  textOf(value) { return (value ?? []).join("\n") }

  // An entry that is a number stays a number.
  parse(text) {
    return text.split("\n").filter((line) => line !== "").map((line) => this.stored?.find((entry) => String(entry) === line) ?? line)
  }
}

/** A value of any other schema, or a stored value that does not fit its schema, as JSON. */
class JSONField extends Field {
  constructor(name, isRequired, stored) {
    super(name, create("textarea", { spellcheck: false }), isRequired, stored, ["JSON"])
    for (const event of ["input", "change"]) this.control.addEventListener(event, () => this.#check())
  }

  #check() {
    try {
      JSON.parse(this.control.value || "null")
      this.control.setCustomValidity("")
    } catch {
      this.control.setCustomValidity("Enter JSON.")
    }
  }

  textOf(value) { return value === undefined ? "" : JSON.stringify(value, null, 2) }
  parse(text) { return JSON.parse(text) }
}

/** The fields of an object. The value is undefined if all fields are empty and the item has no such object. */
class ObjectField {
  /** `fields` has a field for each name; `stored` is the object in the item. */
  constructor(name, fields, stored) {
    this.fields = fields
    this.stored = stored ?? undefined
    this.error = create("span", { className: "error", id: `field-${++count}-error` })
    this.element = create("fieldset", { tabIndex: -1 }, create("legend", { textContent: name }), this.error, ...[...fields.values()].map((field) => field.element))
    this.element.setAttribute("aria-describedby", this.error.id)
  }

  get value() {
    // Members without a field are kept.
    const members = new Map(Object.entries(this.stored ?? {}))
    for (const [name, field] of this.fields) {
      const value = field.value
      if (value !== undefined) members.set(name, value)
      // A member with the value null is kept.
      else if (members.get(name) !== null) members.delete(name)
    }
    return members.size > 0 || this.stored ? Object.fromEntries(members) : undefined
  }

  /** Shows an error at the field of a path, or at the object. Returns the element with the error. */
  show([name, ...rest], text) {
    const field = this.fields.get(name)
    return field ? field.show(rest, text) : this.showHere(text)
  }

  showHere(text) {
    this.error.textContent = [this.error.textContent, text].filter(Boolean).join(" ")
    return this.element
  }
}

/** A list of objects, each with fields of its own, such as the caps of a campaign. */
class ObjectListField {
  /** `make` returns the field of an entry from its stored object. */
  constructor(name, make, isRequired, stored, most = Infinity) {
    Object.assign(this, { make, stored: stored ?? undefined, most, entries: [], label: inWords(name) })
    this.error = create("span", { className: "error", id: `field-${++count}-error` })
    this.add = create("button", { type: "button", textContent: "Add", ariaLabel: `Add to ${this.label}` })
    this.add.addEventListener("click", () => {
      this.#append()
      this.entries.at(-1).element.querySelector("input, select, textarea").focus()
    })
    this.element = create("fieldset", { tabIndex: -1 }, create("legend", { textContent: isRequired ? this.label : `${this.label} (optional)` }), this.error, this.add)
    this.element.setAttribute("aria-describedby", this.error.id)
    this.element.dataset.name = name
    for (const entry of this.stored ?? []) this.#append(entry)
  }

  #append(stored) {
    const field = this.make(stored)
    const remove = create("button", { type: "button", textContent: "Remove", ariaLabel: `Remove an entry of ${this.label}` })
    remove.addEventListener("click", () => {
      this.entries.splice(this.entries.indexOf(field), 1)
      field.element.remove()
      this.add.hidden = false
      this.add.focus()
      this.add.dispatchEvent(new Event("input", { bubbles: true }))
    })
    field.element.append(remove)
    this.entries.push(field)
    this.add.before(field.element)
    this.add.hidden = this.entries.length >= this.most
  }

  get value() {
    return this.entries.length > 0 || this.stored ? this.entries.map((entry) => entry.value ?? {}) : undefined
  }

  show([index, ...rest], text) {
    const entry = this.entries[index]
    return entry ? entry.show(rest, text) : ObjectField.prototype.showHere.call(this, text)
  }
}

/** One text for all languages, or one text for each of several languages. */
class LanguagesField extends ObjectField {
  constructor(name, schema, declared, isRequired, stored) {
    const texts = typeof stored === "object" ? stored ?? {} : {}
    const one = new TextField("all languages", schema, false, typeof stored === "string" ? stored : undefined, false)
    // Texts of languages that are no longer declared can be removed.
    const others = Object.keys(texts).filter((language) => !declared.includes(language))
    const fields = [...declared, ...others].map((language) => {
      const name = declared.includes(language) ? language : `${language}, not declared`
      const field = new TextField(name, { ...schema, title: languageName(name), description: undefined }, false, member(texts, language), false)
      field.control.lang = language
      return [language, field]
    })
    // What is stored comes first.
    const all = typeof stored === "object" ? [...fields, ["", one]] : [["", one], ...fields]
    super(isRequired ? inWords(name) : `${inWords(name)} (optional)`, new Map(all), stored)
    this.isRequired = isRequired
    this.#check()
    for (const event of ["input", "change"]) this.element.addEventListener(event, () => this.#check())
  }

  #check() {
    const { one, texts } = this.#values
    const fault = one !== undefined && texts.size > 0 ? "Enter one text for all languages, or texts by language."
      : this.isRequired && one === undefined && texts.size === 0 ? "Enter one text for all languages, or a text for a language." : ""
    this.fields.get("").control.setCustomValidity(fault)
  }

  get #values() {
    const texts = new Map([...this.fields].map(([language, field]) => [language, field.value]).filter(([, text]) => text !== undefined))
    const one = texts.get("")
    texts.delete("")
    return { one, texts }
  }

  get value() {
    const { one, texts } = this.#values
    return texts.size > 0 ? Object.fromEntries(texts) : one
  }

  show(path, text) { return super.show(path.length === 0 ? [""] : path, text) }
}

/** Returns an own member of an object; inherited ones, such as `constructor`, are undefined. */
function member(object, name) {
  return object && Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns a schema without references and without the alternatives for no value. `$ref` refers to the definitions of the document. */
function resolve(schema, document) {
  let resolved = schema ?? {}
  while (resolved.$ref?.startsWith("#/$defs/")) resolved = member(document.$defs, resolved.$ref.slice(8)) ?? {}
  const values = resolved.anyOf?.filter((one) => one.type !== "null" && one.const !== "")
  if (values?.length === 1) resolved = resolve(values[0], document)
  return schema?.description ? { ...resolved, description: schema.description } : resolved
}

/** Returns the field for a schema and a stored value. */
function createField(name, property, isRequired, document, stored) {
  const schema = resolve(property, document)
  const [first, second] = schema.anyOf ?? []
  const types = [schema.type ?? []].flat()
  const isMissing = stored === undefined || stored === null
  const fits = (type) => isMissing || typeof stored === type
  const isObject = isMissing || (typeof stored === "object" && !Array.isArray(stored))
  if (first?.type === "string" && second?.type === "object" && second.properties && (isObject || fits("string"))
    && Object.values(typeof stored === "object" ? stored ?? {} : {}).every((text) => typeof text === "string")) {
    return new LanguagesField(name, first, Object.keys(second.properties), isRequired, stored)
  }
  if (schema.enum && (isMissing || schema.enum.includes(stored))) return new ChoiceField(name, schema.enum, isRequired, stored, schema)
  if (types.includes("boolean") && fits("boolean")) return new FlagField(name, isRequired, stored, schema)
  if (types.includes("string") && fits("string")) return new TextField(name, schema, isRequired, stored)
  if ((types[0] === "number" || types[0] === "integer") && fits("number")) return new NumberField(name, schema, isRequired, stored)
  if (types.includes("object") && schema.properties && isObject) return new ObjectField(inWords(name), createFields(schema, document, stored, isRequired), stored)
  if (types.includes("array") && (isMissing || (Array.isArray(stored) && stored.every((entry) => isScalar(entry) && /^[^\r\n]+$/.test(entry))))) {
    const entries = resolve(schema.items, document)
    if (entries.enum) return new ListField(name, isRequired, stored, schema, [`of ${entries.enum.join(", ")}`])
    if ([entries.type].flat().includes("string")) {
      const list = new ListField(name, isRequired, stored, schema)
      return name === "creatives" && document.title === "campaign" ? list.offer("Add an ad", ads) : list
    }
  }
  const members = resolve(schema.items, document)
  if (types.includes("array") && members.properties && (isMissing || (Array.isArray(stored) && stored.every((one) => one && typeof one === "object" && !Array.isArray(one))))) {
    const make = (one) => new ObjectField("Entry", createFields(members, document, one), one)
    return new ObjectListField(name, make, isRequired, stored, schema.maxItems)
  }
  return new JSONField(name, isRequired, stored)
}

/** Returns the fields of an object. The service validates the required members of an optional object. */
function createFields(schema, document, stored, isRequired = true) {
  const required = new Set(isRequired ? schema.required : [])
  return new Map(Object.entries(schema.properties ?? {}).map(([name, property]) =>
    [name, createField(name, property, required.has(name), document, member(stored, name))]))
}

/** The form of an item. `kind` and `id` are those of the path, and have no field. */
export class ItemForm {
  #fields
  #before

  /** `item` is the stored item, or an empty object. */
  constructor(name, schema, item) {
    const { kind, id, publishAt, expireAt, draft, ...content } = schema.properties ?? {}
    // The content comes first, and then when it is public.
    const times = Object.entries({ publishAt, expireAt, draft }).filter(([, property]) => property)
    const properties = { ...content, ...Object.fromEntries(times) }
    const fields = createFields({ ...schema, properties }, schema, item)
    this.#fields = new ObjectField(name, fields, item)
    for (const field of fields.values()) {
      // The times of a campaign are those of its zone.
      if (fields.has("zone") && field.follow) {
        field.zone = () => fields.get("zone").control.value || "UTC"
        fields.get("zone").control.addEventListener("change", field.follow)
        field.follow()
      }
      const [x, y] = (field.focus ?? []).map((name) => fields.get(name))
      if (x && y && field.image) field.chooseFocus(x, y)
    }
    this.element = this.#fields.element
    this.#before = JSON.stringify(this.item)
  }

  /** Returns true if items of a kind can have an id. */
  static accepts(id, schema) {
    const { pattern, minLength = 1, maxLength = Infinity } = resolve(schema.properties?.id, schema)
    const length = [...id].length
    // A browser removes dot segments from the path of a request.
    return length >= minLength && length <= maxLength && !/^\.{1,2}$/.test(id) && (!pattern || new RegExp(pattern, "u").test(id))
  }

  /** The item. */
  get item() { return this.#fields.value ?? {} }

  /** A Boolean value indicating whether the operator has changed the item. */
  get isEdited() { return JSON.stringify(this.item) !== this.#before }

  /** Shows errors of a problem at their fields, and focuses the first. An empty list removes all errors. */
  show(errors) {
    this.#clear()
    const elements = errors.filter(({ pointer }) => pointer !== undefined).map(({ pointer, detail }) =>
      this.#fields.show(pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")), detail))
    elements[0]?.focus()
  }

  /** Shows what the browser finds wrong at all fields, and focuses the first. Returns the number of these fields. */
  check() {
    this.#clear()
    const wrong = [...this.element.querySelectorAll(":invalid")].filter((control) => control.validationMessage)
    for (const control of wrong) {
      control.setAttribute("aria-invalid", "true")
      const error = document.getElementById(control.getAttribute("aria-describedby")?.split(" ")[0])
      if (error) error.textContent = control.validationMessage
    }
    wrong[0]?.focus()
    return wrong.length
  }

  #clear() {
    for (const element of this.element.querySelectorAll("[aria-invalid]")) element.removeAttribute("aria-invalid")
    for (const element of this.element.querySelectorAll(".error")) element.textContent = ""
  }
}
