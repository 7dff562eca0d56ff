// The elements for bindings. Images and media are loaded separately.
import { element } from "./elements.mjs";

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

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
  link(href) {
    const name = new URL(href).hostname.replace(/^www\./, "");
    return [element("a.cell-link", { href, target: "_blank", rel: "noopener", tabindex: "-1" }, name)];
  },
};

/** Shows the value of a binding in an outlet. */
export function fill(outlet, { type, value }) {
  if (types[type] === undefined) return;
  outlet.replaceChildren(...types[type](value));
  outlet.title = outlet.textContent;
}
