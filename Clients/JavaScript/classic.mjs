#!/usr/bin/env node
// Bundles the package into one file for pages without modules, and without comments and indentation.
//
//     node Clients/JavaScript/classic.mjs intertwine-client.js             the client: `new Intertwine.FeedClient(…)`
//     node Clients/JavaScript/classic.mjs --element intertwine-feed.js     the element `<intertwine-feed>` with the client
import { readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { pathToFileURL } from "node:url";

const source = new URL("source/", import.meta.url);
const imports = /^import \{([^}]*)\} from "(\.\.?\/[^"]+)";$/gm;
const reexports = /^export \{([^}]*)\} from "(\.\.?\/[^"]+)";$/gm;
const declarations = /^export (?:async )?(?:class|function\*?|async function\*?|const|let) (\w+)/gm;

/** Returns the package as a classic script. It defines only the global `Intertwine`; with `element`, it also defines the custom element. */
export function classicScript({ element = false } = {}) {
  const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url)));
  const modules = [];
  const numbers = new Map();
  const include = (name) => {
    if (numbers.has(name)) return;
    numbers.set(name, null);
    const text = readFileSync(new URL(name, source), "utf8");
    const path = (other) => posix.join(posix.dirname(name), other);
    // The dependencies of a module precede it.
    for (const pattern of [imports, reexports]) for (const [, , other] of text.matchAll(pattern)) include(path(other));
    numbers.set(name, modules.length);
    modules.push(compact(scoped(name, text, (other) => `m[${numbers.get(path(other))}]`)));
  };
  include("index.mjs");
  if (element) include("element/intertwine-feed.mjs");
  const body = modules.map((code, number) => `m[${number}]=(()=>{\n${code}\n})();`).join("\n");
  return `// Intertwine ${version}, ${element ? "the element with the client" : "the client"} as a classic script.\n`
    + `var Intertwine=(()=>{\n"use strict";\nconst m=[];\n${body}\nreturn Object.freeze(m[${numbers.get("index.mjs")}]);\n})();\n`;
}

/** Returns the code of a module as the body of a function that returns its exports. `reference(module)` returns the exports of another. */
function scoped(name, text, reference) {
  const exported = [...text.matchAll(declarations)].map(([, own]) => own);
  for (const [, names, other] of text.matchAll(reexports)) {
    for (const one of parsedNames(names)) exported.push(`${one.to}: ${reference(other)}.${one.from}`);
  }
  const code = text
    .replaceAll(imports, (_, names, other) => `const { ${parsedNames(names).map(({ from, to }) => (from === to ? from : `${from}: ${to}`)).join(", ")} } = ${reference(other)};`)
    .replaceAll(reexports, "")
    .replaceAll(/^export /gm, "");
  const left = code.match(/^\s*(import|export)\b.*$|\bimport\.meta\b/m);
  if (left) throw new Error(`${name} contains syntax that a classic script does not support: ${left[0]}`);
  return `${code}\nreturn { ${exported.join(", ")} };`;
}

/** Removes comments on lines of their own, indentation, and empty lines. The sources have no template literals that depend on them. */
function compact(code) {
  return code.replaceAll(/^[ ]*\/\*[^]*?\*\/\n/gm, "").replaceAll(/^[ ]*\/\/.*\n/gm, "").replaceAll(/^[ ]+/gm, "").replaceAll(/\n{2,}/g, "\n").trim();
}

/** Parses `a, b as c` to `[{ from: "a", to: "a" }, { from: "b", to: "c" }]`. */
function parsedNames(names) {
  return names.split(",").map((name) => name.trim()).filter((name) => name !== "").map((name) => {
    const [from, to = from] = name.split(/\s+as\s+/);
    return { from, to };
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const names = process.argv.slice(2).filter((argument) => argument !== "--element");
  if (names.length !== 1) {
    console.error("usage: classic.mjs [--element] FILE");
    process.exitCode = 2;
  } else writeFileSync(names[0], classicScript({ element: process.argv.includes("--element") }));
}
