import { element } from "./elements.mjs";

/** A background image, the avatar over its lower edge, and the username below. */
export function userSnapshotCell(content) {
  const background = element("div.image.snapshot-background");
  const avatar = element("div.image.avatar.snapshot-avatar");
  const username = element("p.username.snapshot-username", { dir: "auto" });
  content.append(background, avatar, username);
  return { label: username, outlets: { background, avatar, username } };
}
