// What a client makes of a server that fails: it asks again where that may help, and performs nothing twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Actions, Backoff, CellRegistry, Connection, FeedClient, FeedList, FeedPages, FeedUpdates, ImageLoader, Impressions, Outbox, pictureHref, placeholderPixels, Refusal, Unavailable } from "../source/index.mjs";
import { BrokenServer, ways } from "./broken-server.mjs";

const page = (...ids) => ({ items: ids.map(cell), page: { limit: 20, next: null, previous: null, since: "A" } });
const request = (id, slot) => ({ type: "request", method: "POST", href: `/cells/${id}/${slot}` });
const cell = (id) => ({ id, identifier: "A", size: { width: 1, height: 1 }, actions: { dismissal: request(id, "dismissal"), selection: request(id, "selection") } });
const undo = { type: "request", method: "DELETE", href: "/selections/1", expires: "2999-01-01T00:00:00Z" };
const quick = () => new Backoff({ first: 1, longest: 5 });

async function against(next, body, options = {}) {
  const server = await BrokenServer.start(...[next].flat());
  try {
    const client = new FeedClient({ base: server.url, viewer: "v", backoff: quick, ...options });
    await body(client, server);
  } finally {
    server.stop();
  }
}

for (const way of ["drop", "busy", "unable", "half", "cut", "portal"]) {
  test(`asks again where the server fails by ${way}`, () => against([ways[way], ways[way], ways.answer(page("user:a"))], async (client, server) => {
    assert.deepEqual((await client.page("feed")).cells.map(({ id }) => id), ["user:a"]);
    assert.equal(server.requests.length, 3);
  }));
}

test("asks again where the server says nothing", () => against([ways.silent, ways.answer(page("user:a"))], async (client, server) => {
  assert.deepEqual((await client.page("feed")).cells.map(({ id }) => id), ["user:a"]);
  assert.ok(server.requests.length >= 2, "a machine that is slow may be silent, too");
}, { timeout: 1000 }));

test("gives up after some attempts, and says why", () => against(ways.busy, async (client, server) => {
  await assert.rejects(client.page("feed"), (error) => error instanceof Unavailable && error.status === 503 && error.retryAfter === 0);
  assert.equal(server.requests.length, 4);
}));

test("waits as long as it is asked to", () => against([ways.status(503, {}, { "Retry-After": "1" }), ways.answer(page())], async (client) => {
  const began = performance.now();
  await client.page("feed");
  assert.ok(performance.now() - began >= 990);
}));

test("leaves it to whoever asked where it would wait for minutes", () => against(ways.status(503, {}, { "Retry-After": "600" }), async (client, server) => {
  await assert.rejects(client.page("feed"), { name: "Unavailable", retryAfter: 600 });
  assert.equal(server.requests.length, 1);
}));

test("does not ask again what was refused", () => against(ways.status(400, { title: "No", detail: "Not so.", type: "urn:x" }), async (client, server) => {
  await assert.rejects(client.page("feed"), (error) => error instanceof Refusal && error.message === "No: Not so." && error.type === "urn:x");
  assert.equal(server.requests.length, 1);
}));

test("refuses a viewer that no field can carry", () => {
  for (const viewer of ["a\nb", "a\r", "\0"]) assert.throws(() => new FeedClient({ base: "http://127.0.0.1/", viewer }), TypeError);
});

test("takes no other JSON for a page", () => against(ways.answer({ items: 5 }), (client) => assert.rejects(client.page("feed"), Refusal)));

for (const status of [301, 302, 307, 304, 404, 410, 500]) {
  const away = (_, response) => response.writeHead(status, status < 304 || status === 307 ? { Location: "/elsewhere" } : {}).end();
  test(`takes no ${status} for a page, and follows nobody elsewhere`, () => against(away, async (client, server) => {
    await assert.rejects(client.page("feed"), (error) => error instanceof Refusal && error.status === status);
    assert.equal(server.requests.length, 1);
  }));
}

