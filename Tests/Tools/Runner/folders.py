#!/usr/bin/env python3
"""Checks that a folder of a module names no type of a folder above it. Between modules, the compiler does."""
import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[3] / "Sources"
# The folders of each module from the lowest up. The last one, which has no name, is the rest of the module.
ORDER = {
    "IntertwineFeed": ["Items", "Ledger", "Cells", "Kinds", "Ads", ""],
    "IntertwineHTTPServer": ["EventLoop", "", "Routing"],
    "IntertwineImages": ["Fetch", ""],
    "IntertwinePrimitives": ["", "JSON", "Crypto"],
    "IntertwineService": ["Settings", "Identity", "Trackers", "Sync", "Observability", "WebClient", "Declarations", ""],
}
TYPE = re.compile(r"^(?:(?:public|package|internal|final|indirect|@\w+(?:\(.*?\))?) )*(?:struct|class|enum|protocol|actor|typealias) (\w+)", re.M)
# Comments and literals.
IGNORED = re.compile(r'//[^\n]*|""".*?"""|"(?:[^"\\\n]|\\.)*"', re.S)


def main():
    found = [fault for module, folders in ORDER.items() for fault in faults(module, folders)]
    print("\n".join(found) or "no folder names a type of a folder above it")
    return 1 if found else 0


def faults(module, folders):
    files = {folder: [] for folder in folders}
    for file in sorted((SOURCES / module).rglob("*.swift")):
        first = file.relative_to(SOURCES / module).parts[0]
        files[first if first in folders else ""].append((file, IGNORED.sub("", file.read_text())))
    types = {folder: {name for _, text in members for name in TYPE.findall(text)} for folder, members in files.items()}
    for index, folder in enumerate(folders):
        below = set().union(*(types[name] for name in folders[:index + 1]))
        above = {name: other for other in folders[index + 1:] for name in types[other] - below}
        for file, text in files[folder]:
            for name in sorted(set(re.findall(r"(?<![.\w])[A-Z]\w*", text)) & above.keys()):
                yield f"{file.relative_to(SOURCES.parent)}: names {name} of {above[name] or 'the rest'}"


if __name__ == "__main__":
    sys.exit(main())
