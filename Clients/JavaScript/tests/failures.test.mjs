// The client against failing servers: retries where they help, and performs no gesture twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Actions, Backoff, bindingValue, CellRegistry, Connection, FeedClient, FeedList, imageHref, ImageLoader, Impressions, Outbox, placeholderPixels, ProblemError,
  UnavailableError,
} from "../source/index.mjs";
import { against, cell, page, quick, replies, request, undo } from "./broken-server.mjs";

for (const way of ["drop", "busy", "unable", "half", "cut", "portal"]) {
  test(`retries after a failure: ${way}`, () => against([replies[way], replies[way], replies.json(page("user:a"))], async (client, server) => {
    assert.deepEqual((await client.page("feed")).cells.map(({ id }) => id), ["user:a"]);
    assert.equal(server.requests.length, 3);
  }));
}

test("retries after a timeout", () => against([replies.silent, replies.json(page("user:a"))], async (client, server) => {
  assert.deepEqual((await client.page("feed")).cells.map(({ id }) => id), ["user:a"]);
  assert.ok(server.requests.length >= 2, "a slow machine may cause further timeouts");
}, { timeout: 1000 }));

test("fails after the maximum number of attempts", () => against(replies.busy, async (client, server) => {
  await assert.rejects(client.page("feed"), (error) => error instanceof UnavailableError && error.status === 503 && error.retryAfter === 0);
  assert.equal(server.requests.length, 4);
}));

test("waits for the requested delay", () => against([replies.status(503, {}, { "Retry-After": "1" }), replies.json(page())], async (client) => {
  const began = performance.now();
  await client.page("feed");
  assert.ok(performance.now() - began >= 990);
}));

test("fails immediately if the requested delay is too long", () => against(replies.status(503, {}, { "Retry-After": "600" }), async (client, server) => {
  await assert.rejects(client.page("feed"), { name: "UnavailableError", retryAfter: 600 });
  assert.equal(server.requests.length, 1);
}));

test("does not retry a refused request", () => against(replies.status(400, { title: "No", detail: "Not so.", type: "/problems/x" }), async (client, server) => {
  await assert.rejects(client.page("feed"), (error) => error instanceof ProblemError && error.message === "No: Not so." && error.type === "/problems/x");
  assert.equal(server.requests.length, 1);
}));

test("rejects a viewer name that a header field cannot contain", () => {
  for (const viewer of ["a\nb", "a\r", "\0"]) assert.throws(() => new FeedClient({ base: "http://127.0.0.1/", viewer }), TypeError);
});

test("rejects an invalid field of a request, which is no loss of the connection", () => against(replies.json(page()), async (client, server) => {
  const losses = [];
  client.connection = { reportLoss: () => losses.push(1), reportSuccess() {} };
  client.headers = { "Accept-Language": "de\nfr" };
  await assert.rejects(client.page("feed"), TypeError);
  Object.assign(client, { headers: {}, token: () => "a\nb" });
  await assert.rejects(client.page("feed"), TypeError);
  assert.deepEqual([server.requests.length, losses.length], [0, 0]);
}));

test("shows no link without a valid URL", () => {
  const shown = ["https://", "https://[", "https://example.com/a"].map((href) => bindingValue({ type: "link", href }));
  assert.deepEqual(shown, [null, null, { type: "link", value: "https://example.com/a" }]);
});

const refusedToken = replies.status(401, { title: "Bearer token rejected", type: "/problems/bearer-token-rejected" });
const authorizations = ({ requests }) => requests.map(({ headers }) => headers.authorization);

test("sends the token of a function with each request", () => {
  let count = 0;
  const token = async () => `t${(count += 1)}`;
  return against(replies.json(page("user:a")), async (client, server) => {
    await client.page("feed");
    await client.send("/events", { method: "POST", body: { events: [] } });
    assert.deepEqual(authorizations(server), ["Bearer t1", "Bearer t2"]);
    assert.equal(server.requests[0].headers["x-viewer-id"], undefined);
  }, { token, viewer: null });
});

