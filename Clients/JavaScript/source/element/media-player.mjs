// A player for video or audio, which performs the slots for playback progress, each once.
import { element, icon } from "./elements.mjs";

/** The played fraction by slot. */
const quartiles = { firstQuartile: 0.25, midpoint: 0.5, thirdQuartile: 0.75 };

/** The performed slots by entry. */
const performed = new WeakMap();

let observer;

/** Returns the observer that pauses players that are out of sight. It is made with the first player: a server has no such class. */
function sight() {
  observer ??= new IntersectionObserver((records) => {
    for (const { target, isIntersecting } of records) if (!isIntersecting) target.pause();
  });
  return observer;
}

/**
 * Returns the `player` for a media URL, and the button `start` that covers a video until it plays, so that its poster is visible. The player
 * pauses when it is out of sight.
 *
 * - perform(slot): performs a slot of the cell. title: the accessible name. startTitle: that of the button. fail: called if the media cannot be
 *   played.
 */
export function mediaPlayer({ src, mediaType, entry, title, startTitle, perform, fail }) {
  const tag = mediaType.startsWith("audio/") ? "audio" : "video";
  // The controls of a sound show its duration.
  const player = element(tag, { src, controls: true, preload: tag === "audio" ? "metadata" : "none", playsinline: true, tabindex: "-1", "aria-label": title });
  const slots = performed.get(entry) ?? new Set();
  performed.set(entry, slots);
  const performOnce = (slot) => {
    if (slots.has(slot)) return;
    slots.add(slot);
    perform(slot);
  };
  player.addEventListener("error", fail);
  sight().observe(player);
  const start = tag === "audio" ? null : element("button.media-start", { type: "button", tabindex: "-1", "aria-label": startTitle }, icon("M9 6.5v11l9-5.5z"));
  start?.addEventListener("click", () => {
    start.hidden = true;
    player.classList.add("is-started");
    player.focus({ preventScroll: true });
    player.play().catch(() => {});
  });
  player.addEventListener("playing", () => {
    player.classList.add("is-started");
    performOnce("start");
  });
  player.addEventListener("timeupdate", () => {
    const share = playedSeconds(player) / player.duration;
    for (const [slot, least] of Object.entries(quartiles)) if (share >= least) performOnce(slot);
  });
  player.addEventListener("ended", () => {
    // The playback may end between two updates.
    const isComplete = playedSeconds(player) >= player.duration * 0.95;
    if (isComplete) for (const slot of [...Object.keys(quartiles), "complete"]) performOnce(slot);
  });
  player.addEventListener("volumechange", () => player.muted && performOnce("mute"));
  player.addEventListener("seeking", () => player.currentTime > playedSeconds(player) + 1 && performOnce("skip"));
  return { player, start };
}

/** Returns the number of seconds that were played, each counted once. */
function playedSeconds({ played }) {
  let seconds = 0;
  for (let index = 0; index < played.length; index += 1) seconds += played.end(index) - played.start(index);
  return seconds;
}
