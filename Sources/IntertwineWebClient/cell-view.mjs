// A reusable view for cells of one identifier. The feed defines its size, a renderer its elements, and the configuration action its
// content.
import { bindingValue, customSlots } from "./client/index.mjs";
import { fill } from "./binding-elements.mjs";
import { element, hue, icon, initials, resolve } from "./elements.mjs";
import { clearPlaceholder, showPlaceholder } from "./placeholder-image.mjs";
import { mediaPlayer } from "./media-player.mjs";
import { placeholder } from "./placeholder-cell.mjs";

let made = 0;

export class CellView {
  entry = null;
  /** The displayed cell. The entry may have another cell already. */
  cell = null;
  index = -1;
  frame = null;
  #outlets = {};
  #imageViews = [];
  #isNear = false;
  #label;

  /**
   * - images: loads images. actions: performs slots. distance(entry): returns the distance of an entry from the visible area.
   * - removal: the label for removing a cell from the viewer's list, or null. language(): returns the language of the texts, or null.
   */
  constructor({ identifier, renderer, images, actions, distance, removal, language }) {
    Object.assign(this, { identifier, images, actions, distance, removal, language });
    this.content = element("div.cell-content");
    this.rendering = rendered(renderer, identifier, this.content);
    this.#label = this.rendering.label;
    this.#label.id = `cell-${++made}-label`;
    this.element = element("article.cell", { tabindex: "-1", "aria-labelledby": this.#label.id });
    this.element.dataset.identifier = identifier;
    if (this.rendering.role) this.element.classList.add(`is-${this.rendering.role}`);
    this.tools = element("div.cell-tools", {}, ...this.#makeTools());
    this.element.append(this.content, this.tools);
  }

  /** Displays an entry in a frame. */
  show(entry, frame) {
    const { tabIndex } = this.element;
    const isSame = this.entry === entry;
    if (this.entry !== null) this.prepareForReuse();
    this.entry = entry;
    if (isSame) this.element.tabIndex = tabIndex;
    const { cell } = entry;
    this.cell = cell;
    this.element.dataset.id = cell.id;
    this.element.style.setProperty("--hue", hue(String(cell.id)));
    const isSaved = cell.state?.saved === true;
    // The page itself is in English.
    const language = this.language();
    if (language === null) this.content.removeAttribute("lang");
    else this.content.lang = language;
    this.element.classList.toggle("is-saved", isSaved);
    this.element.ariaDescription = isSaved ? "Saved" : null;
    this.element.classList.toggle("is-inspected", entry.isInspected === true);
    this.#showControls(cell.actions ?? {});
    this.element.classList.toggle("has-slots", customSlots(cell).length > 0);
    this.place(frame);
    this.#outlets = this.rendering.outletsFor?.(cell) ?? this.rendering.outlets;
    this.actions.perform("configuration", entry, { view: this });
    entry.name = this.#label.textContent || String(cell.id ?? this.identifier);
  }

  /** Moves the view to its frame. */
  place(frame) {
    if (frame === undefined) return;
    this.frame = frame;
    const { style } = this.element;
    style.left = `${frame.left}px`;
    style.top = `${frame.top}px`;
    style.width = `${frame.width}px`;
    style.height = `${frame.height}px`;
  }

  /** Sets the position of the cell among `count` cells for screen readers; -1 if the number is unknown. */
  number(count) {
    this.index = this.entry.index;
    this.element.ariaPosInSet = String(this.index + 1);
    this.element.ariaSetSize = String(count);
  }

  /** Cancels pending images and clears the content. */
  prepareForReuse() {
    this.disappear();
    this.#imageViews = [];
    this.entry = null;
    this.element.tabIndex = -1;
    for (const animation of this.element.getAnimations()) animation.cancel();
    for (const outlet of Object.values(this.#outlets)) {
      outlet.replaceChildren();
      outlet.removeAttribute("title");
      delete outlet.dataset.state;
      delete outlet.dataset.initials;
      clearPlaceholder(outlet);
    }
  }

  /** Performs the bindings of a configuration: texts immediately, images when the cell is near the viewport. */
  bind(bindings) {
    for (const [part, binding] of Object.entries(bindings ?? {})) {
      const outlet = this.#outlets[part];
      const shown = bindingValue(binding);
      if (outlet === undefined || shown === null) continue;
      fill(outlet, shown);
      if (shown.type === "text") {
        for (const avatar of this.content.querySelectorAll(".avatar")) avatar.dataset.initials = initials(shown.value);
      }
      if (shown.type === "media") this.#play(outlet, shown.value);
      if (shown.type === "image") {
        showPlaceholder(outlet, binding);
        this.#imageViews.push({ binding, outlet, isShown: false, request: null });
      }
    }
  }

  /** Loads the images, when the cell is near the viewport. */
  appear() {
    if (this.#isNear) return;
    this.#isNear = true;
    this.retry();
  }

  /** Loads missing images again. */
  retry() {
    if (this.#isNear) for (const image of this.#imageViews) this.#load(image);
  }

  /** Cancels the images that are not loaded yet. */
  disappear() {
    if (!this.#isNear) return;
    this.#isNear = false;
    for (const player of this.content.querySelectorAll("video, audio")) player.pause();
    for (const image of this.#imageViews) {
      const { request } = image;
      if (request === null) continue;
      image.request = null;
      delete image.outlet.dataset.state;
      this.images.cancel(request);
    }
  }

  #play(outlet, href) {
    const { entry } = this;
    const perform = (slot) => this.actions.perform(slot, entry).catch(() => {});
    // The media type is a separate text binding.
    const { mediaType: binding } = this.cell.actions.configuration.bindings;
    const mediaType = bindingValue(binding)?.value ?? (/Audio/.test(this.identifier) ? "audio/" : "");
    const fail = () => outlet.replaceChildren(element("p.media-failed", { role: "status" }, "The media cannot be played."));
    const player = mediaPlayer({ href, mediaType }, { entry, title: this.#label.textContent || "Advertisement", perform, fail });
    if (player !== null) outlet.replaceChildren(player);
  }

  async #load(image) {
    if (image.isShown || image.request !== null) return;
    const { entry } = this;
    const request = this.images.request(image.binding, { owner: entry, priority: () => this.distance(entry) });
    image.request = request;
    image.outlet.dataset.state = "waiting";
    try {
      const element = await request.image;
      if (image.request !== request) return;
      if (typeof image.binding.alt === "string") element.alt = image.binding.alt;
      image.outlet.replaceChildren(element);
      image.outlet.dataset.state = "shown";
      image.isShown = true;
      image.request = null;
    } catch (error) {
      if (image.request !== request) return;
      image.request = null;
      image.outlet.dataset.state = "failed";
      if (error.problem?.detail) image.outlet.title = error.problem.detail;
      if (error.retryAfter) setTimeout(() => this.#imageViews.includes(image) && this.retry(), Math.min(error.retryAfter, 30) * 1000);
    }
  }

  /** Shows controls for the cell's actions. */
  #showControls({ selection, dismissal }) {
    this.dismissTool.hidden = !dismissal && !this.removal;
    const title = this.removal ?? (typeof dismissal?.label === "string" ? dismissal.label : "Dismiss");
    Object.assign(this.dismissTool, { title, ariaLabel: title });
    const link = selection?.type === "link" ? resolve(selection.href) : null;
    const tag = !selection ? null : link ? "a" : "button";
    if (this.face?.localName !== tag) {
      this.face?.remove();
      this.face = tag && this.#makeFace(tag);
      if (this.face) this.content.after(this.face);
    }
    if (link) this.face.href = link;
  }

  #makeFace(tag) {
    const shared = { tabindex: "-1", "aria-labelledby": this.#label.id };
    return tag === "a"
      ? element("a.cell-face", { ...shared, target: "_blank", rel: "noopener" })
      : element("button.cell-face", { ...shared, type: "button", "aria-haspopup": "dialog" });
  }

  #makeTools() {
    const tool = (name, title, attributes, ...paths) => {
      const names = { title, "aria-label": title, "aria-describedby": this.#label.id, ...attributes };
      return element("button.tool", { type: "button", "data-tool": name, tabindex: "-1", ...names }, icon(...paths));
    };
    const back = ["M8 5.5l-3.5 3.5L8 12.5", "M5 9h9a5 5 0 0 1 0 10h-3"];
    this.dismissTool = this.removal
      ? tool("dismiss", this.removal, {}, ...back)
      : tool("dismiss", "Dismiss", {}, "M7.5 7.5l9 9", "M16.5 7.5l-9 9");
    return [
      tool("inspect", "Inspect", {}, "M12 11v6", "M12 7.2v.1"),
      this.dismissTool,
      tool("more", "More", { "aria-haspopup": "menu" }, "M6 12v.1", "M12 12v.1", "M18 12v.1"),
    ];
  }
}

/** Returns the result of a renderer, or a placeholder if the renderer fails. */
function rendered(renderer, identifier, content) {
  try {
    return renderer(content, identifier);
  } catch (error) {
    console.warn(`The renderer of ${identifier} failed.`, error);
    content.replaceChildren();
    return placeholder(content, identifier);
  }
}
