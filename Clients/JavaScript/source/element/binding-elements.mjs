// The elements for bindings. Images and media are loaded separately.
import { element } from "./elements.mjs";

const time = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
const day = { dateStyle: "medium", timeZone: "UTC" };
const formats = new Map();

/** Returns the text of a date in a language, or in the browser's. A day is equal in all zones. A time is that of the reader's zone, with its name. */
export function dateText(value, language) {
  const options = /^\d{4}-\d\d-\d\d$/.test(value) ? day : time;
  const key = `${language} ${options === day}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(language ?? undefined, options));
  return formats.get(key).format(new Date(value));
}

const linkAttributes = { target: "_blank", rel: "noopener", tabindex: "-1" };
const siteOf = (href) => new URL(href).hostname.replace(/^www\./, "");

/** Functions that return the elements for a value, by type. */
const types = {
  text: (value) => [value],
  number: (value, language) => [value.toLocaleString(language ?? undefined)],
  date: (value, language) => [element("time", { datetime: value }, dateText(value, language))],
  link: (href) => [element("a.cell-link", { href, ...linkAttributes }, siteOf(href))],
};

/** Shows the value of a binding in an outlet, in a language or the browser's. */
export function fill(outlet, { type, value }, language = null) {
  if (types[type] === undefined) return;
  if (type === "link" && outlet.localName === "a") fillAnchor(outlet, value);
  else outlet.replaceChildren(...types[type](value, language));
  outlet.title = outlet.textContent;
}

/** Shows a link in an anchor of a template. */
function fillAnchor(anchor, href) {
  for (const [name, value] of Object.entries({ href, ...linkAttributes })) anchor.setAttribute(name, value);
  anchor.classList.add("cell-link");
  anchor.replaceChildren(siteOf(href));
}

/** Removes the value of a binding from an outlet. */
export function clear(outlet) {
  outlet.replaceChildren();
  outlet.removeAttribute("title");
  if (outlet.matches("a.cell-link")) outlet.removeAttribute("href");
}
