// Executes the code of the tutorial for a web page, with a document that has only the elements that the code uses.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Service, user } from "./service.mjs";

class Element extends EventTarget {
  children = [];

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }
}

test("the page of the tutorial", async () => {
  const service = await Service.start({ items: Array.from({ length: 15 }, (_, index) => user(`u${index}`)) });
  const elements = { "#feed": new Element(), "#more": new Element() };
  const lines = [];
  const { log } = console;
  try {
    const page = readFileSync(new URL("../../../Documentation/tutorials/web.md", import.meta.url), "utf8");
    const [, code] = page.match(/```js\n(.*?)```/s);
    const source = new URL("../source/index.mjs", import.meta.url).href;
    globalThis.document = { querySelector: (name) => elements[name], createElement: () => new Element() };
    console.log = (...words) => lines.push(words.join(" "));
    const local = code.replace(/"http:[^"]*index\.mjs"/, JSON.stringify(source)).replace("http://127.0.0.1:8080/", service.url);
    await import(`data:text/javascript,${encodeURIComponent(local)}`);
    const rows = () => elements["#feed"].children;
    assert.equal(rows().length, 10);
    assert.equal(rows()[0].children[1], "U0");
    assert.match(rows()[0].children[0].src, new RegExp(`^${service.url}images/`));

    elements["#more"].dispatchEvent(new Event("click"));
    for (const until = Date.now() + 30_000; rows().length < 15 && Date.now() < until;) await wait(10);
    assert.equal(rows().length, 15);

    rows()[0].dispatchEvent(new Event("click"));
    for (const until = Date.now() + 30_000; lines.length === 0 && Date.now() < until;) await wait(10);
    assert.deepEqual(lines, ["user:u0 ImageZoom"]);
  } finally {
    console.log = log;
    delete globalThis.document;
    await service.stop();
  }
});
