// The style sheet of the element. Pages set the custom properties `--intertwine-…`, and style the parts of the element.

const text = `
:host {
  --ground: var(--intertwine-ground, light-dark(#f5f4f1, #131417));
  --surface: var(--intertwine-surface, light-dark(#fff, #1e2026));
  --sunken: var(--intertwine-sunken, light-dark(#eceae5, #17181c));
  --ink: var(--intertwine-ink, light-dark(#1c1b19, #ececea));
  --quiet: var(--intertwine-quiet, light-dark(#66625b, #a3a5ad));
  --line: var(--intertwine-line, light-dark(#e0ddd6, #2e3038));
  --edge: var(--intertwine-edge, light-dark(#8d887f, #767984));
  --accent: var(--intertwine-accent, light-dark(#2f3a8f, #a9b4ff));
  --on-accent: var(--intertwine-on-accent, light-dark(#fff, #14183a));
  --mark: var(--intertwine-mark, light-dark(#9c4d00, #ffb86b));
  --bad: var(--intertwine-bad, light-dark(#b3261e, #ff8f86));
  --radius: var(--intertwine-radius, 16px);
  --text: var(--intertwine-text-scale, 1);
  --lifted: 0 2px 4px rgb(0 0 0 / 10%), 0 12px 32px rgb(0 0 0 / 22%);
  /* The collection view keeps the position of cells itself. */
  display: block; position: relative; overflow-anchor: none; color: var(--ink);
  font: var(--intertwine-font, 400 calc(16px * var(--text))/1.5 Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif);
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
:where(h2, p) { margin: 0; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.ruler { position: absolute; width: 1rem; height: 0; visibility: hidden; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.feed { position: relative; margin: 0 auto; }

/* A card fills its columns and the height of its row. */
.cell {
  --image-light: light-dark(hsl(var(--hue) 28% 88%), hsl(var(--hue) 28% 26%));
  position: absolute; border-radius: var(--radius); background: var(--surface); contain: layout style;
  box-shadow: 0 0 0 1px light-dark(rgb(30 25 15 / 6%), rgb(255 255 255 / 6%)), 0 2px 6px light-dark(rgb(30 25 15 / 6%), rgb(0 0 0 / 40%));
}
.cell:focus-within { z-index: 1; }
.cell.is-inspected { outline: 3px solid var(--mark); outline-offset: 3px; }
.cell-content { position: absolute; inset: 0; overflow: hidden; border-radius: inherit; contain: strict; pointer-events: none; }
.cell-content :is(a, button, video, audio, [data-action]) { pointer-events: auto; }
.cell-face {
  position: absolute; inset: 0; width: 100%; padding: 0; border: 0; border-radius: inherit;
  background: none; cursor: pointer; -webkit-tap-highlight-color: transparent;
}
.is-removed > .cell-content, .is-removed > .cell-face { visibility: hidden; }
.cell-gone { display: none; }
.is-removed > .cell-gone { position: absolute; inset: 0; display: grid; place-items: center; color: var(--quiet); font-size: calc(14px * var(--text)); }

/* The line of an ad's label. It is never cut: further lines make the cell higher. */
.cell-line { flex: none; display: flex; flex-wrap: wrap; align-items: center; gap: 0 12px; padding: 7px 16px; }
.cell-line:has(.cell-face) { min-height: 44px; padding-block: 0; }
.cell-disclosure { min-width: 0; color: var(--quiet); font-size: calc(13px * var(--text)); font-weight: 550; line-height: calc(18px * var(--text)); overflow-wrap: anywhere; }
.cell-disclosure:empty { display: none; }
:is(.cell-line, .generic-words) .cell-face {
  position: static; flex: none; width: auto; min-height: 44px; margin-inline-start: auto; padding: 0 8px; display: grid; place-items: center; border-radius: 10px;
  color: var(--accent); font: inherit; font-size: calc(14px * var(--text)); font-weight: 600; text-underline-offset: 3px;
}
/* The tools are in the corner. Saving and the menu are always visible, the others while the cell has the pointer or the focus. */
.cell-tools { position: absolute; z-index: 1; top: 0; inset-inline-end: 0; display: flex; padding-inline-start: 8px; pointer-events: none; }
.cell-tools > * { pointer-events: auto; }
.cell-tools .tool:not([data-tool="more"], [data-tool="save"]) { opacity: 0; pointer-events: none; }
.cell:is(:hover, :focus-within) .cell-tools .tool { opacity: 1; pointer-events: auto; }
/* The targets have 44 points; the visible circles are smaller. */
.tool {
  position: relative; display: grid; place-items: center; width: 44px; height: 44px; padding: 0; border: 0; border-radius: 50%;
  background: none; color: var(--ink); font: inherit; font-size: 18px; line-height: 1; cursor: pointer;
}
.tool + .tool { margin-inline-start: -8px; }
.tool::before { content: ""; position: absolute; inset: 7px; border-radius: 50%; background: var(--surface); box-shadow: 0 0 0 1px color-mix(in srgb, var(--ink) 14%, transparent); }
.tool:hover::before { box-shadow: 0 0 0 1px var(--quiet); }
.tool:focus-visible { outline-offset: -3px; }
.icon { position: relative; width: 20px; height: 20px; fill: none; stroke: currentcolor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.tool[aria-pressed="true"] { color: var(--mark); }
.tool[aria-pressed="true"] .icon { fill: currentcolor; }
/* Without a pointer that hovers, and in a table, the menu has the other tools. */
@media (hover: none) and (pointer: coarse), (max-width: 640px) { .cell-tools .tool:not([data-tool="more"], [data-tool="save"]) { display: none; } }

/* Any rule of a template has priority over this size. Without attributes, an image has the width of the cell, and at most half its height. */
:where(.template-image) { width: var(--image-width, 100%); max-width: 100%; height: var(--image-height, auto); max-height: var(--image-height, calc(var(--height) / 2)); aspect-ratio: 16 / 9; }
/* Any rule of a template has priority over the distance of its texts from the edges, and from the tools. */
:where(.is-template > :is(h1, h2, h3, h4, h5, h6, p)) { margin: 8px 16px 0; line-height: 1.3; }
:where(.is-template > :is(h1, h2, h3, h4, h5, h6, p):first-child) { margin: 12px 0 0; margin-inline: 16px 92px; }
/* A cell-specific colour replaces a missing image. */
.image { position: relative; overflow: hidden; background: var(--image-light); }
.image img, .image canvas { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.image-unavailable {
  position: absolute; inset: 0; display: flex; flex-wrap: wrap; align-items: center; align-content: center; justify-content: center; gap: 2px 8px; padding: 8px; overflow: hidden;
  background: var(--sunken); color: var(--quiet); font-size: calc(13px * var(--text)); line-height: calc(18px * var(--text)); text-align: center;
}
.image-unavailable .icon { flex: none; stroke-width: 1.6; }
.row-image .image-unavailable span, .avatar .image-unavailable span { display: none; }
.avatar { display: grid; place-items: center; border-radius: 50%; }
.avatar::before { content: attr(data-initials); color: light-dark(hsl(var(--hue) 30% 32%), hsl(var(--hue) 30% 80%)); font-weight: 600; letter-spacing: .02em; }
.avatar[data-state="failed"] { outline: 2px dashed var(--edge); outline-offset: -2px; }
.username {
  flex: none; max-width: 100%; padding: 0 16px; text-align: center; overflow-wrap: anywhere; text-wrap: balance;
  font-size: calc(15px * var(--text)); font-weight: 600; line-height: calc(20px * var(--text)); letter-spacing: -.01em;
}
.username, .generic-words > :not(.cell-line, a), .row-title { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 12; overflow: hidden; }
.snapshot { display: flex; flex-direction: column; align-items: center; }
.snapshot-background { flex: 1; align-self: stretch; min-height: 0; }
/* A person without a background: a pattern, which no picture that is loading has. */
.snapshot-background:not([data-state]):empty {
  background: light-dark(hsl(var(--hue) 30% 90%), hsl(var(--hue) 22% 24%)) radial-gradient(circle, light-dark(hsl(var(--hue) 32% 82%), hsl(var(--hue) 24% 31%)) 3px, transparent 3.5px) 0 0 / 18px 18px;
}
.snapshot-avatar { flex: none; height: calc(var(--height) * .25); margin-top: calc(var(--height) * -.135); aspect-ratio: 1; box-shadow: 0 0 0 3px var(--surface); font-size: 15px; }
.snapshot-username { padding-block: 6px 8px; }
.circular { background: light-dark(hsl(var(--hue) 30% 95%), hsl(var(--hue) 18% 19%)) radial-gradient(circle, light-dark(hsl(var(--hue) 32% 89%), hsl(var(--hue) 20% 24%)) 3px, transparent 3.5px) 0 0 / 18px 18px; display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 12px; }
.circular-avatar { flex: none; height: calc(var(--height) * .63); aspect-ratio: 1; font-size: 36px; }
.advertised { display: flex; flex-direction: column; }
.advertisement-content { flex: 1; min-height: 0; background: none; }
.advertisement-content img { object-fit: contain; }

/* A section header has a row of its own and is not a card. A long title extends into the row, up to the tools. */
.cell.is-header, .cell.is-placeholder { background: none; box-shadow: none; }
.is-header { display: flex; align-items: end; }
.is-header .cell-content { position: static; flex: 1; min-width: 0; contain: none; }
.is-header .cell-tools { position: static; flex: none; }
.section-title { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: calc(20px * var(--text)); font-weight: 650; line-height: calc(20px + 24px * var(--text)); letter-spacing: -.015em; }

.placeholder {
  display: grid; align-content: center; justify-items: center; gap: 4px; padding: 12px;
  border: 2px dashed var(--line); color: var(--quiet); text-align: center;
}
.placeholder-title { font-size: calc(14px * var(--text)); font-weight: 600; }
.placeholder-identifier { max-width: 100%; overflow: hidden; text-overflow: ellipsis; font: calc(12px * var(--text))/1.4 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace; }

/* Cells of any kind: texts beside or below an image. Content that does not fit is cut. */
.generic { display: flex; }
.generic.is-stack { flex-direction: column; }
.generic-image { flex: 1 1 0; min-height: 0; }
.generic.is-row .generic-image { flex: none; align-self: center; width: 64px; height: 64px; margin-inline-start: 16px; border-radius: 10px; }
.generic-words { flex: none; display: grid; align-content: center; gap: 2px; min-width: 0; padding: 10px 16px; font-size: calc(14px * var(--text)); line-height: calc(20px * var(--text)); overflow-wrap: anywhere; }
.generic.is-row .generic-words, .generic-words:only-child { flex: 1; }
.generic-words .cell-line { padding-inline: 0; }
.generic-words > p { text-align: match-parent; }
.generic-title { font-size: calc(15px * var(--text)); font-weight: 600; letter-spacing: -.01em; }
.generic-text, .generic-date, .generic-number { color: var(--quiet); }
.cell-link { color: var(--accent); font-weight: 550; text-underline-offset: 3px; }

/* The poster is visible until the player starts. A sound has its player below the poster. */
.media { position: relative; flex: 1; min-height: 0; background: #101114; }
.media-poster, .media-outlet { position: absolute; inset: 0; }
.media-poster { background: none; }
.media-poster img { object-fit: contain; }
.generic .media-outlet { position: relative; inset: auto; }
.media-outlet > * { position: absolute; inset: auto 0 0; width: 100%; height: 100%; }
.media-outlet > :is(video, audio):not(.is-started) { visibility: hidden; }
.media-outlet > video.is-started { background: #000; }
.media-start { display: grid; place-items: center; padding: 0; border: 0; background: none; color: #fff; cursor: pointer; }
.media-start::before { content: ""; grid-area: 1 / 1; width: 64px; height: 64px; border-radius: 50%; background: rgb(16 17 20 / 72%); box-shadow: 0 0 0 2px rgb(255 255 255 / 85%); }
.media-start .icon { grid-area: 1 / 1; width: 32px; height: 32px; fill: currentcolor; stroke-width: 1; }
.media-length { position: absolute; inset-block-end: 10px; inset-inline-start: 16px; padding: 1px 7px; border-radius: 6px; background: rgb(16 17 20 / 72%); font-size: calc(12px * var(--text)); font-weight: 600; }
.media-length:empty { display: none; }
.media-start:focus-visible { outline-offset: -3px; }
.media.is-audio { background: var(--sunken); }
.media.is-audio:has(.is-started) .media-poster { inset-block-end: 54px; }
.media.is-audio .media-poster:empty::before {
  content: ""; position: absolute; inset: 0; background: linear-gradient(var(--edge) 0 0) calc(50% + -90px) 50% / 5px 18px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + -80px) 50% / 5px 34px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + -70px) 50% / 5px 52px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + -60px) 50% / 5px 30px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + -50px) 50% / 5px 20px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + 50px) 50% / 5px 20px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + 60px) 50% / 5px 44px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + 70px) 50% / 5px 60px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + 80px) 50% / 5px 28px no-repeat, linear-gradient(var(--edge) 0 0) calc(50% + 90px) 50% / 5px 14px no-repeat;
}
.media-outlet > audio { height: 54px; padding: 5px 8px; }
.media-outlet > .media-failed { height: auto; padding: 8px 12px; background: var(--surface); color: var(--quiet); font-size: calc(13px * var(--text)); }

/* The rows of a table share a surface, separated by lines. Their pictures have one left edge and their texts another. */
.is-table { border-radius: var(--radius); background: var(--surface); box-shadow: 0 0 0 1px var(--line); }
.is-table .cell { border-radius: 0; background: none; box-shadow: none; }
.is-table .cell:not(.is-header) { box-shadow: inset 0 -1px var(--line); }
.is-table .cell.is-inspected { border-radius: var(--radius); outline-offset: -3px; }
.is-table .cell:not(.is-header) .cell-content { inset-inline-end: 60px; }
.is-table .cell:not(.is-header) .cell-tools { top: 0; bottom: 0; inset-inline-end: 8px; align-items: center; }
.is-table .cell-tools .tool:not([data-tool="more"]) { display: none; }
.is-table .is-header { align-items: center; }
.is-table .section-title { padding-inline-start: 16px; color: var(--quiet); font-size: calc(13px * var(--text)); line-height: calc(20px * var(--text)); letter-spacing: 0; }
.row { display: flex; align-items: center; gap: 16px; padding: 0 16px; }
.row-image { flex: none; width: 64px; height: 64px; }
.row-title { min-width: 0; overflow-wrap: anywhere; font-size: calc(15px * var(--text)); font-weight: 600; line-height: calc(20px * var(--text)); letter-spacing: -.01em; }
.row.advertised { flex-direction: column; align-items: start; gap: 8px; padding-block: 12px; }
.row.advertised .cell-line { align-self: stretch; padding: 0; }
.row-advertisement { flex: 1; min-height: 0; width: min(228px, 100%); border-radius: 10px; background: none; }
.row-advertisement img { object-fit: contain; }
.row .media { flex: 1; min-height: 0; width: min(228px, 100%); border-radius: 10px; overflow: hidden; }

/* The outlines are displayed until the first cells arrive. They overlay the area of the cells, so that the layout does not shift. */
.skeletons {
  position: absolute; inset: 0 0 auto; height: calc(100vh - 61px); overflow: hidden; pointer-events: none;
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(270px, 100%), 1fr)); grid-auto-rows: 200px; gap: 16px; align-content: start;
}
.skeletons i {
  border-radius: var(--radius); background:
    radial-gradient(circle at 50% 142px, var(--sunken) 25px, transparent 26px),
    linear-gradient(var(--sunken), var(--sunken)) 50% 180px / 120px 12px no-repeat,
    linear-gradient(var(--sunken), var(--sunken)) 0 0 / 100% 110px no-repeat, var(--surface);
}
.state { display: grid; justify-items: center; gap: 12px; max-width: 440px; margin: 15vh auto 0; text-align: center; font-size: calc(15px * var(--text)); }
.state > p { color: var(--quiet); }
.feed:not(:empty) ~ .state { margin-top: 48px; }
.state-title { font-size: calc(18px * var(--text)); font-weight: 650; letter-spacing: -.015em; }
.end { padding: 28px 0 0; color: var(--quiet); font-size: calc(14px * var(--text)); text-align: center; }

.button {
  min-height: 44px; padding: 0 18px; border: 0; border-radius: 22px;
  background: var(--accent); color: var(--on-accent); font: inherit; font-size: calc(14px * var(--text)); font-weight: 600; cursor: pointer;
}
.button.is-quiet { background: var(--sunken); color: var(--ink); }
.button:disabled { opacity: .55; cursor: default; }

/* The pill for new cells, below the elements that cover the upper edge. */
.pill { position: fixed; z-index: 7; top: calc(var(--inset-top, 0px) + 12px); left: 0; right: 0; width: fit-content; margin: 0 auto; box-shadow: var(--lifted); }
.banner {
  position: fixed; z-index: 8; bottom: 24px; left: 16px; right: 16px; width: fit-content; margin: 0 auto;
  display: flex; align-items: center; gap: 14px; padding: 10px 10px 10px 18px; border-radius: 32px;
  background: var(--surface); box-shadow: var(--lifted), 0 0 0 1px var(--line); font-size: calc(14px * var(--text)); font-variant-numeric: tabular-nums;
}
.banner-light { flex: none; width: 10px; height: 10px; border-radius: 50%; background: var(--bad); }
.banner-text { line-height: 1.35; }
.banner-message { font-weight: 600; }
.banner-countdown { color: var(--quiet); }
.banner .button { flex: none; white-space: nowrap; }
.toasts {
  position: fixed; z-index: 9; bottom: 24px; left: 16px; right: 16px; width: fit-content; margin: 0 auto;
  display: grid; gap: 8px; justify-items: center; pointer-events: none;
}
.banner:not([hidden]) ~ .toasts { bottom: 112px; }
.toast {
  display: flex; align-items: center; gap: 8px; min-height: 48px; padding: 2px 20px; border-radius: 24px;
  background: light-dark(#26282e, #ececea); color: light-dark(#f4f4f2, #1c1b19); box-shadow: var(--lifted); font-size: calc(14px * var(--text)); pointer-events: auto;
  animation: rise 200ms ease-out;
}
.toast:has(button) { padding-right: 6px; }
@keyframes rise { from { opacity: 0; translate: 0 10px; } }
.toast-button {
  flex: none; min-height: 44px; padding: 0 14px; border: 0; border-radius: 22px; background: none; color: light-dark(#ffc98f, #7a3d00);
  font: inherit; font-weight: 650; cursor: pointer;
}
.toast-button:hover { background: light-dark(rgb(255 255 255 / 10%), rgb(0 0 0 / 8%)); }
.toast-button:focus-visible { outline-color: currentcolor; outline-offset: -3px; }

.menu { position: fixed; inset: auto; min-width: 160px; margin: 0; padding: 6px; border: 0; border-radius: 14px; background: var(--surface); color: var(--ink); box-shadow: var(--lifted), 0 0 0 1px var(--line); }
.menu-item { display: block; width: 100%; min-height: 44px; padding: 0 14px; border: 0; border-radius: 9px; background: none; color: inherit; font: inherit; font-size: calc(15px * var(--text)); text-align: start; cursor: pointer; }
.menu-item:hover, .menu-item:focus-visible { background: var(--sunken); }
.menu-item:focus-visible { outline-offset: -3px; }

dialog { border: 0; color: var(--ink); }
dialog::backdrop { background: rgb(10 10 14 / 60%); }
.dialog { width: min(440px, calc(100vw - 32px)); padding: 26px 28px; border-radius: 20px; background: var(--surface); box-shadow: var(--lifted); }
.dialog h2 { font-size: calc(18px * var(--text)); font-weight: 650; letter-spacing: -.015em; }
.dialog-buttons { display: flex; justify-content: end; gap: 8px; margin-top: 20px; }
.field { min-width: 0; margin: 16px 0 0; padding: 0; border: 0; font-size: calc(14px * var(--text)); }
.field > label, .field > legend { display: block; padding: 0; font-weight: 600; }
.field-required, .field-hint { color: var(--quiet); font-weight: 400; }
.field :is(input:not([type="radio"], [type="checkbox"]), select, textarea) {
  width: 100%; min-height: 44px; margin-top: 4px; padding: 8px 12px; border: 1px solid var(--edge); border-radius: 10px; background: var(--ground); color: var(--ink); font: inherit;
}
.field [aria-invalid="true"]:not([type="radio"]) { border-color: var(--bad); }
.field-error { margin-top: 4px; color: var(--bad); font-size: calc(13px * var(--text)); font-weight: 550; }
.field-error:empty { display: none; }
.choice, .is-switch { display: flex; flex-wrap: wrap; align-items: center; gap: 10px; }
.choice { min-height: 44px; }
.choice label, .is-switch > label { flex: 1; padding: 10px 0; font-weight: 400; }
.field [type="radio"], .field [type="checkbox"] { width: 20px; height: 20px; margin: 0; accent-color: var(--accent); }

.zoom { width: 100vw; max-width: none; height: 100dvh; max-height: none; margin: 0; padding: 0; background: #0d0d10; color: #f4f4f2; }
.zoom[open] { display: grid; grid-template-rows: 60px 1fr; animation: appear 160ms ease-out; }
@keyframes appear { from { opacity: 0; } }
.zoom-bar { display: flex; align-items: center; gap: 4px; padding: 0 12px 0 24px; }
.zoom-bar h2 { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: calc(17px * var(--text)); font-weight: 600; }
.zoom-scale { min-width: 58px; color: #b6b7bd; font-size: calc(14px * var(--text)); text-align: center; font-variant-numeric: tabular-nums; }
.zoom-button { width: 44px; height: 44px; border: 0; border-radius: 50%; background: rgb(255 255 255 / 10%); color: inherit; font: inherit; font-size: 20px; line-height: 1; cursor: pointer; }
.zoom-button:hover { background: rgb(255 255 255 / 20%); }
.zoom :focus-visible { outline-color: #a9b4ff; }
.zoom-button:focus-visible { outline-offset: -1px; }
/* The stage scrolls, so that every part of a large image is reachable. */
.zoom-stage { --side: calc(min(92vw, 100dvh - 120px, 640px) * var(--zoom, 1)); position: relative; display: flex; overflow: auto; touch-action: none; cursor: grab; user-select: none; scrollbar-width: none; }
.zoom-stage:active { cursor: grabbing; }
.zoom-stage:focus-visible { outline-offset: -3px; }
.zoom-stage > :is(.zoom-initials, .zoom-image) { flex: none; width: var(--side); height: var(--side); margin: auto; object-fit: contain; }
.zoom-initials { display: grid; place-items: center; color: rgb(255 255 255 / 40%); font-size: calc(var(--side) / 4); font-weight: 600; }
.zoom-image { border-radius: 12px; }
.zoom-failure { position: absolute; left: 24px; right: 24px; bottom: 24px; color: #d6d7dc; font-size: calc(15px * var(--text)); text-align: center; }

@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { transition: none !important; animation: none !important; scroll-behavior: auto !important; }
}
/* With forced colours, borders replace shadows and colours. */
@media (forced-colors: active) {
  .cell:not(.is-header), .skeletons i, .toast, .banner, .menu, dialog { border: 1px solid CanvasText; }
  .button, .toast-button, .zoom-button { border: 1px solid ButtonText; background: ButtonFace; color: ButtonText; }
  .tool::before { border: 1px solid ButtonText; }
  .avatar { border: 1px solid CanvasText; }
  .toast, .zoom, .zoom-scale { background: Canvas; color: CanvasText; }
  .zoom-initials, .zoom-failure { color: CanvasText; }
  .cell.is-inspected { outline-color: Highlight; }
}
`;

let sheet;

/** Returns the style sheet, which all elements share. A content security policy does not apply to it, because it is made by a script. */
export function styles() {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
  }
  return sheet;
}
