// The packed package contains what apps need, and nothing else. An app imports it by its name.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { classicScript } from "../classic.mjs";

const folder = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/**
 * Packs the package into a folder as `npm pack` does. Without npm, the files of the manifest are copied. Why: Debian's npm requires 337
 * packages of modules, so `make install-test` does not install it.
 */
function pack(into, t) {
  mkdirSync(into, { recursive: true });
  let archive;
  try {
    archive = JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", into], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] }))[0].filename;
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    t.diagnostic("npm is missing: the files of the manifest are tested in place of the packed ones");
    for (const name of ["package.json", "README.md", ...manifest.files]) cpSync(join(folder, name), join(into, name), { recursive: true });
    return;
  }
  execFileSync("tar", ["--extract", "--strip-components=1", "--file", join(into, archive), "--directory", into]);
  rmSync(join(into, archive));
}

const files = (path) => readdirSync(path, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  .map((one) => join(one.parentPath ?? one.path, one.name).slice(path.length + 1)).sort();

test("the packed package has the sources, the declarations and the bundler, and is importable by its name", (t) => {
  const app = mkdtempSync(join(tmpdir(), "app-"));
  try {
    const packed = join(app, "node_modules", manifest.name);
    pack(packed, t);
    const sources = ["source", "types"].flatMap((part) => files(join(folder, part)).map((name) => join(part, name)));
    assert.deepEqual(files(packed), [...sources, "LICENSE", "README.md", "classic.mjs", "package.json"].sort());
    assert.equal(readFileSync(join(packed, "LICENSE"), "utf8"), readFileSync(join(folder, "../../LICENSE"), "utf8"));
    // Tools without support for `exports` read the first two.
    const entries = [{ types: manifest.types, default: manifest.main }, ...Object.values(manifest.exports).filter((one) => one.types)];
    for (const { types, default: code } of entries) {
      for (const name of [types, code]) assert.ok(sources.includes(name.slice(2)), `${name} is missing`);
    }
    const run = (name, code) => {
      writeFileSync(join(app, name), code);
      return execFileSync("node", [join(app, name)], { encoding: "utf8" });
    };
    assert.equal(run("app.mjs", `import { FeedList } from "${manifest.name}"; console.log(typeof FeedList);`), "function\n");
    // A server that renders pages has no document, or a part of one.
    const load = `const { IntertwineFeed } = await import("${manifest.name}/element"); console.log(typeof IntertwineFeed);`;
    assert.equal(run("rendering.mjs", load), "function\n");
    assert.equal(run("rendering-element.mjs", `globalThis.HTMLElement = class {}; ${load}`), "function\n");
    const registry = "globalThis.customElements = new Map(); customElements.define = customElements.set;";
    assert.equal(run("rendering-registry.mjs", `globalThis.HTMLElement = class {}; ${registry} ${load} console.log(customElements.size);`), "function\n1\n");
    assert.equal(run("rendering-window.mjs", `globalThis.window = globalThis; ${load}`), "function\n");
    assert.equal(run("classic.mjs", `import { runInNewContext } from "node:vm";
      import { classicScript } from "./node_modules/${manifest.name}/classic.mjs";
      console.log(typeof runInNewContext(classicScript({ element: true }) + ";Intertwine", { Event, EventTarget, AbortController, URL, Intl }).FeedClient);`), "function\n");
  } finally {
    rmSync(app, { recursive: true });
  }
});

for (const [element, limit] of [[false, 25_000], [true, 56_000]]) {
  test(`the single-file build ${element ? "with the element" : "of the client"} has at most ${limit / 1000} kB compressed`, () => {
    const size = gzipSync(classicScript({ element }), { level: 9 }).length;
    assert.ok(size <= limit, `${size} bytes`);
  });
}
