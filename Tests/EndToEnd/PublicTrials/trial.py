"""A service with the sample feed, and the report of a file of trials."""
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BINARY = os.environ.get("INTERTWINE_BINARY", str(ROOT / ".build/debug/intertwine"))
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("INTERTWINE_")}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Sample:
    def __init__(self, **settings):
        self.port, admin = free_port(), free_port()
        self._folder = tempfile.TemporaryDirectory()
        flags = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        self._log = open(Path(self._folder.name) / "log", "wb")
        self._process = subprocess.Popen(
            [BINARY, "serve", "--sample", "--port", str(self.port), "--admin-port", str(admin), "--database",
             str(Path(self._folder.name) / "feed.sqlite"), *flags],
            env=ENVIRONMENT, stdout=self._log, stderr=self._log)

    def __enter__(self):
        until = time.monotonic() + 60
        while True:
            try:
                if self.ask("/readyz")[0] == 200:
                    return self
            except OSError:
                pass
            assert self._process.poll() is None and time.monotonic() < until, (Path(self._folder.name) / "log").read_text()
            time.sleep(0.05)

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(timeout=30)
        self._log.close()
        self._folder.cleanup()

    def reload(self):
        self._process.send_signal(signal.SIGHUP)

    def ask(self, path, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path, headers={"User-Agent": FIREFOX, **{name.replace("_", "-"): value for name, value in fields.items()}})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer, body

    def raw(self, request):
        """Returns the status and the text of the answer to bytes."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
            connection.sendall(request if isinstance(request, bytes) else request.encode())
            connection.settimeout(10)
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        return int(answer[9:12]), answer.decode("latin1")

    def click(self):
        """Returns the path of the link of an ad."""
        return re.search(rb"/click/[\w.~-]+", self.ask("/feed?limit=20")[2])[0].decode()


class Trials:
    def __init__(self):
        self.count, self.failed = 0, []

    def expect(self, name, actual, expected):
        self.count += 1
        if actual != expected:
            self.failed.append(f"{name}: {actual!r}, expected {expected!r}")

    def report(self):
        for line in self.failed:
            print(line)
        print(f"{self.count - len(self.failed)} passed, {len(self.failed)} failed")
        sys.exit(bool(self.failed))
