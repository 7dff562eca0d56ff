// Which renderer shows which cells: one for each reuse identifier, as a client registers its cell classes.
import { genericCell } from "./generic-cell.mjs";
import { placeholder } from "./placeholder-cell.mjs";

/**
 * A renderer fills `content` with elements, once for each view, and answers its outlets:
 * `{ label, outlets: { username: element, avatar: element } }`. `label` is the element that names the cell to screen
 * readers; a binding goes to the outlet of its name, a text as text and a picture into a `.picture`. `role` is `header`, `row` or
 * `placeholder` where it is no card. One whose parts differ from cell to cell answers `outletsFor(cell)`.
 */
export class CellRegistry {
  #renderers = new Map();

  register(identifier, renderer) {
    this.#renderers.set(identifier, renderer);
    return this;
  }

  /** Makes the elements for cells of an identifier. One that nobody registered shows whatever its cells bind. */
  render(identifier, content) {
    const renderer = this.#renderers.get(identifier) ?? genericCell;
    try {
      return renderer(content, identifier);
    } catch (error) {
      console.warn(`The renderer of ${identifier} failed.`, error);
      content.replaceChildren();
      return placeholder(content, identifier);
    }
  }
}
