// Executes the example of the README unchanged.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Service, user } from "./service.mjs";

test("the example of the README", async () => {
  const service = await Service.start({ items: [user("ada"), user("bob"), user("cyd")] });
  const lines = [];
  const { log } = console;
  try {
    const [, example] = readFileSync(new URL("../README.md", import.meta.url), "utf8").match(/```js\n(.*?)```/s);
    const source = new URL("../source/index.mjs", import.meta.url).href;
    const code = example.replace('"intertwine-client"', JSON.stringify(source)).replace("https://feed.example.com/", service.url);
    console.log = (line) => lines.push(line);
    await import(`data:text/javascript,${encodeURIComponent(code)}`);
    // If the service sent the dismissal before the undo, it also sends the return of the cell shortly afterwards.
    for (const until = Date.now() + 30_000; !lines.includes("0 removed, 1 inserted") && Date.now() < until;) await wait(10);
  } finally {
    console.log = log;
    await service.stop();
  }
  assert.deepEqual(lines.slice(0, 2), ["0 removed, 3 inserted", "1 removed, 0 inserted"]);
  assert.ok(lines.includes("0 removed, 1 inserted"), "the cell is in the list again");
  assert.match(lines.find((line) => line.startsWith("user:")), /^user:ada is in the list again; the undo was possible until 20\d\d-/);
  assert.ok(!lines.includes("0 removed, 0 inserted"), "the list does not report its own changes again");
});
