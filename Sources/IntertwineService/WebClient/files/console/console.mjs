// The pages of the console that show one list each: ads, sources, audit, viewers, system.
import { campaigns as listed, create, itemLink, number, state, suggest, time, who } from "/console/shell.mjs"
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

/** Returns the entries of a list, from all of its pages. */
async function all(path, name) {
  const entries = []
  for (let href = path; href;) {
    const answer = await json(href)
    entries.push(...answer[name])
    href = answer.page.next
  }
  return entries
}

/** The rows that are shown at first, and those that each "Show more" adds: more of them take a browser too long at once. */
const ROWS = 100

/** Returns a table. A column has a name and a function that returns the content of a cell; `isNumber` aligns it. */
function table(label, columns, rows) {
  if (rows.length === 0) return create("p", { className: "quiet", textContent: "There are none." })
  const head = create("tr", {}, ...columns.map(({ name, isNumber }) => create("th", { scope: "col", textContent: name, className: isNumber ? "number" : "" })))
  const line = (row) => create("tr", {}, ...columns.map(({ name, value, isNumber, isWide }) => {
    const cell = create("td", { className: isNumber ? "number" : isWide ? "wide" : "" }, ...[value(row) ?? "–"].flat())
    cell.dataset.label = name
    cell.classList.toggle("none", cell.textContent === "–")
    return cell
  }))
  const body = create("tbody")
  const more = create("button", { type: "button" })
  const extend = () => {
    body.append(...rows.slice(body.rows.length, body.rows.length + ROWS).map(line))
    more.hidden = body.rows.length === rows.length
    more.textContent = `Show more (${number(body.rows.length)} of ${number(rows.length)})`
  }
  more.addEventListener("click", extend)
  extend()
  const made = create("table", {}, create("caption", { className: "visually-hidden", textContent: label }), create("thead", {}, head), body)
  return create("div", {}, create("div", { className: "all-rows", role: "region", ariaLabel: label, tabIndex: 0 }, made), more)
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
      if (done !== undefined) status.textContent = done
    } catch (error) {
      // Another operator was faster: the page shows what is stored now.
      if (error.status === 412) await show()
      status.textContent = error.status === 412 ? `${error.message} The page shows it as it is now.` : error.message
    }
    button.disabled = false
  })
  return button
}

// Ads

const tones = { running: "good", scheduled: "", ended: "", paused: "warm", reached: "", reserved: "", paced: "", unknown: "warm", blocked: "bad", "taken-down": "bad" }

async function setPaused({ campaign, origin }, isPaused) {
  if (origin === "file") {
    const headers = { "Content-Type": "application/json" }
    await send(`/admin/campaigns/${encodeURIComponent(campaign)}/override`, { method: "PUT", headers, body: JSON.stringify({ paused: isPaused }) })
    return `${campaign} ${isPaused ? "is paused" : "runs again"}, whatever its file declares.`
  }
  const path = `/admin/items/campaign/${encodeURIComponent(campaign)}`
  const response = await send(path)
  const item = { ...(await response.json()), paused: isPaused }
  const headers = { "Content-Type": "application/json", "If-Match": response.headers.get("ETag") }
  await send(path, { method: "PUT", headers, body: JSON.stringify(item) })
  return `${campaign} ${isPaused ? "is paused" : "runs again"}.`
}

async function returnToFile({ campaign }) {
  await send(`/admin/campaigns/${encodeURIComponent(campaign)}/override`, { method: "DELETE" })
  return `${campaign} is as its file declares it.`
}

/** Returns the buttons that pause or resume a campaign, and that return one of the file to its declaration. */
function switches(one) {
  if (["taken-down", "ended"].includes(one.state)) return []
  const isPaused = one.override === "paused" || (one.state === "paused" && one.reason === "it is paused")
  const toggle = isPaused ? action("Resume", `Resume ${one.campaign}`, () => setPaused(one, false)) : action("Pause", `Pause ${one.campaign}`, () => setPaused(one, true))
  return one.override ? [toggle, " ", action("Return to the file", `Return ${one.campaign} to the file`, () => returnToFile(one))] : [toggle]
}

/** The filter of the campaigns, which stays when the page is shown again. */
let wanted = ["", ""]

