#!/usr/bin/env python3
"""Compares the Gradle files with the sources, because the tests do not run Gradle.

usage: Clients/Kotlin/tests/gradle.py

- Each library of settings.gradle.kts has a build file and sources, and no other folder has sources.
- Build files use entries of the version catalogue that exist, and the catalogue has no entry that none uses.
- Each imported package is in a declared dependency, and each declared dependency is imported. A package of a public signature is in one
  with `api`.
- The namespace of a library is its package. The versions of README, tutorial and JavaScript package agree with the catalogue.
- A library that is no Android library imports nothing of Android.
"""
import json, os, re, sys, tomllib

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
# The packages of each module, by the longest prefix. Modules that another module exports have no entry of their own.
PACKAGES = {
    "intertwine.client": "project(\":intertwine-client\")",
    "intertwine.ui": "project(\":intertwine-ui\")",
    "kotlinx.coroutines": "coroutines",
    "kotlinx.serialization": "serialization.json",
    "androidx.core": "androidx.core",
    "androidx.recyclerview": "recyclerview",
    "androidx.lifecycle.compose": "lifecycle.runtime.compose",
    "androidx.lifecycle": "lifecycle.runtime.compose",
    "androidx.compose.foundation": "compose.foundation",
    "androidx.compose.material3": "compose.material3",
    "androidx.compose.runtime": "compose.ui",
    "androidx.compose.ui": "compose.ui",
    "com.google.android.material": "material",
}
PLATFORM = ("android.", "java.", "kotlin.", "org.json.")
# Exported by another dependency of the same library.
EXPORTED = {"project(\":intertwine-client\")": {"project(\":intertwine-ui\")"}, "coroutines": {"project(\":intertwine-client\")", "project(\":intertwine-ui\")"},
            "serialization.json": {"project(\":intertwine-client\")", "project(\":intertwine-ui\")"}}
findings = []


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


def alias(name):
    return name.replace("-", ".").replace("_", ".")


def module_of(package):
    matches = [prefix for prefix in PACKAGES if package == prefix or package.startswith(prefix + ".")]
    return PACKAGES[max(matches, key=len)] if matches else None


catalogue = tomllib.loads(read(FOLDER, "gradle/libs.versions.toml"))
versions, libraries, plugins = catalogue["versions"], catalogue["libraries"], catalogue["plugins"]
entries = {alias(name) for name in libraries} | {"versions." + alias(name) for name in versions} | {"plugins." + alias(name) for name in plugins}
used = {"versions." + alias(entry["version"]["ref"]) for entry in [*libraries.values(), *plugins.values()] if "version" in entry}
for table in (libraries, plugins):
    for name, entry in table.items():
        if "version" in entry and entry["version"]["ref"] not in versions:
            findings.append(f"libs.versions.toml: {name} has the version {entry['version']['ref']}, which does not exist")

names = re.findall(r'"([\w-]+)"', re.search(r"^include\((.*?)\)", read(FOLDER, "settings.gradle.kts"), re.M | re.S)[1])
others = {name for name in os.listdir(FOLDER) if os.path.isdir(os.path.join(FOLDER, name, "src")) or os.path.isfile(os.path.join(FOLDER, name, "build.gradle.kts"))}
for name in others - set(names):
    findings.append(f"settings.gradle.kts: does not include {name}")

builds = {"build.gradle.kts": read(FOLDER, "build.gradle.kts")}
for name in names:
    builds[f"{name}/build.gradle.kts"] = read(FOLDER, name, "build.gradle.kts")
for file, text in builds.items():
    for reference in re.findall(r"\blibs\.([\w.]+)", text):
        reference = re.sub(r"\.(get|toInt)$", "", reference)
        if reference not in entries:
            findings.append(f"{file}: libs.{reference} is not in the catalogue")
        used.add(reference)
for entry in sorted(entries - used):
    findings.append(f"libs.versions.toml: no build file uses {entry}")

count = 0
for name in names:
    build = builds[f"{name}/build.gradle.kts"]
    declared = dict(reversed(pair) for pair in re.findall(r"^    (api|implementation)\((?:libs\.)?([^\n]*)\)$", build, re.M))
    declared = {re.sub(r"^coroutines\.\w+$", "coroutines", key): kind for key, kind in declared.items() if not key.startswith("platform(")}
    is_android = "libs.plugins.android.library" in build
    source, imported, public = os.path.join(FOLDER, name, "src/main/kotlin"), {}, set()
    package = name.replace("-", ".")
    for folder, _, files in os.walk(source):
        for file in files:
            count += 1
            text = read(folder, file)
            own = re.search(r"^package ([\w.]+)$", text, re.M)[1]
            if own != package or os.path.relpath(folder, source) != own.replace(".", "/"):
                findings.append(f"{name}/{file}: the package {own} does not belong to this library and folder")
            types = {}
            for path in re.findall(r"^import ([\w.]+)", text, re.M):
                module = module_of(path)
                if path.startswith("android.") and not is_android:
                    findings.append(f"{name}/{file}: imports {path}, and the library is no Android library")
                if module is None and not path.startswith(PLATFORM):
                    findings.append(f"{name}/{file}: no module is known for {path}")
                if module:
                    imported.setdefault(module, file)
                    types[path.rsplit(".", 1)[1]] = module
            # The parts of public declarations before their bodies.
            for signature in re.findall(r"^ *(?:@\w+ )*public [^{=]*", text, re.M):
                public |= {types[word] for word in re.findall(r"\w+", signature) if word in types}
    if not imported and not count:
        findings.append(f"{name}: has no sources")
    for module, file in imported.items():
        exported = EXPORTED.get(module, set()) & {key for key, kind in declared.items()}
        if module not in declared and not exported:
            findings.append(f"{name}/build.gradle.kts: {file} imports {module}, which is not declared")
    for module in declared:
        if module not in imported and module not in ("coroutines",):
            findings.append(f"{name}/build.gradle.kts: no source imports {module}")
    for module in public & set(declared):
        if declared[module] != "api" and not EXPORTED.get(module, set()) & set(declared):
            findings.append(f"{name}/build.gradle.kts: {module} is in a public signature and needs api")
    namespace = re.search(r'namespace = "([\w.]+)"', build)
    if is_android and (not namespace or namespace[1] != package):
        findings.append(f"{name}/build.gradle.kts: the namespace is not {package}")

version = versions["intertwine"]
if json.loads(read(ROOT, "Clients/JavaScript/package.json"))["version"] != version:
    findings.append(f"libs.versions.toml: {version} is not the version of the JavaScript package")
for file in ("Clients/Kotlin/README.md", "Documentation/tutorials/android.md"):
    text = read(ROOT, file)
    coordinates = re.findall(r'"intertwine:([\w-]+):([^"]+)"', text)
    if not coordinates:
        findings.append(f"{file}: names no coordinates")
    for name, stated in coordinates:
        if name not in names or stated != version:
            findings.append(f"{file}: there is no intertwine:{name}:{stated}")
for finding in findings:
    print(finding)
print(f"{len(names)} libraries, {count} sources, {len(entries)} entries of the catalogue: {len(findings)} findings")
sys.exit(bool(findings))
