"""Runs wrk in alternating rounds, so that a disturbance affects all servers, and parses its output."""
import re
import statistics
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import clients

UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


@dataclass
class Measured:
    name: str
    rates: list = field(default_factory=list)
    p50: list = field(default_factory=list)
    p99: list = field(default_factory=list)
    errors: int = 0

    @property
    def rate(self):
        return statistics.median(self.rates)

    def percentile(self, which):
        return statistics.median(getattr(self, which))


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * UNITS[unit]


def once(url, connections, seconds, headers=(), script=None, arguments=()):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency"]
    isClick = script is not None and Path(script).name == "clicks.lua"
    for header in (*clients.chosen(isClick), *headers):
        command += ["-H", header]
    if script:
        command += ["-s", str(script)]
    command += [url, *map(str, arguments)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
    p50 = milliseconds(re.search(r"^\s+50%\s+(\S+)", text, re.MULTILINE).group(1))
    p99 = milliseconds(re.search(r"^\s+99%\s+(\S+)", text, re.MULTILINE).group(1))
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    errors = (int(bad.group(1)) if bad else 0) + (sum(map(int, sockets.groups())) if sockets else 0)
    if bad:
        raise SystemExit(f"{url} answers with errors:\n{text}")
    return rate, p50, p99, errors


def alternate(targets, rounds, seconds, **options):
    """targets: list of (name, url, arguments of the script)."""
    results = [Measured(name) for name, *_ in targets]
    for name, url, arguments in targets:
        once(url, seconds=1, arguments=arguments, **options)
    for number in range(rounds):
        order = list(range(len(targets)))
        if number % 2:
            order.reverse()
        for index in order:
            _, url, arguments = targets[index]
            rate, p50, p99, errors = once(url, seconds=seconds, arguments=arguments, **options)
            results[index].rates.append(rate)
            results[index].p50.append(p50)
            results[index].p99.append(p99)
            results[index].errors += errors
    return results
