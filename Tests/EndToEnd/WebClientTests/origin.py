"""An image origin for the tests: the images of the sample, with a configurable delay. It counts readers that leave early."""
import io
import socket
import threading
import time
import wave
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

IMAGES = Path(__file__).parents[3] / "Sources/IntertwineSample/files/images"


def jingle():
    """Returns a second of silence."""
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setparams((1, 1, 8000, 8000, "NONE", ""))
        file.writeframes(bytes([128]) * 8000)
    return sound.getvalue()


class Origin:
    def __init__(self):
        # The delay of a response in seconds, the number of requests without an end, and the number of readers that left early.
        self.delay = 0
        self.readers = 0
        self.cut = 0
        # True if a response begins immediately and continues in small chunks.
        self.drips = False
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                origin.readers += 1
                try:
                    self.respond()
                finally:
                    origin.readers -= 1

            def leave(self):
                origin.cut += 1
                self.close_connection = True

            def respond(self):
                until = time.monotonic() + origin.delay
                while time.monotonic() < until:
                    if self.has_left():
                        return self.leave()
                    time.sleep(0.01)
                name = Path(urlsplit(self.path).path).name
                if name.endswith(".wav"):
                    sound = jingle()
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: %d\r\n\r\n" % len(sound) + sound)
                    return
                image = (IMAGES / name).read_bytes()
                head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n"
                sent = 600 if origin.drips else len(image)
                self.wfile.write(head % len(image) + image[:sent])
                while sent < len(image):
                    time.sleep(0.1)
                    if self.has_left():
                        return self.leave()
                    end = sent + 40 if origin.drips else len(image)
                    self.wfile.write(image[sent:end])
                    sent = end

            def has_left(self):
                try:
                    return self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
                except BlockingIOError:
                    return False
                except OSError:
                    return True

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                """Early disconnections are counted above."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
