// The list of items: search, filters, orders, and what can be done with several items at once.
import { create, itemLink, number, state, time, who } from "/console/shell.mjs"
import { send } from "/reports/admin-api.mjs"

const find = (id) => document.getElementById(id)
const [table, more, bulk, all, found] = ["list", "more", "bulk", "pick-all", "found"].map(find)
const body = table.tBodies[0]
export const pathOf = ({ kind, id }) => `/admin/items/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`

/** The order by a column, with a minus sign if it is reversed; empty without one. */
let sort = ""
let next = null
/** The number of all items that are found, as a text. */
let total = ""
let request = 0
const picked = new Map()

/** Asks a question with fields, `[name, label, properties]`, and returns the texts of the fields, or null if the operator cancels. */
function ask(title, text, yes, fields) {
  const dialog = find("ask")
  find("ask-title").textContent = title
  find("ask-text").textContent = text
  find("ask-yes").textContent = yes
  const inputs = fields.map(([id, , properties]) => create("input", { id, autocomplete: "off", ...properties }))
  find("ask-fields").replaceChildren(...inputs.map((input, index) => create("label", {}, `${fields[index][1]} `, input)))
  dialog.returnValue = ""
  dialog.showModal()
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes" ? inputs.map(({ value }) => value.trim()) : null), { once: true }))
}

/** Returns a URL of this page for the picture at a URL, as the service fetches it. */
export async function pictureOf(url) {
  const { href } = await (await send(`/admin/pictures?${new URLSearchParams({ url })}`)).json()
  return URL.createObjectURL(await (await send(href)).blob())
}

// Picture elements send no token, so their pictures are loaded with one.
async function show(image, href) {
  try {
    if (!image.isConnected) return
    image.src = URL.createObjectURL(await (await send(href)).blob())
  } catch {
    image.replaceWith(letter(image.dataset.kind))
  }
}

const pictures = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    pictures.unobserve(target)
    show(target, target.dataset.href)
  }
}, { rootMargin: "200px" })

/** Returns what stands in the place of a picture that is missing. */
const letter = (kind) => create("span", { className: "thumbnail", ariaHidden: "true", textContent: kind[0].toUpperCase() })

function picture({ picture: href, kind }) {
  const image = create("img", { className: "thumbnail", alt: "", width: 44, height: 44 })
  image.addEventListener("load", () => URL.revokeObjectURL(image.src))
  if (!href) return letter(kind)
  Object.assign(image.dataset, { href, kind })
  pictures.observe(image)
  return image
}

function stateOf(item) {
  const times = [...(item.publishAt ? [" from ", time(item.publishAt)] : []), ...(item.expireAt ? [" until ", time(item.expireAt)] : [])]
  if (["scheduled", "expired", "draft"].includes(item.state)) {
    return [state(item.state[0].toUpperCase() + item.state.slice(1), "warm"), create("br"), create("span", { className: "quiet" }, ...times)]
  }
  if (item.state !== "taken-down" && times.length > 0) return ["Public", create("br"), create("span", { className: "quiet" }, ...times)]
  if (item.state !== "taken-down") return item.source ? ["Public ", create("span", { className: "quiet", textContent: `by ${item.source}` })] : ["Public"]
  const facts = [item.takenDownBy && `by ${who(item.takenDownBy)}`, item.reason].filter(Boolean).join(": ")
  return [state("Taken down", "bad"), create("br"), create("span", { className: "quiet", title: item.takenDown ?? "" }, time(item.takenDown), facts && ` ${facts}`)]
}

const known = new Map()

/** Returns the listed row of an item; undefined if the list has not shown it. */
export const rowOf = (name) => known.get(name)

