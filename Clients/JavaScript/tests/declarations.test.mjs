// The TypeScript declarations contain every export and every method. The compiler checks the types.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
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

test("the package has the service's version", () => {
  const { version } = JSON.parse(readFileSync(path("../package.json"), "utf8"));
  const service = readFileSync(path("../../../Sources/IntertwineService/FeedService.swift"), "utf8");
  assert.equal(version, service.match(/static let version = "([^"]+)"/)[1]);
});
