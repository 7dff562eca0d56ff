"""Compares sized images of the running service with the minimal work: decoding, encoding, originals."""
import asyncio
import http.client
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import feeds
import scroll
import servers
import wrk

WEBP = {"Accept": "image/webp"}


def origin(port, file, delay):
    return servers.Server("origin", [sys.executable, Path(__file__).parent / "origin.py", port, file, delay], port)


class House:
    """A service with users whose avatars are one image at different URLs."""

    def __init__(self, folder, image, users, delay=0.0, settings=()):
        folder.mkdir()
        file = folder / "image"
        file.write_bytes(image)
        port = servers.free_port()
        self.folder = folder
        self.origin = origin(port, file, delay)
        people = [
            {"kind": "user", "id": f"p{n}", "username": f"p{n}", "avatarUrl": self.origin.url(f"/{n}.jpg"), "type": "featured"}
            for n in range(users)
        ]
        feeds.put(folder, people)
        allowed = (
            "images.allowed-networks=127.0.0.1/32", f"images.allowed-ports={port}", "log.requests=false",
            "limits.connections-per-peer=10000", "images.downloads-per-host=64",
        )
        self.allowed = [word for setting in allowed[:2] for word in ("--set", setting)]
        self.service = servers.intertwine(folder, (*allowed, *settings))
        self.hrefs = [href + "@2x" for href in feeds.images(self.service, users)]

    def original(self, image):
        """Returns the path of another original, which is now the origin's only image."""
        port = self.origin.port
        self.origin.stop()
        (self.folder / "image").write_bytes(image)
        self.origin = origin(port, self.folder / "image", 0)
        # The path without a size has another signature, which the command line creates.
        command = [servers.INTERTWINE, "image-url", "--database", self.folder / "intertwine.sqlite", *self.allowed, self.origin.url("/whole.webp")]
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.split()[-1]

    def __enter__(self):
        # The first resize starts the worker.
        self.get(self.hrefs[0])
        return self

    def __exit__(self, *_):
        self.service.stop()
        self.origin.stop()

    def get(self, path, fields=WEBP):
        """Returns milliseconds and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        start = time.perf_counter()
        connection.request("GET", path, headers=fields)
        answer = connection.getresponse()
        body = answer.read()
        took = (time.perf_counter() - start) * 1e3
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:200]}")
        return took, body

    def processor(self):
        """Returns the CPU time of the service and all of its workers, including ended ones, in seconds."""
        pid = self.service.process.pid
        ticks = sum(int(each) for each in stat(pid)[11:15])
        for child in Path(f"/proc/{pid}/task").glob("*/children"):
            for worker in child.read_text().split():
                ticks += sum(int(each) for each in stat(worker)[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")

    def own(self):
        """Returns the CPU time of the service without workers in seconds."""
        return sum(int(each) for each in stat(self.service.process.pid)[11:13]) / os.sysconf("SC_CLK_TCK")

    def workers(self):
        return {worker for child in Path(f"/proc/{self.service.process.pid}/task").glob("*/children") for worker in child.read_text().split()}


def stat(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def stored(folder, image, options, bar):
    """Compares a cached resized image with a cached original of the same bytes in one service, because processes differ."""
    with House(folder / "sized", image, 2) as house:
        small = house.get(house.hrefs[0])[1]
        original = house.original(small)
        targets = {"variant": house.hrefs[0], "original": original}
        rates, cost = {name: [] for name in targets}, {name: [] for name in targets}
        for path in targets.values():
            house.get(path)
            house.get(path)
        for number in range(options.rounds):
            for name in sorted(targets, reverse=number % 2 == 1):
                before = house.processor()
                rate, *_ = wrk.once(house.service.url(targets[name]), 64, options.seconds, headers=("Accept: image/webp",))
                rates[name].append(rate)
                cost[name].append((house.processor() - before) / (rate * options.seconds) * 1e6)
    for name in targets:
        print(f"  stored {name} of {len(small):,} bytes: {statistics.median(rates[name]):,.0f}/s, {statistics.median(cost[name]):.1f} us of processor each")
    ratio = statistics.median(cost["variant"]) / statistics.median(cost["original"])
    bar("stored variant, processor, ratio to a stored original", f"{ratio:.2f}", ratio <= 1.03, "at most 1.03")


def misses(folder, image, options, bar, transform):
    """Measures the overhead of the service for a resize with a cached original."""
    users = options.misses + 5
    with House(folder / "misses", image, users) as house:
        png = {"Accept": "image/png"}
        for href in house.hrefs:
            # Fetches the original and resizes it once.
            house.get(href.removesuffix("@2x"), png)
        added, own = [], []
        before, began = house.own(), len(house.hrefs)
        for number, href in enumerate(house.hrefs):
            took = house.get(href)[0]
            start = time.perf_counter()
            transform(image)
            alone = (time.perf_counter() - start) * 1e3
            if number >= 5:
                own.append(alone)
                added.append(took - alone)
        cost = (house.own() - before) / began * 1e3
    print(f"  decoding and encoding: {statistics.median(own):.1f} ms; the service's own processor for each: {cost:.1f} ms")
    bar("a miss adds to that, ms (median)", f"{statistics.median(added):.2f}", statistics.median(added) <= 3, "at most 3")


def scrolling(folder, image, options, bar):
    """Compares 1,000 requests, 700 of which are cancelled after 50 ms, with 300 requests alone."""
    with House(folder / "scrolling", image, 2 * (1_000 + 300) + 100, delay=150) as house:
        paths = iter(house.hrefs[1:])

        def work(count, left):
            before = house.processor()
            asyncio.run(scroll.scroll(house.service.port, paths, count / 10, 10, left, "Accept: image/webp\r\n"))
            return house.processor() - before

        ratios = []
        for _ in range(2):
            alone, among = work(300, 0), work(1_000, 0.7)
            ratios.append(among / alone)
            print(f"  300 who stay: {alone:.2f} s of processor; among 700 who leave: {among:.2f} s")
    bar("work for those who stay among those who leave, ratio", f"{min(ratios):.2f}", min(ratios) <= 1.1, "at most 1.1")


def cancelling(folder, huge, options, bar):
    """Measures how soon a cancelled resize ends: the threads of its worker stop, or the worker exits."""
    times = []
    with House(folder / "cancelling", huge, options.misses, settings=("images.workers=1", "images.max-source-size=64MiB")) as house:
        for href in house.hrefs[1 : 1 + min(20, options.misses - 1)]:
            settle(house)
            connection = http.client.HTTPConnection("127.0.0.1", house.service.port, timeout=60)
            connection.request("GET", href, headers={"Accept": "image/avif"})
            worker = next(iter(house.workers()))
            limit = time.monotonic() + 5
            while (is_busy := working(worker) >= 2) is False and time.monotonic() < limit:
                pass
            start = time.perf_counter()
            connection.close()
            end, before = start, spent(worker)
            while (now := time.perf_counter()) < end + 0.2:
                after = spent(worker)
                if after is None:
                    end = now
                    break
                if after != before:
                    end, before = now, after
            # A resize that ended before it was observed is not counted.
            if is_busy:
                times.append((end - start) * 1e3)
    if not times:
        raise SystemExit("nothing was cancelled")
    times.sort()
    bar("work ends after the last one left, ms (median, longest)", f"{statistics.median(times):.0f}, {times[-1]:.0f}", times[-1] <= 50, "at most 50")


def settle(house):
    """Waits for an idle worker. A replacement prepares itself first, which is not a resize."""
    worker, before = None, None
    while True:
        time.sleep(0.1)
        present = next(iter(house.workers()), None)
        now = spent(present) if present else None
        if now is not None and (present, now) == (worker, before):
            return
        worker, before = present, now


def working(worker):
    """Returns the approximate CPU time of the current job in hundredths of a second."""
    try:
        before = sum(int(each) for each in stat(worker)[11:13])
        time.sleep(0.05)
        return sum(int(each) for each in stat(worker)[11:13]) - before
    except OSError:
        return 0


def spent(worker):
    """Returns the CPU time of the worker's threads in nanoseconds; None if it has exited."""
    try:
        if stat(worker)[0] in "ZX":
            return None
        return sum(int(each.read_text().split()[0]) for each in Path(f"/proc/{worker}/task").glob("*/schedstat"))
    except (OSError, IndexError):
        return None
