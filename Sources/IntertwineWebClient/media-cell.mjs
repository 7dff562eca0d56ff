import { bindingsOf } from "./client/index.mjs";
import { element } from "./elements.mjs";

/** A video or audio ad: the poster, and the player above it. */
export function mediaAdvertisementCell(content) {
  const badge = element("span.badge", { "aria-hidden": "true" }, "Ad");
  const label = element("span.visually-hidden", {}, "Advertisement");
  return {
    label, outlets: {},
    outletsFor(cell) {
      const containers = { image: "div.image.media-poster", media: "div.media-outlet" };
      const shown = bindingsOf(cell).filter(([, { type }]) => containers[type] !== undefined);
      const outlets = Object.fromEntries(shown.map(([part, { type }]) => [part, element(containers[type])]));
      content.replaceChildren(...Object.values(outlets), badge, label);
      return outlets;
    },
  };
}
