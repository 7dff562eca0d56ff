// A generic view for cells without a renderer. It shows all bindings; a cell that is wider than 2.2 times its height is a row with the
// image beside the texts, otherwise the image is above them.
import { bindingsOf, isAdvertisement } from "../bindings.mjs";
import { element } from "./elements.mjs";
import { placeholder } from "./standard-cells.mjs";

export const rowRatio = 2.2;

export function genericCell(content, { identifier, words, disclosure }) {
  const label = element("p.generic-title");
  return { label, outlets: {}, outletsFor: (cell) => addElements(content, { identifier, words, disclosure }, label, cell) };
}

/** Adds an element for each binding of the cell, and returns them by name. */
function addElements(content, parts, label, cell) {
  const { identifier, words: word, disclosure } = parts;
  const known = bindingsOf(cell).map(([part, { type }]) => [part, type]);
  const isEmpty = known.length === 0;
  content.className = "cell-content";
  content.replaceChildren();
  content.parentElement?.classList.toggle("is-placeholder", isEmpty);
  label.replaceChildren();
  if (isEmpty) {
    const { label: title } = placeholder(content, { identifier, words: word });
    label.textContent = title.textContent;
    title.replaceWith(label);
    label.className = "placeholder-title";
    return {};
  }
  label.className = "generic-title";
  content.classList.add("generic", cell.size?.width / cell.size?.height > rowRatio ? "is-row" : "is-stack");
  // The direction of the title is that of the lines below it.
  const words = element("div.generic-words", { dir: "auto" });
  const outlets = {};
  // The first text is the title. Without a text, the title is the kind of cell.
  const title = known.find(([, type]) => type === "text")?.[0];
  if (title === undefined) label.textContent = readable(identifier);
  words.append(label);
  for (const [part, type] of known) {
    if (type === "image") {
      outlets[part] = element("div.image.generic-image", { part: "image" });
      content.append(outlets[part]);
    } else if (type === "media") {
      outlets[part] = element("div.media-outlet.generic-image", { part: "player" });
      content.append(outlets[part]);
    } else if (part === title) {
      outlets[part] = label;
    } else {
      outlets[part] = element(`p.generic-${type}`, { dir: "auto" });
      words.append(outlets[part]);
    }
  }
  content.append(words);
  if (isAdvertisement(cell)) words.append(element("div.cell-line", {}, disclosure));
  return outlets;
}

/** Returns a readable name, such as "Event" for `EventCollectionViewCell`. */
function readable(identifier) {
  const name = String(identifier).replace(/(Collection|Table)?(View)?(Cell|ReusableView|HeaderFooterView)$/, "");
  return name.replace(/([a-z])([A-Z])/g, "$1 $2") || String(identifier);
}
