"""Installs, upgrades, starts and removes the Debian package in a bare root."""
import gzip
import json
import os
import socket
import subprocess
import time
import urllib.request

from image import PATH

DATA = "/var/lib/intertwine"
SETTINGS = "/etc/intertwine/intertwine.yaml"
# Sorts behind every release, and in no archive.
LATER = "999"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def check(image):
    """Yields a sentence for each thing that holds. As root, in mount, process and network namespaces of its own, on a copy of the base."""
    root = image.folder + "/package-root"
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", image.base, root], check=True)
    subprocess.run(["mount", "-t", "proc", "proc", root + "/proc"], check=True)
    subprocess.run(["mount", "--bind", "/dev", root + "/dev"], check=True)
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        open(root + name, "a", encoding="utf-8").close()
        subprocess.run(["mount", "--bind", os.path.realpath(name), root + name], check=True)
    first, second = built(image), built(image, LATER)
    for package in (first, second):
        subprocess.run(["cp", package, root + "/tmp/"], check=True)

    inside(root, "apt-get update && apt-get install --yes --no-install-recommends /tmp/" + os.path.basename(first))
    version = inside(root, "intertwine --version").strip()
    assert version in first, f"{version} is not that of {first}"
    assert inside(root, f"stat --format='%U %a' {DATA}").strip() == "intertwine 700"
    for path in ("/usr/share/man/man1/intertwine.1.gz", "/usr/share/bash-completion/completions/intertwine", "/lib/systemd/system/intertwine.service"):
        assert os.path.exists(root + path), path
    yield f"installs in a bare Debian, as {version}, with man page, completions and unit"

    commands, flags = documented(root)
    yield f"has {commands} commands and {flags} flags, each in man page and completions"

    added = inside(root, as_user("intertwine import /usr/share/intertwine/sample-feed.json")).splitlines()[-1]
    cells = serve(root)
    yield f"imports the sample ({added}) and serves {cells} cells, as the unit says, as a user that is not root"

    with open(root + SETTINGS, "a", encoding="utf-8") as file:
        file.write("# edited by hand\n")
    inside(root, "DEBIAN_FRONTEND=noninteractive apt-get install --yes /tmp/" + os.path.basename(second))
    with open(root + SETTINGS, encoding="utf-8") as file:
        assert "edited by hand" in file.read(), "the upgrade overwrote the configuration"
    assert serve(root) == cells
    yield "upgrades: the edited configuration and all items are there, and served"

    inside(root, "apt-get remove --yes intertwine")
    assert not os.path.exists(root + "/usr/bin/intertwine") and os.path.exists(root + SETTINGS)
    inside(root, "apt-get purge --yes intertwine")
    assert not os.path.exists(root + SETTINGS) and os.path.exists(root + DATA + "/intertwine.sqlite")
    yield "is removed, and purged with its configuration; what was stored stays"


def documented(root):
    """How many commands and flags the program itself tells of, once man page and completions have all of them."""
    share = root + "/usr/share/"
    with gzip.open(share + "man/man1/intertwine.1.gz", "rt", encoding="utf-8") as file:
        manual = file.read()
    texts = {}
    for shell, path in (
        ("bash", "bash-completion/completions/intertwine"), ("zsh", "zsh/vendor-completions/_intertwine"), ("fish", "fish/vendor_completions.d/intertwine.fish"),
    ):
        with open(share + path, encoding="utf-8") as file:
            texts[shell] = file.read()
    commands, flags = set(), set()

    def walk(command):
        flags.update(name["name"] for argument in command.get("arguments", ()) for name in argument.get("names", ()) if name["kind"] == "long")
        for each in command.get("subcommands", ()):
            commands.add(each["commandName"])
            walk(each)

    told = inside(root, "intertwine --experimental-dump-help")
    walk(json.loads(told)["command"])
    # The tool that makes the page leaves other characters out.
    assert told.isascii(), "the help is not all ASCII"
    missing = [name for name in commands if name != "help" and f".It Em {name}\n" not in manual or any(name not in text for text in texts.values())]
    missing += ["--" + name for name in flags if f", -{name}" not in manual and f"Fl -{name}" not in manual]
    missing += [f"--{name} ({shell})" for name in flags for shell in ("bash", "zsh") if "--" + name not in texts[shell]]
    missing += [f"--{name} (fish)" for name in flags if f"-l '{name}'" not in texts["fish"] and f"-l {name}" not in texts["fish"]]
    assert not missing, f"man page or completions lack {', '.join(sorted(missing))}"
    return len(commands), len(flags)


def built(image, version=None):
    """The path of a package of the image's programs; of another version, for an upgrade, where one is given."""
    done = subprocess.run(
        [image.tree + "/Tools/package", *([version] if version else [])], env={**os.environ, "PROGRAMS": image.programs}, check=True,
        capture_output=True, text=True)
    return next(
        f"{image.tree}/.build/package/{line.split()[1]}" for line in done.stdout.splitlines() if line.endswith(".deb") and f"_{version or ''}" in line)


def as_user(command):
    return f"setpriv --reuid=intertwine --regid=intertwine --clear-groups --no-new-privs -- {command}"


def inside(root, command):
    done = subprocess.run(
        ["chroot", root, "/bin/sh", "-ec", command], env={"PATH": PATH}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def serve(root):
    """How many cells the first page has, from the service as the unit starts it."""
    with open(root + "/lib/systemd/system/intertwine.service", encoding="utf-8") as file:
        command = next(line.removeprefix("ExecStart=").strip() for line in file if line.startswith("ExecStart="))
    port, admin_port = free_ports()
    command += f" --port {port} --admin-port {admin_port}"
    process = subprocess.Popen(["chroot", root, "/bin/sh", "-ec", "exec " + as_user(command)], env={"PATH": PATH}, stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                with opener.open(f"http://127.0.0.1:{port}/feed", timeout=5) as answer:
                    return answer.read().count(b'"identifier"')
            except OSError:
                assert process.poll() is None, f"the service ended with {process.returncode}"
                time.sleep(0.05)
        raise AssertionError("the service does not answer")
    finally:
        process.terminate()
        assert process.wait(timeout=15) == 0, f"the service ended with {process.returncode}"


def free_ports():
    sockets = [socket.socket() for _ in range(2)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
