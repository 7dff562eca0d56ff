import { bindingsOf } from "./client/index.mjs";
import { element } from "./elements.mjs";

/** An advertisement that plays: its poster, the player above it, and what else it binds as words. */
export function mediaAdvertisementCell(content) {
  const badge = element("span.badge", { "aria-hidden": "true" }, "Ad");
  const label = element("span.unseen", {}, "Advertisement");
  return {
    label, outlets: {},
    outletsFor(cell) {
      const places = { image: "div.picture.media-poster", media: "div.media-outlet" };
      const outlets = Object.fromEntries(bindingsOf(cell).map(([part, { type }]) => [part, element(places[type] ?? "p.media-words", { dir: "auto" })]));
      content.replaceChildren(...Object.values(outlets), badge, label);
      return outlets;
    },
  };
}
