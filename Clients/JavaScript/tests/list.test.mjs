// Lists, their pages, and their synchronization by streams and polling.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FeedList, FeedPages, FeedUpdates, ProblemError } from "../source/index.mjs";
import { against, cell, page, replies, request } from "./broken-server.mjs";

test("keeps the list if a cursor is refused, and continues after a reload", () => against([
  replies.json({ ...page("user:a"), page: { next: "/feed?cursor=old" } }), replies.status(400, { type: "/problems/invalid-cursor", title: "No" }),
  replies.json({ ...page("user:a"), page: { next: "/feed?cursor=new" } }), replies.json(page("user:b")),
], async (client, server) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  await assert.rejects(list.loadNext(), ProblemError);
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a"]);
  await list.reload();
  await list.loadNext();
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b"]);
  assert.equal(server.requests.at(-1).url, "/feed?cursor=new");
}));

test("notifies of no confirmed change, but of another end of the list", () => {
  const changes = (more, next = null) => replies.json({ reload: false, removed: [], inserted: [], moved: [], reconfigured: [], page: { next }, ...more });
  return against([
    replies.json(page("user:a", "user:b", "user:c")),
    changes({ removed: [{ index: 0, id: "user:a" }], pages: [{ count: 2, syncToken: "B" }] }),
    changes({ reconfigured: [{ index: 1, cell: { ...cell("user:c"), version: 2 } }], pages: [{ count: 2, syncToken: "C" }] }),
    changes({ pages: [{ count: 2, syncToken: "D" }] }, "/feed?cursor=d"),
    changes({ moved: [{ from: 1, to: 0, id: "user:c" }], pages: [{ count: 2, syncToken: "E" }] }, "/feed?cursor=d"),
  ], async (client) => {
    const list = new FeedList({ client, href: "feed" });
    await list.loadNext();
    const [first, second, third] = list.entries;
    const notifications = [];
    list.addEventListener("changed", ({ detail: { update } }) => notifications.push(Object.keys(update).filter((kind) => update[kind].length > 0)));
    const refresh = async () => {
      notifications.length = 0;
      await list.refresh({ first: 0, last: 0 });
      return [...notifications];
    };
    list.hide(first);
    assert.deepEqual(notifications, [["removed"]]);
    assert.deepEqual(await refresh(), [], "the cell is already hidden");
    list.hide(third);
    assert.deepEqual(await refresh(), [], "only a hidden cell changed");
    assert.deepEqual(await refresh(), [[]], "there is another page now");
    assert.equal(list.isAtEnd, false);
    assert.deepEqual(await refresh(), [], "only a hidden cell moved");
    assert.deepEqual(list.entries, [second]);
  });
});

test("holds changes that would move visible cells until they are displayed", () => {
  const changes = (more) => replies.json({ reload: false, removed: [], inserted: [], moved: [], reconfigured: [], page: { next: null }, ...more });
  return against([
    replies.json(page("user:a", "user:b", "user:c")),
    changes({
      removed: [{ index: 1, id: "user:b" }], inserted: [{ index: 0, cell: cell("user:new") }],
      reconfigured: [{ index: 1, cell: { ...cell("user:a"), version: 2 } }], pages: [{ count: 3, syncToken: "B" }],
    }),
    changes({ removed: [{ index: 2, id: "user:c" }], pages: [{ count: 2, syncToken: "C" }] }),
  ], async (client) => {
    const list = new FeedList({ client, href: "feed", pinned: () => 3 });
    await list.loadNext();
    const [a, b, c] = list.entries;
    const seen = [];
    list.addEventListener("held", () => seen.push(["held", list.held.inserted]));
    list.addEventListener("changed", ({ detail: { update } }) => seen.push(Object.keys(update).filter((kind) => update[kind].length > 0)));
    await list.refresh({ first: 0, last: 2 });
    assert.deepEqual(seen, [["reconfigured"], ["held", 1]]);
    assert.deepEqual(list.entries, [a, b, c], "nothing moved");
    assert.deepEqual([a, b, c].map(({ cell: { version }, isRemoved, index }) => [version ?? 1, isRemoved, index]), [[2, false, 0], [1, true, 1], [1, false, 2]]);
    // Gestures of the viewer and further changes apply to the displayed entries.
    list.hide(c);
    assert.deepEqual(list.entries, [a, b]);
    assert.deepEqual(list.serverRange({ first: 0, last: 1 }), { first: 1, last: 1 });
    await list.refresh({ first: 0, last: 1 });
    seen.length = 0;
    list.showHeld();
    assert.deepEqual(list.entries.map((entry) => entry.cell.id), ["user:new", "user:a"]);
    assert.deepEqual(seen, [["removed", "inserted"]]);
    assert.equal(list.held, null);
    assert.deepEqual([b.index, a.index], [-1, 1]);
  });
});

