"""One run: begins parts while the machine has capacity and the time suffices, and reports their results."""
import os
import re
import signal
import subprocess
import threading
import time

import results
from machine import slowness
from parts import CAPACITY, ROOT
from stamps import Stamps

LOGS = ROOT / ".build/test-logs"
# A part that takes so many times longer than expected on a machine of this speed hangs.
PATIENCE, LEAST = 6, 300
FINDINGS = re.compile(r"^.{1,4} (Test|Suite) .* (recorded an issue|failed)|^FAILED|^not ok|error:|✘|Fatal|Traceback")


class Run:
    def __init__(self, parts, full, uses_stamps, first, named):
        self.parts, self.full, self.uses_stamps, self.first, self.named = parts, full, uses_stamps, first, named
        self.begun = time.monotonic()
        until = os.environ.get("TEST_UNTIL")
        self.until = self.begun + float(until) - time.time() if until else None
        self.size = "full" if full else "small"
        self.stamps = Stamps(full)
        self.logs = LOGS / self.size
        self.slowness = slowness()
        self.lock = threading.RLock()  # A signal may arrive while it is held.
        # By part: a Result; the seconds and CPU seconds it took; why it did not run; what passed when run again.
        self.results, self.took, self.not_run, self.unsteady = {}, {}, {}, []
        self.failed, self.processes, self.stopped = [], {}, None

    def perform(self):
        self.logs.mkdir(parents=True, exist_ok=True)
        for file in self.logs.iterdir():
            file.unlink()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.stop("interrupted"))
        if self.slowness > 1.5:
            print(f"the machine is {self.slowness:.1f} times slower than the reference at present; limits of time follow it", flush=True)
        waiting, running = list(self.parts), {}
        while waiting or running:
            for name in [name for name, (_, thread) in running.items() if not thread.is_alive()]:
                del running[name]
            waiting = self.begin(waiting, running)
            if self.until and time.monotonic() > self.until:
                self.stop("out of time")
            time.sleep(0.1)
        return self.report()

    def stop(self, reason):
        self.stopped = self.stopped or reason
        with self.lock:
            for process in self.processes.values():
                end(process)

    def begin(self, waiting, running):
        """Starts what can start. Returns the parts that still wait."""
        rest = []
        for part in waiting:
            needed = part.after if any(other.name == part.after for other in self.parts) else None
            reason = self.stopped or self.reason_against(part, needed)
            free = CAPACITY - sum(other.load for other, _ in running.values())
            if reason:
                self.not_run[part.name] = reason
            elif needed in running or any(needed == other.name for other in waiting) or part.load > free:
                rest.append(part)
            else:
                thread = threading.Thread(target=self.perform_part, args=(part,))
                running[part.name] = part, thread
                thread.start()
            if rest and rest[-1].load == CAPACITY and not rest[-1].after in running:
                # What runs alone is not overtaken, or it would wait for the end.
                return rest + waiting[waiting.index(rest[-1]) + 1:]
        return rest

    def reason_against(self, part, needed):
        if needed in self.not_run and self.not_run[needed] != "unchanged" or needed in self.failed:
            return f"needs {needed}"
        expected = part.seconds(self.full) or part.full or part.small
        if self.until and time.monotonic() + expected * self.slowness > self.until:
            return "out of time"
        if self.named or not self.uses_stamps and part.seconds(self.full):
            return None
        if part.seconds(self.full) is None:
            return None if self.uses_stamps and part.small is None and self.stamps.is_edited(part) else "only in full size, and not edited"
        return "unchanged" if self.stamps.is_unchanged(part) else None

    def perform_part(self, part):
        begun = time.monotonic()
        code = self.execute(part, part.name, part.command)
        if code and not self.stopped:
            code = self.again(part)
        result = self.results[part.name]
        seconds = time.monotonic() - begun
        cut = self.stopped and code and not (part.suites and result.ended and result.failed)
        with self.lock:
            self.took[part.name] = seconds, self.took.get(part.name, (0, 0))[1]
            if cut:
                self.not_run[part.name] = f"{self.stopped} after {seconds:.0f} s"
                del self.results[part.name]
            elif code:
                self.failed.append(part.name)
                result.failed = result.failed or [part.name]
                self.stamps.failed(part)
                self.show(part.name)
                print(f"{part.name} failed after {seconds:.0f} s", flush=True)
            else:
                result.failed = []
                if not self.named:
                    self.stamps.passed(part)
                print(f"{part.name}: {seconds:.0f} s", flush=True)
        if code and self.first and not cut:
            self.stop("stopped at the first failure")

    def again(self, part):
        """Tests with real sockets and processes may fail on a slow machine. If a few fail, they run once more, and what passes then is recorded."""
        name, result = f"{part.name}-again", self.results[part.name]
        tests = list(result.failed) if part.suites else [part.name]
        pattern = results.pattern(tests) if result.ended else None
        if self.first or part.suites and not pattern or not part.suites and not part.again:
            return 1
        arguments = [*part.command[:3], "--no-parallel", "--filter", pattern] if part.suites else part.command
        if self.execute(part, name, arguments):
            return 1
        repeated = self.results.pop(name)
        with self.lock:
            self.unsteady += [(part.name, test) for test in tests]
            result.passed += repeated.passed if part.suites else 0
        return 0

    def execute(self, part, name, command):
        """Runs a command with the part's limit of time. Sets its result, and returns 0 if it passed."""
        log, events, noted = self.logs / f"{name}.log", self.logs / f"{name}.events", self.logs / f"{name}.unsteady"
        environment = {name: value for name, value in {**os.environ, **part.environment, "UNSTEADY": str(noted)}.items() if value is not None}
        options = ["--event-stream-output-path", str(events), "--event-stream-version", "0"] if part.suites else []
        begun, hangs = time.monotonic(), False
        with log.open("wb") as output:
            try:
                with self.lock:
                    process = subprocess.Popen([*command, *options], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
                    self.processes[name] = process
                    if self.stopped:
                        end(process)
            except OSError as error:
                output.write(f"error: {error}\n".encode())
                self.results[name] = results.Result(failed=[name])
                return 1
            limit = max(LEAST, (part.seconds(self.full) or part.full or part.small) * PATIENCE)
            while True:
                identifier, status, usage = os.wait4(process.pid, os.WNOHANG)
                if identifier:
                    break
                time.sleep(0.05)
                if not hangs and time.monotonic() - begun > limit * self.slowness:
                    # The machine may be slower than at the start.
                    self.slowness = max(self.slowness, slowness())
                    if hangs := time.monotonic() - begun > limit * self.slowness:
                        end(process)
            code = process.returncode = os.waitstatus_to_exitcode(status)
            with self.lock:
                del self.processes[name]
            # What the part has left behind.
            kill(process, signal.SIGKILL)
            if hangs:
                output.write(f"\nerror: no end after {time.monotonic() - begun:.0f} s\n".encode())
        result = results.of_events(events) if part.suites else results.of_log(log.read_text(errors="replace"))
        if part.suites and not code and not result.passed:
            code = 1
            with log.open("a") as output:
                output.write(f"error: no test has passed of {command}\n")
        with self.lock:
            self.results[name] = result
            _, computed = self.took.get(part.name, (0, 0))
            self.took[part.name] = 0, computed + usage.ru_utime + usage.ru_stime
            if noted.exists():
                # The part's own retries: date, part and test.
                self.unsteady += [(part.name, line.split("\t")[2]) for line in noted.read_text().splitlines() if line.count("\t") == 2]
        return code

    def show(self, name):
        """The findings and the end of the logs, so that the output suffices."""
        for log in (self.logs / f"{name}.log", self.logs / f"{name}-again.log"):
            if log.exists():
                lines = log.read_text(errors="replace").splitlines()
                earlier = [line for line in lines[:-40] if FINDINGS.search(line)]
                print(f"--- the findings and the end of {log.relative_to(ROOT)}", *earlier[-20:], *lines[-40:], sep="\n", flush=True)

    def report(self):
        print()
        for reason in dict.fromkeys(self.not_run.values()):
            print(f"did not run, {reason}: {', '.join(name for name, why in self.not_run.items() if why == reason)}")
        print(f"Seconds and CPU seconds each part took, {time.monotonic() - self.begun:.0f} s in all:")
        for name, (seconds, computed) in sorted(self.took.items(), key=lambda each: -each[1][0]):
            print(f"{seconds:7.0f} {computed:7.0f}  {name}")
        print(f"{'':7} {sum(computed for _, computed in self.took.values()):7.0f}  in all")
        values = self.results.values()
        red = self.skips()
        if self.unsteady:
            found = list(dict.fromkeys(self.unsteady))
            repeated = results.record_unsteady(found)
            for pair in found:
                print(f"unsteady, passed when run again: {' '.join(pair)}{', not for the first time in 30 days' if pair in repeated else ''}")
            print("Tests/unsteady.tsv has them now: commit it, and mend what it lists")
            red |= bool(repeated)
        for name in self.failed:
            print(f"failed: {name}: {', '.join(self.results[name].failed)}")
        passed, failed, skipped = (sum(counts) for counts in zip(*((each.passed, len(each.failed), len(each.skipped)) for each in values))) if values else (0, 0, 0)
        print(f"{passed} passed, {failed} failed, {skipped} skipped, {self.size} size")
        # Without a build, nothing was tested.
        red |= self.not_run.get("build", "unchanged") != "unchanged" or not passed and "unchanged" not in self.not_run.values()
        return 1 if self.failed or red or self.stopped == "interrupted" else 0

    def skips(self):
        """Prints the skipped tests by their reason. Returns whether their number is not the expected one where it counts."""
        expected, red = results.expected_skips(self.size), False
        for part, result in self.results.items():
            reasons = {}
            for test, why in result.skipped.items():
                reasons.setdefault(why, []).append(test)
            for why, tests in reasons.items():
                print(f"{part}: skipped {len(tests)}, {why}: {', '.join(sorted(tests))}")
            if len(result.skipped) != expected.get(part, 0) and not self.named:
                red = os.environ.get("CI") == "true"
                print(f"{'error: ' if red else ''}{part} skipped {len(result.skipped)} tests; "
                      f"Tests/skipped.tsv expects {expected.get(part, 0)} in {self.size} size")
        return red


def end(process):
    """Ends a part and all that it started, at once if it does not end by itself."""
    kill(process, signal.SIGTERM)
    timer = threading.Timer(10, kill, (process, signal.SIGKILL))
    timer.daemon = True
    timer.start()


def kill(process, number):
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass
