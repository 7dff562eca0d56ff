"""Measures the time to the first response, the memory of an idle process, and the program's size on disk."""
import statistics
import subprocess
import time
from pathlib import Path

import feeds
import servers

PAGE = "/feed?limit=20"


def _rollup(pid):
    """Returns resident and proportional KiB of a process; the second divides shared pages among their processes."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return [int(fields[name].split()[0]) for name in ("Rss", "Pss")]


def measure(report, folder, options):
    small = feeds.small(folder)
    www = folder / "www"
    www.mkdir(exist_ok=True)
    makers = {"intertwine": lambda: servers.intertwine(small), "nginx": lambda: servers.nginx(folder)}
    if (servers.PEERS / "HummingbirdPeer").exists():
        makers["Hummingbird"] = lambda: servers.hummingbird(www / "feed")
    report.section("A start, and an idle process")
    report.row("| server | to the first page, ms | after it RSS, MiB | PSS, MiB | processes |")
    report.row("| --- | ---: | ---: | ---: | ---: |")
    for name, make in makers.items():
        times = []
        for _ in range(options.rounds * 2 + 1):
            start = time.perf_counter()
            server = make()
            try:
                page = server.get(PAGE)
                times.append((time.perf_counter() - start) * 1e3)
                if not (www / "feed").exists():
                    (www / "feed").write_bytes(page)
                if len(times) > options.rounds * 2:
                    time.sleep(3)
                    pids = server.processes()
                    rss, pss = (sum(column) / 1024 for column in zip(*map(_rollup, pids)))
            finally:
                server.stop()
        report.row(f"| {name} | {statistics.median(times):.0f} | {rss:.1f} | {pss:.1f} | {len(pids)} |")
    stripped = folder / "stripped"
    subprocess.run(["strip", "-o", stripped, servers.INTERTWINE], check=True)
    sizes = [path.stat().st_size / (1 << 20) for path in (servers.INTERTWINE, stripped)]
    report.row("")
    report.row(f"The binary has {sizes[0]:.1f} MiB, stripped {sizes[1]:.1f} MiB.")
