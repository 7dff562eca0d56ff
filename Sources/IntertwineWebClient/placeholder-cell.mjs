import { element } from "./elements.mjs";

/** Stands where a cell would that no renderer is registered for, at the cell's size. */
export function placeholder(content, name) {
  const identifier = typeof name === "string" ? name : "no identifier";
  const label = element("p.placeholder-title", {}, "Not shown here");
  content.classList.add("placeholder");
  content.append(label, element("p.placeholder-identifier", {}, identifier));
  return { label, outlets: {}, role: "placeholder" };
}
