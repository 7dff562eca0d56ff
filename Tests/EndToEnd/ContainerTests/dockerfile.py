"""The Dockerfile as stages of steps, each with the words Docker would run."""
import json
import re
import shlex
from dataclasses import dataclass, field

DURATION = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


@dataclass
class Stage:
    base: str
    name: str
    steps: list = field(default_factory=list)  # ("RUN", command) and ("COPY", {"from", "sources", "target"}), in order
    environment: dict = field(default_factory=dict)
    user: str = "root"
    volume: str = ""
    port: int = 0
    stop_signal: str = "SIGTERM"
    health: list = field(default_factory=list)
    health_options: dict = field(default_factory=dict)  # seconds, or a number
    entrypoint: list = field(default_factory=list)
    command: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)

    def packages(self):
        """What the stage's apt-get installs."""
        commands = " ".join(argument for name, argument in self.steps if name == "RUN")
        found = re.findall(r"apt-get install ([^&;|]*)", commands)
        return [word for words in found for word in words.split() if not word.startswith("-")]


def read(path):
    with open(path, encoding="utf-8") as file:
        text = "".join(line for line in file if not line.lstrip().startswith("#"))
    stages = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if line.strip():
            name, _, argument = line.strip().partition(" ")
            take(name.upper(), argument.strip(), stages)
    return stages


def take(name, argument, stages):
    if name == "FROM":
        base, _, alias = re.sub(r"(?i)\s+as\s+", " ", argument).partition(" ")
        stages.append(Stage(base, alias))
        return
    stage = stages[-1]
    if name == "RUN":
        stage.steps.append((name, argument))
    elif name == "COPY":
        words = argument.split()
        options = dict(word[2:].split("=", 1) for word in words if word.startswith("--"))
        *sources, target = [word for word in words if not word.startswith("--")]
        assert options.keys() <= {"from"}, f"COPY with {options}"
        stage.steps.append((name, {"from": options.get("from"), "sources": sources, "target": target}))
    elif name == "ENV":
        stage.environment.update(word.split("=", 1) for word in shlex.split(argument))
    elif name == "LABEL":
        stage.labels.update(word.split("=", 1) for word in shlex.split(argument))
    elif name == "ARG":
        pass  # A label's value alone hangs on one.
    elif name == "HEALTHCHECK":
        options, _, command = argument.partition("CMD")
        stage.health = words_of(command.strip())
        stage.health_options = {key: amount(value) for key, value in re.findall(r"--([a-z-]+)=(\S+)", options)}
    elif name in ("ENTRYPOINT", "CMD"):
        setattr(stage, {"ENTRYPOINT": "entrypoint", "CMD": "command"}[name], words_of(argument))
    elif name == "EXPOSE":
        stage.port = int(argument)
    elif name in ("USER", "VOLUME", "STOPSIGNAL"):
        setattr(stage, {"USER": "user", "VOLUME": "volume", "STOPSIGNAL": "stop_signal"}[name], argument)
    elif name != "WORKDIR":
        raise AssertionError(f"the check does not know how to perform {name}")


def words_of(argument):
    return json.loads(argument) if argument.startswith("[") else ["/bin/sh", "-c", argument]


def amount(text):
    number, unit = re.fullmatch(r"(\d+)([a-z]*)", text).groups()
    return int(number) * DURATION.get(unit, 1)
