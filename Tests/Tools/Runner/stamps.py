"""Which parts have passed with the files of the working tree: .build/test-stamps has, for each part, the hashes of its last pass."""
import functools
import hashlib
import json
import os
import subprocess
import sys

from parts import ROOT

STAMPS = ROOT / ".build/test-stamps"
SHARED = ["Package.swift", "Makefile", "Tests/Tools/Runner"]


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


@functools.cache
def manifest():
    """The targets of Package.swift by name: their folder, and the targets that they depend on."""
    # Without the selection of `make test-module`.
    environment = {name: value for name, value in os.environ.items() if name != "INTERTWINE_TESTS"}
    text = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, env=environment, capture_output=True, check=True).stdout
    targets = {}
    for target in json.loads(text)["targets"]:
        folder = target.get("path") or f"{'Tests' if target['type'] == 'test' else 'Sources'}/{target['name']}"
        dependencies = [name for dependency in target["dependencies"] for kind, (name, *_) in dependency.items() if kind in ("byName", "target")]
        targets[target["name"]] = (folder, dependencies, target["type"])
    return targets


def closure(names, without=()):
    """The targets and all that they depend on, but for those that they link and do not run."""
    found, rest = set(), [name for name in names if name not in without]
    while rest:
        name = rest.pop()
        if name not in found and name in manifest():
            found.add(name)
            rest += [other for other in manifest()[name][1] if other not in without]
    return found


@functools.cache
def tracked(paths):
    """The content of all tracked and new files below paths, and below the folders that symbolic links there name."""
    listed = {}
    for entry in git("ls-files", "-s", "-z", "--", *paths).split(b"\0")[:-1]:
        described, name = entry.split(b"\t", 1)
        listed[name] = described
    linked = [os.path.relpath(os.path.realpath(ROOT / os.fsdecode(name)), ROOT) for name, kind in listed.items() if kind.startswith(b"120000")]
    for name in git("ls-files", "-m", "-d", "-o", "--exclude-standard", "-z", "--", *paths).split(b"\0")[:-1]:
        file = ROOT / os.fsdecode(name)
        listed[name] = hashlib.sha256(file.read_bytes()).digest() if file.is_file() else b"absent"
    files = [name + b"\t" + content for name, content in sorted(listed.items())]
    return files + [file for folder in linked if not folder.startswith("..") for file in tracked((folder,))]


def digest(part, paths, environment):
    text = repr((part.command, part.environment, environment, versions())).encode()
    return hashlib.sha256(b"\0".join([text, *tracked(tuple(sorted(paths)))])).hexdigest()


@functools.cache
def versions():
    """Of the compiler and of the dependencies."""
    resolved = ROOT / "Package.resolved"
    return subprocess.run(["swift", "--version"], capture_output=True, check=True).stdout, resolved.read_bytes() if resolved.exists() else b""


class Stamps:
    def __init__(self, full):
        self.size = "full" if full else "small"
        self.seen = {}

    def before(self, part):
        """The hashes as the run begins: what is edited later has not passed."""
        if part.name in self.seen:
            return self.seen[part.name]
        for path in part.inputs:
            if not tracked((path,)):
                sys.exit(f"Tests/Tools/Runner/parts.py: {part.name} reads {path}, which does not exist")
        folders = [manifest()[name][0] for name in closure(part.targets, part.without)]
        self.seen[part.name] = {
            "all": digest(part, [*SHARED, *part.inputs, *folders], ""),
            "own": hashlib.sha256(b"\0".join(tracked(tuple(part.inputs))) if part.inputs else b"").hexdigest(), "size": self.size}
        return self.seen[part.name]

    def last(self, part):
        try:
            return json.loads((STAMPS / part.name).read_text())
        except (OSError, ValueError):
            return None

    def is_unchanged(self, part):
        """Whether the part has passed in this size or in full with these files, and this build of what it runs."""
        last, now = self.last(part), self.before(part)
        return bool(last and (part.inputs or part.targets) and last["all"] == now["all"] and last["size"] in (self.size, "full"))

    def is_edited(self, part):
        """Whether the part's own files differ from those of its last pass, or, if it has not passed here, from the last commit."""
        last, now = self.last(part), self.before(part)
        if not part.inputs:
            return False
        return last["own"] != now["own"] if last else bool(git("status", "--porcelain", "--", *part.inputs).strip())

    def passed(self, part):
        STAMPS.mkdir(parents=True, exist_ok=True)
        (STAMPS / part.name).write_text(json.dumps(self.before(part)))

    def failed(self, part):
        (STAMPS / part.name).unlink(missing_ok=True)
