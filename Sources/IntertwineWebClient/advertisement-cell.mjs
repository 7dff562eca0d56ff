import { element } from "./elements.mjs";

/** An ad: its image, and a label that marks it as an ad. */
export function advertisementCell(content) {
  const image = element("div.image.advertisement-content");
  const badge = element("span.badge", { "aria-hidden": "true" }, "Ad");
  const label = element("span.visually-hidden", {}, "Advertisement");
  content.append(image, badge, label);
  return { label, outlets: { content: image } };
}
