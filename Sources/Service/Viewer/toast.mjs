// Short notices at the lower edge, with at most one thing to do about each.
import { element } from "./elements.mjs";

const most = 3;

export class Toast {
  #shown = [];

  constructor(container) {
    this.container = container;
  }

  /** Shows a notice for some seconds, longer for as long as pointer or focus rest on it. */
  show(message, { seconds = 5, action } = {}) {
    const text = element("p", { role: "status" });
    const made = { element: element("div.toast", {}, text), action };
    if (action) {
      const button = element("button.toast-button", { type: "button", "aria-keyshortcuts": "u" }, action.label);
      button.addEventListener("click", () => this.#act(made));
      made.element.append(button);
    }
    this.container.append(made.element);
    // A live region speaks of text that comes after it.
    text.textContent = message;
    this.#shown.push(made);
    while (this.#shown.length > most) this.#close(this.#shown[0]);

    const start = () => {
      clearTimeout(made.timer);
      made.timer = setTimeout(() => this.#close(made), seconds * 1000);
    };
    for (const rest of ["pointerenter", "focusin"]) made.element.addEventListener(rest, () => clearTimeout(made.timer));
    for (const leave of ["pointerleave", "focusout"]) made.element.addEventListener(leave, start);
    start();
  }

  /** Does what the newest notice offers. */
  act() {
    const offer = this.#shown.findLast(({ action }) => action);
    if (offer) this.#act(offer);
  }

  #act(made) {
    this.#close(made);
    made.action.run();
  }

  #close(made) {
    clearTimeout(made.timer);
    this.#shown = this.#shown.filter((other) => other !== made);
    made.element.remove();
  }
}
