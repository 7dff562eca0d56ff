// What stands where a picture will: its main colour, and a likeness of a few pixels, as the binding says them.
import { placeholderPixels } from "./client/index.mjs";

export function foreshadow(outlet, { color, placeholder }) {
  if (/^#[0-9a-f]{6}$/i.test(color ?? "")) outlet.style.background = color;
  const likeness = typeof placeholder === "string" ? placeholderPixels(placeholder) : null;
  if (likeness === null) return;
  const { width, height, pixels } = likeness;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  canvas.setAttribute("aria-hidden", "true");
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
  outlet.replaceChildren(canvas);
}

/** The outlet is for another picture now. */
export function forget(outlet) {
  outlet.style.background = "";
}