function row(item) {
  known.set(item.item, item)
  const pick = create("input", { type: "checkbox", checked: picked.has(item.item), ariaLabel: `Select ${item.item}` })
  pick.addEventListener("change", () => {
    if (pick.checked) picked.set(item.item, item)
    else picked.delete(item.item)
    showPicked()
  })
  const title = itemLink(item.item, item.title || item.item)
  // The page stays, with its search.
  title.setAttribute("href", `#${title.href.split("#")[1]}`)
  const cells = [
    [create("span", {}, pick), "pick"], [picture(item), "picture"],
    [create("span", {}, title, ...(item.title ? [create("span", { className: "quiet", textContent: item.item })] : [])), "title"],
    [item.kind, "kind"], [create("span", {}, ...stateOf(item)), "state-cell"], [item.changed ? time(item.changed) : create("span", { className: "quiet", textContent: "earlier" }), "changed"],
  ]
  if (isOrdered()) cells.push([steps(item), "order"])
  const line = create("tr", {}, ...cells.map(([content, className]) => create("td", { className }, content)))
  line.dataset.item = item.item
  if (isOrdered()) makeDraggable(line)
  return line
}

// Order

let moves = Promise.resolve()

const isOrdered = () => find("of-section").value !== ""

function steps(item) {
  const step = (text, name, otherOf, place) => {
    const button = create("button", { type: "button", textContent: text, ariaLabel: `Move ${item.item} ${name}` })
    // Presses follow each other, so that none is lost.
    button.addEventListener("click", () => {
      moves = moves.then(async () => {
        const line = button.closest("tr")
        const other = line && otherOf(line)
        if (other && other !== line) await move(line, other, place, button.ariaLabel)
      })
    })
    return button
  }
  return create("span", { className: "steps" },
    step("⤒", "to the top", () => body.rows[0], "before"), step("↑", "up", (line) => line.previousElementSibling, "before"),
    step("↓", "down", (line) => line.nextElementSibling, "after"))
}

function makeDraggable(line) {
  line.draggable = true
  line.addEventListener("dragstart", (event) => {
    if (document.body.dataset.role === "read") return event.preventDefault()
    event.dataTransfer.setData("text/x-item", line.dataset.item)
    event.dataTransfer.effectAllowed = "move"
  })
  line.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("text/x-item")) return
    event.preventDefault()
    line.classList.add("is-over")
  })
  for (const name of ["dragleave", "drop"]) line.addEventListener(name, () => line.classList.remove("is-over"))
  line.addEventListener("drop", (event) => {
    event.preventDefault()
    const moved = [...body.rows].find((row) => row.dataset.item === event.dataTransfer.getData("text/x-item"))
    if (moved && moved !== line) move(moved, line, moved.rowIndex < line.rowIndex ? "after" : "before")
  })
}

async function move(line, other, place, label) {
  try {
    const body = JSON.stringify({ operations: [{ move: line.dataset.item, [place]: other.dataset.item }] })
    await send("/admin/operations", { method: "POST", headers: { "Content-Type": "application/json" }, body })
    other[place](line)
    found.textContent = `${line.dataset.item} is ${place} ${other.dataset.item}.`
    if (label) line.querySelector(`[aria-label="${CSS.escape(label)}"]`)?.focus()
  } catch (error) {
    found.textContent = error.message
  }
}

// Pages

function query() {
  if (isOrdered()) return new URLSearchParams({ section: find("of-section").value, limit: 100 })
  const parameters = new URLSearchParams({ limit: 100, state: find("of-state").value })
  if (find("q").value.trim()) parameters.set("q", find("q").value.trim())
  if (find("of-kind").value) parameters.set("kind", find("of-kind").value)
  if (sort) parameters.set("sort", sort)
  return parameters
}

/** Keeps the question in the URL, for a reload and a link. */
function remember() {
  const asked = new URLSearchParams(["q", "of-kind", "of-state", "of-section"].map((id) => [id, find(id).value]).filter(([id, value]) => value && !(id === "of-state" && value === "any")))
  history.replaceState(history.state, "", `${location.pathname}${asked.size > 0 ? `?${asked}` : ""}${location.hash}`)
}

