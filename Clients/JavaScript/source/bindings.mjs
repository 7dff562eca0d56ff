// The values of bindings. A binding with an unknown type shows nothing.

const isText = (value) => typeof value === "string";
const isDate = (value) => isText(value) && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value));

/** Returns true for a valid URL with the scheme `http` or `https`. Safari has `URL.canParse` since version 17 only. */
function isLink(value) {
  try {
    return isText(value) && /^https?:\/\//i.test(value) && new URL(value).host !== "";
  } catch {
    return false;
  }
}

/** The member with the value, and its validator, by type. */
const types = {
  text: ["text", isText],
  image: ["href", (value) => isText(value) && value !== ""],
  date: ["date", isDate],
  number: ["number", Number.isFinite],
  link: ["href", isLink],
  media: ["href", (value) => isText(value) && value !== ""],
};

/** Returns `{ type, value }` of a binding, or null if it shows nothing. */
export function bindingValue(binding) {
  const type = binding?.type;
  if (!isText(type) || !Object.hasOwn(types, type)) return null;
  const [member, isValid] = types[type];
  return isValid(binding[member]) ? { type, value: binding[member] } : null;
}

/** Returns the disclosure of a campaign's ad, `{ label, advertiser }` with `advertiser` possibly empty; null for other cells. */
export function disclosureOf(cell) {
  for (const binding of Object.values(cell.actions?.configuration?.bindings ?? {})) {
    if (binding?.type === "disclosure" && isText(binding.label)) {
      return { label: binding.label, advertiser: isText(binding.advertiser) ? binding.advertiser : "" };
    }
  }
  return null;
}

/** Returns true if the cell is of an ad. The member `advertisement` decides; without it, a disclosure does. */
export function isAdvertisement(cell) {
  return typeof cell.advertisement === "boolean" ? cell.advertisement : disclosureOf(cell) !== null;
}

/** Returns the visible bindings of a cell's configuration by part: `[part, { type, value }, binding]`. */
export function bindingsOf(cell) {
  return Object.entries(cell.actions?.configuration?.bindings ?? {}).flatMap(([part, binding]) => {
    const shown = bindingValue(binding);
    return shown === null ? [] : [[part, shown, binding]];
  });
}
