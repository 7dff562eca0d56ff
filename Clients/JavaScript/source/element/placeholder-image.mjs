// The placeholder of an image: its main colour and a blurred preview, from the binding.
import { placeholderPixels } from "../placeholder.mjs";

export function showPlaceholder(outlet, { color, placeholder }) {
  if (/^#[0-9a-f]{6}$/i.test(color ?? "")) outlet.style.background = color;
  const preview = typeof placeholder === "string" ? placeholderPixels(placeholder) : null;
  if (preview === null) return;
  const { width, height, pixels } = preview;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  canvas.setAttribute("aria-hidden", "true");
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
  outlet.replaceChildren(canvas);
}

/** Removes the colour before another image is displayed. */
export function clearPlaceholder(outlet) {
  outlet.style.background = "";
}
