"""What pages cost that do not lie finished, in microseconds of the server's CPU, beside two floors of one C program that reads the same rows, makes
as many HMACs and writes as many bytes (floor/page-floor.c): the bars count from OpenSSL's HMAC() as anybody would write it, and what codes cost
from prepared states is told beside it."""
import os
import re
import sqlite3
import statistics
import subprocess
import zlib
from pathlib import Path

import clients
import feeds
import servers

HERE = Path(__file__).parent
SETTINGS = ("limits.requests-per-connection=2000000000", "log.requests=false", "feed.page-cache=0")
SHARED, VIEWER, SOME, MANY = "shared", "a viewer's", "with 200 dismissed cells", "with 100,000 dismissed cells"
# With the cell cache, as by default, and without.
KEPT, NEW = "feed.cell-cache=33554432", "feed.cell-cache=0"
FIRST = "first page, the first 100,000 dismissed"
VIEWERS = {SHARED: None, VIEWER: "nobody", SOME: "some", MANY: "many"}
# A viewer's page in gzip coding, and with all fields of a browser.
CODED, BROWSER = f"{VIEWER}, gzip", f"{VIEWER}, a browser"
ASKED = {CODED: ("Accept-Encoding: gzip",), BROWSER: clients.BROWSER}
# A viewer's pages of 100 items, plain and in gzip coding.
LONG, LONG_CODED = f"{VIEWER}, 100 items", f"{VIEWER}, 100 items, gzip"


def store(folder, users):
    """Creates users, viewers who dismissed some of the last ones, and one viewer who dismissed the first ones."""
    feeds.fill(folder, users)
    servers.intertwine(folder).stop()
    with sqlite3.connect(folder / "intertwine.ledger.sqlite") as ledger:
        last, first = (lambda number: users - 1 - number), (lambda number: number)
        for viewer, count, place in (("some", 200, last), ("many", 100_000, last), ("late", 100_000, first)):
            rows = ((viewer, f"user:user-{place(number):08d}", f"p{number}") for number in range(count))
            ledger.executemany(
                "INSERT INTO listing (viewer, list, cell, performance, at, until, leads, removes) VALUES (?, 'dismissed', ?, ?, 0, 0, 1, 0)",
                rows)


def _processor(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


def _cost(server, paths, seconds, viewer, fields=()):
    """Returns the CPU time of a page in microseconds."""
    command = ["wrk", "-t1", "-c16", f"-d{seconds}s", "-s", str(HERE / "paths.lua")]
    for field in (*fields, *([f"X-Viewer-ID: {viewer}"] if viewer else [])):
        command += ["-H", field]
    before = _processor(server)
    text = subprocess.run([*command, server.url("/"), str(paths)], check=True, capture_output=True, text=True).stdout
    after = _processor(server)
    count = int(re.search(r"(\d+) requests in", text).group(1))
    if "Non-2xx" in text or not count:
        raise SystemExit(text)
    return (after - before) / count


def _floors(folder, pages=20_000, rounds=3):
    """Returns the minimum of alternating rounds: with HMAC(), and with prepared states."""
    program = folder / "page-floor"
    subprocess.run(["cc", "-O2", "-o", program, HERE.parent / "floor/page-floor.c", "-lsqlite3", "-lcrypto"], check=True)

    def once(*words):
        command = [program, folder / "intertwine.sqlite", str(pages), *words]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])

    return tuple(map(min, zip(*((once(), once("prepared")) for _ in range(rounds)))))


