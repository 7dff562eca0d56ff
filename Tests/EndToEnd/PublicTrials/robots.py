#!/usr/bin/env python3
"""The names of robots against the lists that packages ship: at least 99 % of their robots are robots here, and no browser or app stack is one.

    INTERTWINE_BINARY=.build/debug/intertwine PYTHON Tests/EndToEnd/PublicTrials/robots.py     (PYTHON has crawler-user-agents and device-detector)
"""
import http.client
import importlib.resources
import json

import yaml

from trial import Sample, Trials

# Apps of people use these stacks, also those that a list calls a robot.
STACKS = ("okhttp", "cfnetwork", "dalvik")
# Browsers of the 1990s with the library that crawlers took later, and a line of a log.
NO_BROWSERS = ("Mosaic", "Wget", "amaya/")


def fixtures(name="*"):
    folder = importlib.resources.files("device_detector") / "tests"
    for path in sorted(folder.rglob(f"{name}.yml")):
        entries = yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        yield from (entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("user_agent"), str)) if isinstance(entries, list) else ()


def is_sendable(text):
    return text != "" and text == text.strip() and text.isprintable() and text.isascii()


lists = {
    "crawler-user-agents": [one for entry in json.loads((importlib.resources.files("crawleruseragents") / "crawler-user-agents.json").read_text())
                            for one in entry.get("instances", [])],
    "device-detector": [entry["user_agent"] for entry in fixtures("bots")],
}
browsers = {entry["user_agent"] for entry in fixtures()
            if not entry.get("bot") and isinstance(entry.get("client"), dict) and entry["client"].get("type") == "browser"}
people = sorted(one for one in browsers if is_sendable(one) and not any(word in one for word in NO_BROWSERS))
trials = Trials()
with Sample(**{"events.report-verdict": "true", "events.click-rate": 1_000_000, "limits.writes-per-address": 1_000_000}) as sample:
    link, connection = sample.click(), http.client.HTTPConnection("127.0.0.1", sample.port, timeout=30)

    def is_robot(name):
        connection.request("GET", link, headers={"User-Agent": name})
        answer = connection.getresponse()
        answer.read()
        return answer.getheader("X-Verdict") == "bot"

    for source, names in lists.items():
        names = [name for name in names if is_sendable(name) and not any(stack in name.lower() for stack in STACKS)]
        missed = [name for name in names if not is_robot(name)]
        share = 1 - len(missed) / len(names)
        print(f"{source}: {share:.2%} of {len(names)}")
        trials.expect(source, (len(names) > 1_000, share >= 0.99, [] if share >= 0.99 else missed), (True, True, []))
    trials.expect("browsers", ([name for name in people if is_robot(name)], len(people) > 30_000), ([], True))
trials.report()