test("says that nobody is there", () => against(ways.answer(page()), async (client, server) => {
  server.stop();
  await assert.rejects(client.page("feed"), (error) => error instanceof Unavailable && error.status === null);
}));

test("keeps the list where a cursor is refused, and goes on after a reload", () => against([
  ways.answer({ ...page("user:a"), page: { next: "/feed?cursor=old" } }), ways.status(400, { type: "urn:intertwine:problem:invalid-cursor", title: "No" }),
  ways.answer({ ...page("user:a"), page: { next: "/feed?cursor=new" } }), ways.answer(page("user:b")),
], async (client, server) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  await assert.rejects(list.loadNext(), Refusal);
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a"]);
  await list.reload();
  await list.loadNext();
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b"]);
  assert.equal(server.requests.at(-1).url, "/feed?cursor=new");
}));

test("stops where it is told to, at once", () => against(ways.silent, async (client) => {
  const controller = new AbortController();
  const answer = client.page("feed", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(answer, { message: "enough" });
}, { timeout: 60_000 }));

test("sends a POST again under the same key, and none without a key", () => against([ways.drop, ways.answer({})], async (client, server) => {
  await new Actions({ client }).perform("selection", { cell: cell("user:a") });
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(keys.length, 2);
  assert.ok(keys[0] && keys[0] === keys[1]);
  server.next = [ways.drop];
  await assert.rejects(client.send("cells/x", { method: "POST" }), { isRetried: false });
  assert.equal(server.requests.length, 3);
}));

test("sends no page again that did not change", () => against([ways.answer(page("user:a"), { ETag: '"1"' }), (_, response) => response.writeHead(304).end()], async (client, server) => {
  await client.page("feed");
  assert.equal((await client.page("feed")).cells[0].id, "user:a");
  assert.equal(server.requests[1].headers["if-none-match"], '"1"');
}));

test("asks nobody but its own origin", () => against(ways.answer(page("user:a")), async (client, server) => {
  await client.page("https://feed.example.com/feed?cursor=x");
  assert.equal(server.requests[0].url, "/feed?cursor=x");
  await assert.rejects(client.page("javascript:alert(1)"), TypeError);
}));

test("degrades where the service knows no single cells and no feeds", () => against(ways.status(404, {}), async (client) => {
  assert.equal(await client.cell("user:a"), null);
  assert.deepEqual(await client.feeds(), []);
}));

test("takes back what was shown at once where the service refuses", () => against([ways.answer(page("user:a", "user:b")), ways.status(409, { title: "No" })], async (client) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const [entry] = list.entries;
  const gesture = new Actions({ client }).perform("dismissal", entry, { optimistic: () => list.hide(entry) });
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:b"]);
  await assert.rejects(gesture, Refusal);
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b"]);
}));

test("tells of nothing where the service confirms what the list has done, but of an end that is another", () => {
  const changes = (more, next = null) => ways.answer({ reload: false, removed: [], inserted: [], moved: [], reconfigured: [], page: { next }, ...more });
  return against([
    ways.answer(page("user:a", "user:b", "user:c")),
    changes({ removed: [{ index: 0, id: "user:a" }], pages: [{ count: 2, since: "B" }] }),
    changes({ reconfigured: [{ index: 1, cell: { ...cell("user:c"), version: 2 } }], pages: [{ count: 2, since: "C" }] }),
    changes({ pages: [{ count: 2, since: "D" }] }, "/feed?cursor=d"),
    changes({ moved: [{ from: 1, to: 0, id: "user:c" }], pages: [{ count: 2, since: "E" }] }, "/feed?cursor=d"),
  ], async (client) => {
    const list = new FeedList(client, "feed");
    await list.loadNext();
    const [first, second, third] = list.entries;
    const told = [];
    list.addEventListener("changed", ({ detail: { update } }) => told.push(Object.keys(update).filter((kind) => update[kind].length > 0)));
    const follow = async () => {
      told.length = 0;
      await list.follow({ first: 0, last: 0 });
      return [...told];
    };
    list.hide(first);
    assert.deepEqual(told, [["removed"]]);
    assert.deepEqual(await follow(), [], "it is gone from the list already");
    list.hide(third);
    assert.deepEqual(await follow(), [], "what is hidden looks different");
    assert.deepEqual(await follow(), [[]], "there is a further page");
    assert.equal(list.isAtEnd, false);
    assert.deepEqual(await follow(), [], "what is hidden stands elsewhere");
    assert.deepEqual(list.entries, [second]);
  });
});

