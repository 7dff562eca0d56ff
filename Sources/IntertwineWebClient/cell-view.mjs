// A view for cells of one identifier, used for one after the other: sized as the feed says, filled by a renderer, bound by the
// configuration action.
import { offered } from "./client/index.mjs";
import { fill } from "./binding-elements.mjs";
import { element, hue, icon, initials, resolve } from "./elements.mjs";
import { forget, foreshadow } from "./placeholder-image.mjs";
import { mediaPlayer } from "./media-player.mjs";
import { placeholder } from "./placeholder-cell.mjs";

let made = 0;

export class CellView {
  entry = null;
  /** What is shown: the entry may have another one by now. */
  cell = null;
  index = -1;
  frame = null;
  #outlets = {};
  #pictures = [];
  #isNear = false;
  #label;

  /**
   * `images` loads pictures, `actions` performs slots, `distance(entry)` says how far from sight an entry is, `removal` what takes a
   * cell off its list, `language()` what its texts are in, or null.
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

  /** Sizes and binds: from now on this is the view of `entry`. */
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
    // The page around it speaks English.
    const language = this.language();
    if (language === null) this.content.removeAttribute("lang");
    else this.content.lang = language;
    this.element.classList.toggle("is-saved", isSaved);
    this.element.ariaDescription = isSaved ? "Saved" : null;
    this.element.classList.toggle("is-inspected", entry.isInspected === true);
    this.#offer(cell.actions ?? {});
    this.element.classList.toggle("has-slots", offered(cell).length > 0);
    this.place(frame);
    this.#outlets = this.rendering.outletsFor?.(cell) ?? this.rendering.outlets;
    this.actions.perform("configuration", entry, { view: this });
    entry.name = this.#label.textContent || String(cell.id ?? this.identifier);
  }

  /** Puts the view where its cell stands now. */
  place(frame) {
    if (frame === undefined) return;
    this.frame = frame;
    const { style } = this.element;
    style.left = `${frame.left}px`;
    style.top = `${frame.top}px`;
    style.width = `${frame.width}px`;
    style.height = `${frame.height}px`;
  }

  /** Says which of how many cells this is; -1 where nobody knows yet how many there are. */
  number(count) {
    this.index = this.entry.index;
    this.element.ariaPosInSet = String(this.index + 1);
    this.element.ariaSetSize = String(count);
  }

  /** Gives up what was asked for, and forgets what was shown. */
  prepareForReuse() {
    this.disappear();
    this.#pictures = [];
    this.entry = null;
    this.element.tabIndex = -1;
    for (const animation of this.element.getAnimations()) animation.cancel();
    for (const outlet of Object.values(this.#outlets)) {
      outlet.replaceChildren();
      outlet.removeAttribute("title");
      delete outlet.dataset.state;
      delete outlet.dataset.initials;
      forget(outlet);
    }
  }

  /** Performs what a configuration binds: texts at once, pictures once the cell comes near the viewport. */
  bind(bindings) {
    for (const [part, value] of Object.entries(bindings ?? {})) {
      const outlet = this.#outlets[part];
      if (outlet === undefined || value === null || typeof value !== "object") continue;
      fill(outlet, value);
      if (typeof value.text === "string") {
        for (const avatar of this.content.querySelectorAll(".avatar")) avatar.dataset.initials = initials(value.text);
      }
      if (typeof value.media === "string") this.#play(outlet, value);
      if (typeof value.image === "string") {
        foreshadow(outlet, value);
        this.#pictures.push({ binding: value, outlet, isShown: false, request: null });
      }
    }
  }

  /** Asks for the pictures, once the cell is near the viewport. */
  appear() {
    if (this.#isNear) return;
    this.#isNear = true;
    this.retry();
  }

  /** Asks again for the pictures that have not come. */
  retry() {
    if (this.#isNear) for (const picture of this.#pictures) this.#load(picture);
  }

  /** Performs the cancellation for every picture that has not come yet. */
  disappear() {
    if (!this.#isNear) return;
    this.#isNear = false;
    for (const player of this.content.querySelectorAll("video, audio")) player.pause();
    for (const picture of this.#pictures) {
      const { request } = picture;
      if (request === null) continue;
      picture.request = null;
      delete picture.outlet.dataset.state;
      this.images.cancel(request);
    }
  }

  #play(outlet, binding) {
    const { entry } = this;
    const perform = (slot) => this.actions.perform(slot, entry).catch(() => {});
    // The type stands beside the media as a text of its own.
    const type = this.cell.actions.configuration.bindings.mediaType?.text ?? (/Audio/.test(this.identifier) ? "audio/" : undefined);
    const fail = () => outlet.replaceChildren(element("p.media-failed", { role: "status" }, "This cannot be played."));
    const player = mediaPlayer({ type, ...binding }, { entry, title: this.#label.textContent || "Advertisement", perform, fail });
    if (player !== null) outlet.replaceChildren(player);
  }

  async #load(picture) {
    if (picture.isShown || picture.request !== null) return;
    const { entry } = this;
    const request = this.images.request(picture.binding, { owner: entry, priority: () => this.distance(entry) });
    picture.request = request;
    picture.outlet.dataset.state = "waiting";
    try {
      const image = await request.answer;
      if (picture.request !== request) return;
      if (typeof picture.binding.alt === "string") image.alt = picture.binding.alt;
      picture.outlet.replaceChildren(image);
      picture.outlet.dataset.state = "shown";
      picture.isShown = true;
      picture.request = null;
    } catch (error) {
      if (picture.request !== request) return;
      picture.request = null;
      picture.outlet.dataset.state = "failed";
      if (error.problem?.detail) picture.outlet.title = error.problem.detail;
      if (error.again) setTimeout(() => this.#pictures.includes(picture) && this.retry(), Math.min(error.again, 30) * 1000);
    }
  }

  /** Offers what the cell has actions for. */
  #offer({ selection, dismissal }) {
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

/** What a renderer makes; a placeholder where it fails. */
function rendered(renderer, identifier, content) {
  try {
    return renderer(content, identifier);
  } catch (error) {
    console.warn(`The renderer of ${identifier} failed.`, error);
    content.replaceChildren();
    return placeholder(content, identifier);
  }
}
