import { element } from "./elements.mjs";

/** A user as a table row: a round avatar, then the name. */
export function userRow(content) {
  const avatar = element("div.image.avatar.row-image");
  const username = element("p.row-title", { dir: "auto" });
  content.classList.add("row");
  content.append(avatar, username);
  return { label: username, outlets: { avatar, username }, role: "row" };
}

/** An ad as a table row: its image, and a label that marks it as an ad. */
export function advertisementRow(content) {
  const image = element("div.image.row-image.row-advertisement");
  const label = element("p.row-title", {}, "Advertisement");
  content.classList.add("row");
  content.append(image, label);
  return { label, outlets: { content: image }, role: "row" };
}
