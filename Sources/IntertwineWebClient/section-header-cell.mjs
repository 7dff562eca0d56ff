import { element } from "./elements.mjs";

/** The title of a section. */
export function sectionHeaderCell(content) {
  const title = element("h2.section-title", { dir: "auto" });
  content.append(title);
  return { label: title, outlets: { title }, role: "header" };
}
