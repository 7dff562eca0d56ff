// Creates, edits and removes items with `/admin/items/{kind}/{id}`. The fields of the form follow from the schema of the kind.
// The fragment of the URL has the `kind` and the `id` of the item.
import { create, itemLink, state, time, who } from "/console/shell.mjs"
import { campaignNamed, onToken, send } from "/reports/admin-api.mjs"
import { follow as followCells, preview } from "/items/cell-preview.mjs"
import { ItemForm } from "/items/item-form.mjs"
import { lossOf, mark, offer, pathOf as path, release, reload, rowOf } from "/items/item-list.mjs"

const find = (id) => document.getElementById(id)
const [kind, id, form, status] = ["kind", "id", "item", "status"].map(find)

/** The open item: its key, its schema, its form, and its entity tag, which is null if the item does not exist. Null if no item is open. */
let open = null
let last = Promise.resolve()
/** The hrefs of the schemas by kind. */
const schemas = new Map()

const nameOf = (key) => `${key.kind}:${key.id}`
const fragment = (key) => `#${new URLSearchParams({ kind: key.kind, id: key.id })}`

/** Performs an operation after the previous ones. Its result is the status of the page. Meanwhile, the forms accept no input. */
function perform(operation) {
  last = last.then(async () => {
    const focused = document.activeElement
    // It takes no room, so that nothing moves.
    status.classList.add("visually-hidden")
    status.textContent = "Loading …"
    find("key").inert = form.inert = true
    let [text, errors] = ["", []]
    try {
      text = (await operation()) ?? ""
    } catch (error) {
      errors = error.problem?.errors ?? []
      text = error.message
      if (error.status === 412 && open) text += await showConflict(open).then(() => " Choose which document stays.", () => " Open it again.")
    }
    find("key").inert = form.inert = false
    if (document.activeElement === document.body) (focused.checkVisibility() ? focused : find("add")).focus()
    open?.form.show(errors)
    // The form itself shows that an item is open.
    status.classList.toggle("visually-hidden", text.endsWith(" is open."))
    status.textContent = text
  })
}

async function listKinds() {
  const names = []
  for (let href = "/admin/kinds?limit=1000"; href;) {
    const { kinds, page } = await (await send(href)).json()
    for (const one of kinds) {
      names.push(one.kind)
      schemas.set(one.kind, one.schema)
    }
    href = page.next
  }
  const chosen = kind.value
  kind.replaceChildren(...names.map((name) => new Option(name, name)))
  if (schemas.has(chosen)) kind.value = chosen
  offer(names)
}

async function show(key) {
  close()
  // The list makes room at once: what moves later moves under the pointer.
  find("items").classList.add("is-open")
  find("editor").hidden = false
  const schema = await (await send(schemas.get(key.kind))).json()
  if (!ItemForm.accepts(key.id, schema)) throw new Error("The id is not valid.")
  const response = await send(path(key)).catch((error) => {
    if (error.status !== 404) throw error
    return null
  })
  display({ ...key, schema }, response ? await item(response) : {}, response?.headers.get("ETag") ?? null)
  const revisions = await showRevisions(key)
  const source = rowOf(nameOf(key))?.source
  if (response && source) find("facts").replaceChildren(state("By a source", "warm"), create("span", { textContent: `The next synchronization of ${source} replaces what you change here.` }))
  if (response) return `${nameOf(key)} is open.`
  const takedown = await takedownOf(key)
  if (takedown) {
    const kept = revisions[0]?.action === "take-down" ? revisions[0] : null
    if (kept) {
      display({ ...key, schema }, await item(await send(`${path(key)}/revisions/${kept.number}`)), null)
      // The element has the revisions still.
      find("save").hidden = true
    }
    find("release").hidden = false
    find("facts").replaceChildren(state("Taken down", "bad"), create("span", {}, time(takedown.at), kept?.who ? ` by ${who(kept.who)}` : "", takedown.reason ? `: ${takedown.reason}` : ""))
    return `${nameOf(key)} is taken down. Release brings its last document back.`
  }
  if (key.kind === "campaign" && (await campaignNamed(key.id))?.origin === "file") {
    close()
    return `${nameOf(key)} is declared in the file of campaigns, which is the place to change it. The page of ads can pause it.`
  }
  return `${nameOf(key)} does not exist. Save creates it, and releases it if it is taken down.`
}