test("keeps gestures while the service is away, over a restart, and has each performed once", () => against(ways.drop, async (client, server) => {
  const stored = new Map();
  const storage = { getItem: (name) => stored.get(name) ?? null, setItem: (name, value) => stored.set(name, value) };
  const outbox = new Outbox({ client, storage });
  const actions = new Actions({ client, outbox });
  let isTakenBack = 0;
  const owner = (id) => ({ cell: cell(id) });
  const gesture = (id) => actions.perform("dismissal", owner(id), { optimistic: () => () => (isTakenBack += 1), waits: true });
  const [first, second] = [await gesture("user:a"), await gesture("user:b")];
  assert.ok(first.isWaiting && second.isWaiting);
  await second.undo.run();
  assert.deepEqual([isTakenBack, outbox.waiting.map(({ href }) => href)], [1, ["/cells/user:a/dismissal"]]);
  await outbox.flush();
  assert.equal(outbox.waiting.length, 1, "the service is still away");
  // Another page of the same viewer finds what was left, and sends it under its key.
  const later = new Outbox({ client, storage });
  assert.equal(later.waiting.length, 1);
  server.requests.length = 0;
  server.next = [ways.answer({ undo })];
  await Promise.all([outbox.flush(), outbox.flush(), later.flush()]);
  assert.equal(await first.sent, true);
  assert.equal(new Set(server.requests.map(({ headers }) => headers["idempotency-key"])).size, 1);
  assert.equal(server.requests.filter(({ method }) => method === "POST").length, 2, "one of each page");
  assert.equal(first.isWaiting, false);
  await first.undo.run();
  assert.deepEqual([server.requests.at(-1).method, server.requests.at(-1).url, isTakenBack], ["DELETE", "/selections/1", 2]);
  assert.equal(new Outbox({ client, storage }).waiting.length, 0);
}));

test("gives up gestures under keys that the service has forgotten", () => against(ways.answer({}), async (client, server) => {
  let now = 0;
  const outbox = new Outbox({ client, now: () => now });
  const kept = outbox.keep({ key: "k", method: "POST", href: "/cells/user:a/dismissal" });
  now = 24 * 60 * 60 * 1000;
  await outbox.flush();
  await assert.rejects(kept, Unavailable);
  assert.equal(server.requests.length, 0);
}));

test("sends what waits once the connection is restored", () => against(ways.drop, async (client, server) => {
  client.connection = new Connection(`${server.url}readyz`, { backoff: quick() });
  const outbox = new Outbox({ client });
  const kept = outbox.keep({ key: "k", method: "POST", href: "/x" });
  await outbox.flush();
  assert.ok(client.connection.isLost);
  server.next = [ways.answer({ done: true })];
  assert.deepEqual((await kept).value, { done: true });
  assert.equal(client.connection.isLost, false);
}, { attempts: 1 }));

test("an undo is over once its deadline is", () => against(ways.answer({ undo: { ...undo, expires: "2000-01-01T00:00:00Z" } }), async (client) => {
  const performance = await new Actions({ client }).perform("dismissal", { cell: cell("user:a") });
  assert.equal(performance.undo.isOpen, false);
}));

test("loads the nearest picture first, and none that nobody wants any more", async () => {
  const asked = [];
  let release;
  const gate = new Promise((open) => (release = open));
  const fetch = async (url) => {
    asked.push(new URL(url).pathname);
    await gate;
    return new Response("picture", { headers: { "Content-Type": "image/png" } });
  };
  const client = new FeedClient({ base: "http://feed.example.com/", fetch });
  const loader = new ImageLoader({ client, simultaneous: 1, scale: 2 });
  const order = { "/1": 5, "/2": 3, "/3": 1, "/4": 2 };
  const requests = Object.entries(order).map(([href, priority]) => loader.request(href, { priority: () => priority }));
  loader.cancel(requests[3]);
  await assert.rejects(requests[3].answer, { name: "ImageFailure" });
  release();
  await Promise.all(requests.slice(0, 3).map(({ answer }) => answer));
  assert.deepEqual(asked, ["/1", "/3", "/2"]);
  await loader.request("/1").answer;
  assert.equal(asked.length, 3, "it was kept");
});