/** Says that the list is empty, and what fills it. */
function nothingFound() {
  if (isOrdered()) return "The section has no item."
  if (find("q").value.trim() || find("of-kind").value) return "No item is found."
  return { any: "There are no items yet. Add one, import a file, or declare a source.", "taken-down": "No item is taken down.", draft: "There are no drafts.", scheduled: "No item has a schedule.", expired: "No item has expired.", "by-source": "No source lists an item.", public: "No item is public." }[find("of-state").value]
}

/** Loads the first page, or the following one. */
async function load(href) {
  const asked = ++request
  if (!href) remember()
  try {
    const answer = await (await send(href ?? `/admin/items?${query()}`)).json()
    if (asked !== request) return
    if (!href) {
      body.replaceChildren()
      picked.clear()
      showPicked()
    }
    table.querySelector("th.order").hidden = !isOrdered()
    table.classList.toggle("is-ordered", isOrdered())
    body.append(...answer.items.map(row))
    next = answer.page.next
    more.hidden = next === null
    find("all-rows").hidden = body.rows.length === 0
    find("earlier").hidden = !body.querySelector(".changed > .quiet")
    if (!href) total = answer.total === undefined ? "10,000+" : number(answer.total)
    found.textContent = total === "0" ? nothingFound() : `${total} ${total === "1" ? "item" : "items"}${answer.isComplete ? "" : ". The index is being built: items may be missing."}`
    const section = find("of-section")
    for (const name of answer.sections) {
      if (![...section.options].some((option) => option.value === name)) section.append(new Option(name, name))
    }
    mark(current)
    if (!answer.isComplete) setTimeout(() => { if (asked === request) load() }, 2_000)
  } catch (error) {
    if (asked !== request) return
    // Rows of another question would look like the answer to this one.
    if (!href) body.replaceChildren()
    find("all-rows").hidden = body.rows.length === 0
    more.hidden = next === null || !href
    found.textContent = error.message
  }
}

/** Shows the order of the section that has an item, at its row. */
async function showOrderOf(item) {
  const rowOfItem = () => [...body.rows].find((line) => line.dataset.item === item)
  await load()
  for (const { value } of [...find("of-section").options].slice(1)) {
    find("of-section").value = value
    await load()
    while (!rowOfItem() && next && body.rows.length < 1_000) await load(next)
    if (!rowOfItem()) continue
    mark(item)
    rowOfItem().scrollIntoView({ block: "center" })
    rowOfItem().querySelector(".steps button:nth-child(2)").focus({ preventScroll: true })
    return
  }
  found.textContent = `No order has ${item} among its first items.`
}

let current = ""

/** Marks the row of the open item. */
export function mark(name) {
  current = name
  for (const line of body.rows) line.toggleAttribute("aria-current", line.dataset.item === name)
}

export const reload = () => {
  const item = asked.get("order")
  asked.delete("order")
  return item ? showOrderOf(item) : load()
}

/** Sets the kinds by which the list can be filtered. */
export function offer(kinds) {
  const chosen = find("of-kind").value
  find("of-kind").replaceChildren(new Option("All", ""), ...kinds.map((kind) => new Option(kind, kind)))
  find("of-kind").value = kinds.includes(chosen) ? chosen : ""
  if (asked.get("of-kind") && kinds.includes(asked.get("of-kind"))) {
    find("of-kind").value = asked.get("of-kind")
    asked.delete("of-kind")
    load()
  }
}

// Selected items

function showPicked() {
  bulk.hidden = picked.size === 0
  find("picked").textContent = `${picked.size} selected`
  all.checked = picked.size > 0 && picked.size === body.rows.length
  all.indeterminate = picked.size > 0 && !all.checked
}

/** Stores the document that an item had when it was taken down, which releases it. Without one, the next import or source brings it. */
export async function release({ kind, id }) {
  const { revisions } = await (await send(`${pathOf({ kind, id })}/revisions`)).json()
  const kept = revisions[0]
  if (kept?.action !== "take-down") return send(`/admin/takedowns/${encodeURIComponent(`${kind}:${id}`)}`, { method: "DELETE" })
  const document = await (await send(`${pathOf({ kind, id })}/revisions/${kept.number}`)).text()
  return send(pathOf({ kind, id }), { method: "PUT", headers: { "Content-Type": "application/json", "If-None-Match": "*" }, body: document })
}

