"""One origin for each case, by its address: the first response of the case, then the second. Bodies are images that tell which response they are."""
import http.server
import re
import struct
import threading
import zlib


class Exchange:
    def __init__(self, case):
        self.case = case
        # The fields of each request, by lower-case names.
        self.asked = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        exchange = self.server.exchanges[int(self.path.split("/")[1])]
        exchange.asked.append({name.lower(): value for name, value in self.headers.items()})
        number = len(exchange.asked)
        status, fields = (200, exchange.case.fields) if number == 1 else exchange.case.then
        if status is None:
            # The connection ends without a response.
            self.close_connection = True
            return
        body = image(number) if status == 200 else b""
        text = f"HTTP/1.1 {status} Status\r\nContent-Type: image/png\r\nConnection: close\r\n"
        text += "" if status == 304 else f"Content-Length: {len(body)}\r\n"
        self.close_connection = True
        self.wfile.write(text.encode() + "".join(f"{field}\r\n" for field in fields).encode() + b"\r\n" + body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


class Origin:
    def __init__(self, cases):
        self.exchanges = [Exchange(case) for case in cases]
        server = Server(("0.0.0.0", 0), Handler)
        server.exchanges = self.exchanges
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def url(self, number):
        # An address each, because failures of a host count for all its images.
        return f"http://127.1.{number // 250}.{number % 250 + 1}:{self.port}/{number}/a.png"


def image(number):
    """A PNG of one pixel, with a comment."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"tEXt", b"Comment\0response %d." % number) + chunk(b"IDAT", zlib.compress(bytes(4))) + chunk(b"IEND", b"")


def shown(body):
    found = re.search(rb"response (\d+)\.", body)
    return int(found[1]) if found else None
