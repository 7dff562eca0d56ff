// What a binding shows: the value of the first of its types that is known. The list of types is open.

/** By the name of the type: whether a value is one. */
const types = {
  text: (value) => typeof value === "string",
  image: (value) => typeof value === "string" && value !== "",
  date: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value)),
  number: (value) => Number.isFinite(value),
  link: (value) => typeof value === "string" && /^https?:\/\//i.test(value),
  media: (value) => typeof value === "string" && value !== "",
};

/** `{ type, value }` of a binding, or null where there is nothing that is known here. */
export function bindingValue(binding) {
  if (binding === null || typeof binding !== "object") return null;
  const type = Object.keys(binding).find((name) => Object.hasOwn(types, name) && types[name](binding[name]));
  return type === undefined ? null : { type, value: binding[type] };
}

/** The bindings of a cell's configuration by their parts, those that show something here: `[part, { type, value }, binding]`. */
export function bindingsOf(cell) {
  return Object.entries(cell.actions?.configuration?.bindings ?? {}).flatMap(([part, binding]) => {
    const shown = bindingValue(binding);
    return shown === null ? [] : [[part, shown, binding]];
  });
}
