"""Runs the image as a hardened container would: read-only root, one writable volume, no capability, its own network and process ids."""
import os
import signal
import subprocess

from image import PATH

# Stands for an interface beyond loopback, to which ports are published (TEST-NET-1, RFC 5737).
OUTSIDE = "192.0.2.1"


class Container:
    """Has to be made as root in mount, network and process namespaces of its own: with them goes whatever is left over."""

    def __init__(self, stage, root, folder):
        self.stage, self.root = stage, os.path.join(folder, "view")
        self.log = os.path.join(folder, "service.log")
        open(self.log, "w", encoding="utf-8").close()
        data = os.path.join(folder, "data")
        for path in (self.root, data):
            os.makedirs(path, exist_ok=True)
        subprocess.run(["rm", "-rf", "--one-file-system", data], check=True)
        # A named volume begins as a copy of what the image has there, owner and mode included.
        subprocess.run(["cp", "--archive", root + stage.volume, data], check=True)
        run("mount", "--bind", root, self.root)
        run("mount", "-o", "remount,bind,ro", self.root)
        run("mount", "--bind", data, self.root + stage.volume)
        run("mount", "-t", "proc", "proc", self.root + "/proc")
        run("ip", "link", "set", "lo", "up")
        run("ip", "address", "add", OUTSIDE + "/32", "dev", "lo")

        with open(root + "/etc/passwd", encoding="utf-8") as file:
            users = {fields[0]: fields for fields in (line.strip().split(":") for line in file)}
        _, _, self.uid, self.gid, _, home, _ = users[stage.user]
        self.environment = {"PATH": PATH, "HOME": home, **stage.environment}

    def inside(self, *words):
        """The command line that runs words as the image's user, without a capability and without a way to gain one."""
        confine = ["setpriv", "--reuid", self.uid, "--regid", self.gid, "--clear-groups", "--no-new-privs"]
        return ["chroot", self.root, *confine, "--bounding-set=-all", "--inh-caps=-all", "--", *words]

    def run(self, *words, timeout=60):
        return subprocess.run(self.inside(*words), env=self.environment, capture_output=True, text=True, timeout=timeout, check=False)

    def program(self, *arguments):
        done = self.run(*self.stage.entrypoint, *arguments)
        assert done.returncode == 0, f"{arguments}: {done.returncode}: {done.stderr}"
        return done.stdout

    def start(self, command=None):
        """The image's own command, or another one."""
        return Process(self, command or self.stage.command)


class Process:
    """The service as process 1, whose unhandled signals the kernel drops."""

    def __init__(self, container, command):
        with open(container.log, "ab") as log:
            self.parent = subprocess.Popen(
                ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc=" + container.root + "/proc",
                 *container.inside(*container.stage.entrypoint, *command)],
                env=container.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.signal = signal.Signals[container.stage.stop_signal]

    @property
    def pid(self):
        with open(f"/proc/{self.parent.pid}/task/{self.parent.pid}/children", encoding="ascii") as file:
            return int(file.read())

    def status(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return {key: value.split() for key, _, value in (line.partition(":") for line in file)}

    def stop(self, grace):
        """Exit code; raises where the service is still there after grace seconds, as it would then be killed."""
        os.kill(self.pid, self.signal)
        return self.parent.wait(timeout=grace)


def run(*words):
    subprocess.run(words, check=True)