test("holds new sizes of visible cells until they are displayed", () => {
  const sized = (name, height, more) => ({ ...cell(name), size: { width: 300, height }, ...more });
  const changes = (token, ...cells) => replies.json({
    reload: false, removed: [], inserted: [], moved: [], reconfigured: cells.map(([index, cell]) => ({ index, cell })),
    pages: [{ count: 3, syncToken: token }], page: { next: null },
  });
  const [large, larger, small] = [[0, sized("user:a", 200)], [0, sized("user:a", 300)], [0, sized("user:a", 100, { version: 2 })]];
  const below = [2, sized("user:c", 200)];
  return against([
    replies.json({ ...page("user:a", "user:b", "user:c"), cells: ["user:a", "user:b", "user:c"].map((name) => sized(name, 100)) }),
    changes("B", below), changes("C", large, [1, sized("user:b", 100, { version: 2 })]), changes("D", larger), changes("E", small), changes("F", large),
    changes("G", larger),
  ], async (client) => {
    const list = new FeedList({ client, href: "feed", pinned: () => 1 });
    await list.loadNext();
    const [a, b, c] = list.entries;
    const shown = [];
    list.addEventListener("changed", ({ detail: { update } }) => shown.push(update.reconfigured.map(([, item]) => item)));
    const refresh = async () => {
      shown.length = 0;
      await list.refresh({ first: 0, last: 2 });
      return [shown.flat(), a.cell.size.height, list.held];
    };
    assert.deepEqual(await refresh(), [[2], 100, null], "the change is below");
    assert.equal(c.cell.size.height, 200);
    const held = { inserted: 0 };
    assert.deepEqual(await refresh(), [[1], 100, held], "a cell of an equal size changes in its place");
    assert.equal(b.cell.version, 2);
    assert.deepEqual(await refresh(), [[], 100, held]);
    assert.deepEqual(await refresh(), [[0], 100, null], "the size is the displayed one again");
    assert.equal(a.cell.version, 2);
    await refresh();
    list.showHeld();
    assert.deepEqual([shown.flat(), a.cell.size.height, list.held], [[0], 200, null]);
    // A response to a gesture of the viewer is newer.
    await refresh();
    list.reconfigure(a, sized("user:a", 50));
    list.showHeld();
    assert.equal(a.cell.size.height, 50);
  });
});

test("a change that releases held moves notifies of all moves", () => {
  const names = ["user:a", "user:b", "user:c", "user:d"];
  const moves = (token, from, to, id) => replies.json({
    reload: false, removed: [], inserted: [], moved: [{ from, to, id }], reconfigured: [], pages: [{ count: 4, syncToken: token }], page: { next: null },
  });
  return against([replies.json(page(...names)), moves("B", 3, 0, "user:d"), moves("C", 3, 1, "user:c")], async (client) => {
    let pinned = 4;
    const list = new FeedList({ client, href: "feed", pinned: () => pinned });
    await list.loadNext();
    const updates = [];
    list.addEventListener("changed", ({ detail: { update } }) => updates.push(update));
    await list.refresh({ first: 0, last: 3 });
    assert.deepEqual(list.entries.map((entry) => entry.cell.id), names);
    pinned = 0;
    updates.length = 0;
    await list.refresh({ first: 0, last: 3 });
    assert.deepEqual(list.entries.map((entry) => entry.cell.id), ["user:d", "user:c", "user:a", "user:b"]);
    assert.deepEqual(updates.map(({ moved }) => moved), [[{ from: [0, 3], to: [0, 0] }, { from: [0, 2], to: [0, 1] }]]);
  });
});

