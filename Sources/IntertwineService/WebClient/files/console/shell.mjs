// The navigation of the console, which every page of it has. A page in a frame of the web client has none.
import { applyRole, send } from "/reports/admin-api.mjs"

/** The pages in groups, some with the role that they need: content, advertising, questions, and the service. */
const pages = [
  [["/", "Items"], ["/takedowns", "Takedowns"], ["/imports", "Imports", "edit"], ["/sources", "Sources"]],
  [["/ads", "Ads"], ["/reports", "Reports"], ["/corrections", "Corrections", "publish"]],
  [["/preview", "Preview"], ["/explain", "Why"], ["/audit", "Audit"]],
  [["/system", "System"], ["/viewers", "Viewers", "publish"]],
]

export function create(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Returns the link to the form of an item, which is named `kind:id`. */
export function itemLink(name, text = name) {
  const [, kind, id] = /^([^:]+):(.+)$/s.exec(name) ?? []
  return kind ? create("a", { href: `/items#${new URLSearchParams({ kind, id })}`, textContent: text }) : text
}

/** Returns a time in the browser's zone, which the text names. */
export function time(text) {
  if (!text) return "–"
  const shown = new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
  return create("time", { dateTime: text, title: text, textContent: shown })
}

export const number = (value) => (typeof value === "number" ? value.toLocaleString() : "–")

/** Returns who the audit log names, in words that still have the name by which the log is filtered. */
export const who = (name) => (name === "loopback" ? "this machine (loopback)" : name.replace(/^jwt:/, ""))

/** Returns a label of a state. */
export function state(text, tone = "") {
  return create("span", { className: `state ${tone && `is-${tone}`}`, textContent: text })
}

// Suggestions

let lists = 0

/** Lets an input offer what `load` returns for its text, as `[value, label]`. Another value can be entered. `follows`: asks again for each text. */
export function suggest(input, load, follows = false) {
  const list = create("datalist", { id: `suggestions-${++lists}` })
  input.setAttribute("list", list.id)
  input.after(list)
  let [asked, timer, isLoaded] = [0, 0, false]
  const show = async () => {
    const question = ++asked
    try {
      const found = await load(input.value.trim())
      if (question !== asked) return
      list.replaceChildren(...found.map(([value, label]) => create("option", { value, label })))
      isLoaded = !follows
    } catch { /* The operator enters the value. */ }
  }
  input.addEventListener("focus", () => isLoaded || show())
  if (follows) input.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(show, 200)
  })
}

async function items(query) {
  const { items } = await (await send(`/admin/items?${new URLSearchParams(query)}`)).json()
  return items.map(({ item, title }) => [item, title || item])
}

/** The ads, and items with the words of a text, as suggestions. */
export const ads = () => items({ section: "advertisements", limit: 1000 })
export const itemsWith = (text) => (text ? items({ q: text, limit: 20 }) : ads())

/** The campaigns, as suggestions. */
export async function campaigns() {
  const { campaigns } = await (await send("/admin/campaigns?limit=1000")).json()
  return campaigns.map(({ campaign, advertiser }) => [campaign, advertiser])
}

const mark = `<svg viewBox="0 0 32 32" aria-hidden="true"><path d="M8 8c8 0 8 16 16 16"/><path class="over" d="M8 24c8 0 8-16 16-16"/>
  <circle cx="8" cy="8" r="3"/><circle cx="24" cy="8" r="3"/><circle cx="8" cy="24" r="3"/><circle cx="24" cy="24" r="3"/></svg>`

// The form of the operator's token follows the heading of the page.
const token = create("input", { id: "token", type: "password", autocomplete: "current-password", pattern: "[!-~]+", title: "Printable ASCII characters", required: true })
const access = create("form", { id: "access", hidden: true }, create("label", {}, "Admin token ", token), create("button", { textContent: "Use it" }))
document.querySelector("main > :first-child").after(access)

if (window === window.top) {
  document.body.classList.add("console")
  const here = location.pathname === "/items" ? "/" : location.pathname
  const brand = create("a", { className: "brand", href: "/" })
  brand.innerHTML = mark
  brand.append("Intertwine")
  const links = pages.flatMap((group, number) => group.map(([href, name, needs], index) => {
    const link = create("a", { href, textContent: name })
    if (href === here) link.setAttribute("aria-current", "page")
    const line = create("li", { className: number > 0 && index === 0 ? "first" : "" }, link)
    if (needs) line.dataset.needs = needs
    return line
  }))
  const nav = create("nav", { id: "navigation", ariaLabel: "Console" }, create("ul", {}, ...links))
  const menu = create("button", { type: "button", className: "menu", textContent: "Menu", ariaExpanded: "false" })
  menu.setAttribute("aria-controls", "navigation")
  menu.addEventListener("click", () => { menu.ariaExpanded = String(nav.classList.toggle("is-open")) })
  // The feed has another port, which the settings name.
  applyRole().then((system) => {
    const [port, address] = ["server.port", "server.public-url"].map((name) => system?.settings.find(({ key }) => key === name)?.value)
    if (address || port > 0) nav.firstChild.append(create("li", {}, create("a", { href: address || `${location.protocol}//${location.hostname}:${port}/`, textContent: "Feed ↗" })))
  })
  const main = document.querySelector("main")
  main.id ||= "content"
  main.tabIndex = -1
  document.body.prepend(
    create("a", { className: "skip", href: `#${main.id}`, textContent: "Skip to the content" }),
    create("header", { className: "shell" }, create("div", { className: "shell-bar" }, brand, menu), nav))
  document.querySelector(".skip").addEventListener("click", (event) => {
    // The fragment has the item.
    event.preventDefault()
    main.focus()
  })
} else {
  document.body.classList.remove("console")
}
