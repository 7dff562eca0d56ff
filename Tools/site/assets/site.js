// Names and focus for elements that the theme creates without them.
const complete = () => {
  document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((nav, index) => nav.setAttribute("aria-label", `Code block ${index + 1}`));
  document.querySelectorAll(".md-code__button:not([aria-label])").forEach((button) => button.setAttribute("aria-label", button.title || "Copy"));
  // A block with a scroll bar can be scrolled by keyboard.
  for (const block of document.querySelectorAll(".md-typeset pre > code, .md-typeset .md-typeset__scrollwrap")) block.tabIndex = 0;
};
new MutationObserver(complete).observe(document.documentElement, { childList: true, subtree: true });
complete();
