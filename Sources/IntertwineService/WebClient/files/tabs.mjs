// The tabs of the page: the service's feeds, and the viewer's lists. Each has an address of its own.
import { element } from "./client/element/elements.mjs";

/** Shows the tabs, and names the page after the current one. `feeds` is a promise of the service's feeds. */
export async function showTabs({ tabs, options, feeds }) {
  const [first, saved, dismissed] = tabs.children;
  const link = ({ children: [link] }, changed, isCurrent) => {
    link.href = options.search({ section: null, feed: null, list: "feed", ...changed }) || "./";
    if (!isCurrent) return;
    link.setAttribute("aria-current", "page");
    document.title = `${link.textContent} – Intertwine`;
  };
  link(saved, { list: "saved" }, options.list === "saved");
  link(dismissed, { list: "dismissed" }, options.list === "dismissed");
  const isFeed = options.list === "feed";
  const linkFirst = () => link(first, {}, isFeed && (options.feed === null || options.feed === "main"));
  linkFirst();
  const others = (await feeds).filter(({ name }) => name !== "main");
  for (const { name, title } of others) {
    const tab = element("li", {}, element("a", {}, title ?? name));
    saved.before(tab);
    link(tab, { feed: name }, isFeed && options.feed === name);
  }
  const main = (await feeds).find(({ name }) => name === "main");
  if (!main?.title) return;
  first.firstElementChild.textContent = main.title;
  linkFirst();
}
