// The hook for React and the composable for Vue of the how-tos, executed unchanged with Debian's node-react, node-react-test-renderer and
// node-vue.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Service, user } from "./service.mjs";

// Debian's packages require each other from this folder, which only Debian's Node searches by itself.
const folderOfPackages = "/usr/share/nodejs";
process.env.NODE_PATH = folderOfPackages;
Module._initPaths();
const debian = createRequire(import.meta.url);
const maxLines = 30;

/** Returns the module for a library in the how-to, with packages in `modules`: a folder or a text for each. */
async function moduleOf(library, modules, run) {
  const guide = readFileSync(new URL("../../../Documentation/how-to/react-and-vue.md", import.meta.url), "utf8");
  const [, code] = guide.split(`\n## ${library}\n`)[1].match(/```js title="use-feed.mjs"\n(.*?)```/s);
  assert.ok(code.trim().split("\n").length <= maxLines, `${code.split("\n").length} lines`);
  const folder = mkdtempSync(join(tmpdir(), "how-to-"));
  try {
    const packages = join(folder, "node_modules");
    mkdirSync(packages);
    symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(packages, "intertwine-client"));
    for (const [module, source] of Object.entries(modules)) {
      if (source.startsWith("/")) symlinkSync(source, join(packages, module));
      else {
        mkdirSync(join(packages, module));
        writeFileSync(join(packages, module, "package.json"), JSON.stringify({ name: module, type: "module", exports: "./index.mjs" }));
        writeFileSync(join(packages, module, "index.mjs"), source);
      }
    }
    writeFileSync(join(folder, "use-feed.mjs"), code);
    return await run(await import(pathToFileURL(join(folder, "use-feed.mjs")).href));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function until(condition) {
  for (const end = Date.now() + 20_000; !condition(); await wait(10)) assert.ok(Date.now() < end, `timeout: ${condition}`);
}

/** Runs `body` with a function that ends the refusal of all requests. */
async function withRefusals(body) {
  const { fetch } = globalThis;
  let isRefusing = true;
  const refusal = () => new Response('{"title":"No"}', { status: 403, headers: { "Content-Type": "application/problem+json" } });
  globalThis.fetch = async (...request) => (isRefusing ? refusal() : fetch(...request));
  try {
    await body(() => (isRefusing = false));
  } finally {
    globalThis.fetch = fetch;
  }
}

const ids = (entries) => entries.map(({ cell }) => cell.id);

test("the React hook lists, loads, dismisses, undoes and follows", async () => {
  const service = await Service.start({ items: [user("ada"), user("bob"), user("cyd")] });
  try {
    await moduleOf("React", { react: `${folderOfPackages}/react` }, async ({ useFeed }) => {
      const { createElement } = debian("react");
      const renderer = debian("react-test-renderer");
      globalThis.IS_REACT_ACT_ENVIRONMENT = false;
      let shown;
      function Feed() {
        shown = useFeed({ base: service.url, viewer: "me" });
        return createElement("ul", null, shown.entries.map((entry) => createElement("li", { key: entry.key }, entry.cell.id)));
      }
      const view = renderer.create(createElement(Feed));
      await until(() => ids(shown.entries ?? []).length === 3);
      const rendered = () => view.root.findAllByType("li").map(({ children }) => children[0]);
      await until(() => rendered().length === 3);
      const { undo } = await shown.dismiss(shown.entries[0]);
      await until(() => rendered().join() === "user:bob,user:cyd");
      await undo.run();
      await until(() => rendered().join() === "user:ada,user:bob,user:cyd");
      assert.deepEqual([shown.isAtEnd, shown.error], [true, null]);
      view.unmount();
      // A failed first page is an error, until a retry succeeds.
      await withRefusals(async (end) => {
        const refused = renderer.create(createElement(Feed));
        await until(() => shown.error?.message === "No");
        end();
        shown.loadMore();
        await until(() => shown.error === null && shown.entries.length === 3);
        refused.unmount();
      });
    });
  } finally {
    await service.stop();
  }
});

test("the Vue composable lists, loads, dismisses, undoes and follows", async () => {
  const service = await Service.start({ items: [user("ada"), user("bob"), user("cyd")] });
  const ended = [];
  globalThis.vueTest = { Vue: debian("vue"), ended };
  const vue = "const { Vue, ended } = globalThis.vueTest; export const shallowReactive = Vue.observable; export const onUnmounted = (end) => ended.push(end);";
  try {
    await moduleOf("Vue", { vue }, async ({ useFeed }) => {
      const { state, dismiss } = useFeed({ base: service.url, viewer: "me" });
      const seen = [];
      const view = new globalThis.vueTest.Vue({ computed: { ids: () => ids(state.entries) }, watch: { ids: (now) => seen.push(now.join()) } });
      await until(() => view.ids.length === 3);
      const { undo } = await dismiss(state.entries[0]);
      await until(() => view.ids.join() === "user:bob,user:cyd");
      await undo.run();
      await until(() => seen.at(-1) === "user:ada,user:bob,user:cyd" && seen.length >= 3);
      assert.deepEqual([state.isAtEnd, state.error], [true, null]);
      // A failed first page is an error, until a retry succeeds.
      await withRefusals(async (end) => {
        const { state, loadMore } = useFeed({ base: service.url, viewer: "me" });
        await until(() => state.error?.message === "No");
        end();
        loadMore();
        await until(() => state.error === null && state.entries.length === 3);
      });
    });
  } finally {
    for (const end of ended) end();
    await service.stop();
  }
});
