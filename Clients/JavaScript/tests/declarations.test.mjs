// The TypeScript declarations contain every export and every method. The compiler checks the types.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as code from "../source/index.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const declared = readFileSync(path("../source/index.d.mts"), "utf8");

test("the declared names equal the exported names", () => {
  const names = Array.from(declared.matchAll(/^export (?:class|function) (\w+)/gm), ([, name]) => name);
  assert.deepEqual(names.sort(), Object.keys(code).sort());
});

for (const [, name, body] of declared.matchAll(/^export class (\w+)[^{]*\{\n(.*?)^\}/gms)) {
  test(`${name} has the declared methods`, () => {
    const methods = Array.from(body.matchAll(/^  (?:set )?(\w+)\(/gm), ([, method]) => method);
    const members = Array.from(body.matchAll(/^  set (\w+)\(/gm), ([, member]) => member);
    for (const method of new Set(methods)) {
      if (!members.includes(method)) assert.equal(typeof code[name].prototype[method], "function", method);
    }
    const own = Object.getOwnPropertyNames(code[name].prototype).filter((member) => typeof Object.getOwnPropertyDescriptor(code[name].prototype, member).value === "function");
    for (const method of own.filter((method) => method !== "constructor")) assert.ok(methods.includes(method), `${method} is not declared`);
  });
}

test("a TypeScript app compiles", () => {
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node16", "--lib", "es2022,dom,dom.iterable"];
  execFileSync("tsc", [...flags, path("types.ts")], { stdio: ["ignore", "inherit", "inherit"] });
});

for (const resolution of ["node", "node16"]) {
  test(`an app finds the types of client and element with moduleResolution ${resolution}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "types-"));
    try {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(path(".."), join(folder, "node_modules/intertwine-client"));
      const imports = 'import { FeedClient } from "intertwine-client";\nimport { IntertwineFeed } from "intertwine-client/element";\n';
      writeFileSync(join(folder, "app.mts"), `${imports}export const types: [typeof FeedClient, typeof IntertwineFeed] = [FeedClient, IntertwineFeed];\n`);
      const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", resolution];
      execFileSync("tsc", [...flags, "app.mts"], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test("the package has the service's version", () => {
  const { version } = JSON.parse(readFileSync(path("../package.json"), "utf8"));
  const service = readFileSync(path("../../../Sources/IntertwineService/FeedService.swift"), "utf8");
  assert.equal(version, service.match(/static let version = "([^"]+)"/)[1]);
});
