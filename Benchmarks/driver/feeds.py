"""Feeds for measurements: a small one, and one of many users, in Intertwine's store and in tables of other servers."""
import itertools
import json
import subprocess
import urllib.parse

import servers


def user(number):
    return {
        "kind": "user", "id": f"user-{number:08d}", "username": f"User number {number}",
        "avatarUrl": f"https://pictures.example.com/avatars/{number}.png",
        "backgroundUrl": f"https://pictures.example.com/backgrounds/{number}.png",
        "type": "featured" if number % 5 == 0 else "regular",
    }


def advertisement(number):
    return {
        "kind": "ad", "id": number, "contentUrl": f"https://pictures.example.com/ads/{number}.png",
        "clickthroughUrl": f"https://www.example.com/{number}", "type": "image",
    }


def fill(folder, users, advertisements=10):
    """Imports users and ads with `intertwine import`."""
    folder.mkdir(parents=True, exist_ok=True)
    put(folder, itertools.chain(map(advertisement, range(1, advertisements + 1)), map(user, range(users))))
    return folder


def put(folder, items, flags=()):
    command = [servers.INTERTWINE, "import", "--foreground", "--database", folder / "intertwine.sqlite", *flags, "-"]
    importer = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for item in items:
        importer.stdin.write(json.dumps(item).encode() + b"\n")
    importer.stdin.close()
    if importer.wait() != 0:
        raise SystemExit("the import failed")


def images(server, count):
    """Returns the image paths of the last users' avatars from the feed."""
    path, found = "/feed?limit=100", []
    while path:
        page = json.loads(server.get(path))
        for cell in page["cells"]:
            image = cell["actions"]["configuration"]["bindings"].get("avatar", {}).get("href")
            if image:
                found.append(image)
        path = page["page"]["next"]
    return found[-count:]


def small(folder):
    return fill(folder / "small", 200)


def large(folder, users):
    store = fill(folder / "large", users)
    database = folder / "peer.sqlite"
    script = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE users (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, username TEXT NOT NULL, avatarUrl TEXT NOT NULL, backgroundUrl TEXT, type TEXT NOT NULL);
CREATE TABLE advertisements (id TEXT PRIMARY KEY, contentUrl TEXT NOT NULL, clickthroughUrl TEXT NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {users})
INSERT INTO users SELECT i + 1, printf('user-%08d', i), 'User number ' || i, 'https://pictures.example.com/avatars/' || i || '.png',
    'https://pictures.example.com/backgrounds/' || i || '.png', CASE WHEN i % 5 = 0 THEN 'featured' ELSE 'regular' END FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)
INSERT INTO advertisements SELECT i, 'https://pictures.example.com/ads/' || i || '.png', 'https://www.example.com/' || i FROM n;
"""
    subprocess.run(["sqlite3", str(database)], input=script, text=True, check=True, stdout=subprocess.DEVNULL)
    return store, database


def cursors(server, folder, users):
    """Writes paths of pages of 20, from every 100th position of the feed."""
    path, paths = "/feed?limit=100", []
    while path and len(paths) < min(users // 100, 10_000):
        path = json.loads(server.get(path))["page"]["next"]
        if path:
            cursor = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)["cursor"][0]
            paths.append("/feed?" + urllib.parse.urlencode({"cursor": cursor, "limit": 20}))
    return _write(folder / "cursors.txt", paths)


def queries(folder, users):
    return _write(folder / "queries.txt", [f"/query?after={number * 100}&limit=20" for number in range(1, min(users // 100, 10_000))])


def _write(file, paths):
    file.write_text("\n".join(paths) + "\n")
    return file
