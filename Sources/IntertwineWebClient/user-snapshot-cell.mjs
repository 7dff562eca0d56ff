import { element } from "./elements.mjs";

/** A background, the avatar over its lower edge, and the username below. */
export function userSnapshotCell(content) {
  const background = element("div.picture.snapshot-background");
  const avatar = element("div.picture.avatar.snapshot-avatar");
  const username = element("p.username.snapshot-username", { dir: "auto" });
  content.append(background, avatar, username);
  return { label: username, outlets: { background, avatar, username } };
}
