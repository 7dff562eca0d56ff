// A menu with the commands of a cell, opened by one button, for devices without a hovering pointer.
import { element } from "./elements.mjs";

/** Returns a function that opens the menu at a button, in a tree, with the words of the element. `commands(entry)` returns `{ name, label, run() }`. */
export function cellMenu({ root, words, commands }) {
  const menu = element("div.menu", { id: "cell-menu", role: "menu", popover: "auto", "aria-label": words("cell") });
  let opener = null;
  root.append(menu);
  menu.addEventListener("keydown", (event) => {
    const items = Array.from(menu.children);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Tab" || event.key === "Escape") close();
    // It closes the menu, and not what is behind it as well.
    if (event.key === "Escape") event.stopPropagation();
    if (step === undefined) return;
    event.preventDefault();
    items[(items.indexOf(root.activeElement) + step + items.length) % items.length].focus();
  });
  menu.addEventListener("toggle", ({ newState }) => opener?.setAttribute("aria-expanded", String(newState === "open")));
  const close = () => {
    const hasFocus = menu.contains(root.activeElement);
    menu.hidePopover();
    if (hasFocus) opener.focus({ preventScroll: true });
  };
  // Scrolling closes the menu, because its cell moves.
  addEventListener("scroll", () => menu.isConnected && menu.hidePopover(), { passive: true });

  return (button, entry) => {
    opener = button;
    menu.replaceChildren(...commands(entry).map(({ name, label, run }) => {
      const item = element("button.menu-item", { type: "button", role: "menuitem", tabindex: "-1", "data-menu": name }, label);
      item.addEventListener("click", () => {
        close();
        run();
      });
      return item;
    }));
    menu.showPopover();
    const { bottom, right, top } = button.getBoundingClientRect();
    const height = menu.offsetHeight;
    const below = bottom + 4;
    menu.style.top = `${below + height < innerHeight - 8 ? below : top - 4 - height}px`;
    menu.style.left = `${Math.max(8, Math.min(innerWidth - menu.offsetWidth - 8, right - menu.offsetWidth))}px`;
    menu.firstElementChild?.focus();
  };
}
