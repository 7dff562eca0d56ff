// The pill "3 new". Changes of the service that would move visible cells are held until the person asks for them.

/** The milliseconds after scrolling before held changes that are out of view are displayed. */
const scrollDelay = 300;

export class NewCells {
  #timer;

  constructor({ list, collection, pill, announce, words }) {
    Object.assign(this, { list, collection, pill, announce, words });
    list.addEventListener("held", () => this.#update());
    list.addEventListener("changed", () => this.#update());
    pill.addEventListener("click", () => this.show());
    collection.addEventListener("rendered", () => {
      if (!this.list.isHolding) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.list.settle(), scrollDelay);
    });
  }

  /** Displays the held changes, and scrolls to the first new cell above. */
  show() {
    const known = new Set(this.list.entries);
    this.list.showHeld();
    const fresh = this.list.entries.find((entry) => !known.has(entry));
    if (fresh !== undefined) this.collection.reveal(fresh);
    const target = fresh ?? this.collection.anchor()?.entry;
    if (target !== undefined) this.collection.focus(target);
  }

  close() {
    clearTimeout(this.#timer);
  }

  #update() {
    const { held } = this.list;
    const text = held === null ? "" : held.inserted > 0 ? this.words("newPill", { count: held.inserted }) : this.words("showChanges");
    if (this.pill.textContent === text) return;
    this.pill.hidden = held === null;
    this.pill.textContent = text;
    if (held === null) return;
    const { inserted } = held;
    this.announce(this.words(inserted > 1 ? "newCells" : inserted === 1 ? "newOne" : "feedChanged", { count: inserted }));
  }
}
