"""What pages cost that do not lie finished, in microseconds of the server's CPU, beside the floor: a C program that reads the same rows, makes as
many HMACs and writes as many bytes (floor/page-floor.c)."""
import os
import re
import sqlite3
import statistics
import subprocess
from pathlib import Path

import feeds
import servers

HERE = Path(__file__).parent
SETTINGS = ("limits.requests-per-connection=2000000000", "log.requests=false", "feed.cache=0")
SHARED, VIEWER, SOME, MANY = "shared", "a viewer's", "with 200 dismissed cells", "with 100,000 dismissed cells"
# With cells kept, as usual, and with none.
KEPT, NEW = "feed.cells=33554432", "feed.cells=0"
VIEWERS = {SHARED: None, VIEWER: "nobody", SOME: "some", MANY: "many"}


def store(folder, users):
    """The users, and people who have dismissed some of the last of them."""
    feeds.fill(folder, users)
    servers.intertwine(folder).stop()
    with sqlite3.connect(folder / "intertwine.ledger.sqlite") as ledger:
        for viewer, count in (("some", 200), ("many", 100_000)):
            rows = ((viewer, f"user:user-{users - 1 - number:08d}", f"p{number}") for number in range(count))
            ledger.executemany(
                "INSERT INTO listing (viewer, list, cell, performance, at, until, leads, removes) VALUES (?, 'dismissed', ?, ?, 0, 0, 1, 0)",
                rows)


def _processor(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


def _cost(server, paths, seconds, viewer):
    """Microseconds of CPU for each page."""
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", "-s", str(HERE / "paths.lua")]
    if viewer:
        command += ["-H", f"X-Viewer-ID: {viewer}"]
    before = _processor(server)
    text = subprocess.run([*command, server.url("/"), str(paths)], check=True, capture_output=True, text=True).stdout
    after = _processor(server)
    count = int(re.search(r"(\d+) requests in", text).group(1))
    if "Non-2xx" in text or not count:
        raise SystemExit(text)
    return (after - before) / count


def _floor(folder, pages=20_000):
    program = folder / "page-floor"
    subprocess.run(["cc", "-O2", "-o", program, HERE.parent / "floor/page-floor.c", "-lsqlite3", "-lcrypto"], check=True)
    return min(
        float(subprocess.run([program, folder / "intertwine.sqlite", str(pages)], check=True, capture_output=True, text=True).stdout.split()[0])
        for _ in range(3))


def measure(report, folder, options):
    """Pages are asked for from the first half of the feed; what the viewers dismissed stands in the second."""
    users = getattr(options, "page_users", 200_000)
    if not (folder / "intertwine.sqlite").exists():
        store(folder, users)
    floor = _floor(folder)
    results = {}
    settings = {"kept": getattr(options, "kept", KEPT), "new": getattr(options, "new", NEW)}
    for cells, setting in settings.items():
        server = servers.intertwine(folder, (*SETTINGS, *filter(None, [setting])))
        try:
            paths = feeds.cursors(server, folder, users // 4)
            for viewer in VIEWERS.values():
                _cost(server, paths, 1, viewer)
            rounds = [
                {page: _cost(server, paths, options.seconds, viewer) for page, viewer in VIEWERS.items()} for _ in range(options.rounds)
            ]
        finally:
            server.stop()
        results[cells] = {page: statistics.median(one[page] for one in rounds) for page in VIEWERS}
    report.section("Pages that do not lie finished, users with pictures of their own: CPU of each")
    report.row("| page of 20 users | cells kept, us | x the floor | no cell kept, us | x the floor |")
    report.row("| --- | ---: | ---: | ---: | ---: |")
    for page in VIEWERS:
        columns = " | ".join(f"{results[cells][page]:.0f} | {results[cells][page] / floor:.1f}" for cells in settings)
        report.row(f"| {page} | {columns} |")
    report.row(f"| the floor, in C | {floor:.0f} | 1.0 | {floor:.0f} | 1.0 |")
    report.row("")
    kept = results["kept"]
    for page in (SHARED, VIEWER, SOME):
        report.bar(f"CPU of a page, {page}, ratio to the floor", kept[page] / floor, kept[page] <= 4 * floor, "at most 4")
    ratio = kept[MANY] / kept[VIEWER]
    report.bar("CPU of a page with 100,000 dismissed cells, ratio to one with none", ratio, ratio <= 1.2, "at most 1.2")
