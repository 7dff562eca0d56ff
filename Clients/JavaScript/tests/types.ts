// A TypeScript app that uses all parts of the README. The tests compile it only.
import {
  Actions, CellRegistry, Connection, decodeImage, FeedClient, FeedList, FeedUpdates, ImageLoader, Impressions, Outbox, ProblemError, ViewportObserver,
  type BatchUpdate, type Cell, type Entry,
} from "../source/index.mjs";
import "../source/element/intertwine-feed.mjs";

const connection = new Connection({ probe: "https://feed.example.com/readyz" });
const client = new FeedClient({ base: "https://feed.example.com/", viewer: "ada", connection });
export const signedIn = new FeedClient({ base: "https://feed.example.com/", token: async ({ refresh }) => (refresh ? "new" : "old") });
const outbox = new Outbox({ client, storage: localStorage });
const actions = new Actions({ client, outbox, open: (href) => location.assign(href) });
const list = new FeedList({ client, href: "feed?changes=true" });
const images = new ImageLoader<HTMLImageElement>({ client, actions, decode: decodeImage });
const registry = new CellRegistry<HTMLElement>({ fallback: { make: () => document.createElement("article"), bind: show } });
const watch = new ViewportObserver({ impressions: new Impressions({ client }) });

function show(view: HTMLElement, cell: Cell): void {
  const { width, height } = registry.size(cell);
  view.style.cssText = `width: ${width}px; height: ${height}px`;
}

list.addEventListener("changed", ({ detail }) => {
  const update: BatchUpdate = detail.update;
  for (const [section, item] of update.inserted) console.log(list.sections[section].entries[item].cell.id);
});

async function dismiss(entry: Entry): Promise<Date | null> {
  try {
    const invocation = await actions.perform("dismissal", entry, { optimistic: () => list.hide(entry), queueable: true });
    return invocation?.undo?.expiresAt ?? null;
  } catch (error) {
    if (error instanceof ProblemError) console.log(error.detail);
    throw error;
  }
}

export async function main(): Promise<void> {
  await list.loadNext();
  for (const entry of list.entries) {
    const view = registry.dequeue(entry.cell);
    registry.bind(view, entry.cell);
    watch.observe(view, entry);
    const image: HTMLImageElement = await images.request("/images/a", { owner: entry, priority: () => entry.index }).image;
    view.append(image);
  }
  const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: 10 }) });
  for await (const page of client.pages("feed")) console.log(page.cells.length, page.next);
  await dismiss(list.entries[0]);
  updates.close();
}

// The element.
const feed = document.createElement("intertwine-feed");
feed.client = client;
feed.addEventListener("feedchange", ({ detail }) => console.log(detail.count, detail.isAtEnd));
feed.addEventListener("feedopen", (event) => {
  event.preventDefault();
  location.assign(event.detail.href);
});
feed.src = "/feed";

// @ts-expect-error The base is required.
new FeedClient({});
// @ts-expect-error A slot is a string.
actions.perform(1, list.entries[0]);
