// Shows the response of `GET /admin/explain` in sentences: the reason for a cell of a page, and the decisions on the rest of the page. The web
// client shows this page next to the cell. The fragment of the URL has the parameters of the request, the client's `cells`, and the `cell`.
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
  const query = new URLSearchParams(parameters)
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
  const what = `${placed.type ? `${placed.type} ` : ""}${placed.kind}`
  const shown = `It is shown as ${placed.identifier}${placed.factory ? `, created by ${placed.factory}` : ""}.`
  if (placed.adSlot === undefined) return [`It is the ${what} at position ${placed.position} in the order of its section.`, shown]
  const slot = `It has ad slot ${placed.adSlot + 1} of ${page.rotation.page ? `page ${page.rotation.page}` : "this page"}.`
  const why = placed.campaign === undefined
    ? [scopes[page.rotation.scope]?.(page.rotation) ?? "", `The rotation selects it by its position among the advertisements, ${placed.position}.`]
    : [`It is shown for the campaign ${placed.campaign}, which has the ad slot.`]
  return [slot, ...why, `It is an advertisement of the kind ${what}.`, shown].filter(Boolean)
}

function table(label, columns, rows, marked = () => false) {
  const head = create("tr", null, ...columns.map((name) => Object.assign(create("th", name), { scope: "col" })))
  const lines = rows.map((row) => {
    const line = create("tr", null, ...row.map((value) => create("td", String(value ?? ""))))
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

function explained(page) {
  const parts = []
  const placed = page.cells.find((one) => one.cell === cell)
  if (placed) parts.push(...reasons(page, placed).map((text) => create("p", text)))
  else if (cell) parts.push(create("p", "The page does not have the cell: it has changed since, or is another viewer's page."))
  // The ad slots of the cell's campaign, or all ad slots if no cell is selected.
  const decisions = page.adSlots.filter((one) => !placed || (placed.campaign !== undefined && one.campaign === placed.campaign))
  const others = decisions.flatMap(({ section, campaign, others }) => others.map((one) => [one.campaign, one.reason, campaign ?? "no campaign", section ?? ""]))
  if (others.length > 0) parts.push(...table("Other campaigns", ["campaign", "reason", "campaign of the slot", "section"], others))
  parts.push(...table("The page", ["cell", "kind", "position", "campaign"],
    page.cells.map((one) => [one.cell, one.kind, one.position, one.campaign]), ([name]) => name === cell))
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
    const parts = explained(await load())
    find("explanation").replaceChildren(...parts)
    find("explanation").hidden = false
    find("status").textContent = ""
  } catch (error) {
    find("explanation").hidden = true
    find("status").textContent = error.message
  }
}

if (cell) document.title = find("title").textContent = `Why is ${cell} here?`
onToken(show)
addEventListener("hashchange", () => location.reload())
show()
