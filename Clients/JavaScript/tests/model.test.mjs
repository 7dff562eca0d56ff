// A thousand random operations on a real service. The list, and a collection view that applies its batch updates, equal the result of a new
// pagination. SEED=… repeats a run.
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Actions, FeedClient, FeedList, FeedUpdates } from "../source/index.mjs";
import { randomNumbers } from "./random.mjs";
import { ad, event, kinds, Service, user } from "./service.mjs";

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
let service;
before(async () => {
  const items = [...Array.from({ length: 20 }, (_, n) => event(n)), ...Array.from({ length: 40 }, (_, n) => user(`u${n}`)), ...[1, 2, 3].map(ad)];
  service = await Service.start({ items, settings: [`kinds.file=${kinds}`, "ads.rotation=listed"] });
});
after(() => service.stop());

/** A model of a collection view. It has sections and items, and applies batch updates as `performBatchUpdates` does. */
class Collection {
  sections = [{ header: null, items: [] }];

  apply({ sectionsRemoved, sectionsInserted, sectionsReconfigured, removed, inserted, moved, reconfigured }, list) {
    const { sections } = list;
    const old = this.sections.map(({ items }) => items);
    const leaving = [...removed, ...moved.map(({ from }) => from)].sort((a, b) => b[0] - a[0] || b[1] - a[1]);
    const carried = new Map(moved.map(({ from, to }) => [to, old[from[0]][from[1]]]));
    for (const [section, item] of leaving) this.sections[section].items.splice(item, 1);
    for (const section of sectionsRemoved) this.sections.splice(section, 1);
    for (const section of sectionsInserted) {
      const { header, entries } = sections[section];
      this.sections.splice(section, 0, { header: header && shown(header.cell), items: entries.map(({ cell }) => shown(cell)) });
    }
    const fresh = ([section, item]) => shown(sections[section].entries[item].cell);
    const arriving = [...inserted.map((path) => [path, fresh(path)]), ...carried].sort(([a], [b]) => a[0] - b[0] || a[1] - b[1]);
    for (const [[section, item], one] of arriving) {
      assert.ok(item <= this.sections[section].items.length, "an insertion leaves no hole");
      this.sections[section].items.splice(item, 0, one);
    }
    for (const [section, item] of reconfigured) this.sections[section].items[item] = fresh([section, item]);
    for (const section of sectionsReconfigured) this.sections[section].header = shown(sections[section].header.cell);
  }

  get flat() {
    return this.sections.flatMap(({ header, items }) => (header === null ? items : [header, ...items]));
  }
}

/** Returns the visible content of a cell. Impression tokens differ by page. */
function shown({ id, actions, ...rest }) {
  return JSON.stringify({ id, ...rest, bindings: actions.configuration.bindings });
}

let users = Array.from({ length: 40 }, (_, n) => `u${n}`);

for (const [limit, operations] of [[7, 1000], [100, 300]]) {
  test(`${operations} operations, pages of ${limit} (SEED=${seed})`, { timeout: 300_000 }, async () => {
    const random = randomNumbers(seed + limit);
    const pick = (list) => list[random(list.length)];
    const client = new FeedClient({ base: service.url, viewer: `model-${limit}` });
    const actions = new Actions({ client });
    const href = `feed?limit=${limit}&changes=true`;
    const list = new FeedList({ client, href });
    const collection = new Collection();
    list.addEventListener("changed", ({ detail }) => collection.apply(detail.update, list));
    let [reloads, made, count] = [0, 0, 0];
    list.addEventListener("reloading", () => (reloads += 1));
    for (let page = 0; page < 4; page += 1) await list.loadNext();
    let undos = [];

    while (count < operations) {
      const batch = [];
      const touched = new Set();
      for (let number = random(24) + 1; number > 0; number -= 1) {
        const [one, other] = [pick(users), pick(users)];
        if (touched.has(one) || touched.has(other) || one === other) continue;
        const kind = random(5);
        if (kind === 0 && users.length > 20) {
          batch.push({ remove: `user:${one}` });
          users = users.filter((id) => id !== one);
          touched.add(one);
        } else if (kind === 1) {
          batch.push({ move: `user:${one}`, [pick(["before", "after"])]: `user:${other}` });
        } else if (kind === 2) {
          batch.push({ update: user(one, { username: `Name ${random(1000)}`, type: pick(["regular", "featured"]) }) });
        } else {
          const id = `n${limit}-${(made += 1)}`;
          batch.push({ insert: user(id), [pick(["before", "after"])]: `user:${other}` });
          users.push(id);
          touched.add(id);
        }
        touched.add(other);
      }
      if (batch.length > 0) await service.operate(...batch);
      count += batch.length;
      if (random(3) === 0) {
        const entry = pick(list.entries.filter(({ cell }) => cell.actions.dismissal));
        const gesture = entry && actions.perform("dismissal", entry, { optimistic: () => list.hide(entry) }).catch(() => null);
        const invocation = await gesture;
        if (invocation?.undo) undos.push(invocation.undo);
        count += 1;
      }
      if (random(6) === 0 && undos.length > 0) {
        await undos.splice(random(undos.length), 1)[0].run().catch(() => {});
        count += 1;
      }
      // A request for changes may contain at most 16 pages.
      if (random(8) === 0 && list.pages.loaded.length < 10) await list.loadNext();
      await list.refresh({ first: 0, last: list.entries.length - 1 });

      const expectedCells = [];
      for await (const { cells } of new FeedClient({ base: service.url, viewer: client.viewer }).pages(href)) {
        expectedCells.push(...cells);
        if (expectedCells.length >= list.entries.length) break;
      }
      const expected = expectedCells.slice(0, list.entries.length).map(shown);
      assert.deepEqual(list.entries.map(({ cell }) => shown(cell)), expected, `the list after ${count} operations`);
      assert.deepEqual(collection.flat, expected, `the collection view after ${count} operations`);
      assert.ok(!list.isAtEnd || expectedCells.length === list.entries.length, "the end");
      undos = undos.slice(-20);
    }
    console.log(`${count} operations, ${list.entries.length} cells, ${list.pages.loaded.length} pages, ${reloads} reloads`);
  });
}

test("receives changes by server-sent events", { timeout: 120_000 }, async (context) => {
  const client = new FeedClient({ base: service.url, viewer: "live" });
  const list = new FeedList({ client, href: "feed?limit=10&changes=true" });
  for (let page = 0; page < 3; page += 1) await list.loadNext();
  const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: 9 }), interval: 60_000 });
  try {
    for (const until = Date.now() + 30_000; updates.isLive && !updates.isStreaming && Date.now() < until;) await wait(10);
    if (!updates.isLive) return context.skip("the service has no event stream");
    assert.ok(updates.isStreaming);
    for (let round = 0; round < 20; round += 1) {
      const changed = once(list, "changed");
      await service.operate({ insert: user(`live-${round}`), before: list.entries.find(({ cell }) => cell.id.startsWith("user:")).cell.id });
      await changed;
    }
    const page = await new FeedClient({ base: service.url, viewer: "live" }).page("feed?limit=10");
    assert.deepEqual(list.entries.slice(0, page.cells.length).map(({ cell }) => cell.id), page.cells.map(({ id }) => id));
  } finally {
    updates.close();
  }
});
