// Keyboard navigation: one cell is in the tab order, and arrow keys move between cells.

export class Keyboard {
  #active = null;

  /** - select(entry), dismiss(entry): perform these slots. commands: further commands of the page, with the `key` of each. */
  constructor({ feed, select, dismiss, commands }) {
    Object.assign(this, { feed, select, dismiss, commands });
    feed.element.addEventListener("keydown", (event) => this.#pressed(event));
    feed.element.addEventListener("focusin", ({ target }) => this.#activate(feed.view(target)));
    feed.addEventListener("entered", ({ detail: view }) => {
      if (this.#active === null || this.#active === view.entry) this.#activate(view);
      else tabStops(view, -1);
    });
    feed.addEventListener("left", ({ detail: view }) => {
      // The tab order continues with a visible cell.
      if (view.entry === this.#active) this.#active = null;
    });
    feed.addEventListener("rendered", () => this.#active === null && this.#activate(this.#firstVisible()));
  }

  #firstVisible() {
    return this.feed.views.find(({ element }) => element.getBoundingClientRect().top >= 0) ?? this.feed.views[0];
  }

  #activate(view) {
    if (view === undefined) return;
    const former = this.#active && this.feed.viewOf(this.#active);
    if (former && former !== view) tabStops(former, -1);
    this.#active = view.entry;
    tabStops(view, 0);
  }

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const view = this.feed.view(event.target);
    if (view === undefined) return;
    const isOnCell = event.target === view.element;
    const target = this.#target(event.key, view.entry);
    const command = this.commands.find(({ key }) => key === event.key.toLowerCase());
    // The arrow keys of a player change its volume and position.
    if (event.target.matches("video, audio, input, select, textarea")) return;
    if (target !== undefined) this.feed.focus(this.feed.entries[target]);
    else if ((event.key === "Enter" || event.key === " ") && isOnCell) this.select(view.entry);
    else if (event.key === "Delete") this.dismiss(view.entry);
    else if (command !== undefined) command.run(view.entry);
    else return;
    event.preventDefault();
  }

  /** Returns the index of the target cell of a key; undefined for other keys. */
  #target(key, { index }) {
    const last = this.feed.entries.length - 1;
    const [next, previous] = this.feed.element.matches(":dir(rtl)") ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
    switch (key) {
      case next: return Math.min(index + 1, last);
      case previous: return Math.max(index - 1, 0);
      case "ArrowDown": return this.feed.layout.neighbour(index, 1) ?? index;
      case "ArrowUp": return this.feed.layout.neighbour(index, -1) ?? index;
      case "Home": return 0;
      case "End": return last;
      default: return undefined;
    }
  }
}

function tabStops({ element }, index) {
  element.tabIndex = index;
  for (const control of element.querySelectorAll(".tool, .cell-link, .cell-line .cell-face, .generic-words .cell-face, .media-start, video, audio")) control.tabIndex = index;
}