// Only `primary` tells a companion or a repetition: the id of another item may begin like that of the hidden cell.
const companions = page("user:a", "user:a#photos", "user:a#x", "user:ab", "user:a#2");
for (const index of [1, 4]) companions.cells[index].primary = "user:a";

test("hides and shows a cell together with the other cells of its item, and no other item", () => against(replies.json(companions), async (client) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const ids = () => list.entries.map(({ cell }) => cell.id);
  const back = list.hide(list.entries[0]);
  assert.deepEqual(ids(), ["user:a#x", "user:ab"]);
  back();
  assert.deepEqual(ids(), ["user:a", "user:a#photos", "user:a#x", "user:ab", "user:a#2"]);
  list.hide(list.entries[1]);
  assert.deepEqual(ids(), ["user:a", "user:a#x", "user:ab", "user:a#2"]);
}));

test("requests changes with the client parameter of the pages", () => against([replies.json(page("user:a")), replies.json({ reload: true })], async (client, server) => {
  const pages = new FeedPages({ client, href: "feed?changes=true&client=abc" });
  await pages.next();
  await pages.fetchChanges({ first: 0, last: 0 });
  assert.equal(server.requests[1].url, "/feed/changes?client=abc&syncToken=A");
}));

test("receives changes by a stream, and continues after an interruption", () => against([
  replies.json(page("user:a")),
  (_, response) => {
    const answer = {
      reload: false, removed: [], inserted: [{ index: 1, cell: cell("user:b") }], moved: [], reconfigured: [],
      pages: [{ count: 2, syncToken: "B" }], page: { next: null, previous: null },
    };
    response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`retry: 1\n\nid: B\nevent: changes\ndata: ${JSON.stringify(answer)}\n\n`);
  },
  replies.busy,
  (_, response) => response.writeHead(304).end(),
  replies.json({ reload: true }),
], async (client, server) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: list.entries.length - 1 }), interval: 50 });
  for (const until = Date.now() + 30_000; server.requests.length < 5 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b"]);
  const stream = "text/event-stream, application/json;q=0.5";
  assert.deepEqual(server.requests.slice(1, 5).map(({ url, headers }) => [url, headers.accept]), [
    ["/feed/changes?syncToken=A", stream], ["/feed/changes?syncToken=B", stream], ["/feed/changes?syncToken=B", "application/json"], ["/feed/changes?syncToken=B", stream],
  ]);
}));

test("polls if a proxy delays the stream", () => against([
  replies.json(page("user:a")), replies.silent, replies.json({ reload: true }), replies.json(page("user:b")), replies.silent,
], async (client, server) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: 0 }), interval: 10, openTimeout: 50 });
  for (const until = Date.now() + 30_000; server.requests.length < 5 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:b"]);
  assert.equal(updates.isLive, true, "the next request may take another route");
}));

test("reopens an idle stream, and polls if its data is invalid", () => against([
  replies.json(page("user:a")),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).write("retry: 1\n\n:\n\n"),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end("data: {oops\n\n"),
  replies.json({ reload: true }), replies.json(page("user:b")),
], async (client, server) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: 0 }), interval: 10, idleTimeout: 50 });
  for (const until = Date.now() + 30_000; server.requests.length < 5 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  assert.deepEqual(server.requests.slice(1, 4).map(({ headers }) => headers.accept.startsWith("text/event-stream")), [true, true, false]);
}));

test("polls if a stream ends immediately or redirects, and follows no redirect", () => against([
  replies.json(page("user:a")),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end("retry: 1\n\n"),
  replies.json({ reload: false }),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`data: ${JSON.stringify({ removed: [], inserted: [], moved: [], reconfigured: [], pages: [null] })}\n\n`),
  replies.json({ reload: false }),
  (_, response) => response.writeHead(302, { Location: "/elsewhere" }).end(),
  replies.json({ reload: false }),
], async (client, server) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: 0 }), interval: 10, isLive: true });
  list.apply = async () => {};
  for (const until = Date.now() + 30_000; server.requests.length < 8 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  const asked = server.requests.slice(1, 7).map(({ headers }) => headers.accept.startsWith("text/event-stream"));
  assert.deepEqual(asked, [true, false, true, false, true, false]);
  assert.ok(server.requests.every(({ url }) => url !== "/elsewhere"));
}));