async function ads() {
  const campaigns = await all("/admin/campaigns?limit=1000", "campaigns")
  const delivered = ({ goal, delivered, deliveredToday }) => `${number(delivered)}${goal?.total ? ` of ${number(goal.total)}` : goal?.daily ? `, ${number(goal.daily)} a day` : ""}${goal ? ` ${goal.unit}` : ""}; ${number(deliveredToday)} today`
  // What is due by now has the shape of the campaign's time, so that its end follows from the pace.
  const forecast = ({ goal, pace, ends, state }) => {
    if (!goal?.total || typeof pace !== "number" || !ends || ["ended", "reached"].includes(state)) return "–"
    return pace >= 1 ? "all by its end" : `${number(Math.round(goal.total * pace))} by its end`
  }
  const columns = [
    { name: "Campaign", isWide: true, value: (one) => (one.origin === "file" ? [one.campaign, create("span", { className: "quiet", textContent: one.override ? ` of the file, set ${one.override}` : " of the file" })] : itemLink(`campaign:${one.campaign}`, one.campaign)) },
    { name: "State", isWide: true, value: (one) => [state(one.state, tones[one.state]), create("span", { className: "quiet", textContent: one.reason && !one.reason.endsWith(` ${one.state}`) ? ` ${one.reason}` : "" })] },
    { name: "Actions", value: switches }, { name: "Advertiser", value: ({ advertiser }) => advertiser },
    { name: "Delivered", value: delivered },
    { name: "Pace", isNumber: true, value: ({ campaign, pace }) => (typeof pace === "number" ? create("a", { href: `/reports#${new URLSearchParams({ campaign })}`, textContent: `${Math.round(pace * 100)} %`, ariaLabel: `Pace of ${campaign}: ${Math.round(pace * 100)} %` }) : "–") },
    { name: "Forecast", value: forecast },
    { name: "Runs", value: ({ starts, ends }) => (starts || ends ? [...(starts ? [time(starts)] : []), ...(ends ? [" until\u00a0", time(ends)] : [])] : "–") },
  ]
  const place = create("div")
  const [words, of] = [create("input", { type: "search", autocomplete: "off" }), create("select", {}, new Option("All", ""))]
  of.append(...[...new Set(campaigns.map(({ state }) => state))].sort().map((state) => new Option(state, state)))
  words.value = wanted[0]
  if (campaigns.some(({ state }) => state === wanted[1])) of.value = wanted[1]
  const filter = () => {
    wanted = [words.value, of.value]
    const text = words.value.trim().toLowerCase()
    place.replaceChildren(table("Campaigns", columns, campaigns.filter((one) =>
      (of.value === "" || one.state === of.value) && `${one.campaign} ${one.advertiser}`.toLowerCase().includes(text))))
  }
  // Characters that arrive in one frame filter once.
  let frame
  for (const control of [words, of]) {
    control.addEventListener("input", () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(filter)
    })
  }
  filter()
  const form = create("form", { ariaLabel: "Campaigns" }, create("label", {}, "Campaign or advertiser ", words), create("label", {}, "State ", of),
    create("a", { href: "/reports#by=ad&preset=yesterday", textContent: "Yesterday by ad" }),
    create("a", { href: "/explain", textContent: "Why is an ad not shown?" }))
  form.addEventListener("submit", (event) => event.preventDefault())
  return [form, place]
}

// Sources

async function sources() {
  const listed = await all("/admin/sources?limit=1000", "sources")
  const columns = [
    { name: "Source", value: ({ name }) => name },
    {
      name: "Actions", value: (one) => action("Sync now", `Sync ${one.name} now`, async () => {
        await send(`/admin/sources/${encodeURIComponent(one.name)}/sync`, { method: "POST" })
        const end = Date.now() + 8_000
        while (Date.now() < end) {
          await new Promise((done) => setTimeout(done, 500))
          const now = (await all("/admin/sources?limit=1000", "sources")).find(({ name }) => name === one.name)
          if (!now || now.state === "running" || now.lastAttempt === one.lastAttempt) continue
          return now.failures > 0 ? `The synchronization of ${one.name} has failed: ${now.lastError}.` : `${one.name} is synchronized.`
        }
        return `The synchronization of ${one.name} goes on.`
      }),
    },
    { name: "URL", isWide: true, value: ({ url }) => url }, { name: "Kind", value: ({ kind }) => kind },
    { name: "State", value: (one) => state(one.state, { failing: "bad", running: "warm" }[one.state] ?? "good") },
    { name: "Items", isNumber: true, value: ({ items }) => number(items) },
    { name: "Last success", value: ({ lastSuccess }) => time(lastSuccess) }, { name: "Next attempt", value: ({ nextAttempt }) => time(nextAttempt) },
    { name: "Last error", isWide: true, value: (one) => [one.lastError ?? "–", ...(one.failures > 0 ? [create("span", { className: "quiet", textContent: ` ${one.failures} times in a row` })] : [])] },
    ...(listed.some(({ skipped }) => skipped > 0) ? [{ name: "Skipped", isWide: true, value: (one) => (one.skipped > 0 ? `${one.skipped}: ${one.invalid.join("; ")}` : "0") }] : []),
  ]
  // What is under way is shown again, unless a button of it has the focus.
  if (listed.some(({ state, lastAttempt }) => state === "running" || !lastAttempt)) {
    setTimeout(() => {
      if (!page.contains(document.activeElement)) sources().then((parts) => page.replaceChildren(...parts), () => {})
    }, 2_000)
  }
  if (listed.length === 0) return [create("p", { className: "quiet" }, "There are none. The file that the setting ", create("code", { textContent: "sources.file" }), " names declares them.")]
  return [table("Sources", columns, listed)]
}

