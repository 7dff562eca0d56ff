"""What a part has shown: tests that passed, failed or were skipped, from the event stream of Swift Testing or from the lines of a script."""
import datetime
import json
import re
import subprocess
from dataclasses import dataclass, field

from parts import ROOT

UNSTEADY = ROOT / "Tests/unsteady.tsv"
SKIPPED = ROOT / "Tests/skipped.tsv"
DAYS = 30
# More failures are not the machine's.
FEW = 5


@dataclass
class Result:
    passed: int = 0
    failed: list = field(default_factory=list)
    # The reason of each skipped test, by its name.
    skipped: dict = field(default_factory=dict)
    ended: bool = True


def of_events(path):
    """The result of suites, from their event stream. A test's id is Module.Suite/function()/File.swift:line:column."""
    functions, begun, done, failed, skipped, ended = set(), {}, set(), {}, {}, False
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return Result(ended=False)
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            # The last line of a process that was killed.
            continue
        payload, test = record["payload"], name(record["payload"].get("testID") or record["payload"].get("id") or "")
        if record["kind"] == "test" and payload.get("kind") == "function":
            functions.add(test)
        if record["kind"] != "event":
            continue
        match payload["kind"]:
            case "runEnded": ended = True
            case "testStarted": begun[test] = True
            case "testEnded": done.add(test)
            case "testSkipped": skipped[test] = reason(payload)
            case "issueRecorded":
                issue = payload.get("issue", {})
                if not issue.get("isKnown") and issue.get("severity", "error") == "error":
                    failed[test] = True
    if not ended:
        # A crash: what had begun.
        failed |= {test: True for test in begun if test in functions and test not in done}
    return Result(len((functions & done) - failed.keys() - skipped.keys()), list(failed),
                  {test: why for test, why in skipped.items() if test in functions}, ended)


def name(identifier):
    return re.sub(r"/[^/]+\.swift:\d+:\d+$", "", identifier)


def reason(payload):
    return " ".join(payload.get("_comments", [])) or "no reason"


def of_log(text):
    """The result of a script. It says `passed NAME` and `FAILED NAME` of tests, and `skipped NAME: REASON`; without such lines it is one test."""
    passed = set(re.findall(r"^passed +(\S+)", text, re.M)) or [None] * sum(map(int, re.findall(r"^# pass (\d+)$", text, re.M)))
    failed = set(re.findall(r"^FAILED +(\w+)", text, re.M))
    skipped = dict(re.findall(r"^skipped +([^:\n]+): (.*)$", text, re.M))
    skipped |= {test: why or "no reason" for test, why in re.findall(r"^ *(?:ok \d+ - |﹣ )(.*?)(?: \([\d.]+ms\))? # SKIP ?(.*)$", text, re.M)}
    return Result(len(passed) or 1, sorted(failed), skipped)


def pattern(tests):
    """A filter for tests that failed; none if they are too many, or one is unknown."""
    if not 0 < len(tests) <= FEW or not all(tests):
        return None
    return "|".join("^" + re.escape(test) + "(/|$)" for test in tests)


def listed(text):
    """The rows of a table."""
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def record_unsteady(found):
    """Appends (part, test) pairs that passed only when run again. Returns those that the last commit has within 30 days. Both sizes of a CI run count once."""
    today = datetime.date.today()
    committed = subprocess.run(["git", "show", f"HEAD:{UNSTEADY.relative_to(ROOT)}"], cwd=ROOT, capture_output=True, text=True).stdout
    recent = {(part, test) for date, part, test in listed(committed) if today - datetime.date.fromisoformat(date) < datetime.timedelta(DAYS)}
    with UNSTEADY.open("a") as file:
        for part, test in found:
            file.write(f"{today}\t{part}\t{test}\n")
    return [pair for pair in found if pair in recent]


def expected_skips(size):
    """The number of skipped tests of each part that is not 0."""
    return {part: int(number) for of, part, number in listed(SKIPPED.read_text()) if of == size}
