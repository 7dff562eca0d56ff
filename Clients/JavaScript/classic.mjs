#!/usr/bin/env node
// Bundles the package into one file for pages without modules: `<script src="intertwine-client.js"></script>`, then `new
// Intertwine.FeedClient(…)`.
//
//     node Clients/JavaScript/classic.mjs intertwine-client.js
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const source = new URL("source/", import.meta.url);
const imports = /^import \{([^}]*)\} from "\.\/([^"]+)";$/gm;
const reexports = /^export \{([^}]*)\} from "\.\/([^"]+)";$/gm;
const declarations = /^export (?:async )?(?:class|function\*?|async function\*?|const|let) (\w+)/gm;

/** Returns the package as a classic script, which defines only the global `Intertwine`. */
export function classicScript() {
  const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url)));
  const modules = [];
  const included = new Set();
  const include = (name) => {
    if (included.has(name)) return;
    included.add(name);
    const text = readFileSync(new URL(name, source), "utf8");
    // The dependencies of a module precede it.
    for (const pattern of [imports, reexports]) for (const [, , other] of text.matchAll(pattern)) include(other);
    modules.push({ name, code: scoped(name, text) });
  };
  include("index.mjs");
  const body = modules.map(({ name, code }) => `modules[${JSON.stringify(name)}] = (() => {\n${code}\n})();`).join("\n");
  return `// Intertwine ${version}: the client package as a classic script.\n`
    + `var Intertwine = (() => {\n"use strict";\nconst modules = {};\n${body}\nreturn Object.freeze(modules["index.mjs"]);\n})();\n`;
}

/** Returns the code of a module as the body of a function that returns its exports. */
function scoped(name, text) {
  const exported = [...text.matchAll(declarations)].map(([, own]) => own);
  for (const [, names, other] of text.matchAll(reexports)) {
    for (const one of parsedNames(names)) exported.push(`${one.to}: modules[${JSON.stringify(other)}].${one.from}`);
  }
  const code = text
    .replaceAll(imports, (_, names, other) => `const { ${parsedNames(names).map(({ from, to }) => (from === to ? from : `${from}: ${to}`)).join(", ")} } = modules[${JSON.stringify(other)}];`)
    .replaceAll(reexports, "")
    .replaceAll(/^export /gm, "");
  const left = code.match(/^\s*(import|export)\b.*$|\bimport\.meta\b/m);
  if (left) throw new Error(`${name} contains syntax that a classic script does not support: ${left[0]}`);
  return `${code}\nreturn { ${exported.join(", ")} };`;
}

/** Parses `a, b as c` to `[{ from: "a", to: "a" }, { from: "b", to: "c" }]`. */
function parsedNames(names) {
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
