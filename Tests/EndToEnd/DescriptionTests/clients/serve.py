"""Runs a program with the address of a service that has a small feed, and the fixtures' pages on its standard input."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd/DescriptionTests"))

from service import Service, advertisement, user

items = [user(name) for name in ["Grace", "Ada", "Cash", "Glasses", "Frances"]] + [advertisement(1)]
with Service(items) as service:
    pages = "\n".join(str(path) for path in sorted((ROOT / "Conformance").glob("page-*.json")))
    sys.exit(subprocess.run([sys.argv[1], service.base], input=pages, text=True, timeout=60).returncode)