export function takeDown({ kind, id }, reason) {
  return send(`/admin/takedowns/${encodeURIComponent(`${kind}:${id}`)}`, {
    method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(reason ? { reason } : {}),
  })
}

function remove(item) {
  return send(pathOf(item), { method: "DELETE", headers: item.entityTag ? { "If-Match": item.entityTag } : {} })
}

/** Returns the text of a control for a time, in the operator's zone. */
const localTime = (text) => (text ? new Date(Date.parse(text) - new Date(text).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "")

const isPicture = (name, value) => typeof value === "string" && /^https?:/.test(value) && /picture|image|avatar|poster|photo|content|background|logo|cover|thumbnail/i.test(name)

/** Returns what a takedown of items does to the pictures of others, as a sentence. */
export async function lossOf(items) {
  const urls = new Set()
  for (const item of items.slice(0, 20)) {
    const document = await send(pathOf(item)).then((response) => response.json(), () => ({}))
    for (const [name, value] of Object.entries(document)) if (isPicture(name, value)) urls.add(value)
  }
  const own = new Set(items.map(({ kind, id }) => `${kind}:${id}`))
  const others = new Set()
  let isMore = items.length > 20
  for (const picture of urls) {
    const answer = await (await send(`/admin/items?${new URLSearchParams({ picture, state: "public", limit: 1000 })}`)).json()
    for (const { item } of answer.items) if (!own.has(item)) others.add(item)
    isMore ||= answer.page.next !== null || !answer.isComplete
  }
  if (others.size === 0) return isMore ? "Others may show the same pictures, and lose them." : "No other item shows the same pictures."
  return `${isMore ? "At least " : ""}${others.size} other ${others.size === 1 ? "item shows" : "items show"} the same pictures, and ${others.size === 1 ? "loses" : "lose"} them.`
}

/** Sets when items become public and when they expire, all in one transaction. What the operator does not change stays as it is. */
async function schedule(items, what, entered = [], fault = "") {
  const names = ["publishAt", "expireAt"]
  const stored = names.map((name) => {
    const values = new Set(items.map((item) => localTime(item[name])))
    return { shown: values.size === 1 ? [...values][0] : "", isMixed: values.size > 1 }
  })
  const mixed = stored.some(({ isMixed }) => isMixed) ? " A time that differs between the items is empty, and stays as it is unless you enter one." : ""
  const fields = [["publish-at", "Public from", { type: "datetime-local", value: entered[0] ?? stored[0].shown }], ["expire-at", "Until", { type: "datetime-local", value: entered[1] ?? stored[1].shown }]]
  const answer = await ask(`Schedule ${what}?`, `${fault}The times are in your zone. Without a time, the items are public at once, and do not expire.${mixed}`, "Schedule", fields)
  if (answer === null) return
  if (answer[0] && answer[1] && answer[1] <= answer[0]) return schedule(items, what, answer, "The end must be after the beginning. ")
  const changed = names.flatMap((name, index) => (answer[index] === stored[index].shown ? [] : [[name, answer[index] ? new Date(answer[index]).toISOString() : null]]))
  if (changed.length === 0) {
    found.textContent = "No time is changed."
    return
  }
  try {
    const body = JSON.stringify(items.map(({ kind, id }) => ({ kind, id, ...Object.fromEntries(changed) })))
    await send("/admin/items", { method: "PATCH", headers: { "Content-Type": "application/json" }, body })
    await load()
    found.textContent = changed.some(([, value]) => value) ? `${what} ${items.length === 1 ? "is" : "are"} scheduled.` : `${what} ${items.length === 1 ? "has" : "have"} fewer times now.`
  } catch (error) {
    found.textContent = error.message
  }
}

async function perform(action) {
  const items = [...picked.values()]
  const wanted = items.filter((item) => (item.state === "taken-down") === (action === "release"))
  const what = wanted.length === 1 ? wanted[0].item : `${wanted.length} items`
  if (wanted.length === 0) {
    found.textContent = action === "release" ? "None of the selected items is taken down." : "All selected items are taken down already."
    return
  }
  if (action === "schedule") return schedule(wanted, what)
  let reason = ""
  if (action !== "release") {
    found.textContent = "Loading …"
    const text = `Imports and sources omit what is taken down until it is released. Its document is kept. ${await lossOf(wanted).catch(() => "Others that show the same pictures lose them.")}`
    found.textContent = ""
    const yes = action === "delete" ? "Delete" : "Take down"
    const answer = await ask(`${yes} ${what}?`, text, yes, action === "delete" ? [] : [["reason", "Reason", { maxLength: 256 }]])
    if (answer === null) return
    reason = answer[0]
  }
  const errors = []
  for (const item of wanted) {
    try {
      await (action === "release" ? release(item) : action === "delete" ? remove(item) : takeDown(item, reason))
    } catch (error) {
      errors.push(`${item.item}: ${error.message}`)
    }
  }
  await load()
  const done = wanted.length - errors.length
  found.textContent = [`${done} ${done === 1 ? "item is" : "items are"} ${{ release: "released", delete: "deleted", "take-down": "taken down" }[action]}.`, ...errors].join(" ")
  document.dispatchEvent(new CustomEvent("items-changed"))
}

// Events

let typing = 0
find("q").addEventListener("input", () => {
  clearTimeout(typing)
  typing = setTimeout(() => {
    find("of-section").value = ""
    load()
  }, 200)
})
find("find").addEventListener("submit", (event) => {
  event.preventDefault()
  clearTimeout(typing)
  load()
})
for (const id of ["of-kind", "of-state"]) {
  find(id).addEventListener("change", () => {
    find("of-section").value = ""
    load()
  })
}
find("of-section").addEventListener("change", () => {
  // The order of a section has all of its items.
  if (isOrdered()) {
    find("q").value = find("of-kind").value = ""
    find("of-state").value = "any"
  }
  load()
})
more.addEventListener("click", async () => {
  if (!next) return
  const count = body.rows.length
  // The button is not moved by the rows that arrive.
  more.hidden = true
  await load(next)
  body.rows[count]?.querySelector("a").focus({ preventScroll: true })
})
all.addEventListener("change", () => {
  // A click changes the state of the box of the header.
  const isWanted = all.checked
  for (const box of body.querySelectorAll("input[type=checkbox]")) if (box.checked !== isWanted) box.click()
})
for (const head of table.querySelectorAll("[data-sort]")) {
  head.querySelector("button").addEventListener("click", () => {
    const name = head.dataset.sort
    // The newest changes are first at first.
    sort = sort === (name === "changed" ? `-${name}` : name) ? (name === "changed" ? name : `-${name}`) : name === "changed" ? `-${name}` : name
    for (const other of table.querySelectorAll("[data-sort]")) other.removeAttribute("aria-sort")
    head.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending")
    find("of-section").value = ""
    load()
  })
}
bulk.addEventListener("click", ({ target }) => { if (target.dataset.action) perform(target.dataset.action) })
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select, dialog")) return
  event.preventDefault()
  find("q").focus()
})
// The URL may have a question. Kinds and sections are known later.
const asked = new URLSearchParams(location.search)
find("q").value = asked.get("q") ?? ""
if ([...find("of-state").options].some(({ value }) => value === asked.get("of-state"))) find("of-state").value = asked.get("of-state")
if (asked.get("of-section")) {
  find("of-section").append(new Option(asked.get("of-section"), asked.get("of-section")))
  find("of-section").value = asked.get("of-section")
}
if (location.pathname === "/takedowns") {
  find("of-state").value = "taken-down"
  document.querySelector("h1").textContent = "Takedowns"
  find("add").hidden = true
}
