// The values of bindings. Bindings with an unknown type show nothing.

/** The validators of values, by type. */
const types = {
  text: (value) => typeof value === "string",
  image: (value) => typeof value === "string" && value !== "",
  date: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value)),
  number: (value) => Number.isFinite(value),
  link: (value) => typeof value === "string" && /^https?:\/\//i.test(value),
  media: (value) => typeof value === "string" && value !== "",
};

/** Returns `{ type, value }` of a binding, or null if it shows nothing. */
export function bindingValue(binding) {
  if (binding === null || typeof binding !== "object") return null;
  const type = Object.keys(binding).find((name) => Object.hasOwn(types, name) && types[name](binding[name]));
  return type === undefined ? null : { type, value: binding[type] };
}

/** Returns the visible bindings of a cell's configuration by part: `[part, { type, value }, binding]`. */
export function bindingsOf(cell) {
  return Object.entries(cell.actions?.configuration?.bindings ?? {}).flatMap(([part, binding]) => {
    const shown = bindingValue(binding);
    return shown === null ? [] : [[part, shown, binding]];
  });
}
