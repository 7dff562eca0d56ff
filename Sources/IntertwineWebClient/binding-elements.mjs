// What the types of bindings look like in an element. Pictures and media are not among them: they come later, and may not come.
import { bindingValue } from "./client/index.mjs";
import { element, resolve } from "./elements.mjs";

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** By the name of the type, the elements that show a value of it. */
const types = {
  text: (value) => [value],
  number: (value) => [value.toLocaleString()],
  date(value) {
    const date = new Date(value);
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

/** Shows a binding in an outlet. */
export function fill(outlet, binding) {
  const shown = bindingValue(binding);
  if (shown === null || types[shown.type] === undefined) return;
  outlet.replaceChildren(...types[shown.type](shown.value));
  outlet.title = outlet.textContent;
}
