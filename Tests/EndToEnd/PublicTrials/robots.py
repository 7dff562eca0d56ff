#!/usr/bin/env python3
"""The names of robots against the lists that packages ship: at least 99 % of their robots are robots here, and no browser or app stack is one.

    INTERTWINE_BINARY=.build/debug/intertwine PYTHON Tests/EndToEnd/PublicTrials/robots.py     (PYTHON has crawler-user-agents and device-detector)
"""
import importlib.resources
import json

import yaml

from trial import Sample, Trials

# Apps of people use these stacks, also those that a list calls a robot.
STACKS = ("okhttp", "cfnetwork", "dalvik")
# A browser of 1993, and a line of a log.
NO_BROWSERS = ("Mosaic", "Wget")
PEOPLE = ["desktop", "desktop-1", "smartphone", "smartphone-20", "smartphone-43", "tablet", "phablet", "tv", "console", "feature_phone", "car_browser",
          "wearable", "smart_display", "portable_media_player"]


def fixtures(name):
    text = (importlib.resources.files("device_detector") / f"tests/fixtures/upstream/{name}.yml").read_text()
    return [entry["user_agent"] for entry in yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))]


def is_sendable(text):
    return text == text.strip() and text.isprintable() and text.isascii()


lists = {
    "crawler-user-agents": [one for entry in json.loads((importlib.resources.files("crawleruseragents") / "crawler-user-agents.json").read_text())
                            for one in entry.get("instances", [])],
    "device-detector": fixtures("bots"),
}
people = [one for name in PEOPLE for one in fixtures(name) if is_sendable(one) and not any(word in one for word in NO_BROWSERS)]
# Each of the families has a part.
people = people[::max(1, len(people) // 600)]
trials = Trials()
with Sample(**{"events.report-verdict": "true", "events.click-rate": 1_000_000, "limits.writes-per-address": 1_000_000}) as sample:
    link = sample.click()

    def is_robot(name):
        return sample.ask(link, User_Agent=name)[1].getheader("X-Verdict") == "bot"

    for source, names in lists.items():
        names = [name for name in names if is_sendable(name) and not any(stack in name.lower() for stack in STACKS)]
        missed = [name for name in names if not is_robot(name)]
        share = 1 - len(missed) / len(names)
        print(f"{source}: {share:.2%} of {len(names)}")
        trials.expect(source, (len(names) > 1_000, share >= 0.99, [] if share >= 0.99 else missed), (True, True, []))
    trials.expect("browsers", ([name for name in people if is_robot(name)], len(people) >= 300), ([], True))
trials.report()
