// Requests reports from the admin API, and plots them.
import { campaigns, itemLink, suggest } from "/console/shell.mjs"
import { campaignNamed, onToken, send } from "/reports/admin-api.mjs"
import { bars, legend, lines } from "/reports/chart.mjs"

const GROUPINGS = ["day", "hour", "ad", "campaign", "advertiser", "creative", "feed", "section", "position", "verdict", "reason", "choice", "context"]
const MEASURES = ["impressions", "clicks", "ctr", "selections", "dismissals", "saves"]
const DAY = 86_400_000
// What is drawn; the table has everything.
const [SERIES, BARS] = [7, 40]

const find = (id) => document.getElementById(id)
const [by, and, measure] = ["by", "and", "measure"].map(find)
const day = (time) => new Date(time).toISOString().slice(0, 10)

const titleOf = (word) => (word === "ctr" ? "CTR" : word.charAt(0).toUpperCase() + word.slice(1))

for (const [select, words] of [[by, GROUPINGS], [and, ["none", ...GROUPINGS.filter((word) => !["verdict", "reason", "choice", "context"].includes(word))]], [measure, MEASURES]]) {
  select.append(...words.map((word) => new Option(titleOf(word), word)))
}
/** Sets the days of the report: today, yesterday, or a number of days. */
function preset(name) {
  const now = Date.now()
  const [first, last] = { today: [0, 0], yesterday: [1, 1] }[name] ?? [Number(name) - 1, 0]
  find("from").value = day(now - first * DAY)
  find("to").value = day(now - last * DAY)
  for (const button of find("presets").querySelectorAll("button")) button.ariaPressed = String(button.dataset.preset === name)
}

// The fragment can have a question.
const asked = new URLSearchParams(location.hash.slice(1))
preset(asked.get("preset") ?? "30")
if (GROUPINGS.includes(asked.get("by"))) by.value = asked.get("by")
find("campaign").value = asked.get("campaign") ?? ""
suggest(find("campaign"), campaigns)
for (const id of ["from", "to"]) find(id).addEventListener("input", () => find("presets").querySelector("[aria-pressed=true]")?.setAttribute("aria-pressed", "false"))

function path(format, more = {}) {
  const query = new URLSearchParams({ from: find("from").value, to: find("to").value, by: by.value, format, ...more })
  if (and.value !== "none") query.set("thenBy", and.value)
  return `/admin/reports?${query}`
}

const value = (row, name) => (name === "ctr" ? row.ctr ?? 0 : row[name] ?? 0)
const called = (key) => (key === "" ? "(none)" : key)

// Every day, or hour, of the report, also those in which nothing happened.
function times(from, to, isHourly) {
  const all = []
  for (let time = Date.parse(from); time < Date.parse(to) + DAY; time += isHourly ? DAY / 24 : DAY) {
    all.push(isHourly ? new Date(time).toISOString().slice(0, 19) + "Z" : day(time))
  }
  return all
}

function plot(report, name) {
  const time = [report.by, report.thenBy].find((word) => word === "day" || word === "hour")
  const main = time ?? report.by
  const other = [report.by, report.thenBy].find((word) => word && word !== main)
  const totals = new Map()
  for (const row of report.rows) {
    const key = other ? called(row[other]) : name
    totals.set(key, (totals.get(key) ?? 0) + value(row, name))
  }
  const largest = [...totals].sort(([, one], [, two]) => two - one).slice(0, SERIES).map(([key]) => key)
  const hasMore = totals.size > largest.length && name !== "ctr"
  const names = time ? times(report.from, report.to, time === "hour") : []
  const cells = new Map()
  // Rates do not add up: each row has a bar of its own.
  const isAlone = !time && other && name === "ctr"
  if (isAlone) largest.splice(0, largest.length, name)
  for (const row of report.rows) {
    const place = time ? row[main] : isAlone ? `${called(row[main])}, ${called(row[other])}` : called(row[main])
    if (!time && !cells.has(place)) names.push(place)
    const key = other && !isAlone ? called(row[other]) : name
    const series = largest.includes(key) ? key : "others"
    const at = cells.get(place) ?? new Map()
    at.set(series, (at.get(series) ?? 0) + value(row, name))
    cells.set(place, at)
  }
  if (!time) {
    const sum = (place) => [...cells.get(place).values()].reduce((one, two) => one + two, 0)
    if (main !== "position") names.sort((one, two) => sum(two) - sum(one))
    names.splice(BARS)
  }
  const series = [...largest, ...(hasMore ? ["others"] : [])].map((key) => ({
    name: key, values: names.map((place) => cells.get(place)?.get(key) ?? 0),
  }))
  const label = `${name} by ${[report.by, report.thenBy].filter(Boolean).join(" and ")}; the table below has the numbers`
  return [(time ? lines : bars)(names, series, label, name === "ctr"), series]
}

