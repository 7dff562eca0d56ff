// The order of the items, which operators change in the console beside the page.
import { say } from "./page-words.mjs";

const { hostname, protocol } = location;
/** The console of a service on this machine, or null: elsewhere, its listener cannot be reached. */
export const consoleAddress = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  ? `${protocol}//${hostname}:${document.querySelector('meta[name="operator-port"]').content}/` : null;

const width = 520;

/**
 * Returns a function that opens the console at the order of an item, in a window beside the feed. While that window is open, the feed shows
 * each change at once: the person looks on, and does not read.
 */
export function order(feed) {
  let opened = null;
  const { list, toast } = feed.parts;
  const follow = () => {
    if (list.isHolding && opened?.closed === false) queueMicrotask(() => list.showHeld());
  };
  for (const name of ["held", "changed"]) list.addEventListener(name, follow);
  return (entry) => {
    const url = new URL("?" + new URLSearchParams({ order: entry.cell.id }), consoleAddress);
    opened = open(url, "intertwine-order", `popup,width=${width},height=${Math.min(900, outerHeight)},left=${screenX + Math.max(0, outerWidth - width)},top=${screenY}`);
    if (opened !== null) toast.show(say("Press an arrow in the other window: the cell moves here."), { seconds: 10 });
  };
}
