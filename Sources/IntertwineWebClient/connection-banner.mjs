// A banner that reports a lost or unavailable service, the next attempt, and the recovery, once each, also to screen readers.
import { element } from "./elements.mjs";

const messages = {
  unreachable: "The server cannot be reached.",
  unavailable: "The server is temporarily unavailable.",
};

export function connectionBanner({ connection, banner, toast }) {
  const message = element("p.banner-message", { role: "status" });
  // The countdown is hidden from screen readers.
  const countdown = element("p.banner-countdown", { "aria-hidden": "true" });
  const button = element("button.button", { type: "button" }, "Retry");
  banner.append(element("span.banner-light", { "aria-hidden": "true" }), element("div.banner-text", {}, message, countdown), button);
  button.addEventListener("click", () => connection.attempt());
  let timer;

  const update = () => {
    if (!connection.isLost) return;
    const text = connection.isResponding ? messages.unavailable : messages.unreachable;
    if (message.textContent !== text) message.textContent = text;
    const isProbing = connection.nextAttempt === null;
    const seconds = isProbing ? 0 : Math.ceil((connection.nextAttempt - performance.now()) / 1000);
    button.disabled = isProbing;
    countdown.textContent = seconds > 0 ? `Retry in ${seconds} s.` : "Connecting…";
  };
  connection.addEventListener("lost", () => {
    banner.hidden = false;
    timer = setInterval(update, 250);
    update();
  });
  connection.addEventListener("waiting", update);
  connection.addEventListener("restored", () => {
    clearInterval(timer);
    banner.hidden = true;
    message.textContent = "";
    toast.show("The server is available again.", { seconds: 3 });
  });
}
