// The pages of the console that show one list each: ads, sources, audit, viewers, system.
import { create, itemLink, number, state, time } from "/console/shell.mjs"
import { onToken, send } from "/reports/admin-api.mjs"

const find = (id) => document.getElementById(id)
const [page, status] = ["page", "status"].map(find)

/** Returns a path without escapes. The audit log cuts long ones, also inside an escape. */
function decoded(path) {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

const json = async (path) => (await send(path)).json()

/** Returns the entries of a list, from all of its pages, up to a limit. */
async function all(path, name, limit = 5_000) {
  const entries = []
  for (let href = path; href && entries.length < limit;) {
    const answer = await json(href)
    entries.push(...answer[name])
    href = answer.page.next
  }
  return entries
}

/** Returns a table. A column has a name and a function that returns the content of a cell; `isNumber` aligns it. */
function table(label, columns, rows) {
  if (rows.length === 0) return create("p", { className: "quiet", textContent: "There are none." })
  const head = create("tr", {}, ...columns.map(({ name, isNumber }) => create("th", { scope: "col", textContent: name, className: isNumber ? "number" : "" })))
  const lines = rows.map((row) => create("tr", {}, ...columns.map(({ value, isNumber, isWide }) =>
    create("td", { className: isNumber ? "number" : isWide ? "wide" : "" }, ...[value(row) ?? "–"].flat()))))
  const made = create("table", {}, create("caption", { className: "visually-hidden", textContent: label }), create("thead", {}, head), create("tbody", {}, ...lines))
  return create("div", { className: "all-rows", role: "region", ariaLabel: label, tabIndex: 0 }, made)
}

/** Returns a button that performs a write, shows its result, and loads the page again. */
function action(text, label, perform) {
  const button = create("button", { type: "button", textContent: text, ariaLabel: label })
  button.dataset.needs = "edit"
  button.addEventListener("click", async () => {
    button.disabled = true
    try {
      const done = await perform()
      if (done) await show()
      status.textContent = done ?? ""
    } catch (error) {
      status.textContent = error.message
    }
    button.disabled = false
  })
  return button
}

// Ads

const tones = { running: "good", scheduled: "", ended: "", paused: "warm", reached: "", reserved: "", paced: "", unknown: "warm", blocked: "bad", "taken-down": "bad" }

async function setPaused({ campaign }, isPaused) {
  const path = `/admin/items/campaign/${encodeURIComponent(campaign)}`
  const response = await send(path)
  const item = { ...(await response.json()), paused: isPaused }
  const headers = { "Content-Type": "application/json", "If-Match": response.headers.get("ETag") }
  await send(path, { method: "PUT", headers, body: JSON.stringify(item) })
  return `${campaign} ${isPaused ? "is paused" : "runs again"}.`
}

async function ads() {
  const campaigns = await all("/admin/campaigns?limit=1000", "campaigns")
  // The campaigns of a file have no items.
  const stored = new Set((await all("/admin/items?kind=campaign&limit=1000", "items")).map(({ id }) => id))
  const goal = ({ goal }) => (goal?.total ? `${number(goal.total)} ${goal.unit}` : goal?.daily ? `${number(goal.daily)} ${goal.unit} a day` : "–")
  const columns = [
    { name: "Campaign", value: (one) => (stored.has(one.campaign) ? itemLink(`campaign:${one.campaign}`, one.campaign) : [one.campaign, create("span", { className: "quiet", textContent: " of the file" })]) },
    { name: "Advertiser", value: ({ advertiser }) => advertiser },
    { name: "State", isWide: true, value: (one) => [state(one.state, tones[one.state]), create("span", { className: "quiet", textContent: one.reason ? ` ${one.reason}` : "" })] },
    { name: "Goal", isNumber: true, value: goal },
    { name: "Delivered", isNumber: true, value: ({ delivered }) => number(delivered) },
    { name: "Today", isNumber: true, value: ({ deliveredToday }) => number(deliveredToday) },
    { name: "Pace", isNumber: true, value: ({ pace }) => (pace === undefined || pace === null ? "–" : `${Math.round(pace * 100)} %`) },
    { name: "Starts", value: ({ starts }) => time(starts) }, { name: "Ends", value: ({ ends }) => time(ends) },
    {
      name: "", value: (one) => (stored.has(one.campaign) && one.state !== "taken-down" && one.state !== "ended"
        ? one.state === "paused" && one.reason === "it is paused" ? action("Resume", `Resume ${one.campaign}`, () => setPaused(one, false)) : action("Pause", `Pause ${one.campaign}`, () => setPaused(one, true))
        : ""),
    },
  ]
  return [
    create("p", { className: "buttons" }, create("a", { href: "/reports#by=ad&preset=yesterday", textContent: "Yesterday by ad" }), create("a", { href: "/explain", textContent: "Why is an ad not shown?" })),
    table("Campaigns", columns, campaigns),
  ]
}

// Sources

async function sources() {
  const columns = [
    { name: "Source", value: ({ name }) => name }, { name: "URL", isWide: true, value: ({ url }) => url }, { name: "Kind", value: ({ kind }) => kind },
    { name: "State", value: (one) => state(one.state, { failing: "bad", running: "warm" }[one.state] ?? "good") },
    { name: "Items", isNumber: true, value: ({ items }) => number(items) },
    { name: "Last success", value: ({ lastSuccess }) => time(lastSuccess) }, { name: "Next attempt", value: ({ nextAttempt }) => time(nextAttempt) },
    { name: "Last error", isWide: true, value: (one) => [one.lastError ?? "–", ...(one.failures > 0 ? [create("span", { className: "quiet", textContent: ` ${one.failures} times in a row` })] : [])] },
    { name: "Skipped", isWide: true, value: (one) => (one.skipped > 0 ? `${one.skipped}: ${one.invalid.join("; ")}` : "0") },
    {
      name: "", value: ({ name }) => action("Sync now", `Sync ${name} now`, async () => {
        await send(`/admin/sources/${encodeURIComponent(name)}/sync`, { method: "POST" })
        // The poller begins at once; what it does takes longer.
        await new Promise((done) => setTimeout(done, 1_500))
        return `The synchronization of ${name} has begun.`
      }),
    },
  ]
  return [table("Sources", columns, await all("/admin/sources?limit=1000", "sources"))]
}

// Audit

function filters(fields, onChange) {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const inputs = fields.map(([name, label, properties = {}]) => create("label", {}, `${label} `, create("input", { name, value: parameters.get(name) ?? "", autocomplete: "off", ...properties })))
  const form = create("form", { ariaLabel: "Filter" }, ...inputs, create("button", { textContent: "Show" }))
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim() !== "").map(([name, value]) => [name, value.trim()]))
    history.replaceState(null, "", `#${chosen}`)
    onChange()
  })
  return form
}

