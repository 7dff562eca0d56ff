// Compiled only: an app in TypeScript, which uses all parts as README.md says.
import {
  Actions, CellRegistry, Connection, decodedImage, FeedClient, FeedList, FeedUpdates, ImageLoader, Impressions, Outbox, Refusal, ViewportWatch,
  type BatchUpdate, type Cell, type Entry,
} from "../source/index.mjs";

const connection = new Connection("https://feed.example.com/readyz");
const client = new FeedClient({ base: "https://feed.example.com/", viewer: "ada", connection });
const outbox = new Outbox({ client, storage: localStorage });
const actions = new Actions({ client, outbox, open: (href) => location.assign(href) });
const list = new FeedList(client, "feed?changes=true");
const images = new ImageLoader<HTMLImageElement>({ client, actions, decode: decodedImage });
const registry = new CellRegistry<HTMLElement>({ fallback: { make: () => document.createElement("article"), bind: show } });
const watch = new ViewportWatch(new Impressions({ client }));

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
    const performance = await actions.perform("dismissal", entry, { optimistic: () => list.hide(entry), waits: true });
    return performance?.undo?.expires ?? null;
  } catch (error) {
    if (error instanceof Refusal) console.log(error.detail);
    throw error;
  }
}

export async function main(): Promise<void> {
  await list.loadNext();
  for (const entry of list.entries) {
    const view = registry.dequeue(entry.cell);
    registry.bind(view, entry.cell);
    watch.observe(view, entry);
    const picture: HTMLImageElement = await images.request("/images/a", { owner: entry, priority: () => entry.index }).answer;
    view.append(picture);
  }
  const updates = new FeedUpdates({ list, shown: () => ({ first: 0, last: 10 }) });
  for await (const page of client.pages("feed")) console.log(page.cells.length, page.next);
  await dismiss(list.entries[0]);
  updates.close();
}

// @ts-expect-error A base is needed.
new FeedClient({});
// @ts-expect-error A slot is a name.
actions.perform(1, list.entries[0]);