/** Returns the takedown of an item; undefined if it is not taken down. */
async function takedownOf(key) {
  return (await send(`/admin/takedowns/${encodeURIComponent(nameOf(key))}`).catch((error) => {
    if (error.status !== 404) throw error
  }))?.json()
}

/** Returns the values of a document by the names of their fields, such as `title, de`. */
function flat(document, prefix = "") {
  return Object.fromEntries(Object.entries(document).flatMap(([name, value]) =>
    (value && typeof value === "object" && !Array.isArray(value) ? Object.entries(flat(value, `${prefix}${name}, `)) : [[`${prefix}${name}`, value]])))
}

/** Returns the fields in which two documents differ, with both values. */
function differences(before, after) {
  const [old, now] = [flat(before), flat(after)]
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
    .map((name) => [name, old[name], now[name]])
}

const shown = (value) => (value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value))

/** Returns a table of differences between two documents. */
function difference(old, now, labels) {
  const rows = differences(old, now)
  if (rows.length === 0) return create("p", { textContent: "The documents are equal." })
  const head = create("tr", {}, ...["Field", ...labels].map((text) => create("th", { scope: "col", textContent: text })))
  const lines = rows.map(([name, one, two]) => create("tr", {},
    create("th", { scope: "row", textContent: name }), create("td", { className: "wide" }, create("del", { textContent: shown(one) })),
    create("td", { className: "wide" }, create("ins", { textContent: shown(two) }))))
  return create("div", { className: "all-rows" }, create("table", {}, create("thead", {}, head), create("tbody", {}, ...lines)))
}

async function showRevisions(key) {
  const { revisions } = await (await send(`${path(key)}/revisions`)).json()
  const [documents, summaries] = [new Map(), []]
  const read = async ({ number }) => {
    if (!documents.has(number)) documents.set(number, await item(await send(`${path(key)}/revisions/${number}`)))
    return documents.get(number)
  }
  find("history").hidden = revisions.length === 0
  find("history").lastElementChild.replaceChildren(...revisions.map((revision) => {
    const place = create("div")
    const compare = create("button", { type: "button", textContent: "Compare" })
    const restore = create("button", { type: "button", textContent: "Restore" })
    restore.dataset.needs = "edit"
    compare.addEventListener("click", () => perform(async () => {
      place.replaceChildren(difference(await read(revision), { kind: key.kind, id: key.id, ...open.form.item }, ["Then", "In the form"]))
      return ""
    }))
    restore.addEventListener("click", () => {
      if (open.form.isEdited && !confirm(`Discard the changes of ${nameOf(open)}?`)) return
      perform(async () => put(open, await read(revision), "restored"))
    })
    const what = revision.action === "edit" ? "replaced" : "taken down"
    const fields = create("span", { className: "quiet" })
    summaries.push(async () => {
      const next = revisions[revisions.indexOf(revision) - 1]
      const after = next ? await read(next) : open?.entityTag ? { kind: key.kind, id: key.id, ...open.stored } : null
      const names = after ? differences(await read(revision), after).map(([name]) => name) : []
      fields.textContent = names.length > 0 ? ` (${names.join("; ")})` : ""
    })
    const at = create("time", { dateTime: revision.at, title: revision.at, textContent: new Date(revision.at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }) })
    return create("div", { className: "revision" },
      create("p", { className: "buttons" }, create("span", {}, `${what} `, at, revision.who ? ` by ${who(revision.who)}` : "", fields), compare, restore), place)
  }))
  // What each change was is read once somebody looks.
  find("history").ontoggle = async () => {
    if (find("history").open) for (const summary of summaries.splice(0)) await summary().catch(() => {})
  }
  return revisions
}

