// Says that the server is gone or cannot serve, when it is asked again, and that it is back. Each once, to eyes and ears alike.
import { element } from "./elements.mjs";

const sentences = {
  gone: "The server cannot be reached.",
  unable: "The server answers, but cannot serve right now.",
};

export function connectionBanner({ connection, banner, toast }) {
  const message = element("p.banner-message", { role: "status" });
  // Seconds that count down are for the eye alone.
  const countdown = element("p.banner-countdown", { "aria-hidden": "true" });
  const button = element("button.button", { type: "button" }, "Try now");
  banner.append(element("span.banner-light", { "aria-hidden": "true" }), element("div.banner-text", {}, message, countdown), button);
  button.addEventListener("click", () => connection.attempt());
  let timer;

  const tell = () => {
    if (!connection.isLost) return;
    const sentence = connection.isAnswering ? sentences.unable : sentences.gone;
    if (message.textContent !== sentence) message.textContent = sentence;
    const isAsking = connection.nextAttempt === null;
    const seconds = isAsking ? 0 : Math.ceil((connection.nextAttempt - performance.now()) / 1000);
    button.disabled = isAsking;
    countdown.textContent = seconds > 0 ? `Next try in ${seconds} s.` : "Trying…";
  };
  connection.addEventListener("lost", () => {
    banner.hidden = false;
    timer = setInterval(tell, 250);
    tell();
  });
  connection.addEventListener("waiting", tell);
  connection.addEventListener("restored", () => {
    clearInterval(timer);
    banner.hidden = true;
    message.textContent = "";
    toast.show("The server is back.", { seconds: 3 });
  });
}
