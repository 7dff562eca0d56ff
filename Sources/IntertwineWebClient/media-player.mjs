// A player for video or sound, which tells how far somebody came: each of the cell's slots for that is performed once.
import { element, resolve } from "./elements.mjs";

/** By their slots, the share of the whole that somebody has seen or heard. */
const quartiles = { firstQuartile: 0.25, midpoint: 0.5, thirdQuartile: 0.75 };

/** What has been told of each entry. */
const told = new WeakMap();

/**
 * The player of a binding, or null where it leads nowhere. `perform(slot)` performs one of the cell's; `title` is what it is called; `fail` is
 * called where nothing can be played.
 */
export function mediaPlayer({ media, type }, { entry, title, perform, fail }) {
  const src = resolve(media);
  if (src === null) return null;
  const tag = typeof type === "string" && type.startsWith("audio/") ? "audio" : "video";
  const player = element(tag, { src, controls: true, preload: "none", playsinline: true, tabindex: "-1", "aria-label": title });
  const slots = told.get(entry) ?? new Set();
  told.set(entry, slots);
  const tell = (slot) => {
    if (slots.has(slot)) return;
    slots.add(slot);
    perform(slot);
  };
  player.addEventListener("error", fail);
  player.addEventListener("playing", () => tell("start"));
  player.addEventListener("timeupdate", () => {
    const share = played(player) / player.duration;
    for (const [slot, least] of Object.entries(quartiles)) if (share >= least) tell(slot);
  });
  player.addEventListener("ended", () => {
    // The last stretch may end between two updates.
    const isWhole = played(player) >= player.duration * 0.95;
    if (isWhole) for (const slot of [...Object.keys(quartiles), "complete"]) tell(slot);
  });
  player.addEventListener("volumechange", () => player.muted && tell("mute"));
  player.addEventListener("seeking", () => player.currentTime > played(player) + 1 && tell("skip"));
  return player;
}

/** How many seconds of it were played, each once. */
function played({ played }) {
  let seconds = 0;
  for (let index = 0; index < played.length; index += 1) seconds += played.end(index) - played.start(index);
  return seconds;
}
