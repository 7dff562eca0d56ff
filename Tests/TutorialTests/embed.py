#!/usr/bin/env python3
"""Builds the package of the tutorial "Embed the service" from nothing: with the path of a clone, and with a git URL and a tag.

    Tests/TutorialTests/embed.py          reads and resolves both manifests
    Tests/TutorialTests/embed.py build    also compiles and runs them, which takes as long as the first build of the service

The dependencies are those of Package.resolved, if the tree has that file.
"""
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "Documentation/tutorials/embed.md"
BLOCK = re.compile(r'^```swift(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)


def main():
    blocks = dict(BLOCK.findall(TUTORIAL.read_text()))
    manifest, version = blocks["Package.swift"], blocks["Package.swift, a version"]
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "intertwine"
        files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout.decode().split("\0")
        for file in filter(None, files):
            if (ROOT / file).is_file():
                (clone / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, clone / file)
        git(clone, "init", "--quiet")
        git(clone, "add", "--all")
        git(clone, "-c", "user.name=tests", "-c", "user.email=tests@example.com", "commit", "--quiet", "--message", "The version")
        git(clone, "tag", re.search(r'exact: "([^"]+)"', version)[1])
        line = next(line for line in manifest.splitlines(True) if "dependencies: [.package" in line)
        url = re.sub(r'url: "[^"]+"', f'url: "{clone.as_uri()}"', version)
        for name, text in [("path", manifest), ("version", manifest.replace(line, url))]:
            package = Path(folder) / name
            (package / "Sources/MyFeed").mkdir(parents=True)
            (package / "Package.swift").write_text(text)
            (package / "Sources/MyFeed/Serve.swift").write_text(blocks[""])
            (package / "Sources/MyFeed/main.swift").write_text(blocks["Sources/MyFeed/main.swift"])
            resolved = ROOT / "Package.resolved"
            if resolved.exists():
                shutil.copy(resolved, package / "Package.resolved")
            swift(package, "package", "resolve")
            targets = swift(package, "package", "describe", "--type", "json")
            assert '"MyFeed"' in targets, targets
            print(f"embed.md, {name}: resolved")
            if sys.argv[1:] == ["build"]:
                run(package)
                print(f"embed.md, {name}: built and served")


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, *arguments], check=True, stdout=subprocess.DEVNULL)


def swift(package, *arguments):
    run = subprocess.run(["swift", *arguments], cwd=package, capture_output=True, text=True)
    assert run.returncode == 0, f"swift {' '.join(arguments)} failed:\n{run.stdout}{run.stderr}"
    return run.stdout


def run(package):
    swift(package, "build")
    with subprocess.Popen([package / ".build/debug/MyFeed"], cwd=package) as service:
        try:
            for _ in range(300):
                try:
                    page = urllib.request.urlopen("http://127.0.0.1:8080/feed").read()
                    break
                except OSError:
                    time.sleep(0.1)
            assert b'"cells"' in page, page
        finally:
            service.terminate()


if __name__ == "__main__":
    main()
