// The screen `ImageZoom`: one picture, as large as the window takes or larger, and whose it is. It can be drawn, pinched and wheeled.
import { element, initials } from "./elements.mjs";

const smallest = 0.2;
const largest = 5;
const step = 1.25;
const stride = 60;

/** `show(arguments, entry)` opens the dialog; its promise settles once it is closed. */
export function imageZoom(images) {
  return ({ username = "", image }, entry) =>
    new Promise((closed) => {
      const stage = element("div.zoom-stage", { tabindex: "0", role: "group", "aria-label": "Picture" });
      const scale = element("output.zoom-scale", { "aria-live": "off" });
      const button = (label, text) => element("button.zoom-button", { type: "button", "aria-label": label, title: label }, text);
      const [smaller, larger, close] = [button("Smaller", "−"), button("Larger", "+"), button("Close", "×")];
      const dialog = element(
        "dialog.zoom", { "aria-labelledby": "zoom-title" },
        element("div.zoom-bar", {}, element("h2", { id: "zoom-title", dir: "auto" }, username), smaller, scale, larger, close),
        stage,
      );
      const lens = new Lens(stage, (factor) => {
        scale.textContent = `${Math.round(factor * 100)} %`;
      });
      const request = show(image, username, stage, images, entry);
      smaller.addEventListener("click", () => lens.zoom(lens.factor / step));
      larger.addEventListener("click", () => lens.zoom(lens.factor * step));
      close.addEventListener("click", () => dialog.close());
      dialog.addEventListener("click", ({ target }) => (target === dialog || target === stage) && !lens.wasMoved && dialog.close());
      dialog.addEventListener("keydown", (event) => lens.press(event));
      dialog.addEventListener("close", () => {
        request?.abort();
        dialog.remove();
        closed();
      });
      document.body.append(dialog);
      dialog.showModal();
      lens.zoom(1);
      close.focus();
    });
}

/** How large the picture is and what part of it is seen. The stage scrolls, so nothing of the picture is ever out of reach. */
class Lens {
  factor = 1;
  /** Whether the last press of the pointer has moved the picture, and so was no click. */
  wasMoved = false;
  #pointers = new Map();

  constructor(stage, tell) {
    Object.assign(this, { stage, tell });
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    stage.addEventListener("dblclick", (event) => this.zoom(this.factor === 1 ? 2 : 1, event));
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      stage.addEventListener(end, ({ pointerId }) => this.#pointers.delete(pointerId));
    }
  }

  /** Makes the picture `factor` times its usual size; what is at the given point of the window stays there. */
  zoom(wanted, { clientX, clientY } = {}) {
    const { stage } = this;
    const box = stage.getBoundingClientRect();
    const point = { x: clientX ?? box.left + box.width / 2, y: clientY ?? box.top + box.height / 2 };
    const before = stage.firstElementChild?.getBoundingClientRect();
    this.factor = Math.min(largest, Math.max(smallest, wanted));
    stage.style.setProperty("--zoom", this.factor);
    this.tell(this.factor);
    const after = stage.firstElementChild?.getBoundingClientRect();
    if (!before?.width) return;
    stage.scrollLeft += after.left + ((point.x - before.left) / before.width) * after.width - point.x;
    stage.scrollTop += after.top + ((point.y - before.top) / before.height) * after.height - point.y;
  }

  /** Keys without modifiers: those with one are the browser's. */
  press(event) {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const across = { ArrowLeft: -stride, ArrowRight: stride }[key] ?? 0;
    const down = { ArrowUp: -stride, ArrowDown: stride }[key] ?? 0;
    if (across !== 0 || down !== 0) this.stage.scrollBy({ left: across, top: down, behavior: "instant" });
    else if (key === "+" || key === "=") this.zoom(this.factor * step);
    else if (key === "-") this.zoom(this.factor / step);
    else if (key === "0") this.zoom(1);
    else return;
    event.preventDefault();
  }

  /** Also what a touchpad's pinch sends, a wheel with the control key: the picture grows, and not the page. */
  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    const delta = Math.max(-100, Math.min(100, event.deltaY * lines));
    this.zoom(this.factor * Math.exp(-delta * (event.ctrlKey ? 0.01 : 0.00095)), event);
  }

  #down(event) {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    if (this.#pointers.size === 0) this.wasMoved = false;
    this.#pointers.set(event.pointerId, event);
    this.stage.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const last = this.#pointers.get(event.pointerId);
    if (last === undefined) return;
    const others = Array.from(this.#pointers.values()).filter(({ pointerId }) => pointerId !== event.pointerId);
    const isFirst = !this.wasMoved && others.length === 0;
    // A hand is never quite still.
    if (isFirst && Math.hypot(event.clientX - last.clientX, event.clientY - last.clientY) < 4) return;
    this.wasMoved = true;
    this.#pointers.set(event.pointerId, event);
    this.stage.scrollLeft -= (event.clientX - last.clientX) / (others.length + 1);
    this.stage.scrollTop -= (event.clientY - last.clientY) / (others.length + 1);
    if (others.length === 0) return;
    const [other] = others;
    const distance = ({ clientX, clientY }) => Math.max(1, Math.hypot(clientX - other.clientX, clientY - other.clientY));
    const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 };
    this.zoom((this.factor * distance(event)) / distance(last), middle);
  }
}

/** Puts the picture onto the stage once it is there; until then, and if it never comes, the initials stand there. */
function show(href, username, stage, images, entry) {
  stage.append(element("span.zoom-initials", { "aria-hidden": "true" }, initials(username)));
  if (typeof href !== "string") return null;
  const request = images.request(href, { owner: entry });
  request.answer.then((picture) => {
    picture.className = "zoom-picture";
    picture.alt = `Picture of ${username}`;
    stage.replaceChildren(picture);
  }).catch(() => stage.classList.add("is-failed"));
  return request;
}
