// A reusable view for cells of one identifier. The feed defines the size of its content, a renderer its elements, and the configuration
// action its texts and images. The tools are in the corner of the card.
import { customSlots, labelOf } from "../actions.mjs";
import { bindingValue, isAdvertisement } from "../bindings.mjs";
import { displaySize } from "../page.mjs";
import { clear, fill } from "./binding-elements.mjs";
import { labelText } from "./cell-heights.mjs";
import { element, hue, icon, initials, resolve } from "./elements.mjs";
import { clearPlaceholder, showPlaceholder } from "./placeholder-image.mjs";
import { mediaPlayer } from "./media-player.mjs";
import { placeholder } from "./standard-cells.mjs";

/** The slots that a tool of its own performs, in the order of preference. Others are in the menu. */
const saving = ["bookmark", "favorite", "like"];

let made = 0;

export class CellView {
  entry = null;
  /** The displayed cell. The entry may have another cell already. */
  cell = null;
  index = -1;
  frame = null;
  /** The link or button that selects the cell, or null. */
  face = null;
  #outlets = {};
  #imageViews = [];
  #isNear = false;
  #isRemoved = false;
  #label;
  /** The height of the displayed cell at text scale 1. */
  #height = 0;

  /**
   * - base: the URL of the service. images: loads images. actions: performs slots.
   * - distance(entry): returns the distance of an entry from the visible area. language(): returns the language of the texts, or null.
   * - removal: the label for removing a cell from the viewer's list, or null. commands: further commands of the page, for tools.
   * - words(name): returns a word of the element. locale(): returns the language of the words.
   * - loaded(view): called after an image of the view was loaded.
   */
  constructor({ identifier, renderer, base, images, actions, distance, language, removal, commands, words, locale, loaded }) {
    Object.assign(this, { identifier, base, images, actions, distance, language, removal, words, locale, loaded });
    this.content = element("div.cell-content", { part: "content" });
    this.disclosure = element("p.cell-disclosure", { part: "disclosure", dir: "auto" });
    this.rendering = rendered(renderer, this.content, { identifier, disclosure: this.disclosure, words });
    this.#label = this.rendering.label;
    this.#label.id = `cell-${++made}-label`;
    this.element = element("article.cell", { tabindex: "-1", "aria-labelledby": this.#label.id, part: "cell" });
    this.element.dataset.identifier = identifier;
    if (this.rendering.role) this.element.classList.add(`is-${this.rendering.role}`);
    // What an ad shows belongs to its name. Nobody reads this text elsewhere.
    this.subject = element("span", { id: `${this.#label.id}-subject`, hidden: true });
    this.tools = element("div.cell-tools", { part: "tools", lang: locale() }, ...this.#makeTools(commands));
    this.gone = element("p.cell-gone", { lang: locale() }, words("removed"));
    this.element.append(this.content, this.subject, this.tools, this.gone);
  }

  /** True if the pictures of an ad are loaded: what is in their place is no ad. Other cells show their texts. */
  get hasPictures() {
    return !isAdvertisement(this.cell) || this.#imageViews.every(({ isShown }) => isShown);
  }

  /** True if the view shows the present state of its entry. */
  get isCurrent() {
    return this.cell === this.entry.cell && this.#isRemoved === this.entry.isRemoved;
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
    // The part of the height that does not grow with the text.
    const { height } = displaySize(cell.size);
    if (height !== this.#height) this.content.style.setProperty("--height", `${height}px`);
    this.#height = height;
    const isSaved = cell.state?.saved === true;
    this.#showSave(cell, isSaved);
    // The page itself is in English.
    const language = this.language();
    if (language === null) this.content.removeAttribute("lang");
    else this.content.lang = language;
    this.element.ariaDescription = isSaved ? this.words("cellSaved") : null;
    this.element.classList.toggle("is-inspected", entry.isInspected === true);
    this.#isRemoved = entry.isRemoved;
    this.element.classList.toggle("is-removed", entry.isRemoved);
    this.#showDisclosure(cell);
    this.element.classList.toggle("has-slots", customSlots(cell).length > 0);
    this.place(frame);
    this.#outlets = this.rendering.outletsFor?.(cell) ?? this.rendering.outlets;
    this.subject.textContent = subjectOf(cell);
    this.subject.lang = language ?? "";
    this.element.setAttribute("aria-labelledby", this.#labels);
    this.#showControls(cell.actions ?? {});
    this.actions.perform("configuration", entry, { view: this });
    entry.name = this.#name;
  }

  /** The text of the label, for notices. An ad is named by what it shows, if its advertiser has described that. */
  get #name() {
    return this.subject.textContent || this.#label.textContent || String(this.cell.id ?? this.identifier);
  }

  /** The ids of the elements with the accessible name. */
  get #labels() {
    return this.subject.textContent === "" ? this.#label.id : `${this.#label.id} ${this.subject.id}`;
  }

  /** Moves the view to its frame, which the content fills. */
  place(frame) {
    if (frame === undefined || frame === this.frame) return;
    this.frame = frame;
    const { style } = this.element;
    style.insetInlineStart = `${frame.left}px`;
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
    this.frame = null;
    this.element.tabIndex = -1;
    for (const animation of this.element.getAnimations()) animation.cancel();
    for (const outlet of Object.values(this.#outlets).flat()) {
      clear(outlet);
      delete outlet.dataset.state;
      delete outlet.dataset.initials;
      clearPlaceholder(outlet);
    }
  }

  /** Performs the bindings of a configuration: texts immediately, images when the cell is near the viewport. */
  bind(bindings) {
    for (const [part, binding] of Object.entries(bindings ?? {})) {
      const shown = bindingValue(binding);
      if (shown !== null && Object.hasOwn(this.#outlets, part)) for (const outlet of [this.#outlets[part]].flat()) this.#show(outlet, shown, binding);
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
    for (const image of this.#imageViews) {
      const { request } = image;
      if (request === null) continue;
      image.request = null;
      delete image.outlet.dataset.state;
      this.images.cancel(request);
    }
  }

  #show(outlet, shown, binding) {
    fill(outlet, shown, this.language() ?? this.locale());
    if (shown.type === "text") {
      for (const avatar of this.content.querySelectorAll(".avatar")) avatar.dataset.initials = initials(shown.value);
    }
    if (shown.type === "media") this.#showPlayer(outlet, shown.value);
    if (shown.type === "image") {
      showPlaceholder(outlet, binding);
      this.#imageViews.push({ binding, outlet, isShown: false, request: null });
      if (outlet.matches(".media-poster")) outlet.dataset.poster = "";
    }
  }

  #showPlayer(outlet, href) {
    const { entry } = this;
    const src = resolve(href, this.base);
    if (src === null) return;
    const perform = (slot) => this.actions.perform(slot, entry).catch(() => {});
    // The media type is a separate text binding.
    const { mediaType: binding } = this.cell.actions.configuration.bindings;
    const mediaType = bindingValue(binding)?.value ?? (/Audio/.test(this.identifier) || /\.(mp3|m4a|aac|ogg|oga|opus|wav|flac)([?#]|$)/i.test(src) ? "audio/" : "");
    const fail = () => outlet.replaceChildren(element("p.media-failed", { role: "status", lang: this.locale() }, this.words("mediaFailed")));
    const title = this.#label.textContent || this.words("media");
    const seconds = bindingValue(this.cell.actions.configuration.bindings.duration)?.value ?? null;
    const { player, start } = mediaPlayer({ src, mediaType, entry, title, startTitle: this.words("play", { name: title }), seconds, perform, fail });
    outlet.replaceChildren(player, start);
    outlet.parentElement?.classList.toggle("is-audio", player.localName === "audio");
  }

  /** Shows the label of an ad. */
  #showDisclosure(cell) {
    this.element.classList.toggle("is-advertisement", isAdvertisement(cell));
    this.disclosure.textContent = labelText(cell, this.words("advertisement")) ?? "";
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
      if (image.outlet.matches(".advertisement-content, .row-advertisement, .media-poster")) image.outlet.style.background = groundOf(element) ?? "";
      this.loaded(this);
    } catch (error) {
      if (image.request !== request) return;
      image.request = null;
      image.outlet.dataset.state = "failed";
      if (!image.outlet.matches(".avatar")) image.outlet.replaceChildren(unavailable(image.binding.alt === this.#label.textContent ? "" : image.binding.alt, this.words));
      if (error.problem?.detail) image.outlet.title = error.problem.detail;
      if (error.retryAfter) setTimeout(() => this.#imageViews.includes(image) && this.retry(), Math.min(error.retryAfter, 30) * 1000);
    }
  }

  /** Shows controls for the cell's actions. */
  #showControls({ selection, dismissal }) {
    this.dismissTool.hidden = !dismissal && !this.removal;
    const title = this.removal ?? labelOf(dismissal, this.words("dismiss"));
    Object.assign(this.dismissTool, { title, ariaLabel: title });
    const link = selection?.type === "link" ? resolve(selection.href, this.base) : null;
    const tag = !selection ? null : link ? "a" : "button";
    if (this.face?.localName !== tag) {
      this.face?.remove();
      this.face = tag && this.#makeFace(tag);
    }
    if (this.face === null) return;
    if (link) this.face.href = link;
    // A click on a player plays it, so the selection is beside the label.
    const hasPlayer = this.content.querySelector(".media-outlet") !== null;
    this.face.textContent = hasPlayer ? labelOf(selection, this.words(link ? "visit" : "open")) : "";
    // The name contains the visible text (WCAG 2.5.3).
    this.face.setAttribute("aria-labelledby", hasPlayer ? `${this.face.id} ${this.#labels}` : this.#labels);
    if (hasPlayer) (this.content.querySelector(".cell-line, .generic-words") ?? this.content).append(this.face);
    else this.content.before(this.face);
  }

  /** Shows the tool of a slot that saves the cell. */
  #showSave(cell, isSaved) {
    const slots = customSlots(cell);
    const slot = this.removal ? undefined : saving.map((name) => slots.find((one) => one.slot === name)).find((one) => one && !cell.actions[one.slot].input);
    this.saveTool.hidden = slot === undefined;
    this.saveTool.dataset.action = slot?.slot ?? "";
    Object.assign(this.saveTool, { title: slot?.label ?? "", ariaLabel: slot?.label ?? "", ariaPressed: String(isSaved) });
  }

  #makeFace(tag) {
    const shared = { id: `${this.#label.id}-face`, tabindex: "-1" };
    return tag === "a"
      ? element("a.cell-face", { ...shared, target: "_blank", rel: "noopener" })
      : element("button.cell-face", { ...shared, type: "button", "aria-haspopup": "dialog" });
  }

  #makeTools(commands) {
    const tool = (name, title, attributes, ...paths) => {
      const names = { title, "aria-label": title, "aria-describedby": this.#label.id, ...attributes };
      return element("button.tool", { type: "button", "data-tool": name, tabindex: "-1", ...names }, icon(...paths));
    };
    this.saveTool = tool("save", "", { hidden: true, "aria-pressed": "false" }, "M7 4.5h10v15l-5-4-5 4z");
    const back = ["M8 5.5l-3.5 3.5L8 12.5", "M5 9h9a5 5 0 0 1 0 10h-3"];
    this.dismissTool = this.removal
      ? tool("dismiss", this.removal, {}, ...back)
      : tool("dismiss", this.words("dismiss"), {}, "M7.5 7.5l9 9", "M16.5 7.5l-9 9");
    return [
      ...commands.map(({ name, label, paths }) => tool(name, label, {}, ...paths)),
      this.dismissTool,
      this.saveTool,
      tool("more", this.words("more"), { "aria-haspopup": "menu" }, "M6 12v.1", "M12 12v.1", "M18 12v.1"),
    ];
  }
}

/** Returns what an ad shows, if its advertiser has described that; otherwise an empty text. */
function subjectOf(cell) {
  const picture = Object.values(cell.actions?.configuration?.bindings ?? {}).find((one) => one?.type === "image");
  return isAdvertisement(cell) && typeof picture?.alt === "string" && picture.alt !== "Advertisement" ? picture.alt : "";
}

/**
 * Returns the colour of a picture's corners if they have one, so that the ground of an ad continues beside it; otherwise null. The picture
 * itself keeps its colours.
 */
function groundOf(picture) {
  const { naturalWidth: width = picture.width, naturalHeight: height = picture.height } = picture;
  const canvas = Object.assign(document.createElement("canvas"), { width: 4, height: 1 });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  try {
    [[1, 1], [width - 2, 1], [1, height - 2], [width - 2, height - 2]].forEach(([x, y], index) => context.drawImage(picture, x, y, 1, 1, index, 0, 1, 1));
    const corners = Array.from({ length: 4 }, (_, index) => context.getImageData(index, 0, 1, 1).data);
    const [[red, green, blue]] = corners;
    const isSame = corners.every((one) => one[3] === 255 && Math.max(Math.abs(one[0] - red), Math.abs(one[1] - green), Math.abs(one[2] - blue)) < 8);
    return isSame ? `rgb(${red} ${green} ${blue})` : null;
  } catch {
    // The page's own loader may return a picture of another origin, whose pixels cannot be read.
    return null;
  }
}

/** Returns the elements in place of an image that could not be loaded. */
function unavailable(description, words) {
  const text = typeof description === "string" && description !== "" ? description : words("imageMissing");
  return element("span.image-unavailable", {}, icon("M4 5h16v14H4z", "M4 16l5-5 4 4 3-3 4 4", "M3 3l18 18"), element("span", {}, text));
}

/** Returns the result of a renderer, or a placeholder if the renderer fails. */
function rendered(renderer, content, parts) {
  try {
    return renderer(content, parts);
  } catch (error) {
    console.warn(`The renderer of ${parts.identifier} failed.`, error);
    content.replaceChildren();
    return placeholder(content, parts);
  }
}
