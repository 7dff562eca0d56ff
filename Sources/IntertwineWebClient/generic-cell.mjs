// Cells of kinds that this viewer was not made for: whatever they bind, laid out by the size that the feed gives. Wider than twice
// its height, a cell is a row: the picture beside the words. Otherwise the picture stands above them.
import { bindingsOf } from "./client/index.mjs";
import { element } from "./elements.mjs";
import { placeholder } from "./placeholder-cell.mjs";

const row = 2.2;

export function genericCell(content, identifier) {
  const label = element("p.generic-title", { dir: "auto" });
  return { label, outlets: {}, outletsFor: (cell) => laidOut(content, identifier, label, cell) };
}

/** Puts an element for each part that the cell binds, and answers them by their names. */
function laidOut(content, identifier, label, cell) {
  const known = bindingsOf(cell).map(([part, { type }]) => [part, type]);
  const isEmpty = known.length === 0;
  content.className = "cell-content";
  content.replaceChildren();
  content.parentElement?.classList.toggle("is-placeholder", isEmpty);
  label.replaceChildren();
  if (isEmpty) {
    const { label: title } = placeholder(content, identifier);
    label.textContent = title.textContent;
    title.replaceWith(label);
    label.className = "placeholder-title";
    return {};
  }
  label.className = "generic-title";
  content.classList.add("generic", cell.size?.width / cell.size?.height > row ? "is-row" : "is-stack");
  const words = element("div.generic-words");
  const outlets = {};
  // The first text is the title; without one, the kind of cell is.
  const title = known.find(([, type]) => type === "text")?.[0];
  if (title === undefined) label.textContent = readable(identifier);
  words.append(label);
  for (const [part, type] of known) {
    if (type === "image") {
      outlets[part] = element("div.picture.generic-picture");
      content.append(outlets[part]);
    } else if (type === "media") {
      outlets[part] = element("div.media-outlet.generic-picture");
      content.append(outlets[part]);
    } else if (part === title) {
      outlets[part] = label;
    } else {
      outlets[part] = element(`p.generic-${type}`, { dir: "auto" });
      words.append(outlets[part]);
    }
  }
  content.append(words);
  return outlets;
}

/** `EventCollectionViewCell` as "Event". */
function readable(identifier) {
  const name = String(identifier).replace(/(Collection|Table)?(View)?(Cell|ReusableView|HeaderFooterView)$/, "");
  return name.replace(/([a-z])([A-Z])/g, "$1 $2") || String(identifier);
}
