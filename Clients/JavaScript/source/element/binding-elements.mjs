// The elements for bindings. Images and media are loaded separately.
import { element } from "./elements.mjs";

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

const linkAttributes = { target: "_blank", rel: "noopener", tabindex: "-1" };
const siteOf = (href) => new URL(href).hostname.replace(/^www\./, "");

/** Functions that return the elements for a value, by type. */
const types = {
  text: (value) => [value],
  number: (value) => [value.toLocaleString()],
  date(value) {
    const date = new Date(value);
    // A day is equal in all time zones. A time is displayed in the local time zone.
    const text = /^\d{4}-\d\d-\d\d$/.test(value) ? dayFormat.format(date) : timeFormat.format(date);
    return [element("time", { datetime: value }, text)];
  },
  link: (href) => [element("a.cell-link", { href, ...linkAttributes }, siteOf(href))],
};

/** Shows the value of a binding in an outlet. */
export function fill(outlet, { type, value }) {
  if (types[type] === undefined) return;
  if (type === "link" && outlet.localName === "a") fillAnchor(outlet, value);
  else outlet.replaceChildren(...types[type](value));
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