// Audit

const actions = [
  ["PUT", /^\/admin\/takedowns\//, "took down"], ["DELETE", /^\/admin\/takedowns\//, "released"], ["PUT", /\/override$/, "paused or resumed"], ["DELETE", /\/override$/, "removed the override"],
  ["POST", /\/restore$/, "restored a revision"], ["POST", /^\/admin\/sources\/.*\/sync$/, "synchronized a source"], ["POST", /^\/admin\/operations$/, "performed operations"],
  ["POST", /^\/admin\/items$/, "imported"], ["PATCH", /^\/admin\/items$/, "changed fields"], ["PUT", /^\/admin\/items\//, "saved"], ["DELETE", /^\/admin\/items\//, "deleted"],
  ["POST", /^\/admin\/events\/void$/, "voided events"], ["DELETE", /^\/admin\/viewers\//, "erased a viewer"],
]

/** Returns what an entry did, in words. Its title has the request. */
function described({ method, path }) {
  const request = `${method} ${decoded(path)}`
  const [, , words = request] = actions.find(([wanted, pattern]) => wanted === method && pattern.test(path.split("?")[0])) ?? []
  return create("span", { title: request, textContent: words })
}

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
    more.onclick = () => {
      // The button is not moved by the rows that arrive.
      more.hidden = true
      add(answer.page.next).catch((error) => { status.textContent = error.message })
    }
  }
  const columns = [
    { name: "Time", value: (one) => time(one.time) }, { name: "Who", value: (one) => who(one.who).replaceAll(" ", "\u00a0") || "–" },
    { name: "What", isWide: true, value: described },
    { name: "Items", isWide: true, value: (one) => (one.items ?? []).slice(0, 5).flatMap((item, index) => [index > 0 ? ", " : "", itemLink(item)]).concat((one.items ?? []).length > 5 ? [" …"] : []) },
    { name: "Changes", value: (one) => Object.entries(one.changes ?? {}).map(([name, count]) => `${count} ${name}`).join(", ") },
    { name: "Outcome", isWide: true, value: (one) => (one.outcome === "done" ? state("done", "good") : one.outcome) },
  ]
  await add(`/admin/audit?${query}`)
  const form = filters([["who", "Who"], ["item", "Item", { placeholder: "user:tt" }], ["action", "Action", { placeholder: "PUT" }], ["from", "From", { type: "date" }], ["to", "To", { type: "date" }]], show)
  return [form, place, more]
}

// Corrections, previews and imports

/** Returns a form whose fields are `[name, label, properties]`, and the place of its result. `perform` gets the values that are not empty. */
function asking(label, fields, submit, perform, needs = "read") {
  const place = create("div")
  const inputs = fields.map(([name, text, properties = {}]) => {
    const input = create("input", { name, autocomplete: "off", ...properties })
    return properties.type === "checkbox" ? create("label", { className: "check" }, input, ` ${text}`) : create("label", {}, `${text} `, input)
  })
  const form = create("form", { ariaLabel: label }, ...inputs, create("button", { textContent: submit }))
  form.dataset.needs = needs
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    status.textContent = "Loading …"
    try {
      const values = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""))
      // A time of the operator's zone.
      for (const input of form.querySelectorAll("[type=datetime-local]")) if (input.value) values[input.name] = new Date(input.value).toISOString()
      place.replaceChildren(...(await perform(values)))
      status.textContent = ""
    } catch (error) {
      place.replaceChildren()
      status.textContent = error.message
    }
  })
  return [form, place]
}

const post = (path, value) => send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) })

const some = (count, one, more) => `${number(count)} ${count === 1 ? one : more}`

