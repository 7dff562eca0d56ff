import { element } from "./elements.mjs";

/** The advertisement's picture as it is, and a label that says what it is. */
export function advertisementCell(content) {
  const picture = element("div.picture.advertisement-content");
  const badge = element("span.badge", { "aria-hidden": "true" }, "Ad");
  const label = element("span.unseen", {}, "Advertisement");
  content.append(picture, badge, label);
  return { label, outlets: { content: picture } };
}