def measure(report, folder, options):
    """Requests pages of the first half of the feed. The viewers dismissed cells of the second half."""
    users = getattr(options, "page_users", 200_000)
    if not (folder / "intertwine.sqlite").exists():
        store(folder, users)
    floor, strict = _floors(folder)
    results = {}
    settings = {"kept": getattr(options, "kept", KEPT), "new": getattr(options, "new", NEW)}
    for cells, setting in settings.items():
        server = servers.intertwine(folder, (*SETTINGS, *filter(None, [setting])))
        try:
            paths = feeds.cursors(server, folder, users // 4)
            start = folder / "start"
            start.write_text("/feed?limit=20\n")
            pages = {page: (paths, viewer, ()) for page, viewer in VIEWERS.items()} | {FIRST: (start, "late", ())}
            pages |= {page: (paths, VIEWERS[VIEWER], fields) for page, fields in ASKED.items()}
            long = folder / "long.txt"
            long.write_text(paths.read_text().replace("limit=20", "limit=100"))
            pages |= {LONG: (long, VIEWERS[VIEWER], ()), LONG_CODED: (long, VIEWERS[VIEWER], ASKED[CODED])}
            for asked, viewer, fields in pages.values():
                # The first page of a viewer who dismissed much may take longer than a round.
                server.get(asked.read_text().split()[0], {"X-Viewer-ID": viewer} if viewer else None)
                _cost(server, asked, 1, viewer, fields)
            rounds = [
                {page: _cost(server, asked, options.seconds, *who) for page, (asked, *who) in pages.items()} for _ in range(options.rounds)
            ]
            examples = {
                items: [server.get(file.read_text().split()[0], {"X-Viewer-ID": "nobody", "Accept-Encoding": coding}) for coding in ("identity", "gzip")]
                for items, file in ((20, paths), (100, long))
            }
        finally:
            server.stop()
        results[cells] = {page: statistics.median(one[page] for one in rounds) for page in rounds[0]}
    report.section("Uncached pages, users with individual images: CPU time of each")
    report.row("| page of 20 users | cells kept, us | x the floor | x prepared | no cell kept, us | x the floor | x prepared |")
    report.row("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    costs = {page: tuple(results[cells][page] for cells in settings) for page in (*VIEWERS, FIRST, *ASKED, LONG, LONG_CODED)}
    costs |= {"the floor, in C, with OpenSSL's HMAC()": (floor, floor), "the same from prepared HMAC states": (strict, strict)}
    for name, each in costs.items():
        columns = " | ".join(f"{cost:.0f} | {cost / floor:.1f} | {cost / strict:.1f}" for cost in each)
        report.row(f"| {name} | {columns} |")
    report.row("")
    kept = results["kept"]
    for page in (SHARED, VIEWER, SOME):
        ratio = kept[page] / floor
        report.bar(f"CPU of a page, {page}, ratio to the floor with HMAC()", ratio, ratio <= 4, "at most 4")
        report.row(f"  - to the floor from prepared states: {kept[page] / strict:.2f} (no bar)")
    for page in (MANY, FIRST):
        ratio = kept[page] / kept[VIEWER]
        report.bar(f"CPU of a page, {page}, ratio to one with none", ratio, ratio <= 1.2, "at most 1.2")
    for items, (identity, gzip) in {20: (VIEWER, CODED), 100: (LONG, LONG_CODED)}.items():
        plain, coded = examples[items]
        fastest, small = _coding(folder, plain)
        added, bytes = (kept[gzip] - kept[identity]) / fastest, len(coded) / small
        report.bar(f"CPU that gzip adds to a viewer's page of {items}, ratio to libdeflate at level 1", added, added <= 1.5, "at most 1.5")
        report.bar(f"bytes of a viewer's page of {items} in gzip coding, ratio to zlib at level 6", bytes, bytes <= 1.1, "at most 1.1")
    report.row(f"  - the other fields of a browser: {kept[BROWSER] - kept[CODED]:.0f} us (no bar)")


def _coding(folder, page):
    """Returns the microseconds of libdeflate at level 1 for the page, and the bytes of zlib at level 6."""
    program, file = folder / "gzip-floor", folder / "page.json"
    file.write_bytes(page)
    subprocess.run(["cc", "-O2", "-o", program, HERE.parent / "floor/gzip-floor.c", "-ldeflate"], check=True)
    fastest = min(float(subprocess.run([program, file], check=True, capture_output=True, text=True).stdout) for _ in range(5))
    compressor = zlib.compressobj(6, zlib.DEFLATED, 31)
    return fastest, len(compressor.compress(page) + compressor.flush())
