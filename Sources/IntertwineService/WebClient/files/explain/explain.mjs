// Shows the response of `GET /admin/explain` in sentences: the reason for a cell of a page, and the decisions on the rest of the page. The web
// client shows this page next to the cell. The fragment of the URL has the parameters of the request, the client's `cells`, and the `cell`.
import { itemLink, itemsWith, suggest } from "/console/shell.mjs"
import { campaignNamed, onToken, send } from "/reports/admin-api.mjs"

const find = (id) => document.getElementById(id)
const parameters = new URLSearchParams(location.hash.slice(1))
const cell = parameters.get("cell")

function create(tag, text, ...children) {
  const element = document.createElement(tag)
  if (text !== null) element.textContent = text
  element.append(...children)
  return element
}

async function load(more = {}) {
  const query = new URLSearchParams([...parameters].filter(([, value]) => value !== ""))
  for (const [name, value] of Object.entries(more)) query.set(name, value)
  query.delete("cells")
  if (cell) query.set("cell", cell.split("#")[0])
  const headers = parameters.has("cells") ? { "Accept-Cells": parameters.get("cells") } : {}
  return (await send(`/admin/explain?${query}`, { headers })).json()
}

/** How many pages of 100 cells are searched. */
const maxPages = 20

const scopes = {
  page: ({ perPage }) => `Each page has the next ${perPage} advertisements of the rotation.`,
  placed: () => "Each ad slot has the next advertisement of the rotation.",
  pinned: () => "Each advertisement is pinned at its position.",
}

/** Returns the reasons for the position of a cell, as sentences. */
function reasons(page, placed) {
  const number = page.cells.indexOf(placed) + 1
  const what = `${placed.type ? `${placed.type} ` : ""}${placed.kind}`
  const shown = `It is shown as ${placed.identifier}${placed.factory ? `, created by ${placed.factory}` : ""}.`
  if (placed.adSlot === undefined) return [`It is cell ${number} of ${page.cells.length} on this page, in the order of its section. Its kind is ${what}.`, shown]
  const slot = `It has ad slot ${placed.adSlot + 1} of ${page.rotation.page ? `page ${page.rotation.page}` : "this page"}.`
  const why = placed.campaign === undefined
    ? [scopes[page.rotation.scope]?.(page.rotation) ?? "", "The rotation selects it by its position among the advertisements."]
    : [`It is shown for the campaign ${placed.campaign}, which has the ad slot.`]
  return [slot, ...why, shown].filter(Boolean)
}

/** The rows that are shown at first, and those that each "Show more" adds: a slot may have thousands of other campaigns. */
const ROWS = 100

function table(label, columns, rows, marked = () => false) {
  const head = create("tr", null, ...columns.map((name) => Object.assign(create("th", name), { scope: "col" })))
  const line = (row) => {
    const made = create("tr", null, ...row.map((value, index) => {
      const isCampaign = columns[index].startsWith("Campaign") && value && value !== "no campaign" && window === window.top
      const cell = create("td", null, isCampaign ? itemLink(`campaign:${value}`, value) : linked(String(value ?? "")))
      cell.className = String(value ?? "").length > 40 ? "wide" : ""
      cell.dataset.label = columns[index]
      return cell
    }))
    if (marked(row)) made.setAttribute("aria-current", "true")
    return made
  }
  const body = create("tbody", null)
  const more = create("button", null)
  more.type = "button"
  more.onclick = () => {
    body.append(...rows.slice(body.rows.length, body.rows.length + ROWS).map(line))
    more.hidden = body.rows.length === rows.length
    more.textContent = `Show more (${body.rows.length} of ${rows.length})`
  }
  more.onclick()
  const region = create("div", null, create("table", null, create("thead", null, head), body))
  region.className = "rows"
  region.tabIndex = 0
  region.setAttribute("role", "region")
  region.setAttribute("aria-label", label)
  return [create("h2", label), region, more]
}