test("sends tokens that do not fit into a URL in a body, and fewer tokens if the body is refused", () => against(replies.json(page()), async (client, server) => {
  const syncToken = "s".repeat(3000);
  const pages = new FeedPages({ client, href: "feed?changes=true" });
  pages.loaded = Array.from({ length: 4 }, () => ({ count: 10, syncToken, next: "/feed?cursor=x" }));
  server.next = [replies.json({ reload: true })];
  await pages.fetchChanges({ first: 0, last: 39 });
  const [{ method, url, body }] = server.requests;
  assert.deepEqual([method, url, JSON.parse(body)], ["POST", "/feed/changes", { syncTokens: [syncToken, syncToken, syncToken, syncToken] }]);
  server.next = [replies.status(405, {}), replies.json({ reload: true })];
  await assert.rejects(pages.fetchChanges({ first: 0, last: 39 }), ProblemError);
  await pages.fetchChanges({ first: 15, last: 39 });
  assert.deepEqual([server.requests[2].method, server.requests[2].url], ["GET", `/feed/changes?syncToken=${syncToken},${syncToken}`]);
}));

test("reloads the pages if changes are not available, and keeps existing entries", () => against([
  replies.json(page("user:a", "user:b")), replies.json({ reload: true }), replies.json(page("user:b", "user:c", "user:a")),
], async (client) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const [first, second] = list.entries;
  let update;
  list.addEventListener("changed", ({ detail }) => ({ update } = detail));
  await list.refresh({ first: 0, last: 1 });
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:b", "user:c", "user:a"]);
  assert.ok(list.entries[0] === second && list.entries[2] === first);
  assert.deepEqual([update.inserted, update.moved.length, update.removed], [[[0, 1]], 1, []]);
}));

test("applies changes from stream and polling once, and reloads if the pages do not match", () => against([
  replies.json(page("user:a")), replies.json(page("user:c")),
], async (client, server) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const response = {
    reload: false, removed: [], inserted: [{ index: 1, cell: cell("user:b") }], moved: [], reconfigured: [], pages: [{ count: 2, syncToken: "B" }], page: { next: null },
  };
  const shown = () => list.entries.map(({ cell }) => cell.id);
  for (let round = 0; round < 2; round += 1) await list.apply({ from: 0, to: 1, start: 0, end: 1, syncTokens: ["A"], response });
  assert.deepEqual([shown(), server.requests.length], [["user:a", "user:b"], 1]);
  await list.apply({ from: 0, to: 1, start: 0, end: 1, syncTokens: ["A"], response: { ...response, pages: [{ count: 2, syncToken: "C" }] } });
  assert.deepEqual([shown(), server.requests.length], [["user:c"], 2]);
}));

test("requests changes after a page that is loading", () => {
  let go;
  const isHeld = new Promise((done) => (go = done));
  const answer = {
    reload: false, removed: [], inserted: [{ index: 2, cell: cell("user:c") }], moved: [], reconfigured: [],
    pages: [{ count: 1, syncToken: "A" }, { count: 2, syncToken: "C" }], page: { next: null },
  };
  return against([
    replies.json({ ...page("user:a"), page: { next: "/feed?cursor=x", syncToken: "A" } }),
    (request, response) => isHeld.then(() => replies.json({ ...page("user:b"), page: { next: null, syncToken: "B" } })(request, response)),
    replies.json(answer),
  ], async (client, server) => {
    const list = new FeedList({ client, href: "feed" });
    await list.loadNext();
    const both = [list.loadNext(), list.refresh({ first: 0, last: 0 })];
    go();
    await Promise.all(both);
    assert.deepEqual(server.requests.map(({ url }) => url), ["/feed", "/feed?cursor=x", "/feed/changes?syncToken=A,B"]);
    assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b", "user:c"]);
  });
});

test("requests no more changes of pages that a proxy modifies", () => {
  const none = { reload: false, removed: [], inserted: [], moved: [], reconfigured: [], pages: [{ count: 2, syncToken: "B" }], page: {} };
  return against([replies.json(page("user:a")), replies.json(none), replies.json(page("user:a")), replies.json(none)], async (client, server) => {
    const list = new FeedList({ client, href: "feed" });
    await list.loadNext();
    for (let round = 0; round < 4; round += 1) await list.refresh({ first: 0, last: 0 });
    assert.equal(server.requests.length, 4);
  });
});
