// The screen `ImageZoom`: one picture, as large as the window takes or larger, and whose it is.
import { element, initials } from "./elements.mjs";

const smallest = 0.2;
const largest = 3;
const step = 1.25;

/** `show(arguments, view)` opens the dialog; its promise settles once it is closed. */
export function imageZoom(requests) {
  return ({ username = "", image }, view) =>
    new Promise((closed) => {
      const stage = element("div.zoom-stage");
      const scale = element("output.zoom-scale", { "aria-live": "off" });
      const button = (label, text) => element("button.zoom-button", { type: "button", "aria-label": label, title: label }, text);
      const [smaller, larger, close] = [button("Smaller", "−"), button("Larger", "+"), button("Close", "×")];
      const dialog = element(
        "dialog.zoom", { "aria-labelledby": "zoom-title" },
        element("div.zoom-bar", {}, element("h2", { id: "zoom-title", dir: "auto" }, username), smaller, scale, larger, close),
        stage,
      );
      let factor = 1;
      const zoom = (wanted) => {
        factor = Math.min(largest, Math.max(smallest, wanted));
        stage.style.setProperty("--zoom", factor);
        scale.textContent = `${Math.round(factor * 100)} %`;
      };
      zoom(1);

      const request = show(image, username, stage, requests, view);
      smaller.addEventListener("click", () => zoom(factor / step));
      larger.addEventListener("click", () => zoom(factor * step));
      close.addEventListener("click", () => dialog.close());
      dialog.addEventListener("click", ({ target }) => (target === dialog || target === stage) && dialog.close());
      dialog.addEventListener("keydown", ({ key }) => {
        if (key === "+" || key === "=") zoom(factor * step);
        if (key === "-") zoom(factor / step);
        if (key === "0") zoom(1);
      });
      stage.addEventListener("wheel", (event) => {
        event.preventDefault();
        zoom(factor * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
      }, { passive: false });
      dialog.addEventListener("close", () => {
        request?.abort();
        dialog.remove();
        view.element.focus({ preventScroll: true });
        closed();
      });
      document.body.append(dialog);
      dialog.showModal();
      close.focus();
    });
}

/** Puts the picture onto the stage once it is there; until then, and if it never comes, the initials stand there. */
function show(href, username, stage, requests, view) {
  stage.append(element("span.zoom-initials", { "aria-hidden": "true" }, initials(username)));
  if (typeof href !== "string") return null;
  const request = requests.request(href, view);
  request.answer.then(async (bytes) => {
    const url = URL.createObjectURL(bytes);
    const picture = element("img.zoom-picture", { src: url, alt: `Picture of ${username}`, draggable: "false" });
    await picture.decode();
    stage.replaceChildren(picture);
    URL.revokeObjectURL(url);
  }).catch(() => stage.classList.add("is-failed"));
  return request;
}