test("asks for a picture at the scale of the screen, of those that are offered", () => {
  const at = (scale, scales, image = "/images/s/x/150x150") => pictureHref({ image, scales }, scale);
  assert.deepEqual([at(1, [1, 2, 3]), at(2, [1, 2, 3]), at(1.5, [1, 2, 3]), at(4, [1, 2, 3]), at(2, [1]), at(2)],
    ["", "@2x", "@2x", "@3x", "", ""].map((suffix) => `/images/s/x/150x150${suffix}`));
  assert.deepEqual([at(1, [1, 2], "/i@2x"), at(2, [1, 2], "/i@2x"), at(2, undefined, "/i@2x")], ["/i", "/i@2x", "/i@2x"]);
});

test("has the service stop a picture by the cell's own action", async () => {
  const asked = [];
  const fetch = (url, { method = "GET", signal, headers }) => {
    asked.push([method, new URL(url).pathname, headers["X-Request-ID"]]);
    if (method !== "GET") return Promise.resolve(new Response(null, { status: 204 }));
    return new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
  };
  const client = new FeedClient({ base: "http://feed.example.com/", fetch });
  const loader = new ImageLoader({ client, actions: new Actions({ client }) });
  const cancellation = { type: "request", method: "DELETE", href: "/images/requests/{request}", templated: true };
  const request = loader.request("/images/a", { owner: { cell: { ...cell("user:a"), actions: { cancellation } } } });
  loader.cancel(request);
  await assert.rejects(request.answer, { message: "cancelled" });
  assert.deepEqual(asked[1].slice(0, 2), ["DELETE", `/images/requests/${asked[0][2]}`]);
});

