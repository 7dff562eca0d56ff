"""A replica in a network namespace. Its link to the database can be cut while clients still reach it. Needs root."""
import http.client
import itertools
import os
import subprocess
import threading
import time

import clients


def run(*words):
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL)


class Namespace:
    """A namespace with two links: one for clients, one to the database."""

    def __init__(self):
        self.name = f"intertwine-{os.getpid()}"
        run("ip", "netns", "add", self.name)
        try:
            run("ip", "-n", self.name, "link", "set", "lo", "up")
            self.clients = self._way("c", 0)
            self.database = self._way("d", 4)
        except Exception:
            self.end()
            raise

    def _way(self, letter, number):
        """Returns the addresses of both ends; this side's first."""
        outer, inner = f"itw-{letter}-o", f"itw-{letter}-i"
        run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self.name)
        ends = [f"10.213.85.{number + side}" for side in (1, 2)]
        run("ip", "address", "add", f"{ends[0]}/30", "dev", outer)
        run("ip", "-n", self.name, "address", "add", f"{ends[1]}/30", "dev", inner)
        run("ip", "link", "set", outer, "up")
        run("ip", "-n", self.name, "link", "set", inner, "up")
        return ends

    def command(self, *words):
        return ["ip", "netns", "exec", self.name, *words]

    def cut(self):
        """Drops all packets of the link silently."""
        run("ip", "link", "set", "itw-d-o", "down")

    def mend(self):
        run("ip", "link", "set", "itw-d-o", "up")

    def end(self):
        for name in ("itw-c-o", "itw-d-o"):
            subprocess.run(["ip", "link", "del", name], check=False, stderr=subprocess.DEVNULL)
        run("ip", "netns", "del", self.name)


class Clicks:
    """Sends clicks of new viewers to a replica, each on a new connection, and records the outcomes."""

    def __init__(self, host, port, path, name, clients=2):
        self.host, self.port, self.path = host, port, path
        self.answered, self.statuses, self.longest = [], {}, 0
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._load, args=(f"{name}-{number}",)) for number in range(clients)]
        for thread in self._threads:
            thread.start()

    def _load(self, name):
        for number in itertools.count():
            if self._is_over.is_set():
                return
            viewer, begin = f"{name}-{number}", time.monotonic()
            answer = status(self.host, self.port, self.path, viewer)
            with self._lock:
                self.statuses[answer] = self.statuses.get(answer, 0) + 1
                self.longest = max(self.longest, time.monotonic() - begin)
                if answer == 302:
                    self.answered.append(viewer)

    def stop(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join()


def status(host, port, path, viewer="somebody"):
    """Returns the status; 0 without a response."""
    connection = http.client.HTTPConnection(host, port, timeout=30)
    try:
        # A browser's click is a navigation, whatever the path.
        return clients.ask(connection, "GET", path, {"X-Viewer-ID": viewer, "User-Agent": "benchmark"}, isClick=True).status
    except OSError:
        return 0
    finally:
        connection.close()
