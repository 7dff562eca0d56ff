// One cell: an article of the size that the feed gives, filled by a renderer, bound by the configuration action.
import { element, hue, icon, initials, resolve } from "./elements.mjs";

const fallback = { width: 300, height: 200 };
const largest = 4096;
const column = 320;

export class CellView {
  #pictures = new Map();
  #isNear = false;

  constructor({ cell, number, registry, requests, performer }) {
    Object.assign(this, { cell, number, requests, performer });
    this.content = element("div.cell-content");
    const { label, outlets } = registry.render(cell, this.content);
    this.outlets = outlets;
    label.id = `cell-${number}-label`;
    this.element = element("article.cell", { tabindex: "-1", "aria-labelledby": label.id, "aria-posinset": number, "aria-setsize": "-1" });
    this.element.dataset.id = cell.id;
    this.element.dataset.identifier = cell.identifier;
    this.#reserve(cell.size);
    this.element.style.setProperty("--hue", hue(String(cell.id)));
    this.element.append(this.content, ...this.#controls(label.id));
  }

  get name() {
    return this.element.querySelector(`#cell-${this.number}-label`).textContent || this.cell.id;
  }

  /** Performs what a configuration binds: texts at once, pictures once the cell comes near the viewport. */
  bind(bindings) {
    for (const [part, value] of Object.entries(bindings ?? {})) {
      const outlet = this.outlets[part];
      if (outlet === undefined || value === null || typeof value !== "object") continue;
      if (typeof value.text === "string") {
        outlet.textContent = value.text;
        outlet.title = value.text;
        for (const avatar of this.content.querySelectorAll(".avatar")) avatar.dataset.initials = initials(value.text);
      }
      if (typeof value.image === "string") this.#pictures.set(part, { href: value.image, outlet, isShown: false, request: null });
    }
  }

  appear() {
    this.#isNear = true;
    for (const picture of this.#pictures.values()) this.#load(picture);
  }

  /** Performs the cancellation for every picture that has not come yet. */
  disappear() {
    this.#isNear = false;
    for (const picture of this.#pictures.values()) {
      const { request } = picture;
      if (request === null) continue;
      picture.request = null;
      delete picture.outlet.dataset.state;
      if (!request.isSent) {
        request.abort();
        continue;
      }
      // The server stops the request by its name first, and may break off an answer that has begun; closing the connection is for
      // servers that did not.
      request.isGivenUp = true;
      const stop = () => request.abort();
      this.performer.perform("cancellation", this, { values: { request: request.id } }).then(stop, stop);
    }
  }

  async #load(picture) {
    if (picture.isShown || picture.request !== null) return;
    const request = this.requests.request(picture.href, this);
    picture.request = request;
    picture.outlet.dataset.state = "waiting";
    try {
      const image = await decoded(await request.answer);
      if (picture.request !== request) return;
      picture.outlet.replaceChildren(image);
      picture.outlet.dataset.state = "shown";
      picture.isShown = true;
      picture.request = null;
    } catch (error) {
      if (picture.request !== request) return;
      picture.request = null;
      picture.outlet.dataset.state = "failed";
      if (error.again) setTimeout(() => this.#isNear && this.#load(picture), Math.min(error.again, 30) * 1000);
    }
  }

  #reserve(size) {
    const points = (value, otherwise) => (Number.isFinite(value) && value > 0 ? Math.min(value, largest) : otherwise);
    this.size = { width: points(size?.width, fallback.width), height: points(size?.height, fallback.height) };
    this.element.style.width = `${this.size.width}px`;
    this.element.style.height = `${this.size.height}px`;
    this.element.style.setProperty("--columns", Math.ceil((this.size.width + 20) / column));
  }

  #controls(label) {
    const { selection, dismissal } = this.cell.actions ?? {};
    const controls = [];
    if (selection !== undefined && selection !== null) {
      const link = selection.type === "link" ? resolve(selection.href) : null;
      const shared = { tabindex: "-1", "aria-labelledby": label };
      this.face = link
        ? element("a.cell-face", { ...shared, href: link, target: "_blank", rel: "noopener" })
        : element("button.cell-face", { ...shared, type: "button", "aria-haspopup": "dialog" });
      controls.push(this.face);
    }
    const tools = element("div.cell-tools");
    const tool = (name, title, ...paths) => {
      const names = { title, "aria-label": title, "aria-describedby": label };
      return element("button.tool", { type: "button", "data-tool": name, tabindex: "-1", ...names }, icon(...paths));
    };
    tools.append(tool("inspect", "Inspect", "M12 11v6", "M12 7.2v.1"));
    if (dismissal) tools.append(tool("dismiss", "Dismiss", "M7.5 7.5l9 9", "M16.5 7.5l-9 9"));
    controls.push(tools);
    return controls;
  }
}

async function decoded(bytes) {
  const image = new Image();
  const url = URL.createObjectURL(bytes);
  image.alt = "";
  image.draggable = false;
  image.src = url;
  try {
    await image.decode();
  } finally {
    URL.revokeObjectURL(url);
  }
  return image;
}