test("counts a cell as its action defines it, once, and keeps what could not be told", () => against([ways.drop, ways.status(202, [])], async (client, server) => {
  const impressions = new Impressions({ client, pause: 1 });
  const impression = { type: "request", method: "POST", href: "/events", body: [{ type: "impression", cell: "ad:1", token: "t" }] };
  const entry = (viewable) => ({ cell: { ...cell("ad:1"), actions: { impression: { ...impression, viewable } } } });
  const [full, brief, gone] = [entry({ share: 1, seconds: 0 }), entry({ share: 0.5, seconds: 0.02 }), entry({ share: 0.5, seconds: 0.02 })];
  impressions.update(full, 0.99);
  impressions.update(brief, 0.5);
  impressions.update(gone, 0.5);
  impressions.update(gone, 0.49);
  for (const until = Date.now() + 30_000; server.requests.length === 0 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  impressions.update(full, 1);
  impressions.update(brief, 1);
  for (const until = Date.now() + 30_000; server.requests.length < 2 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  assert.deepEqual(server.requests.map(({ body }) => JSON.parse(body).length), [1, 2], "what was not told is told with what comes next");
}));

test("tells again by itself what was seen, where nobody says that the service is back", () => against([ways.drop, ways.status(202, [])], async (client, server) => {
  const impression = { type: "request", method: "POST", href: "/events", body: [{ type: "impression", token: "t" }], viewable: { share: 1, seconds: 0 } };
  new Impressions({ client, pause: 1 }).update({ cell: { ...cell("ad:1"), actions: { impression } } }, 1);
  for (const until = Date.now() + 30_000; server.requests.length < 2 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  assert.equal(server.requests[1]?.body, server.requests[0].body);
}));

test("performs nothing before what waits: the last gesture is the one that holds", () => against([ways.unable], async (client, server) => {
  client.attempts = 1;
  const outbox = new Outbox({ client, connection: null });
  const actions = new Actions({ client, outbox });
  const owner = { cell: { ...cell("user:a"), actions: { save: { type: "request", method: "POST", href: "/save" }, unsave: { type: "request", method: "POST", href: "/unsave" } } } };
  const saved = await actions.perform("save", owner, { waits: true, body: { stars: 3 } });
  const unsaved = await actions.perform("unsave", owner, { waits: true });
  assert.deepEqual([saved.isWaiting, unsaved.isWaiting], [true, true]);
  server.requests.length = 0;
  server.next = [ways.answer({})];
  await actions.perform("save", owner, { waits: true });
  assert.deepEqual(server.requests.map(({ url }) => url), ["/save", "/unsave", "/save"]);
  assert.equal(server.requests[0].body, '{"stars":3}', "what a slot takes waits with it");
}));

test("hides a cell with its companions, and brings them back together", () => against(ways.answer(page("user:a", "user:a#photos", "user:ab")), async (client) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const ids = () => list.entries.map(({ cell }) => cell.id);
  const back = list.hide(list.entries[0]);
  assert.deepEqual(ids(), ["user:ab"]);
  back();
  assert.deepEqual(ids(), ["user:a", "user:a#photos", "user:ab"]);
}));

test("pages of one viewer keep their gestures beside each other, and send none that another one took back", () => against(ways.drop, async (client, server) => {
  let text = null;
  const storage = { getItem: () => text, setItem: (_, value) => (text = value) };
  const page = () => new Outbox({ client, storage });
  const keep = (outbox, name) => outbox.keep({ key: name, method: "POST", href: `/${name}` }).catch(() => {});
  const [one, other] = [page(), page()];
  keep(one, "a");
  keep(other, "b");
  keep(one, "c");
  const reader = page();
  assert.ok(one.drop("c"));
  server.next = [ways.answer({})];
  server.requests.length = 0;
  await reader.flush();
  assert.deepEqual(server.requests.map(({ url }) => url), ["/a", "/b"]);
  assert.deepEqual([reader.waiting, text], [[], "[]"]);
  // Who waits for an answer asks for it, under the same key.
  await one.flush();
  assert.deepEqual(server.requests.slice(2).map(({ url, headers }) => [url, headers["idempotency-key"]]), [["/a", "a"]]);
}));

test("sends what an earlier page left, where the service is there", () => against([ways.answer({})], async (client, server) => {
  const left = [{ key: "k", method: "POST", href: "/save", hasKey: true, made: Date.now() }];
  const storage = { getItem: () => JSON.stringify(left), setItem() {} };
  const outbox = new Outbox({ client, connection: new Connection(`${server.url}readyz`), storage });
  await new Promise((done) => outbox.addEventListener("sent", done, { once: true }));
  assert.deepEqual(server.requests.map(({ url, headers }) => [url, headers["idempotency-key"]]), [["/save", "k"]]);
}));

test("asks for changes as the client that the pages were asked for by", () => against([ways.answer(page("user:a")), ways.answer({ reload: true })], async (client, server) => {
  const pages = new FeedPages(client, "feed?changes=true&client=abc");
  await pages.next();
  await pages.changes({ first: 0, last: 0 });
  assert.equal(server.requests[1].url, "/feed/changes?client=abc&since=A");
}));

test("says which cells it knows as the service reads it", () => {
  const kind = { make: () => ({}), bind() {} };
  const registry = new CellRegistry({ fallback: kind }).register("StoryCell", { ...kind, version: 2 }).register("PlainCell", kind).register('9 "Cells"', kind);
  assert.equal(registry.acceptCells, String.raw`StoryCell;v=2, PlainCell, "9 \"Cells\"", *;q=0`);
});

test("follows by a stream where there is one, and goes on where it broke off", () => against([
  ways.answer(page("user:a")),
  (_, response) => {
    const answer = {
      reload: false, removed: [], inserted: [{ index: 1, cell: cell("user:b") }], moved: [], reconfigured: [],
      pages: [{ count: 2, since: "B" }], page: { next: null, previous: null },
    };
    response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`retry: 1\n\nid: B\nevent: changes\ndata: ${JSON.stringify(answer)}\n\n`);
  },
  ways.busy,
  (_, response) => response.writeHead(304).end(),
  ways.answer({ reload: true }),
], async (client, server) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const updates = new FeedUpdates({ list, shown: () => ({ first: 0, last: list.entries.length - 1 }), interval: 50 });
  for (const until = Date.now() + 30_000; server.requests.length < 5 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b"]);
  const stream = "text/event-stream, application/json;q=0.5";
  assert.deepEqual(server.requests.slice(1, 5).map(({ url, headers }) => [url, headers.accept]), [
    ["/feed/changes?since=A", stream], ["/feed/changes?since=B", stream], ["/feed/changes?since=B", "application/json"], ["/feed/changes?since=B", stream],
  ]);
}));

test("asks where a proxy holds the stream back", () => against([
  ways.answer(page("user:a")), ways.silent, ways.answer({ reload: true }), ways.answer(page("user:b")), ways.silent,
], async (client, server) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const updates = new FeedUpdates({ list, shown: () => ({ first: 0, last: 0 }), interval: 10, patience: 50 });
  for (const until = Date.now() + 30_000; server.requests.length < 5 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:b"]);
  assert.equal(updates.isLive, true, "the way may be another one the next time");
}));

test("opens a stream anew that is silent, and asks where it cannot be understood", () => against([
  ways.answer(page("user:a")),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).write("retry: 1\n\n:\n\n"),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end("data: {oops\n\n"),
  ways.answer({ reload: true }), ways.answer(page("user:b")),
], async (client, server) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const updates = new FeedUpdates({ list, shown: () => ({ first: 0, last: 0 }), interval: 10, silence: 50 });
  for (const until = Date.now() + 30_000; server.requests.length < 5 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  assert.deepEqual(server.requests.slice(1, 4).map(({ headers }) => headers.accept.startsWith("text/event-stream")), [true, true, false]);
}));

