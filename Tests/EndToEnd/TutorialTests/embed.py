#!/usr/bin/env python3
"""Builds the package of the tutorial "Embed the service" from nothing: with the path of a clone, and with a git URL and a tag.

    Tests/EndToEnd/TutorialTests/embed.py              reads and resolves both manifests
    Tests/EndToEnd/TutorialTests/embed.py build        also compiles and runs both, and a program with each of the seven extensions
    Tests/EndToEnd/TutorialTests/embed.py build path   compiles and runs that with the path only
    Tests/EndToEnd/TutorialTests/embed.py probe FILE   runs and checks that program (Tests/Tools/ExtensionProbe), built already

A build takes ten minutes of CPU, so `make test-all` resolves the manifests, and runs the program that it has built anyway. The dependencies are those of Package.resolved, if the tree has that file.
"""
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TUTORIAL = ROOT / "Documentation/tutorials/embed.md"
# The articles whose code is the code of the extensions: kinds with cells, commands, data sources, placements, and middleware.
ARTICLES = ["CellOfYourOwn", "KindOfYourOwn", "CommandOfYourOwn", "DataSourceOfYourOwn", "PlacementOfYourOwn", "AdSourceOfYourOwn", "MiddlewareOfYourOwn"]
BLOCK = re.compile(r'^```swift(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)


def main():
    if sys.argv[1:2] == ["probe"]:
        with tempfile.TemporaryDirectory() as folder:
            return run_extensions(Path(sys.argv[2]).resolve(), Path(folder))
    blocks = dict(BLOCK.findall(TUTORIAL.read_text()))
    manifest, version = blocks["Package.swift"], blocks["Package.swift, a version"]
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "intertwine"
        files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout.decode().split("\0")
        for file in filter(None, files):
            # The web client has a link to a folder.
            if (ROOT / file).is_file() or (ROOT / file).is_symlink():
                (clone / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, clone / file, follow_symlinks=False)
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
            if sys.argv[1:] == ["build"] or sys.argv[1:] == ["build", name]:
                run(package)
                print(f"embed.md, {name}: built and served")
                for file in (package / "Sources/MyFeed").iterdir():
                    file.unlink()
                shutil.copy(ROOT / "Tests/Tools/ExtensionProbe/ExtensionProbe.swift", package / "Sources/MyFeed")
                for article in ARTICLES:
                    text = (ROOT / f"Sources/IntertwineService/IntertwineService.docc/{article}.md").read_text()
                    (package / f"Sources/MyFeed/{article}.swift").write_text("".join(code for _, code in BLOCK.findall(text)))
                swift(package, "build")
                run_extensions(package / ".build/debug/MyFeed", package)
                print(f"seven extensions, {name}: built and checked")


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


def run_extensions(program, folder):
    """Runs the program with each kind of extension, and checks it over HTTP."""
    notes = [{"kind": "note", "id": f"n{number}", "type": "plain", "text": f"Note {number}"} for number in range(5)]
    sample = [item for item in json.loads((ROOT / "Sources/IntertwineSample/files/feed.json").read_text()) if item["kind"] in ("user", "ad")]
    items = folder / "items.ndjson"
    items.write_text("".join(json.dumps(item) + "\n" for item in notes + sample))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    data = folder / "file"
    data.mkdir()
    with subprocess.Popen([program, data, str(port), items]) as service:
        try:
            check(f"http://127.0.0.1:{port}")
        finally:
            service.terminate()


def check(base):
    def request(method, path, status=200, **fields):
        sent = urllib.request.Request(base + path, method=method, headers={"X-Viewer-ID": "ann"} | fields)
        try:
            with urllib.request.urlopen(sent) as response:
                body, found = response.read(), response
        except urllib.error.HTTPError as error:
            body, found = error.read(), error
        assert found.status == status, f"{method} {path}: {found.status} {body[:500]}"
        return (json.loads(body) if body else None), found.headers

    def select_and_undo(cell):
        result, _ = request("POST", f"/cells/{cell}/selection")
        listed = [each["id"] for each in request("GET", "/lists/followed")[0]["cells"]]
        assert cell in listed, listed
        request("DELETE", result["undo"]["href"])
        assert cell not in [each["id"] for each in request("GET", "/lists/followed")[0]["cells"]]

    for _ in range(600):
        try:
            urllib.request.urlopen(f"{base}/readyz").read()
            break
        except OSError:
            time.sleep(0.1)

    # A kind with its cell, a placement.
    cells = request("GET", "/feed?limit=5")[0]["cells"]
    ids = [cell["id"] for cell in cells]
    assert cells[0]["identifier"] == "NoteCollectionViewCell", cells[0]
    assert [cell for cell in ids if not cell.startswith("ad:")] == [f"note:n{number}" for number in range(5)], ids
    assert [index for index, cell in enumerate(ids) if cell.startswith("ad:")] == [3, 6], ids
    # A command.
    select_and_undo("note:n0")
    # A route with middleware.
    news, fields = request("GET", "/kitchen/news")
    assert news == {"news": 0}, news
    assert fields["Server"] == "Recipes" and "Recipes" not in (request("GET", "/feed")[1]["Server"] or "")
    # A data source that changes.
    assert not any(cell["id"].startswith("note:") for cell in request("GET", "/feeds/news")[0]["cells"])
    waits = []
    for number in range(1, 11):
        request("POST", f"/kitchen/news/number{number}", 204)
        begun = time.monotonic()
        while f"note:news{number}" not in [cell["id"] for cell in request("GET", "/feeds/news")[0]["cells"]]:
            assert time.monotonic() - begun < 5, f"item {number} does not appear"
        waits.append(time.monotonic() - begun)
    # The median, because other programs may use the processors.
    waits.sort()
    assert waits[len(waits) // 2] < 0.1, f"new items are visible after {waits} s"
    select_and_undo("note:news10")
    # A slow data source beside the feed.
    def times(count):
        found = []
        for _ in range(count):
            begun = time.monotonic()
            request("GET", "/feed?limit=10")
            found.append(time.monotonic() - begun)
        return sorted(found)

    alone = times(300)
    slow = [threading.Thread(target=lambda limit=limit: request("GET", f"/feeds/slow?limit={limit}")) for limit in range(1, 41)]
    begun = time.monotonic()
    for thread in slow:
        thread.start()
    time.sleep(0.2)
    beside = []
    while time.monotonic() - begun < 1.8:
        beside += times(20)
    for thread in slow:
        thread.join()
    beside.sort()
    p99 = [found[int(len(found) * 0.99)] for found in (alone, beside)]
    assert len(beside) >= 20 and p99[1] < max(4 * p99[0], 0.05), p99
    print(
        f"a new item is visible after {waits[len(waits) // 2] * 1000:.1f} ms in the median, {waits[-1] * 1000:.1f} ms at most; p99 of /feed: {p99[0] * 1000:.1f} ms alone, "
        f"{p99[1] * 1000:.1f} ms beside 40 pages of 2 s ({len(beside)} requests)")


if __name__ == "__main__":
    main()
