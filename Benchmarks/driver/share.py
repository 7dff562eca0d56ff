"""Limits and measures the CPU time of processes."""
import time
from pathlib import Path

import servers


class Share:
    """Processes with a maximum share of a core each."""

    def __init__(self, cores):
        self.cores = cores
        self.folders = []
        self.isOld = Path("/sys/fs/cgroup/cpu/cpu.shares").exists()

    def limit(self, process):
        folder = Path("/sys/fs/cgroup/cpu" if self.isOld else "/sys/fs/cgroup") / f"intertwine-{process}"
        folder.mkdir()
        self.folders.append(folder)
        period = 20_000
        if self.isOld:
            (folder / "cpu.cfs_period_us").write_text(str(period))
            (folder / "cpu.cfs_quota_us").write_text(str(int(period * self.cores)))
        else:
            (folder / "cpu.max").write_text(f"{int(period * self.cores)} {period}")
        (folder / "cgroup.procs").write_text(str(process))

    def end(self):
        for folder in self.folders:
            for _ in range(100):
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)


class Spent:
    """Returns the CPU time of each operation in microseconds, by part."""

    def __init__(self, one, server=None):
        self.one, self.server, self.count, self.used = one, server, 0, {}

    def measure(self, work, seconds):
        before = self._now()
        rate = work()
        self.count += rate * seconds
        for key, value in self._now().items():
            self.used[key[1]] = self.used.get(key[1], 0) + value - before.get(key, 0)
        return rate

    def _now(self):
        return {(0, "service"): servers.seconds(self.one.process.pid), **(self.server.processor() if self.server else {})}

    def __str__(self):
        parts = {name: 1e6 * used / max(1, self.count) for name, used in self.used.items()}
        return ", ".join(f"{name} {part:.1f}" for name, part in sorted(parts.items(), key=lambda each: -each[1]) if part >= 0.1)
