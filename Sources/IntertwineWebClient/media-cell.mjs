import { bindingsOf } from "./client/index.mjs";
import { element } from "./elements.mjs";

/** An advertisement that plays: its poster, and the player above it. */
export function mediaAdvertisementCell(content) {
  const badge = element("span.badge", { "aria-hidden": "true" }, "Ad");
  const label = element("span.unseen", {}, "Advertisement");
  return {
    label, outlets: {},
    outletsFor(cell) {
      const places = { image: "div.picture.media-poster", media: "div.media-outlet" };
      const shown = bindingsOf(cell).filter(([, { type }]) => places[type] !== undefined);
      const outlets = Object.fromEntries(shown.map(([part, { type }]) => [part, element(places[type])]));
      content.replaceChildren(...Object.values(outlets), badge, label);
      return outlets;
    },
  };
}