// What a campaign has delivered, added up day by day, beside what an even pace would have.
async function pace(id) {
  const campaign = (await campaignNamed(id)) ?? {}
  const goal = campaign.goal ?? {}
  const unit = goal.unit ?? "impressions"
  const from = campaign.starts ? day(Date.parse(campaign.starts)) : find("from").value
  const to = campaign.ends ? day(Date.parse(campaign.ends) - 1) : find("to").value
  const today = day(Date.now())
  const query = new URLSearchParams({ from, to: to < today ? to : today < from ? from : today, by: "campaign", thenBy: "day" })
  const report = await (await send(`/admin/reports?${query}`)).json()
  report.rows = report.rows.filter((row) => row.campaign === id)
  const counted = new Map(report.rows.map((row) => [row.day, row[unit]]))
  const names = times(from, to, false)
  let sum = 0
  const values = names.map((name) => (name > today ? null : (sum += counted.get(name) ?? 0)))
  const series = [{ name: `${id}: ${unit} delivered`, values }]
  const share = (name) => {
    if (!campaign.starts || !campaign.ends) return null
    const [start, end] = [Date.parse(campaign.starts), Date.parse(campaign.ends)]
    return Math.min(1, Math.max(0, (Date.parse(name) + DAY - start) / (end - start)))
  }
  if (goal.total && campaign.starts && campaign.ends) {
    series.push({ name: `even pace to ${goal.total}`, isPace: true, values: names.map((name) => share(name) * goal.total) })
  } else if (goal.daily) {
    series.push({ name: `${goal.daily} a day`, isPace: true, values: names.map((_, index) => (index + 1) * goal.daily) })
  }
  const goalText = goal.total ? ` Its goal is ${goal.total}, without a time by which that is due.` : " It has no goal."
  const blocked = campaign.state === "blocked" ? ` It is blocked: ${campaign.reason}.` : ""
  const set = campaign.override ? ` An operator has set it ${campaign.override}, in place of its file.` : ""
  const text = (series.length > 1 ? "" : campaign.campaign ? goalText : " There is no such campaign now.") + blocked + set
  return [lines(names, series, `${unit} of the campaign ${id} against its pace`), series, report, `${sum} ${unit} so far.${text}`]
}

/** The column by which the rows are sorted, with a minus sign if it is the largest first; empty for the order of the report. */
let sort = ""

