"""Many idle keep-alive connections, each after one response."""
import resource
import socket
import statistics
import time

import clients


def ask(connection, request):
    connection.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)


def measure(server, path, count):
    """Returns resident bytes of each of `count` idle connections, and the median milliseconds of a new request."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 1000), hard))
    request = "\r\n".join((f"GET {path} HTTP/1.1", "Host: a", *clients.chosen(), "", "")).encode()

    def connect(number):
        # Several source addresses: a pair of addresses has 28,000 ports.
        return socket.create_connection(("127.0.0.1", server.port), 10, source_address=(f"127.0.{1 + number // 20000}.1", 0))

    for number in range(200):
        with connect(number) as connection:
            ask(connection, request)
    time.sleep(1)
    before = server.resident()
    connections = []
    for number in range(count):
        connections.append(connect(number))
        ask(connections[-1], request)
    time.sleep(2)
    after = server.resident()
    times = []
    for number in range(100):
        start = time.perf_counter()
        with connect(number) as connection:
            ask(connection, request)
        times.append((time.perf_counter() - start) * 1000)
    for connection in connections:
        connection.close()
    return (after - before) / count, statistics.median(times)
