// A text field with the numbers of its lines, and errors beside the lines that they are in.
import { element } from "./client/element/elements.mjs";

/** The height of a line in the style sheet, and the distance of the first one from the edge. */
const [line, start] = [20, 12];

export class Editor {
  /** - field: the `textarea`. changed(): called after input. */
  constructor(field, changed) {
    this.field = field;
    this.numbers = element("div.editor-numbers", { "aria-hidden": "true" });
    this.lens = element("div.editor-lens", { "aria-hidden": "true" });
    const box = element("div.editor");
    field.before(box);
    box.append(this.numbers, field, this.lens);
    field.addEventListener("input", () => {
      this.#number();
      changed();
    });
    field.addEventListener("scroll", () => this.#scroll());
  }

  get value() {
    return this.field.value;
  }

  set value(text) {
    this.field.value = text;
    this.field.scrollTop = 0;
    this.#number();
  }

  /** Shows errors, `{ line, text }`; a line that is missing is the first. */
  report(errors) {
    this.field.setAttribute("aria-invalid", String(errors.length > 0));
    const byLine = Map.groupBy?.(errors, ({ line }) => line ?? 1) ?? new Map(errors.map((error) => [error.line ?? 1, [error]]));
    this.lens.replaceChildren(...[...byLine].map(([number, some]) => {
      const mark = element("p.editor-error", {}, some.map(({ text }) => text).join("; "));
      mark.style.top = `${start + (number - 1) * line}px`;
      // After the text of the line, as far as it leaves room.
      mark.style.left = `min(${(this.value.split("\n")[number - 1]?.length ?? 0) + 2}ch, 60%)`;
      return mark;
    }));
    this.wrong = new Set(byLine.keys());
    this.#number();
  }

  /** Selects a line. */
  select(number) {
    const lines = this.value.split("\n");
    const at = lines.slice(0, number - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.field.focus();
    this.field.setSelectionRange(at, at + (lines[number - 1]?.length ?? 0));
    this.field.scrollTop = Math.max(0, start + (number - 1) * line - this.field.clientHeight / 2);
  }

  #number() {
    const count = this.value.split("\n").length;
    this.numbers.replaceChildren(...Array.from({ length: count }, (_, index) => element(this.wrong?.has(index + 1) ? "span.is-wrong" : "span", {}, String(index + 1))));
    this.#scroll();
  }

  #scroll() {
    for (const part of [this.numbers, this.lens]) part.style.translate = `0 ${-this.field.scrollTop}px`;
  }
}