test("refreshes the token after 401, and sends the request once more", () => {
  const calls = [];
  const token = async ({ refresh }) => {
    calls.push(refresh);
    return refresh ? "new" : "old";
  };
  return against([refusedToken, replies.json(page("user:a"))], async (client, server) => {
    assert.deepEqual((await client.page("feed")).cells.map(({ id }) => id), ["user:a"]);
    assert.deepEqual(authorizations(server), ["Bearer old", "Bearer new"]);
    assert.deepEqual(calls, [false, true]);
  }, { token });
});

test("repeats a gesture after 401 with its key and body", () => against([refusedToken, replies.json({ commands: [] })], async (client, server) => {
  await client.send("/cells/user:a/selection", { method: "POST", body: { choice: 1 }, key: "k1" });
  assert.deepEqual(server.requests.map(({ method, body, headers }) => [method, body, headers["idempotency-key"]]), [
    ["POST", '{"choice":1}', "k1"], ["POST", '{"choice":1}', "k1"],
  ]);
}, { token: async ({ refresh }) => String(refresh) }));

test("fails after a second 401", () => against(refusedToken, async (client, server) => {
  await assert.rejects(client.page("feed"), (error) => error instanceof ProblemError && error.status === 401 && error.type === "/problems/bearer-token-rejected");
  assert.equal(server.requests.length, 2);
}, { token: async () => "t" }));

test("concurrent requests share one refresh", () => {
  let refreshes = 0;
  const token = async ({ refresh }) => {
    if (!refresh) return "old";
    refreshes += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return "new";
  };
  const guarded = ({ headers }, response) => (headers.authorization === "Bearer new" ? replies.json(page()) : refusedToken)({ headers }, response);
  return against(guarded, async (client) => {
    await Promise.all(["a", "b", "c"].map((name) => client.page(`feeds/${name}`)));
    assert.equal(refreshes, 1);
  }, { token });
});

test("rejects with the error of the token function, which is no loss of the connection", () => against(replies.json(page()), async (client, server) => {
  const losses = [];
  client.connection = { reportLoss: () => losses.push(1), reportSuccess() {} };
  await assert.rejects(client.page("feed"), /signed out/);
  assert.deepEqual([server.requests.length, losses.length], [0, 0]);
}, { token: () => { throw new Error("signed out"); } }));

test("keeps queued gestures while the viewer is signed out", () => {
  let isSignedIn = false;
  const token = async () => (isSignedIn ? "good" : "bad");
  const guarded = (request, response) => (request.headers.authorization === "Bearer good" ? replies.json({ commands: [] }) : refusedToken)(request, response);
  return against(guarded, async (client) => {
    const outbox = new Outbox({ client });
    const sent = outbox.enqueue({ key: "k1", method: "POST", href: "/cells/user:a/dismissal" });
    await outbox.flush();
    assert.equal(outbox.pending.length, 1);
    isSignedIn = true;
    await outbox.flush();
    assert.deepEqual(await sent.then(({ status }) => status), 200);
    assert.equal(outbox.pending.length, 0);
  }, { token });
});

test("sends no token if the function returns null", () => against(replies.json(page()), async (client, server) => {
  await client.page("feed");
  assert.deepEqual(authorizations(server), [undefined]);
}, { token: async () => null }));

test("rejects JSON that is not a page", () => against(replies.json({ cells: 5 }), (client) => assert.rejects(client.page("feed"), ProblemError)));

for (const status of [301, 302, 307, 304, 404, 410, 500]) {
  const away = (_, response) => response.writeHead(status, status < 304 || status === 307 ? { Location: "/elsewhere" } : {}).end();
  test(`rejects status ${status} for a page, and follows no redirect`, () => against(away, async (client, server) => {
    await assert.rejects(client.page("feed"), (error) => error instanceof ProblemError && error.status === status);
    assert.equal(server.requests.length, 1);
  }));
}

