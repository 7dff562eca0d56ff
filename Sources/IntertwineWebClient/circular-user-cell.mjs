import { element } from "./elements.mjs";

/** A large round avatar, and the username below. */
export function circularUserCell(content) {
  const avatar = element("div.picture.avatar.circular-avatar");
  const username = element("p.username.circular-username", { dir: "auto" });
  content.append(avatar, username);
  return { label: username, outlets: { avatar, username } };
}
