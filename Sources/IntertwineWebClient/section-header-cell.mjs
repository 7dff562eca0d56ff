import { element } from "./elements.mjs";

/** The title of the section that begins below it. */
export function sectionHeaderCell(content) {
  const title = element("h2.section-title", { dir: "auto" });
  content.append(title);
  return { label: title, outlets: { title }, role: "header" };
}
