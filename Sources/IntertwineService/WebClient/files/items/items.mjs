// Creates, edits and removes items with `/admin/items/{kind}/{id}`. The fields of the form follow from the schema of the kind.
// The fragment of the URL has the `kind` and the `id` of the item.
import { onToken, send } from "/reports/admin-api.mjs"
import { ItemForm } from "/items/item-form.mjs"

const find = (id) => document.getElementById(id)
const [kind, id, form, status] = ["kind", "id", "item", "status"].map(find)

/** The open item: its key, its schema, its form, and its entity tag, which is null if the item does not exist. Null if no item is open. */
let open = null
let last = Promise.resolve()
/** The hrefs of the schemas by kind. */
const schemas = new Map()

const nameOf = (key) => `${key.kind}:${key.id}`
const path = (key) => `/admin/items/${encodeURIComponent(key.kind)}/${encodeURIComponent(key.id)}`
const fragment = (key) => `#${new URLSearchParams({ kind: key.kind, id: key.id })}`

/** Performs an operation after the previous ones. Its result is the status of the page. Meanwhile, the forms accept no input. */
function perform(operation) {
  last = last.then(async () => {
    const focused = document.activeElement
    status.textContent = "Loading …"
    find("key").inert = form.inert = true
    let [text, errors] = ["", []]
    try {
      text = (await operation()) ?? ""
    } catch (error) {
      errors = error.problem?.errors ?? []
      text = error.status === 412 ? `${error.message} Open it again.` : error.message
    }
    find("key").inert = form.inert = false
    if (document.activeElement === document.body) (focused.checkVisibility() ? focused : id).focus()
    open?.form.show(errors)
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
}

async function show(key) {
  close()
  const schema = await (await send(schemas.get(key.kind))).json()
  if (!ItemForm.accepts(key.id, schema)) throw new Error("The id is not valid.")
  const response = await send(path(key)).catch((error) => {
    if (error.status !== 404) throw error
    return null
  })
  display({ ...key, schema }, response ? await item(response) : {}, response?.headers.get("ETag") ?? null)
  if (response) return `${nameOf(key)} is open.`
  return `${nameOf(key)} does not exist. Save creates it, and releases it if it is taken down.`
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
  open = { kind, id, schema, entityTag, form: new ItemForm(nameOf({ kind, id }), schema, stored) }
  find("fields").replaceChildren(open.form.element)
  find("remove").hidden = entityTag === null
  document.title = `${nameOf(open)} – Items`
  form.hidden = false
}

function close() {
  open = null
  form.hidden = true
  document.title = "Items"
}

async function save(key) {
  const condition = key.entityTag === null ? { "If-None-Match": "*" } : { "If-Match": key.entityTag }
  const body = JSON.stringify(key.form.item)
  const response = await send(path(key), { method: "PUT", headers: { "Content-Type": "application/json", ...condition }, body })
  display(key, await item(response), response.headers.get("ETag"))
  return `${nameOf(key)} is ${response.status === 201 ? "created" : "saved"}.`
}

async function remove(key) {
  await send(path(key), { method: "DELETE", headers: { "If-Match": key.entityTag } })
  close()
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
    if (!key.kind && !key.id) return ""
    if (!schemas.has(key.kind)) throw new Error(`There is no kind ${key.kind}.`)
    kind.value = key.kind
    id.value = key.id
    return show(key)
  })
}

/** Lists the kinds. An open item stays open. */
function load() {
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
  if (location.hash === hash) follow()
  else location.hash = hash
})
form.addEventListener("submit", (event) => {
  event.preventDefault()
  const key = open
  if (key) perform(() => save(key))
})
find("remove").addEventListener("click", () => {
  const key = open
  if (key && confirm(`Remove ${nameOf(key)} and take it down?`)) perform(() => remove(key))
})
addEventListener("hashchange", follow)
addEventListener("beforeunload", (event) => {
  if (open?.form.isEdited) event.preventDefault()
})
onToken(load)
load()