function corrections() {
  const groups = (answer) => table("Events", [
    { name: "Campaign", value: ({ campaign }) => (campaign ? itemLink(`campaign:${campaign}`, campaign) : "house ads") }, { name: "Kind", value: ({ kind }) => kind },
    { name: "Events", isNumber: true, value: ({ events }) => number(events) },
  ], answer.groups)
  const moment = { type: "datetime-local", required: true }
  const fields = [["from", "From", moment], ["until", "Until", moment], ["campaign", "Campaign"], ["kind", "Kind", { placeholder: "click" }], ["address", "Address"], ["userAgent", "Agent has"]]
  const parts = [
    create("p", { className: "quiet", textContent: "Takes counted events of ads back: they leave all counts and the delivery of their campaigns, which owe them again. Reports show them as voided. Times are in your zone." }),
    ...asking("Events to void", fields, "Count them", async (values) => {
      const found = await (await post("/admin/events/void", { ...values, dryRun: true })).json()
      const button = create("button", { type: "button", className: "main", textContent: `Void ${some(found.events, "event", "events")} …`, hidden: found.events === 0 })
      button.addEventListener("click", async () => {
        const what = found.groups.map(({ campaign, kind, events }) => `${number(events)} ${kind} of ${campaign || "house ads"}`).join(", ")
        if (!confirm(`Void ${some(found.events, "event", "events")}: ${what}? This cannot be undone.`)) return
        button.disabled = true
        try {
          const done = await (await post("/admin/events/void", values)).json()
          button.hidden = true
          status.textContent = `${some(done.events, "event is", "events are")} voided.`
        } catch (error) {
          button.disabled = false
          status.textContent = error.message
        }
      })
      return [groups(found), create("p", {}, button)]
    }, "publish"),
  ]
  suggest(parts[1].elements.campaign, listed)
  return parts
}

function preview() {
  const fields = [
    ["feed", "Feed", { value: "main", required: true }], ["at", "At", { type: "datetime-local" }], ["viewer", "Viewer", { placeholder: "none", maxLength: 256 }],
    ["drafts", "With drafts", { type: "checkbox", value: "true" }],
  ]
  const textsOf = ({ actions }) => Object.values(actions?.configuration?.bindings ?? {}).filter(({ type }) => type === "text").map(({ text }) => text).join(" · ")
  return [
    create("p", { className: "quiet", textContent: "The page that the feed has at a moment, for a viewer or without one. It counts nothing. Times are in your zone; without one it is now." }),
    ...asking("Preview", fields, "Show", async ({ feed, ...values }) => {
      const answer = await json(`/admin/preview/feeds/${encodeURIComponent(feed)}?${new URLSearchParams({ ...values, limit: 50 })}`)
      const reasons = answer.cells.some(({ reason }) => reason) ? [{ name: "Reason", isWide: true, value: ({ reason }) => reason ?? "" }] : []
      const failed = create("p", { className: "quiet", textContent: "The ranker of the feed failed: this is the viewer's last ranking, or the feed's own order." })
      return [...(answer.page.degraded ? [failed] : []), table("Page", [
        { name: "Cell", value: ({ id }) => itemLink(id.split("#")[0], id) }, { name: "Shows", isWide: true, value: textsOf }, { name: "As", value: ({ identifier }) => identifier }, ...reasons,
        { name: "Why", value: ({ id }) => create("a", { href: `/explain#${new URLSearchParams({ cell: id, feed, ...(values.viewer && { viewer: values.viewer }) })}`, textContent: "Why?", ariaLabel: `Why ${id}` }) },
      ], answer.cells)]
    }),
  ]
}

/** Returns the first objects of a JSON array, or of lines. */
function firstObjects(text, count) {
  const found = []
  let [depth, start, isText] = [0, 0, false]
  for (let at = 0; at < text.length && found.length < count; at++) {
    const character = text[at]
    if (isText) {
      if (character === "\\") at++
      else if (character === '"') isText = false
    } else if (character === '"') isText = true
    else if (character === "{" && depth++ === 0) start = at
    else if (character === "}" && --depth === 0) {
      try {
        found.push(JSON.parse(text.slice(start, at + 1)))
      } catch { /* The faults name it. */ }
    }
  }
  return found
}

/** Returns the beginning of a file, which may be compressed. */
async function beginning(file) {
  const isCompressed = new Uint8Array(await file.slice(0, 2).arrayBuffer())[0] === 0x1f
  const reader = (isCompressed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream()).pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  while (text.length < 262_144) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  reader.cancel()
  return text
}

