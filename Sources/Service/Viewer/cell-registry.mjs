// Which renderer shows which cells: one for each reuse identifier, as a client registers its cell classes.
import { placeholder } from "./placeholder-cell.mjs";

/**
 * A renderer fills `content` with elements and answers its outlets:
 * `{ label, outlets: { username: element, avatar: element } }`. `label` is the element that names the cell to screen
 * readers; a binding goes to the outlet of its name, a text as text and a picture into a `.picture`.
 */
export class CellRegistry {
  #renderers = new Map();

  register(identifier, renderer) {
    this.#renderers.set(identifier, renderer);
    return this;
  }

  /** Makes the elements of a cell. An identifier that nobody registered gets a placeholder, so that the feed goes on. */
  render(cell, content) {
    const renderer = this.#renderers.get(cell.identifier) ?? placeholder;
    try {
      return renderer(content, cell);
    } catch (error) {
      console.warn(`The renderer of ${cell.identifier} failed.`, error);
      content.replaceChildren();
      return placeholder(content, cell);
    }
  }

  knows(identifier) {
    return this.#renderers.has(identifier);
  }
}
