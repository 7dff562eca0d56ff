"""Performs the Dockerfile's steps: those of the build in a folder, those of the image in a debootstrap root."""
import glob
import os
import re
import shutil
import subprocess


class Image:
    """Folders below `.build/container`: `source` and `out` of the build, `base` (debootstrap's, kept), `root` (the image)."""

    def __init__(self, tree, build, final):
        self.tree, self.build, self.final = tree, build, final
        self.folder = os.path.join(tree, ".build/container")
        self.source, self.out, self.base, self.root = (os.path.join(self.folder, name) for name in ("source", "out", "base", "root"))

    @property
    def programs(self):
        """The folder of the programs that the build stage leaves."""
        return self.out + "/usr/local/bin"

    def size(self):
        """The bytes of all files of the image."""
        return bytes_in(self.root)

    def added(self):
        """The bytes of the image beyond those of its base."""
        return bytes_in(self.root) - bytes_in(self.base)

    def compile(self):
        """The build stage. Its scratch folder stays, so that the next time is quick."""
        subprocess.run([os.path.join(self.tree, "Tools/install"), *self.build.packages()], check=True)
        shutil.rmtree(self.out, ignore_errors=True)
        for name, argument in self.build.steps:
            if name == "COPY":
                for source in self.matches(argument["sources"]):
                    mirror(os.path.join(self.tree, source), os.path.join(self.source, argument["target"]), source)
            elif "apt-get" not in argument:
                command = re.sub(r'(?<=[ ">])/out/', self.out + "/", argument)
                subprocess.run(["/bin/sh", "-ec", command], cwd=self.source, check=True)
        assert os.path.isdir(self.out), "the build stage leaves nothing in /out"

    def matches(self, sources):
        """The files and folders of a COPY, whose patterns may match none beside others that exist."""
        found = [path for source in sources for path in sorted(glob.glob(source, root_dir=self.tree))]
        assert found, f"COPY finds none of {sources}"
        return found

    def bootstrap(self):
        """The base image. As root, in a mount namespace of its own: what debootstrap mounts is gone with it."""
        if os.path.isdir(self.base):
            return
        system, _, tag = self.final.base.partition(":")
        assert system == "debian", f"{self.final.base} is not Debian"
        suite, partial = tag.partition("-")[0], self.base + ".partial"
        subprocess.run(["rm", "-rf", "--one-file-system", partial], check=True)
        subprocess.run(["debootstrap", "--variant=minbase", suite, partial, archive(suite)], check=True, stdout=subprocess.DEVNULL)
        os.rename(partial, self.base)

    def make(self):
        """The image's own steps, on a fresh copy of the base. As root, in a mount namespace of its own."""
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)
        subprocess.run(["cp", "--archive", "--reflink=auto", self.base, self.root], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", self.root + "/proc"], check=True)
        for name in ("/etc/resolv.conf", "/etc/hosts"):
            open(self.root + name, "a", encoding="utf-8").close()
            subprocess.run(["mount", "--bind", os.path.realpath(name), self.root + name], check=True)
        for name, argument in self.final.steps:
            if name == "RUN":
                environment = {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"}
                done = subprocess.run(
                    ["chroot", self.root, "/bin/sh", "-ec", argument], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                assert done.returncode == 0, done.stdout.decode(errors="replace")
            else:
                origin = self.out if argument["from"] else self.tree
                for source in argument["sources"]:
                    path = origin + source.removeprefix("/out") if argument["from"] else os.path.join(origin, source)
                    copy(path, self.root + argument["target"])
        done = subprocess.run(["chroot", self.root, "ldd", "/usr/local/bin/intertwine"], capture_output=True, text=True, check=True)
        assert "not found" not in done.stdout, "the image lacks libraries:\n" + done.stdout
        return sum(1 for line in done.stdout.splitlines() if "=>" in line)


PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def archive(suite):
    """The archive that this machine's apt takes the suite from."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
        capture_output=True, text=True, check=True)
    found = [line.split()[0] for line in targets.stdout.splitlines() if line.split()[1:] == [suite, "main"]]
    assert found, f"apt knows no archive with {suite}"
    return found[0]


def copy(source, target):
    """As COPY does: the content of a folder, or a file; owned by root."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    content = source.rstrip("/") + "/." if os.path.isdir(source) else source
    subprocess.run(["cp", "--recursive", "--preserve=mode", content, target], check=True)


def mirror(source, target, name):
    """As COPY does, but what is unchanged keeps its time and its inode, by which the compiler finds what to compile."""
    if os.path.isfile(source):
        target = os.path.join(target, os.path.basename(name)) if target.endswith(("/", "/.")) else target
        os.makedirs(os.path.dirname(target), exist_ok=True)
        refresh(source, target)
        return
    os.makedirs(target, exist_ok=True)
    wanted = set(os.listdir(source)) - {"__pycache__"}
    for extra in set(os.listdir(target)) - wanted:
        path = os.path.join(target, extra)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    for entry in wanted:
        mirror(os.path.join(source, entry), os.path.join(target, entry), entry)


def bytes_in(folder):
    """The apparent size of all files on the folder's own file system. Docker's base images keep no downloaded packages: they do not count."""
    command = ["du", "--summarize", "--bytes", "--one-file-system", "--exclude=" + folder + "/var/cache/apt", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout.split()[0])


def refresh(source, target):
    new = os.stat(source)
    old = os.stat(target) if os.path.exists(target) else None
    if old is None or (old.st_size, old.st_mtime_ns) != (new.st_size, new.st_mtime_ns):
        shutil.copy2(source, target)