/** Returns the item of a response. A save would store a whole number that JavaScript has rounded. */
async function item(response) {
  return JSON.parse(await response.text(), (name, value, { source } = {}) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value
    if (source !== undefined && (!/^-?\d+$/.test(source) || BigInt(source) === BigInt(value))) return value
    throw new Error(`This page cannot edit ${name}: JavaScript rounds the number.`)
  })
}

/** Opens an item in the form. */
function display({ kind, id, schema }, stored, entityTag) {
  open = { kind, id, schema, entityTag, stored, form: new ItemForm(nameOf({ kind, id }), schema, stored) }
  open.form.element.disabled = document.body.dataset.role === "read"
  find("fields").replaceChildren(open.form.element)
  find("name").textContent = nameOf(open)
  find("remove").hidden = entityTag === null
  find("save").hidden = false
  find("release").hidden = true
  find("facts").replaceChildren()
  find("items").classList.add("is-open")
  mark(nameOf(open))
  document.title = `${nameOf(open)} – Intertwine`
  find("editor").hidden = form.hidden = false
  preview(open, documentOf)
}

/** The document in the form, with its key. */
const documentOf = () => ({ kind: open.kind, id: open.id, ...open.form.item })
for (const event of ["input", "change"]) find("fields").addEventListener(event, () => open && followCells(open, documentOf))

function close() {
  open = null
  find("editor").hidden = form.hidden = true
  find("items").classList.remove("is-open")
  mark("")
  document.title = `${document.querySelector("h1").textContent} – Intertwine`
}

const save = (key) => put(key, key.form.item, "saved")

/** Stores a document if the item is as the form has read it. */
async function put(key, document, done) {
  const condition = key.entityTag === null ? { "If-None-Match": "*" } : { "If-Match": key.entityTag }
  const response = await send(path(key), { method: "PUT", headers: { "Content-Type": "application/json", ...condition }, body: JSON.stringify(document) })
  display(key, await item(response), response.headers.get("ETag"))
  await showRevisions(key)
  reload()
  return `${nameOf(key)} is ${response.status === 201 ? "created" : done}.`
}

/** Shows what another editor has changed since the form has read the item, and lets the operator keep one of both. */
async function showConflict(key) {
  const response = await send(path(key))
  const now = await item(response)
  const keep = (text, operation) => {
    const button = create("button", { type: "button", textContent: text })
    button.addEventListener("click", () => perform(operation))
    return button
  }
  find("facts").replaceChildren(
    difference(now, { kind: key.kind, id: key.id, ...key.form.item }, ["Stored now", "In this form"]),
    keep("Take what is stored", () => show(key)),
    keep("Store this form", () => save({ ...key, entityTag: response.headers.get("ETag") })))
  find("facts").scrollIntoView({ block: "nearest" })
}

async function remove(key) {
  await send(path(key), { method: "DELETE", headers: { "If-Match": key.entityTag } })
  close()
  reload()
  return `${nameOf(key)} is removed and taken down: imports omit it until it is released.`
}

/** Opens the item that the fragment names. */
function follow() {
  const fields = new URLSearchParams(location.hash.slice(1))
  const key = { kind: fields.get("kind") ?? "", id: fields.get("id") ?? "" }
  if (open?.form.isEdited && !confirm(`Discard the changes of ${nameOf(open)}?`)) {
    history.replaceState(null, "", fragment(open))
    kind.value = open.kind
    id.value = open.id
    return
  }
  perform(async () => {
    close()
    if (fields.has("add")) {
      add(fields.get("add"))
      return ""
    }
    if (!key.kind && !key.id) return ""
    if (!schemas.has(key.kind)) throw new Error(`There is no kind ${key.kind}.`)
    kind.value = key.kind
    id.value = key.id
    return show(key)
  })
}