/** Returns the link to the form of the item that a cell, such as `ad:7` or `ad:7#2`, shows. */
function linked(text) {
  const [, item] = /^([a-z][\w-]*:[^#\s]+)(?:#.*)?$/.exec(text) ?? []
  return item && window === window.top ? itemLink(item, text) : text
}

/** Returns why a cell is not on the page, as sentences. */
async function absence(page) {
  const [, kind, id] = /^([^:]+):([^#]+)/.exec(cell) ?? []
  const ad = page.advertisements?.find((one) => one.kind === kind && one.id === id)
  const sentences = []
  const taken = (page.takenDown ?? []).some((one) => one === cell || (one.kind === kind && one.id === id))
  if (taken) sentences.push("It is taken down.")
  const left = [...(page.omitted ?? []), ...(page.excludedAdvertisements ?? [])].find((one) => one.kind === kind && String(one.id) === id)
  if (left && sentences.length === 0) sentences.push(`It is left out: ${left.reason}.`)
  if (ad?.page) sentences.push(`Page ${ad.page} shows it, in ad slot ${ad.slot + 1}.`)
  if (sentences.length > 0) return sentences
  if (kind === "campaign") return campaign(id)
  if (page.cells.length === 0 && !page.next) return [`The feed has no cells ${parameters.get("viewer") ? "for this viewer" : "without a viewer"}.`]
  if (!kind) return ["A cell has the name of its item, which is the kind and the id, such as article:7."]
  return (await stored(kind, id)) ?? further(page)
}

/** Returns the state of a campaign, which has no cell itself, as sentences. */
async function campaign(id) {
  const found = await campaignNamed(id)
  if (found) return [`The campaign is ${found.state}${found.reason && !found.reason.includes(found.state) ? `: ${found.reason}` : ""}. A campaign has no cell: ask for one of its ads.`]
  return [`There is no campaign ${id}.`]
}

/** Returns the reason in an item's own state, as sentences; null if the feed may show it. */
async function stored(kind, id) {
  const query = new URLSearchParams({ q: `${kind}:${id}`, kind, limit: 100 })
  const listed = await send(`/admin/items?${query}`).then((response) => response.json(), (error) => ({ error }))
  if (listed.error) return [listed.error.message]
  const item = listed.items.find((one) => one.item === `${kind}:${id}`)
  if (!item) return listed.isComplete ? [`No item ${kind}:${id} is stored.`] : null
  if (item.state === "public") return null
  const reason = item.reason ? `: ${item.reason}` : ""
  return [item.state === "taken-down" ? `It is taken down${reason}.` : { draft: "It is a draft.", scheduled: "Its time of publication has not come yet.", expired: "It has expired." }[item.state] ?? `Its state is ${item.state}.`]
}

/** Looks for the cell on the next pages, and returns where it is, as sentences. */
async function further(page) {
  let count = page.cells.length
  for (let number = 0; page.next && number < maxPages; number++) {
    page = await load({ cursor: new URL(page.next, location).searchParams.get("cursor"), limit: 100 })
    const index = page.cells.findIndex((one) => one.cell === cell)
    if (index >= 0) return [parameters.get("cursor") ? `It is further below: cell ${count + index + 1} from the start of this page.` : `It is further below: cell ${count + index + 1} of the feed.`]
    count += page.cells.length
  }
  if (page.next) return [`It is not among the next ${count} cells of the feed.`]
  return [parameters.get("viewer")
    ? "The feed ends without it for this viewer: the viewer has dismissed it or muted its author, or the feed has no section or filter with it."
    : "The feed ends without it: no section of the feed has it, or it has another cell as its first one."]
}

async function explained(page) {
  const parts = []
  const placed = page.cells.find((one) => one.cell === cell)
  if (placed) parts.push(...reasons(page, placed).map((text) => create("p", text)))
  else if (cell) parts.push(...(await absence(page)).map((text) => create("p", text)))
  if (cell) find("title").textContent = `Why is ${cell} ${placed ? "" : "not "}here?`
  if (cell) document.title = `${find("title").textContent} – Intertwine`
  // The ad slots of the cell's campaign, or all ad slots for an absent ad and if no cell is selected.
  const isAd = page.advertisements?.some(({ kind, id }) => cell?.split("#")[0] === `${kind}:${id}`)
  const decisions = page.adSlots.filter((one) => (placed ? placed.campaign !== undefined && one.campaign === placed.campaign : !cell || isAd))
  const others = decisions.flatMap(({ section, campaign, others }) => others.map((one) => [one.campaign, one.reason, campaign ?? "no campaign", section ?? ""]))
  if (others.length > 0) parts.push(...table("Other campaigns", ["Campaign", "Why not", "Campaign of the slot", "Section"], others))
  parts.push(...table("The page", ["Cell", "Kind", "Position", "Campaign"],
    page.cells.map((one, index) => [one.cell, one.kind, index + 1, one.campaign]), ([name]) => name === cell))
  if (page.omitted.length > 0) {
    parts.push(...table("Omitted", ["Item", "Reason"], page.omitted.map((one) => [`${one.kind}:${one.id}`, one.reason])))
  }
  const absent = page.excludedAdvertisements ?? []
  if (absent.length > 0) {
    parts.push(...table("Advertisements on no page", ["Item", "Reason"], absent.map((one) => [`${one.kind}:${one.id}`, one.reason])))
  }
  return parts
}

async function show() {
  find("status").textContent = "Loading …"
  try {
    const parts = await explained(await load())
    find("explanation").replaceChildren(...parts)
    find("explanation").hidden = false
    find("status").textContent = ""
  } catch (error) {
    find("explanation").hidden = true
    find("status").textContent = error.message
  }
}

const form = find("question")
// In the frame of the web client, the page is about one cell.
form.hidden = window !== window.top
suggest(form.querySelector("[name=cell]"), itemsWith, true)
for (const input of form.querySelectorAll("input")) input.value = parameters.get(input.name) ?? ""
form.addEventListener("submit", (event) => {
  event.preventDefault()
  const asked = new URLSearchParams(parameters)
  for (const input of form.querySelectorAll("input")) {
    if (input.value === "") asked.delete(input.name)
    else asked.set(input.name, input.value.trim())
  }
  // Another question begins at the first page.
  asked.delete("cursor")
  if (location.hash.slice(1) === String(asked)) show()
  else location.hash = String(asked)
})
onToken(show)
addEventListener("hashchange", () => location.reload())
show()