test("reports that no server is listening", () => against(replies.json(page()), async (client, server) => {
  server.stop();
  await assert.rejects(client.page("feed"), (error) => error instanceof UnavailableError && error.status === null);
}));

test("stops immediately if the signal is aborted", () => against(replies.silent, async (client) => {
  const controller = new AbortController();
  const answer = client.page("feed", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await assert.rejects(answer, { message: "enough" });
}, { timeout: 60_000 }));

test("retries a POST with an equal key, and never without a key", () => against([replies.drop, replies.json({ commands: [] })], async (client, server) => {
  await new Actions({ client }).perform("selection", { cell: cell("user:a") });
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(keys.length, 2);
  assert.ok(keys[0] && keys[0] === keys[1]);
  server.next = [replies.drop];
  await assert.rejects(client.send("cells/x", { method: "POST" }), { isRetryable: false });
  assert.equal(server.requests.length, 3);
}));

test("validates a cached page with its entity tag", () => against([replies.json(page("user:a"), { ETag: '"1"' }), (_, response) => response.writeHead(304).end()], async (client, server) => {
  await client.page("feed");
  assert.equal((await client.page("feed")).cells[0].id, "user:a");
  assert.equal(server.requests[1].headers["if-none-match"], '"1"');
}));

test("sends requests to its own origin only", () => against(replies.json(page("user:a")), async (client, server) => {
  await client.page("https://feed.example.com/feed?cursor=x");
  assert.equal(server.requests[0].url, "/feed?cursor=x");
  await assert.rejects(client.page("javascript:alert(1)"), TypeError);
}));

test("returns empty results if the service has no single cells and no feeds", () => against(replies.status(404, {}), async (client) => {
  assert.equal(await client.cell("user:a"), null);
  assert.deepEqual(await client.feeds(), []);
}));

test("reverts an optimistic change if the service refuses", () => against([replies.json(page("user:a", "user:b")), replies.status(409, { title: "No" })], async (client) => {
  const list = new FeedList({ client, href: "feed" });
  await list.loadNext();
  const [entry] = list.entries;
  const gesture = new Actions({ client }).perform("dismissal", entry, { optimistic: () => list.hide(entry) });
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:b"]);
  await assert.rejects(gesture, ProblemError);
  assert.deepEqual(list.entries.map(({ cell }) => cell.id), ["user:a", "user:b"]);
}));

test("queues gestures while the service is unavailable, across a restart, and performs each once", () => against(replies.drop, async (client, server) => {
  const stored = new Map();
  const storage = { getItem: (name) => stored.get(name) ?? null, setItem: (name, value) => stored.set(name, value) };
  const outbox = new Outbox({ client, storage });
  const actions = new Actions({ client, outbox });
  let reverted = 0;
  const owner = (id) => ({ cell: cell(id) });
  const gesture = (id) => actions.perform("dismissal", owner(id), { optimistic: () => () => (reverted += 1), queueable: true });
  const [first, second] = [await gesture("user:a"), await gesture("user:b")];
  assert.ok(first.isQueued && second.isQueued);
  await second.undo.run();
  assert.deepEqual([reverted, outbox.pending.map(({ href }) => href)], [1, ["/cells/user:a/dismissal"]]);
  await outbox.flush();
  assert.equal(outbox.pending.length, 1, "the service is still unavailable");
  // Another page of the viewer finds the stored gesture, and sends it with its key.
  const later = new Outbox({ client, storage });
  assert.equal(later.pending.length, 1);
  server.requests.length = 0;
  server.next = [replies.json({ commands: [], undo })];
  await Promise.all([outbox.flush(), outbox.flush(), later.flush()]);
  assert.equal(await first.sent, true);
  assert.equal(new Set(server.requests.map(({ headers }) => headers["idempotency-key"])).size, 1);
  assert.equal(server.requests.filter(({ method }) => method === "POST").length, 2, "one from each page");
  assert.equal(first.isQueued, false);
  await first.undo.run();
  assert.deepEqual([server.requests.at(-1).method, server.requests.at(-1).url, reverted], ["DELETE", "/invocations/1", 2]);
  assert.equal(new Outbox({ client, storage }).pending.length, 0);
}));

test("removes gestures whose keys have expired in the service", () => against(replies.json({ commands: [] }), async (client, server) => {
  let now = 0;
  const outbox = new Outbox({ client, now: () => now });
  const pending = outbox.enqueue({ key: "k", method: "POST", href: "/cells/user:a/dismissal" });
  now = 24 * 60 * 60 * 1000;
  await outbox.flush();
  await assert.rejects(pending, UnavailableError);
  assert.equal(server.requests.length, 0);
}));

test("sends queued gestures when the connection is restored", () => against(replies.drop, async (client, server) => {
  client.connection = new Connection({ probe: `${server.url}readyz`, backoff: quick() });
  const outbox = new Outbox({ client });
  const pending = outbox.enqueue({ key: "k", method: "POST", href: "/x" });
  await outbox.flush();
  assert.ok(client.connection.isLost);
  server.next = [replies.json({ commands: ["dismiss"] })];
  assert.deepEqual((await pending).value, { commands: ["dismiss"] });
  assert.equal(client.connection.isLost, false);
}, { attempts: 1 }));

test("an undo is unavailable after its deadline", () => against(replies.json({ commands: [], undo: { ...undo, expiresAt: "2000-01-01T00:00:00Z" } }), async (client) => {
  const invocation = await new Actions({ client }).perform("dismissal", { cell: cell("user:a") });
  assert.equal(invocation.undo.isAvailable, false);
}));

test("loads the nearest image first, and no cancelled image", async () => {
  const asked = [];
  let release;
  const gate = new Promise((open) => (release = open));
  const fetch = async (url) => {
    asked.push(new URL(url).pathname);
    await gate;
    return new Response("image", { headers: { "Content-Type": "image/png" } });
  };
  const client = new FeedClient({ base: "http://feed.example.com/", fetch });
  const loader = new ImageLoader({ client, maxConcurrent: 1, scale: 2 });
  const order = { "/1": 5, "/2": 3, "/3": 1, "/4": 2 };
  const requests = Object.entries(order).map(([href, priority]) => loader.request(href, { priority: () => priority }));
  loader.cancel(requests[3]);
  await assert.rejects(requests[3].image, { name: "ImageError" });
  release();
  await Promise.all(requests.slice(0, 3).map(({ image }) => image));
  assert.deepEqual(asked, ["/1", "/3", "/2"]);
  await loader.request("/1").image;
  assert.equal(asked.length, 3, "the image is cached");
});

test("a failed cancellation is no loss of the connection", async () => {
  const losses = [];
  const client = new FeedClient({ base: "http://127.0.0.1/", connection: { reportLoss: () => losses.push(1), reportSuccess() {} } });
  const methods = [];
  // The app answers every request with an image, or with none.
  const fetch = (_, { method = "GET", signal }) => {
    methods.push(method);
    if (method === "GET") return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return methods.length > 2 ? Promise.reject(new TypeError("no network")) : Promise.resolve(new Response("image", { headers: { "Content-Type": "image/png" } }));
  };
  const loader = new ImageLoader({ client, actions: new Actions({ client }), fetch });
  const cancellation = { type: "request", method: "DELETE", href: "/images/requests/{request}", templated: true };
  for (const href of ["/1", "/2"]) {
    const request = loader.request(href, { owner: { cell: { id: "a", actions: { cancellation } } } });
    loader.cancel(request);
    await assert.rejects(request.image, { name: "ImageError" });
  }
  assert.deepEqual([methods, losses], [["GET", "DELETE", "GET", "DELETE"], []]);
});

test("requests the offered image scale for the screen", () => {
  const at = (scale, scales, href = "/images/s/x/150x150") => imageHref({ href, scales }, scale);
  assert.deepEqual([at(1, [1, 2, 3]), at(2, [1, 2, 3]), at(1.5, [1, 2, 3]), at(4, [1, 2, 3]), at(2, [1]), at(2)],
    ["", "@2x", "@2x", "@3x", "", ""].map((suffix) => `/images/s/x/150x150${suffix}`));
  assert.deepEqual([at(1, [1, 2], "/i@2x"), at(2, [1, 2], "/i@2x"), at(2, undefined, "/i@2x")], ["/i", "/i@2x", "/i@2x"]);
});

test("cancels an image in the service by the cell's action", async () => {
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
  await assert.rejects(request.image, { message: "cancelled" });
  assert.deepEqual(asked[1].slice(0, 2), ["DELETE", `/images/requests/${asked[0][2]}`]);
});

test("reports an impression once, by the threshold of its action, and retries a failed report", () => against([replies.drop, replies.json({ results: [] })], async (client, server) => {
  const impressions = new Impressions({ client, batchDelay: 1 });
  const impression = { type: "request", method: "POST", href: "/events", body: { events: [{ type: "impression", cell: "ad:1", token: "t" }] } };
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
  assert.deepEqual(server.requests.map(({ body }) => JSON.parse(body).events.length), [1, 2], "a failed report is sent with the next one");
}));

test("retries a report without a connection monitor", () => against([replies.drop, replies.json({ results: [] })], async (client, server) => {
  const impression = { type: "request", method: "POST", href: "/events", body: { events: [{ type: "impression", token: "t" }] }, viewable: { share: 1, seconds: 0 } };
  new Impressions({ client, batchDelay: 1 }).update({ cell: { ...cell("ad:1"), actions: { impression } } }, 1);
  for (const until = Date.now() + 30_000; server.requests.length < 2 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  assert.equal(server.requests[1]?.body, server.requests[0].body);
}));

test("a batch that failed without a loss of the connection is sent again without a new impression", () => against([replies.drop, replies.json({ results: [] })], async (client, server) => {
  // The app may make one monitor for several clients, which has not noticed the failure.
  const connection = Object.assign(new EventTarget(), { isLost: false });
  const impressions = new Impressions({ client, connection, batchDelay: 1, backoff: new Backoff({ initialDelay: 1 }) });
  impressions.report("/events", [{ type: "impression", token: "t" }], { cell: cell("spot:1") });
  for (const until = Date.now() + 30_000; server.requests.length < 2 && Date.now() < until;) await new Promise((done) => setTimeout(done, 5));
  assert.equal(server.requests[1]?.body, server.requests[0].body);
}));

test("queued gestures wait for a sign-in, and other requests fail with the event", async () => {
  let isSignedIn = false;
  const answer = () => (isSignedIn ? new Response('{"commands": []}', { headers: { "Content-Type": "application/json" } }) : Response.redirect("https://login.example/", 302));
  const client = new FeedClient({ base: "https://feed.example/", fetch: async () => answer(), attempts: 1 });
  const errors = [];
  client.addEventListener("signinrequired", ({ detail }) => errors.push(detail.error));
  const outbox = new Outbox({ client });
  const sent = outbox.enqueue({ key: "k", method: "POST", href: "/cells/user:a/dismissal" });
  await outbox.flush();
  assert.equal(outbox.pending.length, 1);
  await assert.rejects(client.page("feed"), { name: "ProblemError", needsSignIn: true });
  assert.deepEqual(errors.map(({ status }) => status), [302, 302]);
  isSignedIn = true;
  await outbox.flush();
  assert.equal((await sent).status, 200);
});

test("an error of the function `token` requires a sign-in, and one of its network does not", async () => {
  const types = [];
  for (const cause of [new Error("signed out"), new TypeError("fetch failed")]) {
    const client = new FeedClient({ base: "https://feed.example/", fetch: async () => new Response("{}"), token: async () => { throw cause; } });
    client.addEventListener("signinrequired", ({ detail }) => types.push(detail.error.message));
    await assert.rejects(client.page("feed"), cause);
  }
  assert.deepEqual(types, ["signed out"]);
});

test("sends queued gestures before a new one, so that the last gesture takes effect", () => against([replies.unable], async (client, server) => {
  client.attempts = 1;
  const outbox = new Outbox({ client, connection: null });
  const actions = new Actions({ client, outbox });
  const owner = { cell: { ...cell("user:a"), actions: { save: { type: "request", method: "POST", href: "/save" }, unsave: { type: "request", method: "POST", href: "/unsave" } } } };
  const saved = await actions.perform("save", owner, { queueable: true, body: { stars: 3 } });
  const unsaved = await actions.perform("unsave", owner, { queueable: true });
  assert.deepEqual([saved.isQueued, unsaved.isQueued], [true, true]);
  server.requests.length = 0;
  server.next = [replies.json({ commands: [] })];
  await actions.perform("save", owner, { queueable: true });
  assert.deepEqual(server.requests.map(({ url }) => url), ["/save", "/unsave", "/save"]);
  assert.equal(server.requests[0].body, '{"stars":3}', "the input of a slot is queued with it");
}));

test("pages of one viewer share the storage, and send no gesture that another page removed", () => against(replies.drop, async (client, server) => {
  let text = null;
  const storage = { getItem: () => text, setItem: (_, value) => (text = value) };
  const page = () => new Outbox({ client, storage });
  const keep = (outbox, name) => outbox.enqueue({ key: name, method: "POST", href: `/${name}` }).catch(() => {});
  const [one, other] = [page(), page()];
  keep(one, "a");
  keep(other, "b");
  keep(one, "c");
  const reader = page();
  assert.ok(one.remove("c"));
  server.next = [replies.json({ commands: [] })];
  server.requests.length = 0;
  await reader.flush();
  assert.deepEqual(server.requests.map(({ url }) => url), ["/a", "/b"]);
  assert.deepEqual([reader.pending, text], [[], "[]"]);
  // A page that waits for the response sends the gesture again, with an equal key.
  await one.flush();
  assert.deepEqual(server.requests.slice(2).map(({ url, headers }) => [url, headers["idempotency-key"]]), [["/a", "a"]]);
}));

test("sends the gestures of an earlier page at the start", () => against([replies.json({ commands: [] })], async (client, server) => {
  const left = [{ key: "k", method: "POST", href: "/save", hasKey: true, createdAt: Date.now() }];
  const storage = { getItem: () => JSON.stringify(left), setItem() {} };
  const outbox = new Outbox({ client, connection: new Connection({ probe: `${server.url}readyz` }), storage });
  await new Promise((done) => outbox.addEventListener("sent", done, { once: true }));
  assert.deepEqual(server.requests.map(({ url, headers }) => [url, headers["idempotency-key"]]), [["/save", "k"]]);
}));

test("declares the registered cells as a structured field", () => {
  const kind = { make: () => ({}), bind() {} };
  const registry = new CellRegistry({ fallback: kind }).register("StoryCell", { ...kind, version: 2 }).register("PlainCell", kind).register('9 "Cells"', kind);
  assert.equal(registry.acceptCells, String.raw`StoryCell;v=2, PlainCell, "9 \"Cells\"", *;q=0`);
});

test("sends the viewer name in UTF-8", () => against(replies.json(page()), async (client, server) => {
  client.viewer = "Жanna ü 日本";
  await client.page("feed");
  assert.equal(Buffer.from(server.requests[0].headers["x-viewer-id"], "latin1").toString(), "Жanna ü 日本");
}));

test("decodes a placeholder image", () => {
  // An opaque grey of one third. All cosine coefficients are as close to zero as the encoding allows.
  const { width, height, pixels } = placeholderPixels("FQiCNQeIiIiIiIiIiIiIiIiIiIiIiA==");
  assert.ok(width <= 32 && height <= 32 && pixels.length === width * height * 4);
  assert.deepEqual([placeholderPixels("no base64!"), placeholderPixels("")], [null, null]);
});
