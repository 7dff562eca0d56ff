"""Runs nginx with the configurations of the how-to guides in front of the service.

TLS is left out. An authentication service takes the name of the user from a bearer token.
"""
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class Authentication(BaseHTTPRequestHandler):
    """Names the user of a bearer token; 401 without a token."""

    def do_GET(self):
        token = re.fullmatch(r"Bearer (\w+)", self.headers.get("Authorization", ""))
        self.send_response(202 if token else 401)
        if token:
            self.send_header("X-Auth-Request-User", token[1])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Proxy:
    def __init__(self, folder, configuration, port):
        self.base = f"http://127.0.0.1:{port}"
        folder = Path(folder)
        for name in ("logs", "temporary", "cache"):
            (folder / name).mkdir(exist_ok=True)
        paths = "\n".join(f"{name}_temp_path temporary;" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(
            # Workers of another user could not write into the temporary folder.
            f"{'user root; ' if os.geteuid() == 0 else ''}daemon off; pid nginx.pid; error_log logs/error.log; events {{}}\nhttp {{\naccess_log off;\n{paths}\n{configuration}\n}}\n")
        command = ["nginx", "-p", str(folder), "-c", "nginx.conf"]
        check = subprocess.run([*command, "-t"], capture_output=True, text=True)
        assert check.returncode == 0, check.stderr
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while True:
            try:
                self.ask("GET", "/feed?limit=1")
                return
            except OSError:
                assert time.monotonic() < until, "nginx does not start"
                time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)

    def ask(self, method, path, headers=None):
        request = urllib.request.Request(self.base + path, method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()


def blocks(page):
    return re.findall(r"^```nginx\n(.*?)^```$", page.read_text(), re.M | re.S)


def check(documents, folder, service_port, port):
    """- documents: the folder of the pages. service_port: the service's. port: a free one for nginx."""
    plain = blocks(documents / "how-to/proxy-and-cdn.md")[0]
    plain = plain.replace("127.0.0.1:8080", f"127.0.0.1:{service_port}").replace("443 ssl http2", f"127.0.0.1:{port}")
    plain = re.sub(r"^\s*ssl_\w+ .*\n", "", plain, flags=re.M)
    forged = {"X-Viewer-ID": "mallory", "Content-Length": "0"}
    with Proxy(folder, plain, port) as proxy:
        cell = json.loads(proxy.ask("GET", "/feed?limit=1")[2])["cells"][0]["id"].replace(" ", "%20")
        status, _, body = proxy.ask("POST", f"/cells/{cell}/dismissal", forged)
        assert (status, json.loads(body)["type"]) == (403, "/problems/viewer-required"), (status, body)
    print("how-to/proxy-and-cdn.md: a forged viewer is anonymous")

    authentication = ThreadingHTTPServer(("127.0.0.1", 0), Authentication)
    Thread(target=authentication.serve_forever, daemon=True).start()
    server = re.sub(r"^    location / \{.*?^    \}\n", "", plain, flags=re.M | re.S)
    locations = blocks(documents / "how-to/authenticate-viewers.md")[0].replace("127.0.0.1:4180", f"127.0.0.1:{authentication.server_port}")
    assert locations.count("location") == 2 and "location" not in server
    with Proxy(folder, server.rstrip()[:-1] + locations + "}", port) as proxy:
        assert proxy.ask("POST", f"/cells/{cell}/dismissal", forged)[0] == 401
        assert proxy.ask("POST", f"/cells/{cell}/dismissal", {**forged, "Authorization": "Bearer ada"})[0] == 200
        dismissed = {name: len(json.loads(proxy.ask("GET", "/dismissed", {"Authorization": f"Bearer {name}"})[2])["cells"])
                     for name in ("ada", "mallory")}
        assert dismissed == {"ada": 1, "mallory": 0}, dismissed
    authentication.shutdown()
    print("how-to/authenticate-viewers.md: the user of the token is the viewer, whatever the client names")

    cache, location = blocks(documents / "how-to/proxy-and-cdn.md")[1].split("\n\n", 1)
    cached = cache.replace("/var/cache/nginx/images", f"{folder}/cache") + "\n" + plain.rstrip()[:-1] + location + "}"
    with Proxy(folder, cached, port) as proxy:
        image = re.search(rb'"href":"(/images/[^"{]+)"', proxy.ask("GET", "/feed?limit=1")[2])[1].decode()
        responses = [proxy.ask("GET", image, {"Accept": "image/png"}) for _ in range(2)]
        seen = [(status, fields["X-Cache"]) for status, fields, _ in responses]
        assert seen == [(200, "MISS"), (200, "HIT")], f"{seen}: {responses[0][2][:300]}"
    print("how-to/proxy-and-cdn.md: the second request for an image is a cache hit")
