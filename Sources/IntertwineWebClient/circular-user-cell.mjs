import { element } from "./elements.mjs";

/** A large round avatar above the username. */
export function circularUserCell(content) {
  const avatar = element("div.image.avatar.circular-avatar");
  const username = element("p.username.circular-username", { dir: "auto" });
  content.append(avatar, username);
  return { label: username, outlets: { avatar, username } };
}
