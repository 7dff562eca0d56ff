import { element } from "./elements.mjs";

/** Shows a placeholder for a cell without visible content, in the cell's size. */
export function placeholder(content, name) {
  const identifier = typeof name === "string" ? name : "no identifier";
  const label = element("p.placeholder-title", {}, "Unsupported cell");
  content.classList.add("placeholder");
  content.append(label, element("p.placeholder-identifier", {}, identifier));
  return { label, outlets: {}, role: "placeholder" };
}
