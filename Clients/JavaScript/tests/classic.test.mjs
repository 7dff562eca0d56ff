// The classic script defines all exports of the package under one global name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { classicScript } from "../classic.mjs";
import * as modules from "../source/index.mjs";

test("the classic script defines all exports under one name", async () => {
  const asked = [];
  const page = {
    URL, URLSearchParams, Headers, Response, AbortController, EventTarget, Event, CustomEvent, TextDecoder, setTimeout, clearTimeout, crypto,
    performance, console,
    fetch: async (url) => {
      asked.push(String(url));
      const answer = { cells: [{ id: "user:ada", identifier: "A", size: { width: 1, height: 1 }, actions: {} }], page: { next: null } };
      return new Response(JSON.stringify(answer), { headers: { "Content-Type": "application/json" } });
    },
  };
  const before = Object.keys(page);
  createContext(page);
  runInContext(classicScript(), page);
  assert.deepEqual(Object.keys(page).filter((name) => !before.includes(name)), ["Intertwine"]);
  assert.deepEqual(Object.keys(page.Intertwine).sort(), Object.keys(modules).sort());
  const ids = await runInContext(`(async () => {
    const list = new Intertwine.FeedList({ client: new Intertwine.FeedClient({ base: "https://feed.example.com/", fetch }), href: "feed" });
    await list.loadNext();
    return list.entries.map(({ cell }) => cell.id);
  })()`, page);
  assert.deepEqual([...ids], ["user:ada"]);
  assert.deepEqual(asked, ["https://feed.example.com/feed"]);
});
