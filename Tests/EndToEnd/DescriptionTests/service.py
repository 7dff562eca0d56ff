"""The service with the tests' items on a free port, and requests that return unchanged responses."""
import http.client
import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

KEY = "2a" * 32
# Settings are flags. The service reads each variable with its prefix as a setting.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("INTERTWINE_")}


class Service:
    def __init__(self, items, settings=(), preload=None, kinds=None, environment=None, database=None):
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        (folder / "empty.yaml").write_text("")
        binary = os.environ["INTERTWINE_BINARY"]
        self.store = ["--config", str(folder / "empty.yaml"), "--database", database or str(folder / "feed.sqlite")]
        if database is not None:
            self.store += ["--set", f"server.data-folder={folder}"]
        if kinds is not None:
            (folder / "kinds.yaml").write_text(kinds)
            self.store += ["--set", f"kinds.file={folder / 'kinds.yaml'}"]
        self.import_items(items)
        self.port, self.admin_port = free_port(), free_port()
        fixed = {"server.host": "127.0.0.1", "server.port": self.port, "admin.port": self.admin_port, "ads.rotation": "listed"}
        # The keys of a database are its own.
        fixed |= {"signing.key": KEY} if database is None else {}
        flags = [f"{key}={value}" for key, value in {**fixed, **dict(settings)}.items()]
        arguments = [part for flag in flags for part in ("--set", flag)]
        variables = {**ENVIRONMENT, **({"LD_PRELOAD": preload} if preload else {}), **(environment or {})}
        with open(folder / "log", "wb") as log:
            self._process = subprocess.Popen([binary, "serve", *self.store, *arguments], env=variables, stdout=log, stderr=log)
        self.base = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        until = time.monotonic() + 30
        while True:
            try:
                if self.ask("GET", "/readyz").status == 200:
                    return self
            except OSError:
                pass
            assert self._process.poll() is None, "the service stopped at its start"
            assert time.monotonic() < until, "the service is not ready after 30 s"
            time.sleep(0.05)

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(timeout=30)
        self._folder.cleanup()

    def log(self):
        return (Path(self._folder.name) / "log").read_text()

    def import_items(self, items):
        file = Path(self._folder.name) / "items.ndjson"
        file.write_text("".join(json.dumps(item) + "\n" for item in items))
        subprocess.run(
            [os.environ["INTERTWINE_BINARY"], "import", "--foreground", *self.store, str(file)], check=True, env=ENVIRONMENT,
            stdout=subprocess.DEVNULL)

    def ask(self, method, path, headers=None, body=None, port=None, version="HTTP/1.1"):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)
        connection._http_vsn_str = version
        if body is not None and not isinstance(body, (str, bytes)):
            body, headers = json.dumps(body), {"Content-Type": "application/json", **(headers or {})}
        elif body is not None and port is None:
            headers = {"Content-Type": "application/json", **(headers or {})}
        connection.request(method, path, body=body, headers={"User-Agent": "tests", **(headers or {})})
        answer = connection.getresponse()
        answer.content = answer.read()
        connection.close()
        return answer

    def get(self, path, headers=None):
        return json.loads(self.ask("GET", path, headers).content)


def user(name, kind="regular", image="https://pictures.example.com"):
    file = name.lower().replace(" ", "-")
    item = {"kind": "user", "id": file, "username": name, "avatarUrl": f"{image}/{file}.png", "type": kind}
    return item if kind == "featured" else {**item, "backgroundUrl": f"{image}/{file}-background.png"}


def advertisement(number, image="https://ads.example.com"):
    return {"kind": "ad", "id": number, "contentUrl": f"{image}/{number}.png",
            "clickthroughUrl": f"https://shop.example.com/{number}", "type": "image"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