function imports() {
  const fields = [["file", "File", { type: "file", required: true, accept: ".json,.ndjson,.jsonl,.gz" }]]
  return [
    create("p", { className: "quiet", textContent: "Items as a JSON array or as lines (NDJSON), also compressed by gzip. The check writes nothing." }),
    ...asking("Import", fields, "Check", async ({ file }) => {
      const text = await beginning(file)
      const headers = { "Content-Type": text.trimStart().startsWith("[") ? "application/json" : "application/x-ndjson" }
      const read = async (query) => (await send(`/admin/items?${query}`, { method: "POST", headers, body: file })).json()
      const found = await read("onError=skip&dryRun=true")
      const faults = table("Faults", [
        { name: "Line", isNumber: true, value: ({ line }) => number(line) }, { name: "Item", value: ({ id }) => id ?? "–" }, { name: "Field", value: ({ field }) => field ?? "–" },
        { name: "Fault", isWide: true, value: ({ reason, kept }) => (kept ? `${reason}; the item is imported without it` : reason) },
      ], found.bad)
      const first = firstObjects(text, 20)
      const shown = table("First items", [
        { name: "Kind", value: ({ kind }) => kind ?? "–" }, { name: "Id", value: ({ id }) => String(id ?? "–") },
        { name: "Content", isWide: true, value: ({ kind, id, ...rest }) => JSON.stringify(rest).slice(0, 400) },
      ], first)
      const count = found.added + found.replaced
      const write = action(`Import ${some(count, "item", "items")}`, `Import ${file.name}`, async () => {
        const done = await read("onError=skip")
        place.replaceChildren()
        status.textContent = `${some(done.added, "item is", "items are")} added, ${number(done.replaced)} replaced and ${number(done.skipped)} skipped.`
      })
      const place = create("div", {},
        create("p", { textContent: `${some(found.added, "item is", "items are")} new, ${some(found.replaced, "replaces a stored one", "replace stored ones")}, ${some(found.skipped, "is", "are")} skipped, and ${some(found.withheld, "is", "are")} taken down.` }),
        create("p", {}, write), create("h2", { textContent: "Faults" }), faults, create("h2", { textContent: "The first items" }), shown)
      write.className = "main"
      write.hidden = count === 0
      return [place]
    }, "edit"),
  ]
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
      const parts = Object.entries(gone).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`)
      status.textContent = parts.length > 0 ? `The viewer is erased: ${parts.join(", ")}.` : `There was nothing of the viewer ${name}.`
      input.value = ""
    } catch (error) {
      status.textContent = error.message
    }
  })
  return [create("p", { className: "quiet", textContent: "Removes the viewer's lists, selections, exposures and keys, and name, address and user agent of the viewer's events. The counts stay." }), form]
}

// System

const roles = {
  read: "Your role is read: you see everything, and change nothing.", edit: "Your role is edit: you change items and campaigns, but take nothing down and release nothing.",
  publish: "Your role is publish: you may do everything.",
}

async function system() {
  const answer = await json("/admin/system")
  const documents = answer.settings.find(({ key }) => key === "server.documents-url")?.value
  // Without the site, the file of the repository.
  const section = (name) => documents
    ? create("a", { href: `${documents}/Documentation/how-to/runbook.html#${name}`, textContent: "Runbook ↗" })
    : create("code", { textContent: `Documentation/how-to/runbook.md#${name}` })
  const problems = table("Problems", [{ name: "Now", isWide: true, value: (one) => [state("Problem", "bad"), ` ${one.text}`] },
    { name: "Runbook", value: ({ runbook }) => section(runbook.toLowerCase()) }], answer.problems)
  const settings = table("Settings", [
    { name: "Setting", value: ({ key }) => create("code", { textContent: key }) }, { name: "Value", isWide: true, value: ({ value }) => value || "–" },
    { name: "Origin", value: ({ origin }) => origin },
  ], answer.settings)
  return [
    create("p", { textContent: answer.who === "loopback"
      ? "The service has no admin token and no sign-in, so you may do everything, and the audit log cannot tell you from others on this machine: it names all of them loopback."
      : `You are ${who(answer.who)} in the audit log. ${roles[answer.role] ?? ""}` }),
    create("h2", { textContent: "Problems now" }), problems, create("h2", { textContent: "Settings in force" }), settings,
  ]
}

const pages = {
  "/corrections": ["Corrections", corrections], "/preview": ["Preview", preview], "/imports": ["Imports", imports],
  "/ads": ["Ads", ads], "/sources": ["Sources", sources], "/audit": ["Audit", audit], "/viewers": ["Viewers", viewers], "/system": ["System", system],
}
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
if (location.pathname === "/ads") {
  const book = create("a", { className: "main", href: "/#add=campaign", textContent: "Book a campaign" })
  book.dataset.needs = "edit"
  find("title").after(book)
}
document.title = `${title} – Intertwine`
onToken(show)
addEventListener("hashchange", show)
show()
