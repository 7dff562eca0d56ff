// The screen `ImageZoom`: an image that can be panned and zoomed, and the username.
import { element, initials } from "./elements.mjs";

const smallest = 0.2;
const largest = 5;
const step = 1.25;
const stride = 60;

/** Returns a function `show(arguments, entry)` that opens the dialog in a tree. Its promise resolves when the dialog is closed. */
export function imageZoom({ images, root, words }) {
  return ({ username: name, image }, entry) =>
    new Promise((closed) => {
      const username = typeof name === "string" ? name : "";
      const stage = element("div.zoom-stage", { tabindex: "0", role: "group", "aria-label": words("image") });
      const scale = element("output.zoom-scale", { "aria-live": "off" });
      const button = (label, text) => element("button.zoom-button", { type: "button", "aria-label": label, title: label }, text);
      const [smaller, larger, close] = [button(words("smaller"), "−"), button(words("larger"), "+"), button(words("close"), "×")];
      const dialog = element(
        "dialog.zoom", { "aria-labelledby": "zoom-title" },
        element("div.zoom-bar", {}, element("h2", { id: "zoom-title", dir: "auto" }, username), smaller, scale, larger, close),
        stage,
      );
      const zoom = new Zoom(stage, (factor) => {
        scale.textContent = `${Math.round(factor * 100)} %`;
      });
      const request = show({ href: image, username, stage, images, entry, words });
      smaller.addEventListener("click", () => zoom.zoom(zoom.factor / step));
      larger.addEventListener("click", () => zoom.zoom(zoom.factor * step));
      close.addEventListener("click", () => dialog.close());
      dialog.addEventListener("click", ({ target }) => (target === dialog || target === stage) && !zoom.wasPanned && dialog.close());
      dialog.addEventListener("keydown", (event) => zoom.press(event));
      const endBack = closesByBack(dialog);
      dialog.addEventListener("close", () => {
        endBack();
        request?.abort();
        dialog.remove();
        closed();
      });
      root.append(dialog);
      dialog.showModal();
      zoom.zoom(1);
      close.focus();
    });
}

/** Lets the browser's Back close a dialog instead of leaving the page. Returns a function for the end of the dialog. */
function closesByBack(dialog) {
  let isEntered = true;
  const state = { ...history.state, isZoomed: true };
  history.pushState(state, "");
  const back = () => {
    isEntered = false;
    dialog.close();
  };
  addEventListener("popstate", back);
  return () => {
    removeEventListener("popstate", back);
    if (isEntered && history.state?.isZoomed) history.back();
  };
}

/** The zoom factor and scroll position of an image. The stage scrolls, so that every part of the image is reachable. */
class Zoom {
  factor = 1;
  /** True if the last press of the pointer panned the image and is not a click. */
  wasPanned = false;
  #pointers = new Map();

  constructor(stage, onChange) {
    Object.assign(this, { stage, onChange });
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    stage.addEventListener("dblclick", (event) => this.zoom(this.factor === 1 ? 2 : 1, event));
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      stage.addEventListener(end, ({ pointerId }) => this.#pointers.delete(pointerId));
    }
  }

  /** Sets the zoom factor. The image point at the given point of the window stays there. */
  zoom(wanted, { clientX, clientY } = {}) {
    const { stage } = this;
    const box = stage.getBoundingClientRect();
    const point = { x: clientX ?? box.left + box.width / 2, y: clientY ?? box.top + box.height / 2 };
    const before = stage.firstElementChild?.getBoundingClientRect();
    this.factor = Math.min(largest, Math.max(smallest, wanted));
    stage.style.setProperty("--zoom", this.factor);
    this.onChange(this.factor);
    const after = stage.firstElementChild?.getBoundingClientRect();
    if (!before?.width) return;
    stage.scrollLeft += after.left + ((point.x - before.left) / before.width) * after.width - point.x;
    stage.scrollTop += after.top + ((point.y - before.top) / before.height) * after.height - point.y;
  }

  /** Handles keys without modifiers; keys with modifiers belong to the browser. */
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

  /** Handles the wheel. A pinch on a touchpad is a wheel event with the control key; it zooms the image instead of the page. */
  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    const delta = Math.max(-100, Math.min(100, event.deltaY * lines));
    this.zoom(this.factor * Math.exp(-delta * (event.ctrlKey ? 0.01 : 0.00095)), event);
  }

  #down(event) {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    if (this.#pointers.size === 0) this.wasPanned = false;
    this.#pointers.set(event.pointerId, event);
    this.stage.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const last = this.#pointers.get(event.pointerId);
    if (last === undefined) return;
    const others = Array.from(this.#pointers.values()).filter(({ pointerId }) => pointerId !== event.pointerId);
    const isFirst = !this.wasPanned && others.length === 0;
    // Ignores small movements during a click.
    if (isFirst && Math.hypot(event.clientX - last.clientX, event.clientY - last.clientY) < 4) return;
    this.wasPanned = true;
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

/** Shows the image on the stage when it is loaded. Until then, and if loading fails, the initials are displayed. */
function show({ href, username, stage, images, entry, words }) {
  stage.append(element("span.zoom-initials", { "aria-hidden": "true" }, initials(username)));
  if (typeof href !== "string") {
    stage.append(element("p.zoom-failure", { role: "status" }, words("noAvatar")));
    return null;
  }
  const request = images.request(href, { owner: entry });
  request.image.then((loaded) => {
    loaded.className = "zoom-image";
    loaded.alt = words("imageOf", { name: username });
    stage.replaceChildren(loaded);
  }).catch((error) => {
    if (!stage.isConnected) return;
    const reason = error.problem?.detail ?? words("imageReason");
    stage.append(element("p.zoom-failure", { role: "status" }, words("imageFailed", { reason })));
  });
  return request;
}
