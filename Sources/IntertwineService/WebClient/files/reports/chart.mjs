// Draws series as lines over time or as bars, in SVG, and keeps what they are in words beside them.

const NAMESPACE = "http://www.w3.org/2000/svg"

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

const shown = (number) => number.toLocaleString("en", { maximumFractionDigits: 4 })

/** The width of a chart: that of the page, so that its text has the size of other text. */
const widthOfPage = () => Math.max(280, Math.min(1120, document.body.clientWidth - 32))

/** The name of a day or an hour on an axis: `2026-11-29T07:00:00Z` is 29 Nov, 07:00. */
function nameOfTime(name) {
  const [, month, day, hour] = /^\d{4}-(\d\d)-(\d\d)(?:T(\d\d:\d\d))?/.exec(name) ?? []
  if (month === undefined) return name
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  return `${Number(day)} ${months[month - 1]}${hour ? `, ${hour}` : ""}`
}

/** The values of the horizontal lines up to a number. A count has no fractions. */
function levels(top, isRate) {
  const step = isRate ? top / 4 : Math.max(1, Math.ceil(top / 4))
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, index) => index * step)
}

// The next number above that reads well.
function ceiling(number) {
  if (number <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(number))
  return [1, 2, 5, 10].find((step) => step * power >= number) * power
}

/** Lines: `names` along the axis, and series of `{name, values, isPace}` with a value, or null, for each of them. `isRate`: not a count. */
export function lines(names, series, label, isRate = false) {
  const WIDTH = widthOfPage()
  const [height, left, bottom] = [320, 64, 30]
  const top = ceiling(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))))
  const x = (index) => left + (names.length < 2 ? 0.5 : index / (names.length - 1)) * (WIDTH - left - 20)
  const y = (value) => 12 + (1 - value / top) * (height - 12 - bottom)
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label })
  for (const level of levels(top, isRate)) {
    svg.append(
      element("line", { class: "axis", x1: left, x2: WIDTH - 10, y1: y(level), y2: y(level) }),
      element("text", { x: left - 8, y: y(level) + 4, "text-anchor": "end" }, isRate ? `${shown(level * 100)} %` : shown(level)))
  }
  // A label with an hour has about 90 points.
  const every = Math.max(1, Math.ceil(names.length / Math.max(1, Math.floor((WIDTH - left) / 100))))
  names.forEach((name, index) => {
    if (index % every > 0) return
    const isLast = x(index) > WIDTH - 50
    svg.append(element("text", { x: isLast ? WIDTH - 4 : Math.max(x(index), 44), y: height - 8, "text-anchor": isLast ? "end" : "middle" }, nameOfTime(name)))
  })
  series.forEach(({ values, isPace }, number) => {
    const points = values.map((value, index) => (value === null ? null : `${x(index).toFixed(1)},${y(value).toFixed(1)}`)).filter(Boolean)
    const kind = `s${number % 8}`
    svg.append(element("polyline", { class: `graph ${kind}${isPace ? " pace" : ""}`, points: points.join(" ") }))
    if (points.length === 1) {
      const [cx, cy] = points[0].split(",")
      svg.append(element("circle", { class: `bar ${kind}`, cx, cy, r: 4 }))
    }
  })
  return svg
}

/** Bars, one below the other: `names`, and for each of them a stretch of every series. */
export function bars(names, series, label, isRate = false) {
  const WIDTH = widthOfPage()
  const [row, left] = [26, Math.min(220, Math.round(WIDTH * 0.36))]
  const most = Math.floor(left / 7.2)
  const sums = names.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const top = Math.max(...sums, 0) || 1
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${names.length * row + 4}`, role: "img", "aria-label": label })
  names.forEach((name, index) => {
    const y = index * row
    let x = left
    svg.append(element("text", { x: left - 8, y: y + 17, "text-anchor": "end" }, name.length > most ? name.slice(0, most - 1) + "…" : name))
    series.forEach(({ values }, number) => {
      const width = ((values[index] ?? 0) / top) * (WIDTH - left - 90)
      svg.append(element("rect", { class: `bar s${number % 8}`, x, y: y + 4, width, height: row - 8 }))
      x += width
    })
    svg.append(element("text", { x: x + 6, y: y + 17 }, isRate ? `${shown(sums[index] * 100)} %` : shown(sums[index])))
  })
  return svg
}

export function legend(series) {
  return series.map(({ name, isPace }, number) => {
    const mark = element("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" },
      element("rect", { class: `bar s${number % 8}`, width: 14, height: isPace ? 4 : 14, y: isPace ? 5 : 0 }))
    const key = document.createElement("span")
    key.className = "key"
    key.append(mark, name)
    return key
  })
}
