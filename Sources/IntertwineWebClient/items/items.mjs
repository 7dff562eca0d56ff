// Creates, edits and removes items with `/admin/items/{kind}/{id}`. The fields of the form follow from the schema of the kind.
// The fragment of the URL has the `kind` and the `id` of the item.
import { onToken, send } from "/reports/admin-api.mjs"
import { ItemForm } from "/items/item-form.mjs"

const find = (id) => document.getElementById(id)
const [kind, id, form, status] = ["kind", "id", "item", "status"].map(find)

/** The open item: its key, its form, and its entity tag, which is null if the item does not exist. */
let open = null
let last = Promise.resolve()
const schemas = new Map()

function path() {
  return `/admin/items/${encodeURIComponent(open.kind)}/${encodeURIComponent(open.id)}`
}

/** Performs an operation after the previous ones. */
function perform(operation) {
  last = last.then(() => run(operation))
}

/** Performs an operation and shows its result, or its error. */
async function run(operation) {
  status.textContent = "Loading …"
  try {
    status.textContent = (await operation()) ?? ""
  } catch (error) {
    const isInvalid = open?.form.show(error.problem?.errors ?? [])
    status.textContent = isInvalid ? "The item is not saved: a field is invalid." : error.message
  }
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
  kind.replaceChildren(...names.map((name) => new Option(name, name)))
}

async function show(key) {
  close()
  const schema = await (await send(schemas.get(key.kind))).json()
  const response = await send(`/admin/items/${encodeURIComponent(key.kind)}/${encodeURIComponent(key.id)}`).catch((error) => {
    if (error.status !== 404) throw error
    return null
  })
  const stored = response ? await item(response) : {}
  open = { ...key, form: new ItemForm(schema), entityTag: response?.headers.get("ETag") ?? null }
  open.form.item = stored
  find("fields").replaceChildren(open.form.element)
  find("remove").hidden = open.entityTag === null
  form.hidden = false
  return open.entityTag === null ? `${key.kind}:${key.id} does not exist. Save creates it.` : `${key.kind}:${key.id} is open.`
}

/** Returns the item of a response. JavaScript would round some whole numbers, and a save would store the rounded ones. */
async function item(response) {
  return JSON.parse(await response.text(), (name, value) => {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error(`This page cannot edit ${name}: the number is too large.`)
    return value
  })
}

function close() {
  open = null
  form.hidden = true
}

async function save() {
  if (!open) return
  open.form.show([])
  const condition = open.entityTag === null ? { "If-None-Match": "*" } : { "If-Match": open.entityTag }
  const body = JSON.stringify(open.form.item)
  const response = await send(path(), { method: "PUT", headers: { "Content-Type": "application/json", ...condition }, body })
  open.entityTag = response.headers.get("ETag")
  open.form.item = await item(response)
  find("remove").hidden = false
  return response.status === 201 ? `${open.kind}:${open.id} is created.` : `${open.kind}:${open.id} is saved.`
}

async function remove() {
  if (!open) return
  const name = `${open.kind}:${open.id}`
  await send(path(), { method: "DELETE", headers: { "If-Match": open.entityTag } })
  close()
  return `${name} is removed and taken down: imports omit it until it is released.`
}

/** Opens the item that the fragment names. */
function follow() {
  const key = new URLSearchParams(location.hash.slice(1))
  if (!schemas.has(key.get("kind"))) return
  kind.value = key.get("kind")
  id.value = key.get("id") ?? ""
  if (id.value) perform(() => show({ kind: kind.value, id: id.value }))
}

function load() {
  perform(async () => {
    await listKinds()
    follow()
  })
}

find("key").addEventListener("submit", (event) => {
  event.preventDefault()
  const hash = `#${new URLSearchParams({ kind: kind.value, id: id.value })}`
  if (location.hash === hash) follow()
  else location.hash = hash
})
form.addEventListener("submit", (event) => {
  event.preventDefault()
  perform(save)
})
find("remove").addEventListener("click", () => {
  if (confirm(`Remove ${open.kind}:${open.id} and take it down?`)) perform(remove)
})
addEventListener("hashchange", follow)
onToken(load)
load()
