// Views from the `template` elements of the page: `<template data-cell="StoryCell"><h3 data-bind="title"></h3></template>`.
import { element } from "./elements.mjs";

/**
 * Returns the renderer of a template. An element with `data-bind` shows the binding with that name; an `img` becomes a box of its size
 * that shows the image. An element with `data-action` performs that slot. The element with `data-label` names the cell; by default it is the first one
 * that shows a binding.
 */
export function templateCell(template) {
  return (content) => {
    content.classList.add("is-template");
    content.append(template.content.cloneNode(true));
    for (const image of content.querySelectorAll("img[data-bind]")) {
      const box = element("div");
      for (const { name, value } of image.attributes) if (name !== "src" && name !== "alt") box.setAttribute(name, value);
      box.classList.add("image", "template-image");
      for (const name of ["width", "height"]) box.style.setProperty(`--image-${name}`, lengthOf(image.getAttribute(name)));
      image.replaceWith(box);
    }
    const bound = Array.from(content.querySelectorAll("[data-bind]"));
    const label = content.querySelector("[data-label]") ?? bound.find((one) => !one.matches(".image")) ?? element("span");
    if (!label.isConnected && label.parentNode === null) content.append(label);
    // Several elements may show one binding.
    const outlets = {};
    for (const one of bound) (outlets[one.dataset.bind] ??= []).push(one);
    return { label, outlets };
  };
}

/** Returns the CSS length of an attribute of an image: pixels, or a percentage; null for other values. */
function lengthOf(value) {
  const [, number, unit] = value?.trim().match(/^(\d+(?:\.\d+)?)(%?)$/) ?? [];
  return number === undefined ? null : number + (unit || "px");
}
