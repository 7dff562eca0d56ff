// The switches above the feed: width, text size, language and colours. All but the language change the feed without a new page.
import { element } from "./client/element/elements.mjs";
import { language, translate } from "./page-words.mjs";

const schemeKey = "intertwine.scheme";
const groups = [
  ["width", "Width", [[null, "Full"], [768, "Tablet"], [390, "Phone"]]],
  ["text", "Text", [[null, "100 %"], [1.3, "130 %"], [2, "200 %"]]],
  ["language", "Language", [["en", "English"], ["de", "Deutsch"]]],
  ["scheme", "Colours", [[null, "System"], ["light", "Light"], ["dark", "Dark"]]],
];

/** Shows the switches in a container. `options` are those of the page's URL, which follows the switches. */
export function showSwitches({ container, feed, options }) {
  const values = { width: options.width, text: options.text, language: options.language ?? language, scheme: storedScheme() };
  const apply = {
    width(value) {
      feed.style.maxWidth = value === null ? "" : `${value}px`;
      feed.reload();
    },
    text(value) {
      if (value === null) feed.removeAttribute("text-scale");
      else feed.setAttribute("text-scale", value);
    },
    // The page has words of its own.
    language: () => location.reload(),
    scheme: showScheme,
  };
  showScheme(values.scheme);
  container.replaceChildren(...groups.map(([name, label, choices]) => {
    const buttons = choices.map(([value, text]) => {
      const button = element("button.switch", { type: "button", "aria-pressed": String(values[name] === value), ...(name === "language" && { lang: value }) }, text);
      button.addEventListener("click", () => {
        if (values[name] === value) return;
        values[name] = value;
        press(buttons, button);
        if (name !== "scheme") {
          options[name] = value;
          history.replaceState({ ...history.state, chosen: name }, "", options.search({}) || location.pathname);
        }
        apply[name](value);
      });
      return button;
    });
    press(buttons, buttons.find((button) => button.getAttribute("aria-pressed") === "true") ?? buttons[0]);
    const group = element("div.switch-group", { role: "group", "aria-label": label }, element("span.switch-label", { "aria-hidden": "true" }, label), ...buttons);
    moveByArrows(group, buttons);
    return group;
  }));
  translate(container);
  // The focus stays on the chosen language.
  if (history.state?.chosen === "language") container.querySelector("[lang][aria-pressed=true]")?.focus({ preventScroll: true });
}

/** Lets the arrow keys lead from button to button of a group. */
export function moveByArrows(group, buttons) {
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = buttons.indexOf(event.target);
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons[(at + step + buttons.length) % buttons.length].focus();
  });
}

/** Marks the pressed button of a group, which is its stop in the tab order. The arrow keys lead to the others. */
function press(buttons, pressed) {
  for (const button of buttons) {
    button.setAttribute("aria-pressed", String(button === pressed));
    button.tabIndex = button === pressed ? 0 : -1;
  }
}

/** Shows the page in `light` or `dark` colours, and with null in those of the system. The browser keeps the choice. */
export function showScheme(scheme) {
  document.documentElement.style.colorScheme = scheme ?? "";
  try {
    if (scheme === null) localStorage.removeItem(schemeKey);
    else localStorage.setItem(schemeKey, scheme);
  } catch {
    // Without storage, the next page has the system's colours.
  }
}

export function storedScheme() {
  try {
    const scheme = localStorage.getItem(schemeKey);
    return scheme === "light" || scheme === "dark" ? scheme : null;
  } catch {
    return null;
  }
}
