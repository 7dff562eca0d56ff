// Creates elements without markup in strings, so that content of the service cannot inject markup.

/** Returns an element: `element("button.round", { type: "button" }, "Close")`, with tag and classes, attributes, and children. */
export function element(selector, attributes = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const made = document.createElement(tag);
  if (classes.length > 0) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** Returns an icon of stroked paths in a box of 24 by 24. */
export function icon(...paths) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  for (const path of paths) {
    const made = document.createElementNS(namespace, "path");
    made.setAttribute("d", path);
    svg.append(made);
  }
  return svg;
}

/** Returns up to two initials of a name, which replace a missing image. */
export function initials(name) {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  return ends.map((word) => Array.from(word)[0].toUpperCase()).join("");
}

/** Returns a hue from 0 to 359 that depends on the text only. The hues of similar texts differ. */
export function hue(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
  // An additional mixing step, because FNV-1a hardly distributes the last characters.
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 15)) >>> 0) % 360;
}

/** Returns the absolute URL of an href of the service at a base URL, or null if it is not http or https. */
export function resolve(href, base) {
  try {
    const url = new URL(href, base);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