test("asks where a stream ends at once or leads elsewhere, and follows it nowhere", () => against([
  ways.answer(page("user:a")),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end("retry: 1\n\n"),
  ways.answer({ reload: false }),
  (_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`data: ${JSON.stringify({ removed: [], inserted: [], moved: [], reconfigured: [], pages: [null] })}\n\n`),
  ways.answer({ reload: false }),
  (_, response) => response.writeHead(302, { Location: "/elsewhere" }).end(),
  ways.answer({ reload: false }),
], async (client, server) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const updates = new FeedUpdates({ list, shown: () => ({ first: 0, last: 0 }), interval: 10, isLive: true });
  list.apply = async () => {};
  for (const until = Date.now() + 30_000; server.requests.length < 8 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  updates.close();
  const asked = server.requests.slice(1, 7).map(({ headers }) => headers.accept.startsWith("text/event-stream"));
  assert.deepEqual(asked, [true, false, true, false, true, false]);
  assert.ok(server.requests.every(({ url }) => url !== "/elsewhere"));
}));

test("names a viewer in UTF-8, as the service reads it", () => against(ways.answer(page()), async (client, server) => {
  client.viewer = "Жanna ü 日本";
  await client.page("feed");
  assert.equal(Buffer.from(server.requests[0].headers["x-viewer-id"], "latin1").toString(), "Жanna ü 日本");
}));

test("asks about pages that fit no URL in a body, and about fewer where that is refused", () => against(ways.answer(page()), async (client, server) => {
  const since = "s".repeat(3000);
  const pages = new FeedPages(client, "feed?changes=true");
  pages.held = Array.from({ length: 4 }, () => ({ count: 10, since, next: "/feed?cursor=x" }));
  server.next = [ways.answer({ reload: true })];
  await pages.changes({ first: 0, last: 39 });
  const [{ method, url, body }] = server.requests;
  assert.deepEqual([method, url, JSON.parse(body)], ["POST", "/feed/changes", { since: [since, since, since, since] }]);
  server.next = [ways.status(405, {}), ways.answer({ reload: true })];
  await assert.rejects(pages.changes({ first: 0, last: 39 }), Refusal);
  await pages.changes({ first: 15, last: 39 });
  assert.deepEqual([server.requests[2].method, server.requests[2].url], ["GET", `/feed/changes?since=${since},${since}`]);
}));

