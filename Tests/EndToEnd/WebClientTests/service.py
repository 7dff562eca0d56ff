"""The service under test: a running one, or a binary with the sample feed and an image origin of the tests."""
import atexit
import functools
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

from origin import Origin
from relay import Relay

sys.path.append(str(Path(__file__).parents[3] / "Benchmarks/driver"))
NUMBERS = itertools.count()
STARTING = threading.Lock()
SAMPLE = Path(__file__).parents[3] / "Sources/IntertwineSample/files/feed.json"


class Service:
    def __init__(self, base_url=None, settings=(), keeps_sample=False, environment=None):
        self.settings = settings
        self.environment = {**os.environ, **(environment or {})}
        # Uses the unchanged sample, without settings for images.
        self.keeps_sample = keeps_sample
        self.base_url = base_url.rstrip("/") if base_url else None
        # The image origin of a running service is unknown.
        self.origin = None
        self._process = None
        self._files = None

    def __enter__(self):
        if self.base_url is None:
            self._start(os.environ.get("WEB_CLIENT_TESTS_BINARY") or ".build/debug/intertwine")
        # Replaces the files in the binary, for development.
        files = os.environ.get("WEB_CLIENT_TESTS_FILES")
        if files:
            self._files = Relay(self.base_url)
            self._files.files = files
            self._files.come()
            self.base_url = self._files.url.rstrip("/")
        return self

    def __exit__(self, *_):
        if self._files:
            self._files.go()
        if self._process:
            self._process.terminate()
            self._process.wait(timeout=30)
            self.origin.stop()
            self._folder.cleanup()

    def _start(self, binary):
        self.origin = Origin()
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        sample = SAMPLE
        image_settings = ()
        if not self.keeps_sample:
            sample = folder / "feed.json"
            sample.write_text(self._own_images(json.loads(SAMPLE.read_text())))
            image_settings = ("images.allowed-networks=127.0.0.1/32", f"images.allowed-ports={self.origin.port}")
        database = new_database() if os.environ.get("TEST_DATABASE") == "postgresql" else str(folder / "feed.sqlite")
        # On PostgreSQL, the audit log, the pictures and the states of sources are in a folder of their own.
        store = ["--database", database, "--set", f"server.data-folder={folder}/data"]
        self._import = [binary, "import", "--foreground", *store]
        subprocess.run([*self._import, str(sample)], check=True, stdout=subprocess.DEVNULL)
        for setting in self.settings:
            self._import += ["--set", setting]
        port, admin_port = free_port(), free_port()
        self.admin_url = f"http://127.0.0.1:{admin_port}"
        arguments = ["--host", "127.0.0.1", "--port", str(port), "--admin-port", str(admin_port), *store, "--set", "ads.rotation=listed"]
        for setting in (*image_settings, *self.settings):
            arguments += ["--set", setting]
        self.base_url = f"http://127.0.0.1:{port}"
        self._command = [binary, "serve", *arguments]
        self._serve()

    def restart(self):
        """Restarts the service with the same database and settings. Files of the settings may have changed."""
        self._process.terminate()
        self._process.wait()
        self._serve()

    def _serve(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)
        until = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(self.base_url + "/readyz", timeout=5).close()
                return
            except OSError:
                assert self._process.poll() is None, "the service stopped at its start"
                assert time.monotonic() < until, "the service is not ready after 30 s"
                time.sleep(0.05)

    def _own_images(self, items):
        """Replaces all image URLs by different URLs of the tests' origin, so that each image is fetched."""
        for number, item in enumerate(items):
            for name in ("avatarUrl", "backgroundUrl", "contentUrl"):
                if name in item:
                    path = urllib.parse.urlsplit(item[name]).path
                    item[name] = f"http://127.0.0.1:{self.origin.port}{path}?{number}"
        return json.dumps(items)

    def put(self, *items):
        """Imports items on the command line."""
        lines = "".join(json.dumps(item) + "\n" for item in items)
        subprocess.run([*self._import, "-"], input=lines, text=True, check=True, stdout=subprocess.DEVNULL)

    def operate(self, *operations):
        """Applies operations to the store in one transaction."""
        request = urllib.request.Request(
            self.admin_url + "/admin/operations", json.dumps({"operations": operations}).encode(), {"Content-Type": "application/json"})
        urllib.request.urlopen(request).close()

    def pages(self):
        """Yields all pages of the feed."""
        href = "/feed"
        while href:
            with urllib.request.urlopen(urllib.parse.urljoin(self.base_url, href)) as answer:
                page = json.load(answer)
            yield page
            href = page["page"]["next"]

    def cells(self):
        return [cell for page in self.pages() for cell in page["cells"]]


@functools.cache
def server():
    """The PostgreSQL server of this run."""
    from postgresql import PostgreSQL
    # Its user is another one, who cannot enter the temporary folder of the tests.
    folder = tempfile.TemporaryDirectory(prefix="intertwine-web-", dir="/tmp")
    os.chmod(folder.name, 0o755)
    made = PostgreSQL(Path(folder.name) / "cluster")
    atexit.register(lambda: (made.stop("immediate"), folder.cleanup()))
    return made


def new_database():
    """Returns the address of a database of the one service."""
    with STARTING:
        name = f"web{next(NUMBERS)}"
        server().sql(f"CREATE DATABASE {name}", "postgres")
        return server().uri(name)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
