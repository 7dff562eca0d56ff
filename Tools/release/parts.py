"""The parts of a release: Swift packages of Package.resolved, the Swift runtime, and Debian's packages of the libraries that are loaded."""
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class SwiftPackage:
    """A package that is linked statically."""
    name: str
    version: str
    revision: str
    location: str


@dataclass(frozen=True, order=True)
class DebianPackage:
    """A package whose libraries a program loads, or that an image contains."""
    name: str
    version: str
    architecture: str
    source: str


def swift_packages(resolved):
    """The packages of a Package.resolved, in its order."""
    with open(resolved, encoding="utf-8") as file:
        pins = json.load(file)["pins"]
    assert pins, f"{resolved}: names no package"
    return [
        SwiftPackage(os.path.basename(pin["location"]).removesuffix(".git"), pin["state"].get("version", pin["state"]["revision"]),
                     pin["state"]["revision"], pin["location"].removesuffix(".git"))
        for pin in pins
    ]


def swift_version():
    told = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"Swift version (\S+)", told).group(1)


def toolchain():
    """The folder of the Swift toolchain, which contains bin and share."""
    return os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swift"))))


def loaded(programs, only_direct=False):
    """The Debian packages whose libraries the programs load, by name."""
    files = set()
    for program in programs:
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        assert "not found" not in told, f"{program} lacks libraries:\n{told}"
        paths = dict(re.findall(r"^\s*(\S+)(?: => (\S+))? \(0x", told, re.M))
        wanted = paths
        if only_direct:
            headers = subprocess.run(["readelf", "--dynamic", "--wide", program], capture_output=True, text=True, check=True).stdout
            wanted = re.findall(r"\(NEEDED\).*\[(.*)\]", headers)
        files.update(os.path.realpath(paths[name] or name) for name in wanted if name in paths and (paths[name] or name).startswith("/"))
    # A debug build loads the runtime, which is a part of its own.
    runtime = toolchain()
    files = {file for file in files if not file.startswith(runtime)}
    # Debian's database may know a library below /lib or below /usr/lib.
    spellings = {spelling: file for file in files for spelling in (file, file.removeprefix("/usr"), "/usr" + file)}
    told = subprocess.run(["dpkg-query", "--search", *sorted(spellings)], capture_output=True, text=True, check=False).stdout
    owners = {spellings[path]: owner.split(",")[0] for owner, path in re.findall(r"^(.*): (/.*)$", told, re.M) if path in spellings}
    assert owners.keys() == files, f"these belong to no package: {sorted(files - owners.keys())}"
    names = {tuple(owner.split(":")) for owner in owners.values()}
    return [package for package in installed("/var/lib/dpkg/status") if {(package.name,), (package.name, package.architecture)} & names]


def installed(status):
    """The packages of a dpkg database file."""
    with open(status, encoding="utf-8") as file:
        paragraphs = file.read().split("\n\n")
    found = []
    for paragraph in paragraphs:
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.M))
        if fields.get("Status", "").endswith(" installed"):
            source = fields.get("Source", fields["Package"]).split(" ")[0]
            found.append(DebianPackage(fields["Package"], fields["Version"], fields["Architecture"], source))
    return sorted(found)