/** Lists the kinds. An open item stays open. */
function load() {
  reload()
  perform(async () => {
    await listKinds()
    if (!open) follow()
  })
}

find("key").addEventListener("submit", (event) => {
  event.preventDefault()
  // The kinds are missing if the first request failed.
  if (schemas.size === 0) return load()
  const hash = fragment({ kind: kind.value, id: id.value })
  perform(async () => {
    if (await isTaken({ kind: kind.value, id: id.value })) {
      refuse(create("span", { textContent: "The id is taken. Enter another one, or open " }), itemLink(nameOf({ kind: kind.value, id: id.value })), ".")
      id.focus()
    } else if (location.hash === hash) follow()
    else location.hash = hash
    return ""
  })
})
form.addEventListener("submit", (event) => {
  event.preventDefault()
  const key = open
  if (!key) return
  const wrong = key.form.check()
  if (wrong === 0) perform(() => save(key))
  else status.textContent = `${wrong} ${wrong === 1 ? "field needs" : "fields need"} a correction.`
})
find("remove").addEventListener("click", () => {
  const key = open
  if (!key) return
  perform(async () => {
    const loss = await lossOf([key]).catch(() => "Others that show the same pictures lose them.")
    return confirm(`Remove ${nameOf(key)} and take it down? ${loss}`) ? remove(key) : `${nameOf(key)} stays.`
  })
})
find("release").addEventListener("click", () => {
  const key = open
  if (!key) return
  perform(async () => {
    await release(key)
    reload()
    const text = await show(key)
    return text.endsWith("is open.") ? `${nameOf(key)} is released.` : `${nameOf(key)} is released. The next import or source brings it.`
  })
})
/** Shows an error at the field of the id; without one, none. */
function refuse(...error) {
  find("id-error").replaceChildren(...error)
  id.toggleAttribute("aria-invalid", error.length > 0)
}

/** Returns true if an item has the key, or had it when it was taken down. */
async function isTaken(key) {
  try {
    await send(path(key))
    return true
  } catch (error) {
    if (error.status !== 404) throw error
  }
  return Boolean(await takedownOf(key))
}

/** Proposes an id that is free with near certainty, unless the operator has entered one. The check is before the form and at its save. */
function propose() {
  if (id.value === id.defaultValue) id.value = id.defaultValue = `${kind.value}-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36).padStart(7, "0")}`
}
kind.addEventListener("change", propose)
id.addEventListener("focus", () => { if (id.value === id.defaultValue) id.select() })
for (const control of [kind, id]) control.addEventListener("input", () => refuse())

function add(name) {
  if (open?.form.isEdited && !confirm(`Discard the changes of ${nameOf(open)}?`)) return
  close()
  status.textContent = ""
  history.replaceState(null, "", location.pathname + location.search)
  find("editor").hidden = false
  find("items").classList.add("is-open")
  if (schemas.has(name)) kind.value = name
  id.value = id.defaultValue
  propose()
  refuse()
  // An inert form takes no focus.
  find("key").inert = false
  ;(schemas.has(name) ? id : kind).focus()
}
find("add").addEventListener("click", () => add())
for (const name of ["close", "cancel"]) find(name).addEventListener("click", () => {
  if (open?.form.isEdited && !confirm(`Discard the changes of ${nameOf(open)}?`)) return
  close()
  status.textContent = ""
  history.replaceState(null, "", location.pathname + location.search)
})
addEventListener("hashchange", follow)
addEventListener("beforeunload", (event) => {
  if (open?.form.isEdited) event.preventDefault()
})
// The form of the URL has its place before the list is read: what moves later moves under the pointer.
if (/^#(.*&)?(id|add)=/.test(location.hash)) {
  find("items").classList.add("is-open")
  find("editor").hidden = false
}
find("room").hidden = false
onToken(load)
load()
