"""A relay between the browser and the service. It records, delays, changes or replaces exchanges, and can be unavailable for a while."""
import http.client
import json
import mimetypes
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "accept-encoding"}


class Exchange:
    """A request and its response. `status` is None before the response; `left` is true if the browser disconnected earlier."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.status, self.left, self.finished, self.answer = None, False, False, b""

    @property
    def json(self):
        return json.loads(self.answer)


class Relay:
    def __init__(self, target):
        parts = urlsplit(target)
        self.target = (parts.hostname, parts.port or 80)
        self.exchanges = []
        self.alterations = []
        # `hold(exchange)` returns true if the exchange must wait before it is forwarded.
        self.hold = None
        # `answer(exchange)` returns `(status, headers, JSON value)` in place of the service, or None.
        self.answer = None
        # Pages of an app, by path.
        self.pages = {}
        # A folder with files of the web client, which replace those of the binary.
        self.files = None
        self._port = 0
        self._server = None

    def __enter__(self):
        self.come()
        return self

    def __exit__(self, *_):
        self.go()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}/"

    def come(self):
        """Listens on a free port, and after an interruption on the same port."""
        relay = self

        class Handler(RelayHandler):
            owner = relay

        self._connections = set()
        self._server = RelayServer(("127.0.0.1", self._port), Handler)
        self._server.owner = self
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def go(self):
        """Stops listening and drops all connections, like a killed service."""
        self._server.shutdown()
        self._server.server_close()
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def passed(self, method, prefix):
        return [exchange for exchange in list(self.exchanges) if exchange.method == method and exchange.path.startswith(prefix)]

    def feed_pages(self):
        """Returns the requests for pages of the feed. The page also requests `/feeds`, before or after them."""
        return [exchange for exchange in self.passed("GET", "/feed") if exchange.path.partition("?")[0] == "/feed"]

    def alter_feed(self, change):
        """`change(page)` changes every feed page, as decoded JSON."""
        self.alterations.append(change)


class RelayServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Disconnecting browsers are expected."""


class RelayHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner = None

    def setup(self):
        super().setup()
        self.owner._connections.add(self.connection)

    def finish(self):
        self.owner._connections.discard(self.connection)
        super().finish()

    def log_message(self, *_):
        pass

    def relay(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        exchange = Exchange(self.command, self.path, self.headers, body)
        self.owner.exchanges.append(exchange)
        upstream = http.client.HTTPConnection(*self.owner.target, timeout=60)
        threading.Thread(target=self.watch, args=(exchange, upstream), daemon=True).start()
        if self.owner.files and self.serve_file(exchange):
            return
        if exchange.path in self.owner.pages:
            exchange.finished, exchange.status = True, 200
            self.send(200, {"Content-Type": "text/html; charset=utf-8"}, self.owner.pages[exchange.path].encode())
            return
        invented = self.owner.answer and self.owner.answer(exchange)
        if invented:
            exchange.finished = True
            exchange.status, headers, value = invented
            exchange.answer = json.dumps(value).encode()
            self.send(exchange.status, headers, exchange.answer)
            return
        while self.owner.hold and self.owner.hold(exchange) and not exchange.left:
            time.sleep(0.01)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            upstream.request(self.command, self.path, body=body or None, headers=headers)
            answer = upstream.getresponse()
            if (answer.getheader("Content-Type") or "").startswith("text/event-stream"):
                return self.stream(exchange, answer)
            content = answer.read()
        except (OSError, http.client.HTTPException):
            exchange.left = True
            self.close_connection = True
            return
        finally:
            exchange.finished = True
            upstream.close()
        if exchange.path.split("?")[0] == "/feed" and answer.status == 200 and self.owner.alterations:
            page = json.loads(content)
            for alteration in self.owner.alterations:
                alteration(page)
            content = json.dumps(page).encode()
        exchange.answer = content
        exchange.status = answer.status
        lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
        lines += [f"{name}: {value}" for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP]
        if answer.status not in (204, 304):
            lines.append(f"Content-Length: {len(content)}")
        else:
            content = b""
        self.wfile.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content)

    def stream(self, exchange, answer):
        """Forwards an event stream as it arrives."""
        exchange.status = answer.status
        self.close_connection = True
        lines = [f"{name}: {value}" for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP]
        self.wfile.write("\r\n".join([f"HTTP/1.1 {answer.status} {answer.reason}", *lines, "Connection: close"]).encode("latin-1") + b"\r\n\r\n")
        try:
            while content := answer.read1(65536):
                exchange.answer = (exchange.answer or b"") + content
                self.wfile.write(content)
                self.wfile.flush()
        except (OSError, http.client.HTTPException, ValueError):
            exchange.left = True

    do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = do_PATCH = relay

    def send(self, status, headers, content):
        lines = [f"HTTP/1.1 {status} Invented", *(f"{name}: {value}" for name, value in headers.items()), f"Content-Length: {len(content)}"]
        self.wfile.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content)

    def serve_file(self, exchange):
        path = exchange.path.split("?")[0]
        name = "index.html" if path == "/" else path.removeprefix("/web-client/") if path.startswith("/web-client/") else None
        # The pages of operators, on the other listener.
        if path.split("/")[1] in ("explain", "items", "reports"):
            name = path[1:] if path.count("/") > 1 else f"{path[1:]}{path}.html"
        if name is None or not (Path(self.owner.files) / name).is_file():
            return False
        exchange.finished, exchange.status = True, 200
        kind = "text/javascript" if name.endswith(".mjs") else mimetypes.guess_type(name)[0]
        policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' https: http:; connect-src 'self'; base-uri 'none'"
        headers = {"Content-Type": kind, "Cache-Control": "no-cache", "Content-Security-Policy": policy}
        self.send(200, headers, (Path(self.owner.files) / name).read_bytes())
        return True

    def watch(self, exchange, upstream):
        """Closes the connection to the service if the browser disconnects before the response."""
        while not exchange.finished:
            try:
                if self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"":
                    exchange.left = True
                    if upstream.sock:
                        upstream.sock.shutdown(socket.SHUT_RDWR)
                    return
            except BlockingIOError:
                pass
            except OSError:
                return
            time.sleep(0.01)
