// Says that the server is gone, when it is asked again, and that it is back.
import { element } from "./elements.mjs";

export function connectionBanner({ connection, banner, announce, toast }) {
  const message = element("p", {});
  const button = element("button.button", { type: "button" }, "Try now");
  banner.append(element("span.banner-light", { "aria-hidden": "true" }), message, button);
  button.addEventListener("click", () => connection.attempt());
  let timer;

  const tell = () => {
    const seconds = connection.nextAttempt === null ? 0 : Math.ceil((connection.nextAttempt - performance.now()) / 1000);
    button.disabled = connection.nextAttempt === null;
    message.textContent =
      seconds > 0 ? `The server cannot be reached. Trying again in ${seconds} s.` : "The server cannot be reached. Trying…";
  };
  connection.addEventListener("lost", () => {
    banner.hidden = false;
    announce("The server cannot be reached. The feed goes on by itself once it is back.");
    timer = setInterval(tell, 250);
    tell();
  });
  connection.addEventListener("waiting", tell);
  connection.addEventListener("restored", () => {
    clearInterval(timer);
    banner.hidden = true;
    toast.show("The server is back.", { seconds: 3 });
  });
}
