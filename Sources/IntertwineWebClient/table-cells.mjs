import { element } from "./elements.mjs";

/** A row of a table: the round picture of a user at its beginning, then the name. */
export function userRow(content) {
  const avatar = element("div.picture.avatar.row-picture");
  const username = element("p.row-title", { dir: "auto" });
  content.classList.add("row");
  content.append(avatar, username);
  return { label: username, outlets: { avatar, username }, role: "row" };
}

/** The picture of an advertisement as a row, and a label that says what it is. */
export function advertisementRow(content) {
  const picture = element("div.picture.row-picture.row-advertisement");
  const label = element("p.row-title", {}, "Advertisement");
  content.classList.add("row");
  content.append(picture, label);
  return { label, outlets: { content: picture }, role: "row" };
}