function table(report) {
  const keys = [report.by, report.thenBy].filter(Boolean)
  const columns = [...keys, "impressions", "clicks", "ctr", "selections", "deselections", "dismissals", "saves", "undos"]
  const made = document.createElement("table")
  const head = made.createTHead().insertRow()
  for (const name of columns) {
    const cell = document.createElement("th")
    cell.scope = "col"
    cell.className = keys.includes(name) ? "" : "number"
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = titleOf(name)
    button.addEventListener("click", () => {
      sort = sort === `-${name}` ? name : `-${name}`
      find("table").replaceChildren(table(report))
      find("table").querySelector("[aria-sort] button").focus()
    })
    if (sort.replace("-", "") === name) cell.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending")
    cell.append(button)
    head.append(cell)
  }
  const body = made.createTBody()
  const column = sort.replace("-", "")
  const sign = sort.startsWith("-") ? -1 : 1
  const compare = (one, two) => sign * (one < two ? -1 : one > two ? 1 : 0)
  const sorted = columns.includes(column) ? [...report.rows].sort((one, two) => compare(keys.includes(column) ? one[column] : value(one, column), keys.includes(column) ? two[column] : value(two, column))) : report.rows
  for (const row of sorted.slice(0, 2_000)) {
    const line = body.insertRow()
    for (const name of columns) {
      const cell = line.insertCell()
      cell.dataset.label = titleOf(name)
      const number = name === "ctr" && typeof row.ctr === "number" ? `${(row.ctr * 100).toLocaleString("en", { maximumFractionDigits: 1 })} %` : row[name]?.toLocaleString("en") ?? ""
      cell.append(name === "ad" && row.ad ? itemLink(row.ad) : name === "campaign" && row.campaign && keys.includes(name) ? itemLink(`campaign:${row.campaign}`, row.campaign) : keys.includes(name) ? called(row[name]) : String(number))
      cell.className = keys.includes(name) ? "" : "number"
    }
  }
  if (report.rows.length > 1) {
    const line = made.createTFoot().insertRow()
    for (const name of columns) {
      const sum = (field) => report.rows.reduce((all, row) => all + value(row, field), 0)
      const cell = line.insertCell()
      cell.dataset.label = titleOf(name)
      const rate = sum("impressions") > 0 ? `${((100 * sum("clicks")) / sum("impressions")).toLocaleString("en", { maximumFractionDigits: 1 })} %` : ""
      cell.textContent = name === keys[0] ? "Total" : keys.includes(name) ? "" : name === "ctr" ? rate : sum(name).toLocaleString("en")
      cell.className = keys.includes(name) ? "" : "number"
    }
  }
  return made
}

/** Returns what to say if nothing was counted, as parts of a paragraph: events may have been refused. */
async function nothingCounted() {
  const query = new URLSearchParams({ from: find("from").value, to: find("to").value, by: "reason" })
  const { rows } = await (await send(`/admin/reports?${query}`)).json()
  const refused = rows.flatMap(({ counts }) => Object.values(counts ?? {})).reduce((sum, count) => sum + count, 0)
  const none = "Nothing counted in this time."
  if (refused === 0 || by.value === "reason") return [none]
  const reasons = Object.assign(document.createElement("button"), { type: "button", textContent: "Show them by reason" })
  reasons.addEventListener("click", () => {
    by.value = "reason"
    and.value = "none"
    by.focus()
    show()
  })
  return [`${none} ${refused} ${refused === 1 ? "event was" : "events were"} refused. `, reasons]
}

/** The number of the last question. Responses to earlier ones are not shown. */
let asking = 0

async function show() {
  const number = ++asking
  const campaign = find("campaign").value.trim()
  find("status").textContent = "Loading …"
  try {
    const report = campaign ? null : await (await send(path("json"))).json()
    const [chart, series, rows, text] = campaign ? await pace(campaign) : [...plot(report, measure.value), report, ""]
    if (number !== asking) return
    find("chart").replaceChildren(chart)
    find("legend").replaceChildren(...legend(series))
    find("table").replaceChildren(table(rows))
    find("figure").hidden = find("table").hidden = rows.rows.length === 0
    const ofAds = ["ad", "campaign", "advertiser", "creative"]
    find("note").hidden = campaign !== "" || rows.rows.length === 0 || [rows.by, rows.thenBy].some((one) => ofAds.includes(one))
    const parts = rows.rows.length === 0 ? await nothingCounted() : [`${rows.rows.length} ${rows.rows.length === 1 ? "row" : "rows"}. ${text}`]
    if (number === asking) find("status").replaceChildren(...parts)
  } catch (error) {
    if (number !== asking) return
    find("figure").hidden = find("table").hidden = find("note").hidden = true
    find("status").textContent = error.message
  }
}

find("presets").addEventListener("click", ({ target }) => {
  if (!target.dataset.preset) return
  preset(target.dataset.preset)
  show()
})
for (const select of [by, and, measure]) select.addEventListener("change", show)
find("question").addEventListener("submit", (event) => {
  event.preventDefault()
  show()
})
onToken(show)
find("csv").addEventListener("click", async () => {
  try {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(await (await send(path("csv"))).blob())
    link.download = `report-${by.value}-${find("from").value}-${find("to").value}.csv`
    link.click()
    URL.revokeObjectURL(link.href)
  } catch (error) {
    find("status").textContent = error.message
  }
})
show()
