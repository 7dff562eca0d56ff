// The cells of the item in the form, as the page renders them, while the operator edits it. The cells of a campaign are those of its ads.
import { create } from "/console/shell.mjs"
import { authorized, send } from "/reports/admin-api.mjs"

const find = (id) => document.getElementById(id)
const [place, switches, shown, note] = ["cells", "cells-as", "cells-shown", "cells-note"].map(find)
const layouts = { collection: "Cell", table: "Table row" }
/** The ads of a campaign that are shown. */
const LIMIT = 6

const chosen = { layout: "collection", language: "" }
let pages = []
let feed = null
let request = 0
let timer = 0

/** Returns the pages of cells of a document: one for each layout and language. */
async function pagesOf(kind, id, document) {
  const path = `/admin/preview/items/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`
  return (await (await send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(document) })).json()).pages
}

/** Returns the pages with the cells of all ads of a campaign. */
async function pagesOfAds(creatives) {
  const all = await Promise.all(creatives.slice(0, LIMIT).map(async (creative) => {
    const [, kind = "ad", id] = /^(?:([A-Za-z][\w-]*):)?(.+)$/s.exec(String(creative)) ?? []
    const stored = await send(`/admin/items/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`)
    return pagesOf(kind, id, await stored.json())
  }))
  return (all[0] ?? []).map((page, index) => ({ ...page, cells: all.flatMap((one) => one[index]?.cells ?? []) }))
}

const cells = () => pages.find(({ layout, language }) => layout === chosen.layout && (language ?? "") === chosen.language)?.cells ?? []

/** Images come from this listener with the operator's token. There is nothing to cancel. */
const imageFetch = async (url, options = {}) => ((options.method ?? "GET") === "GET" ? authorized(url, options) : new Response(null, { status: 204 }))

async function display() {
  const [{ pageClient }] = await Promise.all([import("/page-client.mjs"), import("/client/element/intertwine-feed.mjs")])
  const languages = [...new Set(pages.map(({ language }) => language ?? ""))]
  if (!languages.includes(chosen.language)) chosen.language = languages[0] ?? ""
  const has = (layout) => pages.some((page) => page.layout === layout && page.cells.length > 0)
  if (!has(chosen.layout)) chosen.layout = Object.keys(layouts).find(has) ?? chosen.layout
  const button = (name, value, text, lang = "") => {
    const made = create("button", { type: "button", textContent: text, ariaPressed: String(chosen[name] === value), lang })
    made.addEventListener("click", () => {
      chosen[name] = value
      feed = null
      display().then(() => [...switches.children].find(({ textContent }) => textContent === text)?.focus())
    })
    return made
  }
  switches.replaceChildren(
    ...Object.entries(layouts).filter(([layout]) => has(layout)).map(([layout, text]) => button("layout", layout, text)),
    ...(languages.length > 1 ? languages.map((language) => button("language", language, language)) : []))
  if (feed?.isConnected) return feed.reload()
  feed = Object.assign(document.createElement("intertwine-feed"), { client: pageClient(cells), imageFetch })
  // A preview is no feed that ends.
  feed.setAttribute("words", '{"end": "", "endOne": ""}')
  feed.src = chosen.layout === "table" ? "/feed?layout=table" : "/feed"
  shown.replaceChildren(feed)
}

async function update({ kind, id }, read) {
  const number = ++request
  try {
    const document = read()
    const answer = kind === "campaign" ? await pagesOfAds(document.creatives ?? []) : await pagesOf(kind, id, document)
    if (number !== request) return
    pages = answer
    const count = pages.reduce((most, page) => Math.max(most, page.cells.length), 0)
    note.textContent = count > 0 ? "" : kind === "campaign" ? "The campaign has no ads." : "No cell shows an item with these values."
    shown.hidden = count === 0
    if (count > 0) await display()
  } catch (error) {
    if (number === request) note.textContent = `Not shown as it is now: ${error.message}`
  }
}

/** Shows the cells of an item. `read` returns its document in the form. */
export function preview(key, read) {
  clearTimeout(timer)
  pages = []
  feed = null
  switches.replaceChildren()
  shown.replaceChildren()
  note.textContent = ""
  place.hidden = false
  update(key, read)
}

/** Shows the cells again after the form has changed. */
export function follow(key, read) {
  clearTimeout(timer)
  timer = setTimeout(() => update(key, read), 250)
}
