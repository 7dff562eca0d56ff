// One cell takes part in the tab order; arrows walk from cell to cell, in the order read and by where cells stand.

export class Keyboard {
  #active = null;

  /** `commands` has `select`, `dismiss` and `inspect`, each given a cell's element. */
  constructor({ feed, commands }) {
    Object.assign(this, { feed, commands });
    feed.element.addEventListener("keydown", (event) => this.#pressed(event));
    feed.element.addEventListener("focusin", ({ target }) => this.#activate(target.closest(".cell")));
    feed.addEventListener("focus-moved", ({ detail }) => detail && this.focus(detail));
    feed.addEventListener("changed", () => {
      if (!this.#active?.isConnected) this.#activate(feed.elements[0]);
    });
  }

  focus(cell) {
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #activate(cell) {
    if (!cell || cell === this.#active) return;
    if (this.#active) tabStops(this.#active, "-1");
    this.#active = cell;
    tabStops(cell, "0");
  }

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = event.target.closest(".cell");
    const isOnCell = event.target === cell;
    const target = cell && this.#target(event.key, cell);
    if (target) this.focus(target);
    else if ((event.key === "Enter" || event.key === " ") && isOnCell) this.commands.select(cell);
    else if (event.key === "Delete" || event.key === "Backspace") this.commands.dismiss(cell);
    else if (event.key.toLowerCase() === "i") this.commands.inspect(cell);
    else return;
    event.preventDefault();
  }

  #target(key, cell) {
    switch (key) {
      case "ArrowRight": return cell.nextElementSibling;
      case "ArrowLeft": return cell.previousElementSibling;
      case "ArrowDown": return this.#neighbour(cell, 1);
      case "ArrowUp": return this.#neighbour(cell, -1);
      case "Home": return this.feed.elements.at(0);
      case "End": return this.feed.elements.at(-1);
      default: return null;
    }
  }

  /** The cell of the next row, up or down, whose middle is nearest. */
  #neighbour(cell, direction) {
    const middle = cell.offsetLeft + cell.offsetWidth / 2;
    const next = direction > 0 ? "nextElementSibling" : "previousElementSibling";
    let found = null;
    let row = null;
    for (let other = cell[next]; other; other = other[next]) {
      if (other.offsetTop === cell.offsetTop) continue;
      row ??= other.offsetTop;
      if (other.offsetTop !== row) break;
      const distance = Math.abs(other.offsetLeft + other.offsetWidth / 2 - middle);
      if (found === null || distance < found.distance) found = { element: other, distance };
    }
    return found?.element ?? null;
  }
}

function tabStops(cell, index) {
  cell.tabIndex = Number(index);
  for (const tool of cell.querySelectorAll(".tool")) tool.tabIndex = Number(index);
}