test("takes the pages anew where it cannot follow, and keeps what is there again", () => against([
  ways.answer(page("user:a", "user:b")), ways.answer({ reload: true }), ways.answer(page("user:b", "user:c", "user:a")),
], async (client) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const [first, second] = list.entries;
  let update;
  list.addEventListener("changed", ({ detail }) => ({ update } = detail));
  await list.follow({ first: 0, last: 1 });
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:b", "user:c", "user:a"]);
  assert.ok(list.entries[0] === second && list.entries[2] === first);
  assert.deepEqual([update.inserted, update.moved.length, update.removed], [[[0, 1]], 1, []]);
}));

test("applies once what is told and asked about at the same time, and takes the pages anew where they are not those", () => against([
  ways.answer(page("user:a")), ways.answer(page("user:c")),
], async (client, server) => {
  const list = new FeedList(client, "feed");
  await list.loadNext();
  const answer = {
    reload: false, removed: [], inserted: [{ index: 1, cell: cell("user:b") }], moved: [], reconfigured: [], pages: [{ count: 2, since: "B" }], page: { next: null },
  };
  const shown = () => list.entries.map(({ cell }) => cell.id);
  for (let round = 0; round < 2; round += 1) await list.apply({ from: 0, to: 1, start: 0, end: 1, since: ["A"], answer });
  assert.deepEqual([shown(), server.requests.length], [["user:a", "user:b"], 1]);
  await list.apply({ from: 0, to: 1, start: 0, end: 1, since: ["A"], answer: { ...answer, pages: [{ count: 2, since: "C" }] } });
  assert.deepEqual([shown(), server.requests.length], [["user:c"], 2]);
}));

test("asks what became of a list once the page that is loading has come", () => {
  let go;
  const isHeld = new Promise((done) => (go = done));
  const answer = {
    reload: false, removed: [], inserted: [{ index: 2, cell: cell("user:c") }], moved: [], reconfigured: [],
    pages: [{ count: 1, since: "A" }, { count: 2, since: "C" }], page: { next: null },
  };
  return against([
    ways.answer({ ...page("user:a"), page: { next: "/feed?cursor=x", since: "A" } }),
    (request, response) => isHeld.then(() => ways.answer({ ...page("user:b"), page: { next: null, since: "B" } })(request, response)),
    ways.answer(answer),
  ], async (client, server) => {
    const list = new FeedList(client, "feed");
    await list.loadNext();
    const both = [list.loadNext(), list.follow({ first: 0, last: 0 })];
    go();
    await Promise.all(both);
    assert.deepEqual(server.requests.map(({ url }) => url), ["/feed", "/feed?cursor=x", "/feed/changes?since=A,B"]);
    assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b", "user:c"]);
  });
});

test("asks no more about pages that somebody in between changes", () => {
  const none = { reload: false, removed: [], inserted: [], moved: [], reconfigured: [], pages: [{ count: 2, since: "B" }], page: {} };
  return against([ways.answer(page("user:a")), ways.answer(none), ways.answer(page("user:a")), ways.answer(none)], async (client, server) => {
    const list = new FeedList(client, "feed");
    await list.loadNext();
    for (let round = 0; round < 4; round += 1) await list.follow({ first: 0, last: 0 });
    assert.equal(server.requests.length, 4);
  });
});

test("shows what a picture looks like before it comes", () => {
  // A grey of a third, opaque, without a cosine: all shares are as near to zero as they are written.
  const { width, height, pixels } = placeholderPixels("FQiCNQeIiIiIiIiIiIiIiIiIiIiIiA==");
  assert.ok(width <= 32 && height <= 32 && pixels.length === width * height * 4);
  assert.deepEqual([placeholderPixels("no base64!"), placeholderPixels("")], [null, null]);
});
