// The renderers of the standard cells: users, ads, section headers, and placeholders.
import { bindingsOf } from "../bindings.mjs";
import { element } from "./elements.mjs";

/** Returns the outlet of an image. */
function imageOutlet(classes, part) {
  return element(`div.image${classes}`, { part: `image ${part}` });
}

/** A background image, the avatar over its lower edge, and the username below. */
function userSnapshot(content) {
  const background = imageOutlet(".snapshot-background", "background");
  const avatar = imageOutlet(".avatar.snapshot-avatar", "avatar");
  content.classList.add("snapshot");
  const username = element("p.username.snapshot-username", { dir: "auto", part: "title" });
  content.append(background, avatar, username);
  return { label: username, outlets: { background, avatar, username } };
}

/** A large round avatar above the username. */
function circularUser(content) {
  const avatar = imageOutlet(".avatar.circular-avatar", "avatar");
  content.classList.add("circular");
  const username = element("p.username.circular-username", { dir: "auto", part: "title" });
  content.append(avatar, username);
  return { label: username, outlets: { avatar, username } };
}

/** A user as a table row: a round avatar, then the name. */
function userRow(content) {
  const avatar = imageOutlet(".avatar.row-image", "avatar");
  const username = element("p.row-title", { dir: "auto", part: "title" });
  content.classList.add("row");
  content.append(avatar, username);
  return { label: username, outlets: { avatar, username }, role: "row" };
}

/** An ad: its image, and its label on a line below. */
function advertisement(content, { disclosure }) {
  const image = imageOutlet(".advertisement-content", "advertisement");
  content.classList.add("advertised");
  content.append(image, element("div.cell-line", {}, disclosure));
  return { label: disclosure, outlets: { content: image } };
}

/** An ad as a table row: its label, and its image below, at the left edge of the texts. */
function advertisementRow(content, { disclosure }) {
  const image = imageOutlet(".row-advertisement", "advertisement");
  content.classList.add("row", "advertised");
  content.append(element("div.cell-line", {}, disclosure), image);
  return { label: disclosure, outlets: { content: image }, role: "row" };
}

/** A video or audio ad: the poster with the player, and the label on a line below. */
function mediaAdvertisement(content, { disclosure }) {
  const poster = imageOutlet(".media-poster", "poster");
  const player = element("div.media-outlet", { part: "player" });
  content.classList.add("advertised");
  content.append(element("div.media", {}, poster, player), element("div.cell-line", {}, disclosure));
  return {
    label: disclosure, outlets: {},
    outletsFor(cell) {
      const outlets = { image: poster, media: player };
      return Object.fromEntries(bindingsOf(cell).flatMap(([name, { type }]) => (outlets[type] ? [[name, outlets[type]]] : [])));
    },
  };
}

/** A video or audio ad as a table row: the label, and the player below. */
function mediaAdvertisementRow(content, parts) {
  const rendering = mediaAdvertisement(content, parts);
  content.classList.add("row");
  content.prepend(content.querySelector(".cell-line"));
  return { ...rendering, role: "row" };
}

/** The title of a section. */
function sectionHeader(content) {
  const title = element("h2.section-title", { dir: "auto", part: "section-title" });
  content.append(title);
  return { label: title, outlets: { title }, role: "header" };
}

/** Shows a placeholder for a cell without visible content, in the cell's size. */
export function placeholder(content, { identifier, words }) {
  const name = typeof identifier === "string" ? identifier : "no identifier";
  const label = element("p.placeholder-title", {}, words("unsupported"));
  content.classList.add("placeholder");
  content.append(label, element("p.placeholder-identifier", {}, name));
  return { label, outlets: {}, role: "placeholder" };
}

/**
 * The renderers by identifier. A renderer adds elements to `content`, once for each view, and returns its outlets: `{ label, outlets: {
 * username: element, avatar: element } }`. `label` is the element with the accessible name of the cell. A binding is shown in the outlet
 * with its name: a text as text, an image in an `.image`. `role` is `header`, `row` or `placeholder` for views that are not cards. A
 * renderer whose outlets differ by cell returns `outletsFor(cell)`.
 *
 * The second argument has the `identifier`, the `disclosure` (an element for the label of an ad) and the `words` of the element.
 */
export const standardCells = {
  UserSnapshotCollectionViewCell: userSnapshot,
  CircularUserCollectionViewCell: circularUser,
  AdvertisementCollectionViewCell: advertisement,
  AdvertisementVideoCollectionViewCell: mediaAdvertisement,
  AdvertisementAudioCollectionViewCell: mediaAdvertisement,
  SectionHeaderCollectionReusableView: sectionHeader,
  UserTableViewCell: userRow,
  CircularUserTableViewCell: userRow,
  AdvertisementTableViewCell: advertisementRow,
  AdvertisementVideoTableViewCell: mediaAdvertisementRow,
  AdvertisementAudioTableViewCell: mediaAdvertisementRow,
  SectionHeaderTableViewHeaderFooterView: sectionHeader,
};
