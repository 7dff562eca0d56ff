// Saves the scroll position in the browser's history, and restores it after a reload or a return.

const saveDelay = 150;
/** Events that show that the person scrolls manually. */
const gestures = ["wheel", "touchstart", "keydown", "pointerdown"];

export class ScrollPosition {
  #timer;
  #isRestoring = false;

  constructor({ feed, list, waiting }) {
    Object.assign(this, { feed, list, waiting });
    history.scrollRestoration = "manual";
    addEventListener("scroll", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#save(), saveDelay);
    }, { passive: true });
    addEventListener("pagehide", () => this.#save());
  }

  /** Loads the pages up to the saved position and scrolls there. Manual scrolling cancels it. */
  async restore() {
    const { cell, index, offset, y, height } = history.state?.position ?? {};
    if (!(index > 0 || y > 0)) return;
    this.#isRestoring = true;
    const stop = () => {
      this.#isRestoring = false;
    };
    for (const gesture of gestures) addEventListener(gesture, stop, { capture: true, once: true, passive: true });
    // Scrolls immediately, and shows outlines until the cells arrive.
    this.feed.element.style.minHeight = `${height}px`;
    scrollTo({ top: y, behavior: "instant" });
    this.waiting.style.top = `${y}px`;
    this.waiting.hidden = false;
    try {
      while (this.#isRestoring && this.list.entries.length <= index && !this.list.isAtEnd) {
        await this.list.loadNext();
        // The loaded cells are elsewhere, so the outlines stay.
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

  #save() {
    if (this.#isRestoring) return;
    const anchor = this.feed.anchor();
    if (anchor === null) return;
    const { entry, offset } = anchor;
    const position = { cell: entry.cell.id, index: entry.index, offset, y: scrollY, height: this.feed.layout.height };
    history.replaceState({ ...history.state, position }, "");
  }
}

/** Returns the entry with a cell's id that is nearest to its former index; otherwise the entry at that index. */
function nearest(entries, id, index) {
  const distance = (entry) => Math.abs(entry.index - index);
  const found = entries.filter(({ cell }) => cell.id === id).sort((a, b) => distance(a) - distance(b));
  return found[0] ?? entries[Math.min(index, entries.length - 1)];
}
