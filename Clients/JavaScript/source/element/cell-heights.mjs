// The heights of cells on a page. The feed's height has one line for each text; further lines make a cell higher, so that no text is cut.
import { bindingsOf, disclosureOf, isAdvertisement } from "../bindings.mjs";
import { displaySize } from "../page.mjs";
import { dateText } from "./binding-elements.mjs";
import { linesOf } from "./text-lines.mjs";

/** The fonts and line heights of the style sheet, at the default text size. */
const title = { font: "600 15px", line: 20 };
const text = { font: "400 14px", line: 20 };
const label = { font: "550 13px", line: 18 };
/** The sum of the paddings of texts at both sides. */
const padding = 32;
/** The distances and heights of a table: the column of the pictures, that of the tools with the padding, and a row. */
const [rowStart, rowEnd, rowHeight] = [96, 76, 88];
/** The heights of the paddings of a label below an ad, and of a button beside it. */
const labelPadding = 14;
const labelButton = 44;

/** The label of an ad, or null: the name of its campaign's advertiser belongs to it. */
export function labelText(cell, word) {
  if (!isAdvertisement(cell)) return null;
  const { label: named, advertiser } = disclosureOf(cell) ?? {};
  return [named ?? word, advertiser].filter(Boolean).join(" · ");
}

/** Returns the height of a cell with a width, in points. `kind` is that of its view: `card`, `row` or `template`. */
export function cellHeight(cell, { width, textScale, kind, advertisement, language }) {
  const { height } = displaySize(cell.size, textScale);
  // The page has its own texts in its own fonts.
  if (kind === "template") return height;
  const ad = labelText(cell, advertisement);
  const isRow = kind === "row";
  const room = (isRow ? width - (ad === null ? rowStart : padding / 2) - rowEnd : width - padding) / textScale;
  const lines = (value, { font }) => linesOf(value, font, Math.max(40, room));
  if (ad !== null) {
    const isMedia = bindingsOf(cell).some(([, { type }]) => type === "media");
    const labelled = Math.ceil(lines(ad, label) * label.line * textScale);
    // An ad has the height of two rows, so that a table has one rhythm.
    if (isRow) return 2 * rowHeight + labelled - label.line;
    return height + Math.max(labelled + labelPadding, isMedia ? labelButton : 0);
  }
  const words = bindingsOf(cell).filter(([, { type }]) => type === "text" || type === "date");
  const further = words.reduce((sum, [, { type, value }], index) => {
    const style = index === 0 && type === "text" ? title : text;
    return sum + (lines(type === "date" ? dateText(value, language) : value, style) - 1) * style.line;
  }, 0);
  // The rows of persons have the height of other rows with a line or two, so that a table has one rhythm.
  const isPerson = isRow && /UserTableViewCell$/.test(cell.identifier);
  const least = isPerson ? Math.ceil(rowHeight + 20 * Math.max(0, textScale - 2)) : isRow ? Math.max(height, rowHeight) : height;
  return least + Math.ceil(further * textScale);
}
