// Short notices at the lower edge, with what there is to do about each.
import { element } from "./elements.mjs";

const most = 3;

export class Toast {
  #shown = [];

  constructor(container) {
    this.container = container;
  }

  /**
   * Shows a notice for some seconds, longer for as long as pointer or focus rest on it. `actions` are `{ label, run }`: one that is
   * run closes the notice. Answers `close`. `expired` is called where its time is over.
   */
  show(message, { seconds = 5, actions = [], expired = () => {} } = {}) {
    const text = element("p", { role: "status" });
    const made = { element: element("div.toast", {}, text), actions };
    actions.forEach((action, index) => {
      const button = element("button.toast-button", { type: "button" }, action.label);
      if (index === 0) button.setAttribute("aria-keyshortcuts", "u");
      button.addEventListener("click", () => this.#act(made, action));
      made.element.append(button);
    });
    this.container.append(made.element);
    // A live region speaks of text that comes after it.
    text.textContent = message;
    this.#shown.push(made);
    // What can still be done about something goes last.
    while (this.#shown.length > most) this.#close(this.#shown.find(({ actions }) => actions.length === 0) ?? this.#shown[0]);

    const start = () => {
      clearTimeout(made.timer);
      made.timer = setTimeout(() => {
        this.#close(made);
        expired();
      }, seconds * 1000);
    };
    for (const rest of ["pointerenter", "focusin"]) made.element.addEventListener(rest, () => clearTimeout(made.timer));
    for (const leave of ["pointerleave", "focusout"]) made.element.addEventListener(leave, start);
    start();
    return () => this.#close(made);
  }

  /** Does what the newest notice offers first. */
  act() {
    const offer = this.#shown.findLast(({ actions }) => actions.length > 0);
    if (offer) this.#act(offer, offer.actions[0]);
  }

  #act(made, action) {
    this.#close(made);
    action.run();
  }

  #close(made) {
    clearTimeout(made.timer);
    this.#shown = this.#shown.filter((other) => other !== made);
    made.element.remove();
  }
}
