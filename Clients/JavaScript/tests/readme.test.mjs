// The example of the README, run as it stands there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Service, user } from "./service.mjs";

test("the example of the README", async () => {
  const service = await Service.start({ items: [user("ada"), user("bob"), user("cyd")] });
  let lines = [];
  const { log } = console;
  try {
    const [, example] = readFileSync(new URL("../README.md", import.meta.url), "utf8").match(/```js\n(.*?)```/s);
    const source = new URL("../source/index.mjs", import.meta.url).href;
    const code = example.replace('"intertwine-client"', JSON.stringify(source)).replace("https://feed.example.com/", service.url);
    console.log = (line) => lines.push(line);
    await import(`data:text/javascript,${encodeURIComponent(code)}`);
  } finally {
    console.log = log;
    await service.stop();
  }
  // The service may tell meanwhile of what the list has done already.
  lines = lines.filter((line) => line !== "0 removed, 0 inserted");
  assert.deepEqual(lines.slice(0, 3), ["0 removed, 3 inserted", "1 removed, 0 inserted", "0 removed, 1 inserted"]);
  assert.match(lines[3], /^user:ada is back, and could have been until 20\d\d-/);
});
