// A banner that reports a lost or unavailable service, the next attempt, and the recovery, once each, also to screen readers.
import { element } from "./elements.mjs";

/**
 * In milliseconds: a recovery is reported after the first time without a loss. A loss within the second time after a recovery is a partial
 * outage: the probes succeed, and other requests fail.
 */
const confirmation = 1500;
const settling = 60_000;

/** Returns a function that ends the observation. */
export function connectionBanner({ connection, banner, toast, words }) {
  const message = element("p.banner-message", { role: "status" });
  // The countdown is hidden from screen readers.
  const countdown = element("p.banner-countdown", { "aria-hidden": "true" });
  const button = element("button.button", { type: "button" }, words("retry"));
  banner.append(element("span.banner-light", { "aria-hidden": "true" }), element("div.banner-text", {}, message, countdown), button);
  button.addEventListener("click", () => connection.attempt());
  const events = new AbortController();
  const { signal } = events;
  let timer;
  let settled;
  let restoredAt = -Infinity;
  let isPartial = false;

  const say = (text) => {
    if (message.textContent !== text) message.textContent = text;
  };
  const update = () => {
    // One message describes a partial outage, because the probes and other requests alternate.
    if (!isPartial && connection.isLost) say(words(connection.isResponding ? "unavailable" : "unreachable"));
    const isProbing = connection.nextAttempt === null;
    const seconds = isProbing ? 0 : Math.ceil((connection.nextAttempt - performance.now()) / 1000);
    button.disabled = isProbing || !connection.isLost;
    countdown.textContent = !connection.isLost ? (isPartial ? "" : words("connecting")) : seconds > 0 ? words("retryIn", { seconds }) : words("connecting");
  };
  const hide = () => {
    isPartial = false;
    banner.hidden = true;
    message.textContent = "";
  };
  connection.addEventListener("lost", () => {
    clearTimeout(settled);
    isPartial = performance.now() - restoredAt < settling;
    if (isPartial) say(words("partial"));
    banner.hidden = false;
    clearInterval(timer);
    timer = setInterval(update, 250);
    update();
  }, { signal });
  connection.addEventListener("waiting", update, { signal });
  connection.addEventListener("restored", () => {
    clearInterval(timer);
    restoredAt = performance.now();
    update();
    settled = setTimeout(() => {
      hide();
      toast.show(words("serverBack"), { seconds: 3 });
    }, isPartial ? settling : confirmation);
  }, { signal });
  return () => {
    clearInterval(timer);
    clearTimeout(settled);
    events.abort();
    banner.replaceChildren();
    hide();
  };
}
