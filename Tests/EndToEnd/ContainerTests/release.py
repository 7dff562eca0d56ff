#!/usr/bin/env python3
"""What a release consists of, as far as it can be tested without a registry: hardened programs, the bill of materials, licences, a reproducible
package, pinned images and actions, a compose file and manifests that pull the image, and workflows.

    Tests/EndToEnd/ContainerTests/release.py FOLDER      of the built programs
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import compose
import dockerfile
import kustomize
import settings

TREE = compose.TREE
RELEASE = os.path.join(TREE, "Tools/release")
DIGEST = "sha256:" + "0123456789abcdef" * 4
COMMIT = "0123456789abcdef0123456789abcdef01234567"
# A program that is linked as the service is, in place of the service, whose debug build is too large to be packaged twice.
STUB = """#include <stdio.h>
#include <curl/curl.h>
#include <sqlite3.h>
int main(void) { puts("9.9.9"); return curl_version() == NULL || sqlite3_libversion() == NULL; }
"""


def main():
    programs = [os.path.join(os.path.abspath(sys.argv[1]), name) for name in ("intertwine", "intertwine-image-worker")]
    for check in (hardening, materials, licences):
        check(programs)
    with tempfile.TemporaryDirectory() as folder:
        package(folder, programs[1])
    for check in (pinning, placeholders, manifests, workflows):
        with tempfile.TemporaryDirectory() as folder:
            check(folder)


def hardening(programs):
    """Each program is position-independent, with full RELRO and without an executable stack."""
    for program in programs:
        headers = told("readelf", "--headers", "--dynamic", "--wide", program)
        assert re.search(r"Type:\s+DYN", headers), f"{program} is not position-independent"
        assert "GNU_RELRO" in headers and re.search(r"FLAGS.*\b(BIND_)?NOW\b", headers), f"{program} has no full RELRO"
        stack = re.search(r"GNU_STACK.*? (R[W ][E ]) ", headers)
        assert stack and "E" not in stack[1], f"{program} has an executable stack"
    print("The programs are position-independent with full RELRO and without an executable stack.")


def materials(programs):
    """The bill of materials is valid CycloneDX, complete, and the same each time."""
    command = [os.path.join(RELEASE, "sbom"), "--version", "9.9.9", "--resolved", os.path.join(TREE, "Package.resolved")]
    with tempfile.TemporaryDirectory() as folder:
        status = os.path.join(folder, "status")
        with open(status, "w", encoding="utf-8") as file:
            file.write("Package: libcurl4\nStatus: install ok installed\nArchitecture: amd64\nSource: curl\nVersion: 7.88.1-10\n\n"
                       "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n")
        for kind in (["--program", *programs], ["--status", status]):
            first, second = (told(*command, *kind, SOURCE_DATE_EPOCH="1700000000") for _ in range(2))
            assert first == second, "the bill of materials changes"
            errors = JsonStrictValidator(SchemaVersion.V1_6).validate_str(first)
            assert errors is None, errors
            document = json.loads(first)
            assert document["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
            names = {component["name"] for component in document["components"]}
            with open(os.path.join(TREE, "Package.resolved"), encoding="utf-8") as file:
                pins = json.load(file)["pins"]
            wanted = {os.path.basename(pin["location"]).removesuffix(".git") for pin in pins} | {"swift", "libcurl4"}
            wanted |= {"libsqlite3-0", "libpq5", "libdeflate0", "zlib1g", "libvips42"} if kind[0] == "--program" else set()
            assert wanted <= names and "gone" not in names, f"missing: {wanted - names}"
    broken = json.loads(first)
    broken["components"][0]["type"] = "thing"
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(broken)) is not None, "the schema accepts everything"
    print(f"The bill of materials names {len(names)} parts of an image, and is valid CycloneDX 1.6.")


def licences(programs):
    """Each part has a licence, and a part without one stops the release."""
    command = [os.path.join(RELEASE, "notice"), "--resolved", os.path.join(TREE, "Package.resolved")]
    notice = told(*command, "--checkouts", os.path.join(TREE, ".build/checkouts"), "--program", *programs)
    with open(os.path.join(TREE, "Package.resolved"), encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    for pin in pins:
        name = os.path.basename(pin["location"]).removesuffix(".git")
        assert f"\n{name} {pin['state']['version']} (" in notice, f"no licence of {name}"
    for words in ("Apache License", "MIT License", "\nSwift 6", "\nlibcurl4 ", "\nlibvips42 ", "\nlibyaml,", "LGPL"):
        assert words in notice, f"the notice lacks {words!r}"
    with tempfile.TemporaryDirectory() as folder:
        for pin in pins:
            os.makedirs(os.path.join(folder, os.path.basename(pin["location"]).removesuffix(".git")))
        done = subprocess.run([*command, "--checkouts", folder, "--program", *programs], capture_output=True, text=True, check=False)
        assert done.returncode != 0 and "no licence in" in done.stderr, done.stderr
    print(f"The notice has the licences of {len(pins)} Swift packages, the runtime and the linked libraries.")


def package(folder, worker):
    """Two packages of the same programs have the same bytes, whatever the time, the time zone, the locale, the umask and the order of files."""
    programs = os.path.join(folder, "programs")
    os.makedirs(programs)
    with open(os.path.join(folder, "stub.c"), "w", encoding="utf-8") as file:
        file.write(STUB)
    subprocess.run(["gcc", "-o", programs + "/intertwine", folder + "/stub.c", "-lcurl", "-lsqlite3"], check=True)
    shutil.copy(worker, programs + "/intertwine-image-worker")
    digests = []
    for name, environment, mask in (("a", {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}, "0022"), ("b", {"TZ": "UTC", "LC_ALL": "C"}, "0077")):
        tree = os.path.join(folder, name)
        for part in ("Config", "Deploy", "Tools"):
            shutil.copytree(os.path.join(TREE, part), f"{tree}/{part}", symlinks=True)
        shutil.copy(os.path.join(TREE, "CHANGELOG.md"), tree)
        shutil.copytree(os.path.join(TREE, "Sources/IntertwineSample/files"), tree + "/Sources/IntertwineSample/files")
        shutil.copy(os.path.join(TREE, "Package.resolved"), tree)
        os.makedirs(tree + "/.build/manual")
        os.symlink(os.path.join(TREE, ".build/checkouts"), tree + "/.build/checkouts")
        for manual in ("intertwine.1", "intertwine.bash", "intertwine.zsh", "intertwine.fish"):
            with open(f"{tree}/.build/manual/{manual}", "w", encoding="utf-8") as file:
                file.write(manual)
        command = f"umask {mask}; exec {tree}/Tools/package"
        done = subprocess.run(["bash", "-c", command], env={**os.environ, **environment, "PROGRAMS": programs, "SOURCE_DATE_EPOCH": "1700000000"},
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        output = tree + "/.build/package"
        files = sorted(os.listdir(output))
        assert len(files) == 2, files
        digests.append({file: hashlib.sha256(read(output, file)).hexdigest() for file in files})
    assert digests[0] == digests[1], f"different bytes: {digests}"
    (deb,) = [file for file in files if file.endswith(".deb")]
    listed = told("dpkg-deb", "--contents", f"{output}/{deb}")
    for path in ("./usr/share/doc/intertwine/NOTICE.gz", "./usr/share/doc/intertwine/copyright"):
        assert path in listed, f"the package lacks {path}"
    assert "2023-11-14" in listed and not re.search(r" 20(?!23-11-14)\d\d-", listed), "a file has another time"
    print(f"Two builds of {' and '.join(files)} have the same bytes.")


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def pinning(folder):
    """Tools/release/pin finds each image and action, pins it with what docker and git tell, and then finds no more."""
    for name in (".github", "Deploy", "Tools"):
        shutil.copytree(os.path.join(TREE, name), os.path.join(folder, name))
    shutil.copy(os.path.join(TREE, "Dockerfile"), folder)
    tools = os.path.join(folder, "tools")
    os.makedirs(tools)
    for tool, answer in (("docker", DIGEST), ("git", f"{'f' * 40}\trefs/tags/v1\n{COMMIT}\trefs/tags/v1^{{}}")):
        with open(os.path.join(tools, tool), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nprintf '%s\\n' '{answer}'\n")
        os.chmod(os.path.join(tools, tool), 0o755)
    environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"]}
    pin = os.path.join(folder, "Tools/release/pin")

    def run(*arguments):
        return subprocess.run([pin, *arguments], env=environment, capture_output=True, text=True, check=False)

    run()
    checked = run("--check")
    assert checked.returncode == 0, checked.stderr
    for path, words in (("Dockerfile", f"FROM debian:bookworm-slim@{DIGEST} AS runtime"),
                        (".github/workflows/test.yml", f"image: swift:6.3-bookworm@{DIGEST}"),
                        (".github/workflows/release.yml", f"uses: actions/checkout@{COMMIT} # v4"),
                        ("Deploy/compose-replicas.yaml", f"image: postgres:17-bookworm@{DIGEST}")):
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            assert words in file.read(), f"{path} lacks {words}"
    build, final = dockerfile.read(os.path.join(folder, "Dockerfile"))
    assert DIGEST in build.base and DIGEST in final.base
    with open(os.path.join(folder, "Dockerfile"), "a", encoding="utf-8") as file:
        file.write("FROM debian:bookworm-slim\n")
    refused = run("--check")
    assert refused.returncode == 1 and "Dockerfile: debian:bookworm-slim" in refused.stderr, refused.stderr
    print("Images and actions are found and pinned.")


def placeholders(folder):
    """Tools/release/placeholders refuses a release until a maintainer has set each address and the version."""
    settings_file = "Sources/IntertwineService/Configuration/ServerSettings.swift"
    values = {"SECURITY.md": ("security@intertwine.invalid", "security@example.org"), "CHANGELOG.md": ("## Unreleased", "## 9.9.9 (2027-01-31)"),
              settings_file: ("https://intertwine.example/", "https://example.org/")}
    tool = os.path.join(RELEASE, "placeholders")
    for name, (placeholder, _) in values.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"{placeholder}\n")
    for name, (placeholder, value) in values.items():
        refused = subprocess.run([tool, folder], capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and f"{name}: replace “{placeholder}”" in refused.stderr, refused.stderr
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"{value}\n")
    accepted = subprocess.run([tool, folder], capture_output=True, text=True, check=False)
    assert accepted.returncode == 0, accepted.stderr
    with open(os.path.join(TREE, "SECURITY.md"), encoding="utf-8") as file:
        assert "@" in file.read(), "SECURITY.md has no address"
    print("A release is refused until its addresses and its version are set.")


def manifests(folder):
    """The compose file and the manifests of a release pull its image, and are otherwise those of the source."""
    image = "registry.example/x/intertwine"
    subprocess.run([os.path.join(RELEASE, "manifests"), image, "9.9.9", DIGEST, folder], check=True)
    released, own = compose.read(os.path.join(folder, "compose.yaml")), compose.read(os.path.join(TREE, "Deploy/compose.yaml"))
    service = released["services"]["intertwine"]
    assert service["image"] == f"{image}:9.9.9@{DIGEST}" and "build" not in service
    del own["services"]["intertwine"]["build"]
    own["services"]["intertwine"]["image"] = service["image"]
    assert released == own, "another compose file"
    subprocess.run(["tar", "--extract", "--directory", folder, "--file", os.path.join(folder, "kubernetes.tar.gz")], check=True)
    for overlay in ("single-node", "postgresql"):
        (pod,) = [each["spec"]["template"]["spec"] for each in kustomize.render(os.path.join(folder, "kubernetes", overlay))
                  if each["kind"] == "Deployment"]
        assert pod["containers"][0]["image"] == f"{image}@{DIGEST}", pod["containers"][0]["image"]
    wrong = subprocess.run([os.path.join(RELEASE, "manifests"), image, "9.9.9", "sha256:1", folder], capture_output=True, check=False)
    assert wrong.returncode == 1, "accepts what is no digest"
    print("The compose file and the manifests of a release name its image by digest.")


def workflows(_):
    """Workflows, update bot and compose files are valid, and the workflows refer to files and targets that exist."""
    folder = os.path.join(TREE, ".github/workflows")
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    composes = [os.path.join(TREE, "Deploy", name) for name in ("compose.yaml", "compose-replicas.yaml")]
    for schema, paths in (("github-workflows", files), ("dependabot", [os.path.join(TREE, ".github/dependabot.yml")]), ("compose-spec", composes)):
        told(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor." + schema, *paths)
    with open(os.path.join(TREE, "Makefile"), encoding="utf-8") as file:
        targets = set(re.findall(r"^([a-z-]+):", file.read(), re.M))
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        document = yaml.safe_load(text)
        assert "permissions" in document, f"{path}: permissions are not restricted"
        for name, job in document["jobs"].items():
            assert "timeout-minutes" in job or "uses" in job, f"{path}: {name} has no timeout"
        for file in set(re.findall(r"(?<![\w/.])(?:Config|Tests)/[\w./-]+", text)):
            assert os.path.exists(os.path.join(TREE, file)), f"{path}: there is no {file}"
        for target in re.findall(r"\bmake ([a-z-]+)(?= |$)", text, re.M):
            assert target in targets | {"git"}, f"{path}: there is no target {target}"
        unknown = set(re.findall(r"\bINTERTWINE_[A-Z_]+", text)) - settings.variables(TREE)
        assert not unknown, f"{path}: unknown settings {sorted(unknown)}"
    print(f"{len(files)} workflows, the update bot's configuration and the compose files are valid.")


def told(*command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"release.py: {error}")
