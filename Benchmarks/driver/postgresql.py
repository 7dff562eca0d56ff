"""A temporary PostgreSQL server."""
import glob
import os
import re
import subprocess
from pathlib import Path

import servers

PROGRAMS = Path(sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1])


class PostgreSQL:
    """A temporary cluster with a socket in its folder. It does not run as root, which PostgreSQL refuses."""

    def __init__(self, folder, environment=None):
        """The environment applies to the server's processes only."""
        self.folder = folder
        self.environment = {**os.environ, **(environment or {})}
        self.address = ""
        self.owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        folder.mkdir()
        if self.owner:
            subprocess.run(["chown", "postgres", folder], check=True)
        self._run("initdb", "-D", folder / "data", "-U", "intertwine", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        self.start()
        self.sql("CREATE DATABASE feed", "postgres")

    def uri(self, database="feed"):
        return f"postgresql://intertwine@{str(self.folder).replace('/', '%2F')}/{database}"

    def start(self):
        options = f"-c unix_socket_directories={self.folder} -c listen_addresses='{self.address}' -c shared_buffers=256MB"
        self._run("pg_ctl", "-w", "-D", self.folder / "data", "-l", self.folder / "log", "-o", options, "start")

    def listen(self, address, client):
        """Listens on an IP address, too."""
        with open(self.folder / "data/pg_hba.conf", "a") as rules:
            rules.write(f"host all all {client}/32 trust\n")
        self.stop()
        self.address = address
        self.start()

    def stop(self, mode="fast"):
        self._run("pg_ctl", "-D", self.folder / "data", "-m", mode, "stop")

    def processor(self):
        """Returns the CPU time of each process in seconds, by id and name."""
        first = (self.folder / "data/postmaster.pid").read_text().split()[0]
        used = {}
        for number in Path(f"/proc/{first}/task/{first}/children").read_text().split():
            try:
                title = Path(f"/proc/{number}/cmdline").read_text().split("\0")[0].split()
                # `postgres: walwriter`, or the user, database and address of a session.
                used[number, "sessions" if len(title) > 3 and "worker" not in title else " ".join(title[1:3])] = servers.seconds(number)
            except OSError:
                continue
        return used

    def _run(self, program, *words):
        command = [*self.owner, PROGRAMS / program, *words]
        subprocess.run(
            list(map(str, command)), check=True, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def sql(self, text, database="feed"):
        command = [PROGRAMS / "psql", "-X", "-q", "-A", "-t", "-h", self.folder, "-U", "intertwine", "-d", database, "-c", text]
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.strip()

    def bench(self, script, connections, seconds):
        """Returns transactions a second."""
        command = [
            "pgbench", "-n", "-M", "prepared", "-h", self.folder, "-U", "intertwine", "-c", connections, "-j", min(2, connections),
            "-T", seconds, "-f", script, "feed",
        ]
        # The settings of sessions that read pages.
        environment = {**os.environ, "PGOPTIONS": r"-c default_transaction_isolation=repeatable\ read -c plan_cache_mode=force_generic_plan"}
        text = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=environment).stdout
        return float(re.search(r"^tps = ([\d.]+)", text, re.MULTILINE).group(1))
