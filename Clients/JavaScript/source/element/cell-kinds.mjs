// The registry of views for cells: the templates of the page, the standard cells, and a generic view for all others.
import { CellRegistry } from "../cell-registry.mjs";
import { displaySize } from "../page.mjs";
import { cellHeight } from "./cell-heights.mjs";
import { CellView } from "./cell-view.mjs";
import { genericCell, rowRatio } from "./generic-cell.mjs";
import { standardCells } from "./standard-cells.mjs";
import { templateCell } from "./template-cell.mjs";

/**
 * Returns the registry of all cells. Its views are instances of `CellView`.
 *
 * - parts: the parts of the page for each view. templates: the `template` elements with the attribute `data-cell`. textScale(): returns the
 *   text scale.
 */
export function makeRegistry({ parts, templates, textScale }) {
  const { words, language } = parts;
  const kindOf = (identifier) => (/TableViewCell$|TableViewHeaderFooterView$/.test(identifier) ? "row" : "card");
  const isNarrow = ({ size }) => size?.width / size?.height > rowRatio;
  const registration = (renderer, version = 1, kind = null) => ({
    version,
    size: (cell) => {
      const size = displaySize(cell.size, textScale());
      const shown = kind ?? (isNarrow(cell) ? "row" : kindOf(cell.identifier));
      const height = (width) => cellHeight(cell, { width, textScale: textScale(), kind: shown, advertisement: words("advertisement"), language: language() });
      return { ...size, height: size.height, heightAt: height };
    },
    make: (identifier) => new CellView({ identifier, renderer, ...parts }),
    bind: (view, _, entry, frame) => view.show(entry, frame),
    prepareForReuse: (view) => view.prepareForReuse(),
  });
  const registry = new CellRegistry({ fallback: registration(genericCell) });
  for (const [identifier, renderer] of Object.entries(standardCells)) registry.register(identifier, registration(renderer));
  for (const template of templates) {
    const { cell, version } = template.dataset;
    registry.register(cell, registration(templateCell(template), Number(version) || 1, "template"));
  }
  return registry;
}