async function audit() {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const query = new URLSearchParams({ limit: 200 })
  for (const name of ["who", "item", "action", "from", "to"]) if (parameters.get(name)) query.set(name, parameters.get(name))
  const place = create("div")
  const more = create("button", { type: "button", textContent: "Show more", hidden: true })
  let entries = []
  const add = async (href) => {
    const answer = await json(href)
    entries = [...entries, ...answer.entries]
    place.replaceChildren(table("Audit log", columns, entries))
    more.hidden = !answer.page.next
    more.onclick = () => add(answer.page.next).catch((error) => { status.textContent = error.message })
  }
  const columns = [
    { name: "Time", value: (one) => time(one.time) }, { name: "Who", value: ({ who }) => who || "–" },
    { name: "What", isWide: true, value: (one) => `${one.method} ${decoded(one.path)}` },
    { name: "Items", isWide: true, value: (one) => (one.items ?? []).slice(0, 5).flatMap((item, index) => [index > 0 ? ", " : "", itemLink(item)]).concat((one.items ?? []).length > 5 ? [" …"] : []) },
    { name: "Changes", value: (one) => Object.entries(one.changes ?? {}).map(([name, count]) => `${count} ${name}`).join(", ") },
    { name: "Outcome", isWide: true, value: (one) => (one.outcome === "done" ? state("done", "good") : one.outcome) },
  ]
  await add(`/admin/audit?${query}`)
  const form = filters([["who", "Who"], ["item", "Item", { placeholder: "user:tt" }], ["action", "Action", { placeholder: "PUT" }], ["from", "From", { type: "date" }], ["to", "To", { type: "date" }]], show)
  return [form, place, more]
}

// Viewers

function viewers() {
  const input = create("input", { name: "viewer", autocomplete: "off", required: true, maxLength: 256 })
  const form = create("form", { ariaLabel: "Erase a viewer" }, create("label", {}, "Viewer ", input), create("button", { textContent: "Erase …" }))
  form.dataset.needs = "publish"
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    const name = input.value
    if (!confirm(`Erase all data of the viewer ${name}? This cannot be undone.`)) return
    status.textContent = "Erasing …"
    try {
      const gone = await (await send(`/admin/viewers/${encodeURIComponent(name)}`, { method: "DELETE" })).json()
      status.textContent = `The viewer is erased: ${Object.entries(gone).map(([name, count]) => `${count} ${name}`).join(", ")}.`
      input.value = ""
    } catch (error) {
      status.textContent = error.message
    }
  })
  return [create("p", { className: "quiet", textContent: "Removes the viewer's lists, selections, exposures and keys, and name, address and user agent of the viewer's events. The counts stay." }), form]
}

// System

async function system() {
  const answer = await json("/admin/system")
  const problems = table("Problems", [{ name: "Now", isWide: true, value: (one) => [state("Problem", "bad"), ` ${one.text}`] }], answer.problems)
  const settings = table("Settings", [
    { name: "Setting", value: ({ key }) => create("code", { textContent: key }) }, { name: "Value", isWide: true, value: ({ value }) => value || "–" },
    { name: "Origin", value: ({ origin }) => origin },
  ], answer.settings)
  return [
    create("p", {}, `${answer.role ? `Your role is ${answer.role}` : "You may do everything"}; the audit log names you ${answer.who}.`),
    create("h2", { textContent: "Problems now" }), problems, create("h2", { textContent: "Settings in force" }), settings,
  ]
}

const pages = { "/ads": ["Ads", ads], "/sources": ["Sources", sources], "/audit": ["Audit", audit], "/viewers": ["Viewers", viewers], "/system": ["System", system] }
const [title, make] = pages[location.pathname] ?? ["Console", () => []]

async function show() {
  status.textContent = "Loading …"
  try {
    page.replaceChildren(...(await make()))
    status.textContent = ""
  } catch (error) {
    status.textContent = error.message
  }
}

find("title").textContent = title
document.title = `${title} – Intertwine`
onToken(show)
addEventListener("hashchange", show)
show()
