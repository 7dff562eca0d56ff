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
 * Returns the `player` for a media URL, and the button `start` that covers it until it plays, so that the poster is visible. Nothing is loaded
 * before. The player pauses when it is out of sight.
 *
 * - perform(slot): performs a slot of the cell. title: the accessible name. startTitle: that of the button. seconds: the known duration, or null. fail: called if the media cannot be
 *   played.
 */
export function mediaPlayer({ src, mediaType, entry, title, startTitle, seconds, perform, fail }) {
  const tag = mediaType.startsWith("audio/") ? "audio" : "video";
  const player = element(tag, { src, controls: true, preload: "none", playsinline: true, tabindex: "-1", "aria-label": title });
  const slots = performed.get(entry) ?? new Set();
  performed.set(entry, slots);
  const performOnce = (slot) => {
    if (slots.has(slot)) return;
    slots.add(slot);
    perform(slot);
  };
  player.addEventListener("error", fail);
  sight().observe(player);
  const length = seconds > 0 ? `${Math.floor(seconds / 60)}:${String(Math.round(seconds) % 60).padStart(2, "0")}` : "";
  const names = { type: "button", tabindex: "-1", "aria-label": length ? `${startTitle}, ${length}` : startTitle };
  const start = element("button.media-start", names, icon("M9 6.5v11l9-5.5z"), element("span.media-length", {}, length));
  start.addEventListener("click", () => {
    start.hidden = true;
    player.classList.add("is-started");
    player.focus({ preventScroll: true });
    player.play().catch(() => {});
  });
  player.addEventListener("playing", () => {
    start.hidden = true;
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
