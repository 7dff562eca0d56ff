// What the types of bindings look like in an element. Pictures are not among them: they come later, and may not come.
import { element, resolve } from "./elements.mjs";

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** By the name of the type: what it is as text, and the elements that show it. A value that is none of its type shows nothing. */
const types = {
  text: (value) => (typeof value === "string" ? [value] : []),
  number: (value) => (typeof value === "number" ? [value.toLocaleString()] : []),
  date(value) {
    const date = new Date(value);
    if (typeof value !== "string" || Number.isNaN(date.getTime())) return [];
    // A day alone is one everywhere; a moment is told in the time of whoever looks.
    const text = /^\d{4}-\d\d-\d\d$/.test(value) ? day.format(date) : moment.format(date);
    return [element("time", { datetime: value }, text)];
  },
  link(value) {
    const href = resolve(value);
    if (href === null) return [];
    const name = new URL(href).hostname.replace(/^www\./, "");
    return [element("a.cell-link", { href, target: "_blank", rel: "noopener", tabindex: "-1" }, name)];
  },
};

/** The type of a binding, of those that are shown here: `text`, `date`, `number`, `link` or `image`; null for any other. */
export function bindingType(binding) {
  if (binding === null || typeof binding !== "object") return null;
  return Object.keys(binding).find((type) => type === "image" || Object.hasOwn(types, type)) ?? null;
}

/** Shows a binding in an outlet. */
export function fill(outlet, binding) {
  const type = bindingType(binding);
  if (type === null || type === "image") return;
  outlet.replaceChildren(...types[type](binding[type]));
  outlet.title = outlet.textContent;
}
