"""What is asked of the running container."""
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request

import dockerfile
from container import OUTSIDE

# What `docker stop` waits before it kills.
STOP_TIMEOUT = 10
SAMPLE = "/usr/local/share/intertwine/sample-feed.json"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def check(container):
    """Yields a sentence for each thing that holds; raises AssertionError at the first that does not."""
    grace = dockerfile.amount(container.stage.environment["INTERTWINE_SERVER_SHUTDOWN_TIMEOUT"])
    assert grace < STOP_TIMEOUT, f"answers may take {grace} s, but `docker stop` kills after {STOP_TIMEOUT}"
    port = container.stage.port
    sample = container.start(["serve", "--sample"])
    becomes_healthy(container, sample)
    ready = container.run(*container.stage.entrypoint, "health", "--ready")
    assert ready.returncode == 0, ready.stderr
    shown = get(OUTSIDE, port, "/feed?limit=2")["cells"]
    assert [cell["id"].split(":")[0] for cell in shown] == ["user", "ad", "user"], shown
    stops(sample, port)
    assert container.run("find", container.stage.volume, "-mindepth", "1", "-delete").returncode == 0
    yield "serves the sample with one command, and is then ready by its own health check"

    assert container.run("curl", "--version").returncode != 0, "the image has curl"
    notice = container.run("cat", "/usr/share/doc/intertwine/NOTICE").stdout
    assert "swift-log" in notice and "libvips42" in notice, "the image lacks licences"
    yield f"contains the licences of its parts, {len(notice) / 1000:.0f} kB"

    added = container.program("import", SAMPLE)
    yield "imports the sample into the volume: " + added.splitlines()[-1]

    service = container.start()
    began = time.monotonic()
    becomes_healthy(container, service)
    yield f"answers its health check after {time.monotonic() - began:.1f} s"

    status = service.status()
    assert "0" not in status["Uid"] + status["Gid"], f"uid {status['Uid']}, gid {status['Gid']}"
    assert status["NSpid"][-1] == "1", f"process ids {status['NSpid']}"
    rights = {key: int(value[0], 16) for key, value in status.items() if key.startswith("Cap")}
    assert not any(rights.values()) and status["NoNewPrivs"] == ["1"], f"capabilities {rights}"
    yield f"runs as uid {status['Uid'][0]}, gid {status['Gid'][0]}, process 1, with no capability and no way to gain one"

    writable = container.run("touch", container.stage.volume + "/probe")
    assert writable.returncode == 0, writable.stderr
    container.run("rm", container.stage.volume + "/probe")
    for folder in ("/", "/etc", "/etc/intertwine", "/usr/local/bin", "/var/lib", "/var/tmp", "/tmp", "/run"):
        done = container.run("touch", folder.rstrip("/") + "/probe")
        assert done.returncode != 0, f"{folder} can be written to"
    yield f"writes to {container.stage.volume}, and nowhere else"

    first = get(OUTSIDE, port, "/feed?limit=5")
    assert len(first["cells"]) >= 5, f"{len(first['cells'])} cells"
    assert get("127.0.0.1", port, "/feed?limit=5") == first
    yield f"answers /feed from outside with {len(first['cells'])} cells"

    second = get(OUTSIDE, port, first["page"]["next"])
    click = next(cell["actions"]["selection"]["href"] for cell in first["cells"] if cell["id"].startswith("ad:"))
    follow(OUTSIDE, port, click)
    report = container.program("report")

    stops(service, port)
    yield f"stops on {container.stage.stop_signal} within {STOP_TIMEOUT} s with code 0, one client idle and one halfway through its request"

    service = container.start()
    becomes_healthy(container, service)
    assert get(OUTSIDE, port, "/feed?limit=5")["cells"] == first["cells"], "another feed after the restart"
    assert get(OUTSIDE, port, first["page"]["next"]) == second, "another page under the cursor of before the restart"
    assert report == container.program("report"), "another report after the restart"
    stops(service, port)
    yield "keeps items, signed links and counted clicks over a restart"


def becomes_healthy(container, service):
    options = container.stage.health_options
    until = time.monotonic() + options["start-period"] + options["retries"] * options["interval"]
    while True:
        done = container.run(*container.stage.health, timeout=options["timeout"])
        if done.returncode == 0:
            return
        assert service.parent.poll() is None, f"exited with {service.parent.returncode}"
        assert time.monotonic() < until, f"unhealthy: {done.stderr}"
        time.sleep(0.1)


def get(host, port, path):
    try:
        with opener.open(f"http://{host}:{port}{path}", timeout=10) as answer:
            return json.load(answer)
    except urllib.error.URLError as error:
        raise AssertionError(f"http://{host}:{port}{path}: {error}") from None


def follow(host, port, path):
    """Asks for a link that redirects, and does not go where it leads."""
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        line = connection.makefile("rb").readline()
    assert line.startswith(b"HTTP/1.1 30"), line


def stops(service, port):
    idle, half = (socket.create_connection((OUTSIDE, port), timeout=10) for _ in range(2))
    with idle, half:
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: feed\r\n\r\n")
        assert idle.recv(4096).startswith(b"HTTP/1.1 200")
        half.sendall(b"GET /feed HTTP/1.1\r\nHost:")
        try:
            code = service.stop(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still there {STOP_TIMEOUT} s after the signal") from None
    assert code == 0, f"exited with {code}"
