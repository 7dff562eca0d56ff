"""The measured servers. Each starts on a free loopback port and is terminated by its process id."""
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import clients

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "Benchmarks/.build/release"
INTERTWINE = ROOT / ".build/release/intertwine"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def slowed(folder, milliseconds):
    """Returns an environment with a delay of each log sync."""
    if not milliseconds:
        return {}
    library = folder / "slow_sync.so"
    if not library.exists():
        source = ROOT / "Benchmarks/driver/slow_sync.c"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "SYNC_DELAY_US": str(round(milliseconds * 1e3))}


def seconds(process):
    """Returns the CPU time of a process in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, name, command, port, environment=None, host="127.0.0.1"):
        self.name, self.port, self.host = name, port, host
        self.process = subprocess.Popen(
            [str(word) for word in command], env={**os.environ, **(environment or {})},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._wait()

    def _wait(self):
        for _ in range(10_000):
            if self.process.poll() is not None:
                raise SystemExit(f"{self.name} ended at once with status {self.process.returncode}")
            try:
                socket.create_connection((self.host, self.port), 0.2).close()
                return
            except OSError:
                time.sleep(0.002)
        raise SystemExit(f"{self.name} does not listen on port {self.port}")

    def url(self, path):
        return f"http://{self.host}:{self.port}{path}"

    def get(self, path, headers=None):
        request = urllib.request.Request(self.url(path), headers=dict(clients.merged(clients.chosen(), headers or {})))
        with urllib.request.urlopen(request, timeout=10) as answer:
            # If the caller names a coding, the coded bytes are returned.
            return answer.read() if "Accept-Encoding" in (headers or {}) else clients.content(answer)

    def processes(self):
        """Returns the server's process and its children, because nginx responds from its workers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def resident(self):
        """Returns the resident bytes of all processes."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.processes())
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def intertwine(folder, settings=(), environment=None, binary=None):
    port, admin = free_port(), free_port()
    flags = [word for setting in (clients.SETTING, *settings) for word in ("--set", setting)]
    server = Server(
        "intertwine",
        [binary or INTERTWINE, "serve", "--host", "127.0.0.1", "--port", port, "--admin-port", admin, "--database", folder / "intertwine.sqlite", *flags],
        port, environment)
    server.admin = admin
    # The service binds its addresses first; requests wait until it is ready.
    server.get("/readyz")
    return server


def hummingbird(page=None, database=None):
    port = free_port()
    environment = {"PORT": str(port)}
    if page:
        environment["PAGE"] = str(page)
    if database:
        environment["DATABASE"] = str(database)
    return Server("Hummingbird", [PEERS / "HummingbirdPeer"], port, environment)


def flyingfox(page):
    port = free_port()
    return Server("FlyingFox", [PEERS / "FlyingFoxPeer"], port, {"PORT": str(port), "PAGE": str(page)})


NGINX = """
{user}
worker_processes 2;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log crit;
events {{ worker_connections 16384; multi_accept on; }}
worker_rlimit_nofile 40000;
http {{
    access_log off;
    server_tokens off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000;
    keepalive_timeout 120s;
    open_file_cache max=100;
    gzip_static on;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    proxy_cache_path {folder}/cache keys_zone=images:10m;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096 reuseport;
        root {folder}/www;
        location /feed {{
            default_type application/json;
            add_header Cache-Control no-cache;
            add_header Vary Accept-Encoding;
        }}
        {locations}
    }}
}}
"""


def nginx(folder, locations=""):
    port = free_port()
    configuration = folder / "nginx.conf"
    # Workers of a root process would otherwise run as a user who cannot read the temporary folder.
    user = "user root;" if os.geteuid() == 0 else ""
    configuration.write_text(NGINX.format(folder=folder, port=port, locations=locations, user=user))
    (folder / "www").mkdir(exist_ok=True)
    return Server("nginx", ["/usr/sbin/nginx", "-p", folder, "-c", configuration], port)
