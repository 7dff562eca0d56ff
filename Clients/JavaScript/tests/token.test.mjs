// The client with bearer tokens against the real binary.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Actions, FeedClient, FeedList, FeedUpdates, ProblemError } from "../source/index.mjs";
import { Service, user } from "./service.mjs";

const secret = "0123456789abcdef0123456789abcdef";
const encoded = (value) => Buffer.from(value).toString("base64url");

function token(subject, seconds = 3600) {
  const claims = { sub: subject, exp: Math.floor(Date.now() / 1000) + seconds };
  const signed = `${encoded('{"alg":"HS256"}')}.${encoded(JSON.stringify(claims))}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

test("lists, actions and live changes have the viewer of the token, and an expired token is refreshed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "intertwine-token-"));
  const file = join(folder, "secret");
  writeFileSync(file, secret);
  const settings = [`viewers.jwt.keys-file=${file}`, "viewers.jwt.algorithms=HS256", "viewers.required=true"];
  const service = await Service.start({ items: [user("a"), user("b"), user("c")], settings });
  try {
    let refreshes = 0;
    const client = new FeedClient({
      base: service.url,
      token: async ({ refresh }) => {
        refreshes += refresh ? 1 : 0;
        return refreshes > 0 ? token("ann") : token("ann", -120);
      },
    });
    const list = new FeedList({ client, href: "feed?changes=true" });
    await list.loadNext();
    assert.equal(refreshes, 1);
    await new Actions({ client }).perform("dismissal", list.entries[0]);
    const { cells } = await client.page("dismissed");
    assert.deepEqual(cells.map(({ id }) => id), ["user:a"]);
    const changed = new Promise((resolve) => list.addEventListener("changed", ({ detail }) => detail.update.inserted.length > 0 && resolve()));
    const updates = new FeedUpdates({ list, visible: () => ({ first: 0, last: 2 }), interval: 3_600_000 });
    await service.operate({ insert: user("d"), before: "user:b" });
    await changed;
    updates.close();
    const anonymous = new FeedClient({ base: service.url });
    await assert.rejects(anonymous.page("feed"), (error) => error instanceof ProblemError && error.status === 401 && error.type === "/problems/bearer-token-required");
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
});
