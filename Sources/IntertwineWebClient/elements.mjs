// Makes elements without markup in strings: what comes from a server can then never become markup.

/** `element("button.round", { type: "button" }, "Close")`: tag and classes, attributes, children. */
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

/** An icon of one or more stroked paths in a box of 24 by 24. */
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

/** Up to two initials of a name, for where its picture is not there yet. */
export function initials(name) {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  return ends.map((word) => Array.from(word)[0].toUpperCase()).join("");
}

/** A hue from 0 to 359 that stays the same for the same text; those of texts that are almost alike are far apart. */
export function hue(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
  // One more step for the last characters, which FNV-1a hardly spreads.
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 15)) >>> 0) % 360;
}

/** An href of the feed as an absolute URL, or null where it is not one of http or https. */
export function resolve(href) {
  try {
    const url = new URL(href, document.baseURI);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
