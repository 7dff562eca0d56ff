#!/usr/bin/env node
// Makes one file of the package that a page without modules can load: `<script src="intertwine-client.js"></script>`, then
// `new Intertwine.FeedClient(…)`.
//   node Clients/JavaScript/classic.mjs intertwine-client.js
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const source = new URL("source/", import.meta.url);
const imports = /^import \{([^}]*)\} from "\.\/([^"]+)";$/gm;
const passedOn = /^export \{([^}]*)\} from "\.\/([^"]+)";$/gm;
const declared = /^export (?:async )?(?:class|function\*?|async function\*?|const|let) (\w+)/gm;

/** The package as a classic script, which leaves `Intertwine` behind and nothing else. */
export function classicScript() {
  const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url)));
  const modules = [];
  const taken = new Set();
  const take = (name) => {
    if (taken.has(name)) return;
    taken.add(name);
    const text = readFileSync(new URL(name, source), "utf8");
    // What a module needs stands before it.
    for (const pattern of [imports, passedOn]) for (const [, , other] of text.matchAll(pattern)) take(other);
    modules.push({ name, code: scoped(name, text) });
  };
  take("index.mjs");
  const body = modules.map(({ name, code }) => `modules[${JSON.stringify(name)}] = (() => {\n${code}\n})();`).join("\n");
  return `// Intertwine ${version}: the client package as a classic script.\n`
    + `var Intertwine = (() => {\n"use strict";\nconst modules = {};\n${body}\nreturn Object.freeze(modules["index.mjs"]);\n})();\n`;
}

/** A module as the body of a function that returns what it exports. */
function scoped(name, text) {
  const exported = [...text.matchAll(declared)].map(([, own]) => own);
  for (const [, names, other] of text.matchAll(passedOn)) {
    for (const one of named(names)) exported.push(`${one.to}: modules[${JSON.stringify(other)}].${one.from}`);
  }
  const code = text
    .replaceAll(imports, (_, names, other) => `const { ${named(names).map(({ from, to }) => (from === to ? from : `${from}: ${to}`)).join(", ")} } = modules[${JSON.stringify(other)}];`)
    .replaceAll(passedOn, "")
    .replaceAll(/^export /gm, "");
  const left = code.match(/^\s*(import|export)\b.*$|\bimport\.meta\b/m);
  if (left) throw new Error(`${name} has what a classic script cannot: ${left[0]}`);
  return `${code}\nreturn { ${exported.join(", ")} };`;
}

/** `a, b as c` as `[{ from: "a", to: "a" }, { from: "b", to: "c" }]`. */
function named(names) {
  return names.split(",").map((name) => name.trim()).filter((name) => name !== "").map((name) => {
    const [from, to = from] = name.split(/\s+as\s+/);
    return { from, to };
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , file] = process.argv;
  if (file === undefined) {
    console.error("usage: classic.mjs FILE");
    process.exitCode = 2;
  } else writeFileSync(file, classicScript());
}
