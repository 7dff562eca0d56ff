// The filters of the feed, as chips and lists. They change the feed without a new page, and the page's URL has their values.
import { element } from "./client/element/elements.mjs";
import { say } from "./page-words.mjs";
import { moveByArrows } from "./switches.mjs";

/** Filters with more values are lists. */
const mostChips = 6;

/** The page reserves the place of the filters before it knows their values, so that the feed does not move. */
export function reserveFilters({ container, options }) {
  const filtered = document.querySelector('meta[name="filtered-feeds"]')?.content.split(" ") ?? [];
  container.hidden = options.list !== "feed" || !filtered.includes(options.feed ?? "main");
}

/** Shows the filters. `feeds` is a promise of the service's feeds. */
export async function showFilters({ container, feed, options, feeds }) {
  const listed = (await feeds).find(({ name }) => name === (options.feed ?? "main"));
  const filters = options.list === "feed" ? listed?.filters ?? [] : [];
  container.hidden = filters.length === 0;
  const clear = element("button.switch", { type: "button" }, say("Clear filters"));
  const controls = filters.map((filter) => {
    const known = new Map(filter.values.map(({ value, title, count }) => [value, { title, count }]));
    // A value of the URL may be on no item now.
    for (const value of options.filters.getAll(filter.name)) if (!known.has(value)) known.set(value, { count: 0 });
    const text = (value, title) => title ?? (filter.type === "flag" ? say({ true: "Yes", false: "No" }[value]) : value);
    const values = [...known].map(([value, { title, count }]) => ({ value, text: `${text(value, title)} (${count})` }));
    return ["choice", "flag"].includes(filter.type) && values.length <= mostChips ? chips(filter, values) : choice(filter, values);
  });
  const show = () => {
    for (const { update } of controls) update(options.filters);
    clear.hidden = options.filters.size === 0;
  };
  const change = (filters) => {
    options.filters = filters;
    history.replaceState(history.state, "", options.search({}) || location.pathname);
    feed.filters = options.filterValues;
    show();
  };
  for (const { element, name } of controls) {
    element.addEventListener("filter", ({ detail: values }) => {
      const others = [...options.filters].filter(([other]) => other !== name);
      change(new URLSearchParams([...others, ...values.map((value) => [name, value])]));
    });
  }
  clear.addEventListener("click", () => {
    change(new URLSearchParams());
    container.querySelector("button, select").focus();
  });
  container.replaceChildren(...controls.map(({ element }) => element), clear);
  show();
}

/** Returns the name of a field in words: `startsAt` is "Starts at". */
function inWords(name) {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/[_-]/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A chip for each value, of which several can be pressed. The arrow keys lead from chip to chip. */
function chips({ name, title }, values) {
  const buttons = values.map(({ value, text }) => element("button.switch", { type: "button", value, "aria-pressed": "false" }, text));
  const label = title ?? inWords(name);
  const group = element("div.switch-group.filter", { role: "group", "aria-label": label }, element("span.switch-label", { "aria-hidden": "true" }, label), ...buttons);
  const stop = (chosen) => buttons.forEach((button) => { button.tabIndex = button === chosen ? 0 : -1; });
  stop(buttons[0]);
  group.addEventListener("focusin", ({ target }) => stop(target));
  moveByArrows(group, buttons);
  group.addEventListener("click", ({ target }) => {
    if (!buttons.includes(target)) return;
    target.ariaPressed = String(target.ariaPressed !== "true");
    const pressed = buttons.filter((button) => button.ariaPressed === "true");
    group.dispatchEvent(new CustomEvent("filter", { detail: pressed.map(({ value }) => value) }));
  });
  const update = (filters) => buttons.forEach((button) => { button.ariaPressed = String(filters.has(name, button.value)); });
  return { element: group, name, update };
}

/** A list of which one value can be chosen. */
function choice({ name, title }, values) {
  const label = title ?? inWords(name);
  const select = element("select", { "aria-label": label }, new Option(say("{name}: all", { name: label }), ""), ...values.map(({ value, text }) => new Option(text, value)));
  select.addEventListener("change", () => select.dispatchEvent(new CustomEvent("filter", { detail: select.value === "" ? [] : [select.value] })));
  const update = (filters) => { select.value = filters.get(name) ?? ""; };
  return { element: select, name, update };
}
