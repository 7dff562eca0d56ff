// Shows the response of `GET /admin/explain` in sentences: the reason for a cell of a page, and the decisions on the rest of the page. The web
// client shows this page next to the cell. The fragment of the URL has the parameters of the request, the client's `cells`, and the `cell`.
import { itemLink } from "/console/shell.mjs"
import { onToken, send } from "/reports/admin-api.mjs"

const find = (id) => document.getElementById(id)
const parameters = new URLSearchParams(location.hash.slice(1))
const cell = parameters.get("cell")

function create(tag, text, ...children) {
  const element = document.createElement(tag)
  if (text !== null) element.textContent = text
  element.append(...children)
  return element
}

async function load() {
  const query = new URLSearchParams([...parameters].filter(([, value]) => value !== ""))
  for (const name of ["cell", "cells"]) query.delete(name)
  const headers = parameters.has("cells") ? { "Accept-Cells": parameters.get("cells") } : {}
  return (await send(`/admin/explain?${query}`, { headers })).json()
}

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
  if (placed.adSlot === undefined) return [`It is a ${what}, and cell ${number} of ${page.cells.length} on this page, in the order of its section.`, shown]
  const slot = `It has ad slot ${placed.adSlot + 1} of ${page.rotation.page ? `page ${page.rotation.page}` : "this page"}.`
  const why = placed.campaign === undefined
    ? [scopes[page.rotation.scope]?.(page.rotation) ?? "", "The rotation selects it by its position among the advertisements."]
    : [`It is shown for the campaign ${placed.campaign}, which has the ad slot.`]
  return [slot, ...why, `It is an advertisement of the kind ${what}.`, shown].filter(Boolean)
}

function table(label, columns, rows, marked = () => false) {
  const head = create("tr", null, ...columns.map((name) => Object.assign(create("th", name), { scope: "col" })))
  const lines = rows.map((row) => {
    const line = create("tr", null, ...row.map((value) => create("td", null, linked(String(value ?? "")))))
    if (marked(row)) line.setAttribute("aria-current", "true")
    return line
  })
  const region = create("div", null, create("table", null, create("thead", null, head), create("tbody", null, ...lines)))
  region.className = "rows"
  region.tabIndex = 0
  region.setAttribute("role", "region")
  region.setAttribute("aria-label", label)
  return [create("h2", label), region]
}

/** Returns the link to the form of the item that a cell, such as `ad:7` or `ad:7#2`, shows. */
function linked(text) {
  const [, item] = /^([a-z][\w-]*:[^#\s]+)(?:#.*)?$/.exec(text) ?? []
  return item && window === window.top ? itemLink(item, text) : text
}

/** Returns the campaigns that do not run and have an ad, with their states and reasons. Campaigns of a file have no items. */
async function stopped(id) {
  const { campaigns } = await (await send("/admin/campaigns?limit=1000")).json()
  const found = []
  for (const campaign of campaigns.filter(({ state }) => state !== "running").slice(0, 50)) {
    const item = await send(`/admin/items/campaign/${encodeURIComponent(campaign.campaign)}`).then((response) => response.json(), () => ({}))
    if ((item.creatives ?? []).some((creative) => String(creative) === id)) found.push(campaign)
  }
  return found
}

/** Returns why a cell is not on the page, as sentences. */
async function absence(page) {
  const [, kind, id] = /^([^:]+):([^#]+)/.exec(cell) ?? []
  const ad = page.advertisements?.find((one) => one.kind === kind && one.id === id)
  const sentences = []
  if (kind === "ad") {
    for (const { campaign, state, reason } of await stopped(id)) sentences.push(`It belongs to the campaign ${campaign}, which is ${state}${reason && reason !== `it is ${state}` ? `: ${reason}` : ""}.`)
  }
  const taken = (page.takenDown ?? []).some((one) => one === cell || (one.kind === kind && one.id === id))
  if (taken) sentences.push("It is taken down.")
  const left = [...(page.omitted ?? []), ...(page.excludedAdvertisements ?? [])].find((one) => one.kind === kind && String(one.id) === id)
  if (left && sentences.length === 0) sentences.push(`It is left out: ${left.reason}.`)
  for (const { campaign, reason } of page.adSlots.flatMap(({ others }) => others)) {
    if (ad?.campaign === campaign) sentences.push(`Its campaign ${campaign} has no slot here: ${reason}.`)
  }
  if (sentences.length === 0 && ad?.page) sentences.push(`Page ${ad.page} shows it, in ad slot ${ad.slot + 1}.`)
  if (sentences.length === 0) sentences.push("The page does not have the cell: it is further below, has changed since, or is on another viewer's page.")
  return sentences
}

async function explained(page) {
  const parts = []
  const placed = page.cells.find((one) => one.cell === cell)
  if (placed) parts.push(...reasons(page, placed).map((text) => create("p", text)))
  else if (cell) parts.push(...(await absence(page)).map((text) => create("p", text)))
  if (cell) document.title = find("title").textContent = `Why is ${cell} ${placed ? "" : "not "}here?`
  // The ad slots of the cell's campaign, or all ad slots if no cell is selected.
  const decisions = page.adSlots.filter((one) => !placed || (placed.campaign !== undefined && one.campaign === placed.campaign))
  const others = decisions.flatMap(({ section, campaign, others }) => others.map((one) => [one.campaign, one.reason, campaign ?? "no campaign", section ?? ""]))
  if (others.length > 0) parts.push(...table("Other campaigns", ["campaign", "reason", "campaign of the slot", "section"], others))
  parts.push(...table("The page", ["cell", "kind", "position", "campaign"],
    page.cells.map((one, index) => [one.cell, one.kind, index + 1, one.campaign]), ([name]) => name === cell))
  if (page.omitted.length > 0) {
    parts.push(...table("Omitted", ["item", "reason"], page.omitted.map((one) => [`${one.kind} ${one.id}`, one.reason])))
  }
  const absent = page.excludedAdvertisements ?? []
  if (absent.length > 0) {
    parts.push(...table("Advertisements on no page", ["item", "reason"], absent.map((one) => [`${one.kind} ${one.id}`, one.reason])))
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
