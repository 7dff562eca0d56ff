// The conformance fixtures in Conformance/cases, and the page fixtures.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import {
  Actions, applyChanges, Backoff, bindingValue, CellRegistry, batchUpdate, disclosureOf, EventStreamParser, FeedClient, Impressions, isAdvertisement,
  isSectionHeader, Outbox, Page, resolveAction, retryAfter, displaySize,
} from "../source/index.mjs";
import { responseValue } from "../source/responses.mjs";

const folder = new URL("../../../Conformance/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder)));

const made = {
  cells({ registered, page }) {
    const registry = new CellRegistry({ fallback: "fallback" });
    for (const identifier of registered) registry.register(identifier, {});
    const { cells, next, syncToken } = Page.parse(page);
    let section = null;
    const shown = cells.map((cell) => {
      if (isSectionHeader(cell)) section = cell.id.slice("section:".length);
      const identifier = typeof cell.identifier === "string" ? cell.identifier : null;
      const shownAs = registry.isRegistered(cell.identifier) ? cell.identifier : "fallback";
      return { id: cell.id, identifier, shownAs, size: displaySize(cell.size), section };
    });
    return { cells: shown, next, isFollowed: syncToken !== undefined };
  },
  sizes: ({ size, textScale }) => displaySize(size, textScale),
  actions: ({ cell, slot, values }) => resolveAction(cell, slot, values),
  bindings: ({ binding }) => bindingValue(binding),
  changes({ list, response }) {
    const before = list.map((id) => ({ cell: { id } }));
    const outcome = applyChanges(before, response, { id: ({ cell }) => cell.id, make: (cell) => ({ cell }) });
    if (outcome === null) return { reload: true };
    const { list: after, moved, reconfigured } = outcome;
    return { list: after.map(({ cell }) => cell.id), update: batchUpdate(before, after, { cell: (one) => one.cell, moved, reconfigured }) };
  },
  async invocations({ response }) {
    const client = { send: async () => ({ status: 200, value: response ?? undefined }) };
    const owner = { cell: { actions: { selection: { type: "request", method: "POST", href: "/x" } } } };
    const { id, slot, commands, presentation, open, undo } = await new Actions({ client }).perform("selection", owner);
    const { method, href } = response?.undo ?? {};
    const expiresAt = undo?.expiresAt?.toISOString().replace(".000Z", "Z") ?? null;
    return { id, slot, commands, presentation, open, undo: undo && { method, href, expiresAt } };
  },
  problems({ request, response, now }) {
    try {
      const received = response && { ...response, headers: new Headers(response.headers) };
      responseValue(received, { request, now: now === undefined ? undefined : Date.parse(now) });
      return { outcome: "ok", status: response.status };
    } catch ({ name, isRetryable, retryAfter, status, type, title, detail, instance, errors }) {
      if (name === "UnavailableError") return { outcome: "unavailable", isRetried: isRetryable, retryAfter };
      assert.equal(name, "ProblemError");
      return { outcome: "refused", status, type, title, detail, instance, errors };
    }
  },
  async "sign-in"({ response }) {
    const signIns = [];
    let sent = 0;
    // Later requests succeed.
    const client = () => {
      let isFirst = true;
      const fetch = async () => {
        sent += 1;
        if (!isFirst) return new Response(null, { status: 204 });
        isFirst = false;
        if (response === null) throw new TypeError("no response");
        const { status, headers, body, type = "default" } = response;
        return { status, type, ok: status >= 200 && status < 300, headers: new Headers(headers), body: null, text: async () => body };
      };
      const made = new FeedClient({ base: "https://feed.example.com/", fetch, attempts: 1 });
      made.addEventListener("signinrequired", ({ detail }) => signIns.push(detail.error));
      return made;
    };
    const dismissing = client();
    const outbox = new Outbox({ client: dismissing });
    const cell = { id: "user:a", actions: { dismissal: { type: "request", method: "POST", href: "/d" } } };
    let isHidden = true;
    const optimistic = () => () => (isHidden = false);
    const action = await new Actions({ client: dismissing, outbox }).perform("dismissal", { cell }, { optimistic, queueable: true })
      .then(({ isQueued }) => (isQueued ? "queued" : "performed"), () => "reverted");
    assert.equal(isHidden, action !== "reverted");
    if (action === "queued") {
      await outbox.flush();
      assert.equal(outbox.pending.length, 0);
    }

    sent = 0;
    const impressions = new Impressions({ client: client(), batchDelay: 0, backoff: new Backoff({ initialDelay: 1 }) });
    impressions.report("/events", [{ type: "impression", token: "t" }], { cell });
    const turns = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
    while (sent === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await turns();
    // What was kept is sent again.
    impressions.flush();
    await turns();
    const isSuccess = response !== null && response.status >= 200 && response.status < 300 && signIns.length === 0 && action === "performed";
    const outcome = sent > 1 ? "kept" : isSuccess ? "sent" : "dropped";
    assert.equal(signIns.length % 2, 0, "both requests report it");
    return { signInRequired: signIns.length > 0, action, impressions: outcome };
  },
  advertisements({ cell }) {
    const { label = null, advertiser = null } = disclosureOf(cell) ?? {};
    return { isAdvertisement: isAdvertisement(cell), label, advertiser: advertiser || null };
  },
  "event-stream"({ chunks }) {
    const parser = new EventStreamParser();
    const events = chunks.flatMap((chunk) => parser.receive(chunk));
    return { events, lastEventId: parser.lastEventId, retry: parser.retry };
  },
};

for (const [name, make] of Object.entries(made)) {
  for (const { name: what, given, expect } of read(`cases/${name}.json`).cases) {
    test(`${name}: ${what}`, async () => assert.deepEqual(await make(given), expect));
  }
}

test("all fixtures are tested", () => {
  const files = readdirSync(new URL("cases/", folder)).filter((name) => name.endsWith(".json"));
  assert.deepEqual(files.map((name) => name.replace(".json", "")).sort(), Object.keys(made).sort());
});

for (const name of readdirSync(folder).filter((name) => /^page-.*\.json$/.test(name))) {
  test(`decodes ${name} and all actions of its cells`, () => {
    const { cells, next } = Page.parse(read(name));
    assert.equal(cells.length, read(name).cells.length);
    assert.ok(next === null || next.startsWith("/feed?cursor="));
    for (const cell of cells) for (const slot of Object.keys(cell.actions)) resolveAction(cell, slot, { request: "x" });
  });
}

test("Retry-After has a maximum", () => assert.equal(retryAfter("999999999999"), 3600));
