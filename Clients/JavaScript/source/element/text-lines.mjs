// The number of lines of a text, for layouts that are computed before the text is displayed.

const family = 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
/** More lines are cut. */
export const maxLines = 12;
/** The measured widths by font and text. Layouts measure the same texts again after each change of the width. */
const widths = new Map();
const maxMeasured = 20_000;
let context;

/** Returns the width of a text in points, at the default text size. A server has no canvas: there, characters are counted. */
function widthOf(text, font) {
  const key = `${font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context ??= globalThis.document?.createElement("canvas").getContext("2d") ?? null;
  if (context !== null) context.font = `${font} ${family}`;
  const width = context?.measureText(text).width ?? text.length * 8;
  if (widths.size >= maxMeasured) widths.clear();
  widths.set(key, width);
  return width;
}

/** Returns the number of lines of a text in a font, such as `600 15px`, from 1 to `maxLines`, within a width at the default text size. */
export function linesOf(text, font, width) {
  if (widthOf(text, font) <= width) return 1;
  const space = widthOf(" ", font);
  let [lines, filled] = [1, 0];
  for (const word of text.split(/\s+/)) {
    const length = widthOf(word, font);
    if (filled > 0 && filled + space + length > width) [lines, filled] = [lines + 1, 0];
    // A word that is longer than a line breaks.
    lines += Math.max(0, Math.ceil(length / width) - 1);
    filled = length > width ? length % width : filled + (filled > 0 ? space : 0) + length;
  }
  return Math.min(lines, maxLines);
}
