// Says in sentences what `GET /admin/explain` answers: why a cell stands on a page, and how the rest of the page came about. The viewer shows
// this page beside the cell. Behind the `#` of its URL stands what is explained: the parameters of that request, the client's `cells`, and the
// `cell` that it is about.

const find = (id) => document.getElementById(id)
const asked = new URLSearchParams(location.hash.slice(1))
const cell = asked.get("cell")

function made(tag, text, ...children) {
  const element = document.createElement(tag)
  if (text !== null) element.textContent = text
  element.append(...children)
  return element
}

// A frame of another origin may have to do without.
const kept = {
  get token() {
    try { return sessionStorage.getItem("token") } catch { return this.own }
  },
  set token(value) {
    this.own = value
    try { sessionStorage.setItem("token", value) } catch { /* For as long as the page is open. */ }
  },
}

async function ask() {
  const query = new URLSearchParams(asked)
  for (const name of ["cell", "cells"]) query.delete(name)
  const fields = { ...(kept.token && { Authorization: `Bearer ${kept.token}` }), ...(asked.has("cells") && { "Accept-Cells": asked.get("cells") }) }
  const answer = await fetch(`/admin/explain?${query}`, { headers: fields, cache: "no-store" })
  find("access").hidden = answer.status !== 401
  if (answer.status === 401) throw new Error("The operators' API asks for its token.")
  const value = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Error(value.detail ?? `The answer has the status ${answer.status}.`)
  return value
}

const scopes = {
  page: ({ perPage }) => `Each page has ${perPage} of the advertisements in turn, the next page the next ones.`,
  place: () => "Each place has the next of the advertisements in turn.",
  listed: () => "Each advertisement stands where it was listed.",
  feed: () => "All advertisements stand once, in the middle of the feed.",
}

/** Why one cell is where it is, in sentences. */
function reasons(page, place) {
  const what = `${place.type ? `${place.type} ` : ""}${place.kind}`
  const made = `It is shown as ${place.identifier}${place.factory ? `, made by ${place.factory}` : ""}.`
  if (place.adSlot === undefined) return [`It is the ${what} at position ${place.position} in the order of its section.`, made]
  const slot = `It has the place ${place.adSlot + 1} for advertisements on ${page.rotation.page ? `page ${page.rotation.page}` : "this page"}.`
  const why = place.campaign === undefined
    ? [scopes[page.rotation.scope]?.(page.rotation) ?? "", `Its turn comes by its position among the advertisements, which is ${place.position}.`]
    : [`It is shown for the campaign ${place.campaign}, which won the place.`]
  return [slot, ...why, `It is an advertisement of the kind ${what}.`, made].filter(Boolean)
}

function table(label, columns, rows, marked = () => false) {
  const head = made("tr", null, ...columns.map((name) => Object.assign(made("th", name), { scope: "col" })))
  const lines = rows.map((row) => {
    const line = made("tr", null, ...row.map((value) => made("td", String(value ?? ""))))
    if (marked(row)) line.setAttribute("aria-current", "true")
    return line
  })
  const region = made("div", null, made("table", null, made("thead", null, head), made("tbody", null, ...lines)))
  region.className = "rows"
  region.tabIndex = 0
  region.setAttribute("role", "region")
  region.setAttribute("aria-label", label)
  return [made("h2", label), region]
}

function explained(page) {
  const parts = []
  const place = page.cells.find((one) => one.cell === cell)
  if (place) parts.push(...reasons(page, place).map((text) => made("p", text)))
  else if (cell) parts.push(made("p", "The page does not have it any more: it has changed since, or belongs to somebody else."))
  // Of the page's places, those that the cell's campaign won; all of them where it is not about one cell.
  const decisions = page.places.filter((one) => !place || (place.campaign !== undefined && one.campaign === place.campaign))
  const others = decisions.flatMap(({ section, campaign, others }) => others.map((one) => [one.campaign, one.reason, campaign ?? "no campaign", section ?? ""]))
  if (others.length > 0) parts.push(...table("Other campaigns", ["campaign", "why not", "the place has", "section"], others))
  parts.push(...table("The page", ["cell", "kind", "position", "campaign"],
    page.cells.map((one) => [one.cell, one.kind, one.position, one.campaign]), ([name]) => name === cell))
  if (page.leftOut.length > 0) {
    parts.push(...table("Left out", ["item", "reason"], page.leftOut.map((one) => [`${one.kind} ${one.id}`, one.reason])))
  }
  const absent = page.excludedAdvertisements ?? []
  if (absent.length > 0) {
    parts.push(...table("Advertisements on no page", ["item", "reason"], absent.map((one) => [`${one.kind} ${one.id}`, one.reason])))
  }
  return parts
}

async function show() {
  find("status").textContent = "Asking …"
  try {
    const parts = explained(await ask())
    find("explanation").replaceChildren(...parts)
    find("explanation").hidden = false
    find("status").textContent = ""
  } catch (error) {
    find("explanation").hidden = true
    find("status").textContent = error.message
  }
}

if (cell) document.title = find("title").textContent = `Why is ${cell} here?`
find("access").addEventListener("submit", (event) => {
  event.preventDefault()
  kept.token = find("token").value
  find("token").value = ""
  show()
})
addEventListener("hashchange", () => location.reload())
show()
