"""A picture origin under the tests' control: it draws what it is asked for, at the pace it is told, and counts who left early."""
import struct
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Origin:
    def __init__(self):
        self.delay = 0
        self.begun = 0
        self.cut = 0
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                origin.begun += 1
                picture = drawn(self.path)
                try:
                    self.wfile.write(
                        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n" % len(picture))
                    # Byte by byte, so that a reader who leaves is noticed.
                    until = time.monotonic() + origin.delay
                    sent = 0
                    while time.monotonic() < until and sent < len(picture) - 1:
                        self.wfile.write(picture[sent : sent + 1])
                        sent += 1
                        time.sleep(0.02)
                    self.wfile.write(picture[sent:])
                except OSError:
                    origin.cut += 1
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                """Whoever leaves is counted above."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()


def drawn(path):
    """A PNG in two tones that belong to the path."""
    side = 96
    seed = zlib.crc32(path.encode())
    tones = [bytes(120 + (seed >> shift + dark) % 90 for shift in (0, 8, 16)) for dark in (0, 3)]
    rows = b"".join(b"\0" + b"".join(tones[(x - 48) ** 2 + (y - 52) ** 2 < 900] for x in range(side)) for y in range(side))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
