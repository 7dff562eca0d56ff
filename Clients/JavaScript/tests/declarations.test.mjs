// The TypeScript declarations contain every export and every method, each with a comment. The compiler checks the types.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as code from "../source/index.mjs";

// Debian's package. Only Debian's Node searches this folder by itself.
const ts = createRequire(import.meta.url)("/usr/share/nodejs/typescript");
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const parts = readdirSync(path("../types"));
const declared = parts.map((name) => readFileSync(path(`../types/${name}`), "utf8")).join("");

/** Returns the declarations of a file that have no comment, and the options of functions that the comments of these do not name. */
function undocumented(file) {
  const source = ts.createSourceFile(file, readFileSync(path(file), "utf8"), ts.ScriptTarget.ES2022, true);
  const missing = [];
  const commented = new Set();
  const visit = (node, scope) => {
    if (ts.isModuleBlock(node) || ts.isModuleDeclaration(node)) return ts.forEachChild(node, (child) => visit(child, scope));
    if (node.members === undefined && !ts.isFunctionLike(node) && !ts.isTypeAliasDeclaration(node) && !ts.isTypeElement(node) && !ts.isClassElement(node)) return;
    const name = `${scope}${ts.isConstructorDeclaration(node) ? "constructor" : ts.isIndexSignatureDeclaration(node) ? "[…]" : node.name.getText()}`;
    const comment = (node.jsDoc ?? []).map((one) => one.getText()).join("");
    // The first of several overloads has the comment.
    if (comment === "" && !commented.has(name)) missing.push(name);
    commented.add(name);
    for (const { type } of comment === "" ? [] : node.parameters ?? []) {
      const options = type !== undefined && ts.isTypeLiteralNode(type) ? type.members.map((option) => option.name.getText()) : [];
      const isNamed = (option) => new RegExp(`\\b${option}\\b`).test(comment);
      if (options.length > 1) missing.push(...options.filter((option) => !isNamed(option)).map((option) => `${name}: ${option}`));
    }
    for (const member of node.members ?? []) visit(member, `${name}.`);
  };
  ts.forEachChild(source, (node) => visit(node, ""));
  return missing;
}

for (const file of [...parts.map((name) => `../types/${name}`), "../source/element/intertwine-feed.d.mts"]) {
  test(`every declaration in ${file} has a comment`, () => assert.deepEqual(undocumented(file), []));
}

test("the index exports all declarations", () => {
  const exported = readFileSync(path("../source/index.d.mts"), "utf8").matchAll(/^export \* from "\.\.\/types\/(\w+)\.mjs";$/gm);
  assert.deepEqual(Array.from(exported, ([, name]) => `${name}.d.mts`).sort(), parts.sort());
});

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
