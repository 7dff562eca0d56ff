// The real binary with a store of its own, for tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = new URL("../../../", import.meta.url);
const binary = process.env.CLIENT_TESTS_BINARY ?? fileURLToPath(new URL(".build/debug/intertwine", root));
export const kinds = fileURLToPath(new URL("Config/kinds.yaml", root));

export const user = (id, more = {}) => ({ kind: "user", id, username: id.toUpperCase(), avatarUrl: `https://images.example.com/${id}.png`, type: "regular", ...more });
export const ad = (id) => ({ kind: "ad", id, contentUrl: `https://ads.example.com/${id}.png`, clickthroughUrl: "https://shop.example.com/", type: "image" });
export const event = (id) => ({
  kind: "event", id, title: `Event ${id}`, starts: "2026-05-01T19:00:00Z", image: `https://images.example.com/${id}.png`, signup: "https://sign.example.com/",
});

export class Service {
  /** Starts the service with items. `settings` are `name=value`. */
  static async start({ items = [], settings = [] } = {}) {
    const service = new Service();
    service.folder = mkdtempSync(join(tmpdir(), "intertwine-client-"));
    const database = join(service.folder, "feed.sqlite");
    const set = settings.flatMap((setting) => ["--set", setting]);
    const [port, adminPort] = [await freePort(), await freePort()];
    service.url = `http://127.0.0.1:${port}/`;
    service.adminURL = `http://127.0.0.1:${adminPort}/`;
    const file = join(service.folder, "items.json");
    writeFileSync(file, JSON.stringify(items));
    const [status] = await once(spawn(binary, ["import", "--database", database, ...set, file], { stdio: ["ignore", "ignore", "inherit"] }), "exit");
    if (status !== 0) throw new Error(`the import ended with ${status}`);
    const flags = ["--host", "127.0.0.1", "--port", port, "--admin-port", adminPort, "--database", database, ...set].map(String);
    service.process = spawn(binary, ["serve", ...flags], { stdio: "ignore" });
    for (const until = Date.now() + 30_000; ;) {
      if ((await fetch(`${service.url}readyz`).catch(() => null))?.ok) return service;
      if (service.process.exitCode !== null || Date.now() > until) throw new Error("the service does not start");
      await wait(20);
    }
  }

  /** Applies operations to the store in one transaction. */
  async operate(...operations) {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${this.adminURL}admin/operations`, { method: "POST", headers, body: JSON.stringify({ operations }) });
    if (!response.ok) throw new Error(`answered ${response.status}: ${await response.text()}`);
  }

  async stop() {
    const ended = once(this.process, "exit");
    this.process.kill("SIGTERM");
    await ended;
    rmSync(this.folder, { recursive: true });
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
