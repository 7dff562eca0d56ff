// Short notices at the lower edge, with actions.
import { element } from "./elements.mjs";

const maxShown = 3;

export class Toast {
  #shown = [];

  constructor(container) {
    this.container = container;
  }

  /**
   * Shows a notice for some seconds, longer while the pointer or the focus is on it. Returns a function that closes it.
   *
   * - actions: `{ label, run }`; running one closes the notice. expired: called after the time.
   */
  show(message, { seconds = 5, actions = [], expired = () => {} } = {}) {
    // A repeated gesture replaces its notice.
    for (const other of this.#shown.filter((one) => one.message === message)) this.#close(other);
    const text = element("p", { role: "status" });
    const notice = { element: element("div.toast", {}, text), actions, message };
    actions.forEach((action, index) => {
      const button = element("button.toast-button", { type: "button" }, action.label);
      if (index === 0) button.setAttribute("aria-keyshortcuts", "u");
      button.addEventListener("click", () => this.#act(notice, action));
      notice.element.append(button);
    });
    this.container.append(notice.element);
    // A live region announces text that is added after its creation.
    text.textContent = message;
    this.#shown.push(notice);
    // Notices with actions are removed last.
    while (this.#shown.length > maxShown) this.#close(this.#shown.find(({ actions }) => actions.length === 0) ?? this.#shown[0]);

    const start = () => {
      clearTimeout(notice.timer);
      notice.timer = setTimeout(() => {
        this.#close(notice);
        expired();
      }, seconds * 1000);
    };
    for (const rest of ["pointerenter", "focusin"]) notice.element.addEventListener(rest, () => clearTimeout(notice.timer));
    for (const leave of ["pointerleave", "focusout"]) notice.element.addEventListener(leave, start);
    start();
    return () => this.#close(notice);
  }

  /** Runs the first action of the newest notice. */
  act() {
    const offer = this.#shown.findLast(({ actions }) => actions.length > 0);
    if (offer) this.#act(offer, offer.actions[0]);
  }

  #act(notice, action) {
    this.#close(notice);
    action.run();
  }

  #close(notice) {
    clearTimeout(notice.timer);
    this.#shown = this.#shown.filter((other) => other !== notice);
    notice.element.remove();
  }
}
