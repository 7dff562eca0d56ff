// Where somebody was in the list, kept with the entry of the browser's history: on reload and on the way back they are there again.

const rest = 150;
/** What tells that somebody goes on by themselves. */
const gestures = ["wheel", "touchstart", "keydown", "pointerdown"];

export class Position {
  #timer;
  #isRestoring = false;

  constructor({ feed, list, waiting }) {
    Object.assign(this, { feed, list, waiting });
    history.scrollRestoration = "manual";
    addEventListener("scroll", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#keep(), rest);
    }, { passive: true });
    addEventListener("pagehide", () => this.#keep());
  }

  /** Loads as far as somebody was, and goes there; gives up as soon as they go on by themselves. */
  async restore() {
    const { cell, index, offset, y, height } = history.state?.position ?? {};
    if (!(index > 0 || y > 0)) return;
    this.#isRestoring = true;
    const stop = () => {
      this.#isRestoring = false;
    };
    for (const gesture of gestures) addEventListener(gesture, stop, { capture: true, once: true, passive: true });
    // At once where it was, with what stands for cells until they come.
    this.feed.element.style.minHeight = `${height}px`;
    scrollTo({ top: y, behavior: "instant" });
    this.waiting.style.top = `${y}px`;
    this.waiting.hidden = false;
    try {
      while (this.#isRestoring && this.list.entries.length <= index && !this.list.isAtEnd) {
        await this.list.loadNext();
        // The first cells are somewhere else.
        this.waiting.hidden = false;
      }
      const entry = this.#isRestoring && nearest(this.list.entries, cell, index);
      if (entry) this.feed.hold({ entry, offset });
    } finally {
      for (const gesture of gestures) removeEventListener(gesture, stop, { capture: true });
      this.#isRestoring = false;
      this.feed.element.style.minHeight = "";
      this.waiting.hidden = true;
      this.waiting.style.top = "";
      this.feed.schedule();
    }
  }

  #keep() {
    if (this.#isRestoring) return;
    const anchor = this.feed.anchor();
    if (anchor === null) return;
    const { entry, offset } = anchor;
    const position = { cell: entry.cell.id, index: entry.index, offset, y: scrollY, height: this.feed.layout.height };
    history.replaceState({ ...history.state, position }, "");
  }
}

/** The entry with a cell's id that stands nearest to where it stood; else what stands there now. */
function nearest(entries, id, index) {
  const distance = (entry) => Math.abs(entry.index - index);
  const found = entries.filter(({ cell }) => cell.id === id).sort((a, b) => distance(a) - distance(b));
  return found[0] ?? entries[Math.min(index, entries.length - 1)];
}
