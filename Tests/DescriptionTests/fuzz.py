"""Runs schemathesis, its checks as they are, over all operations of a service that holds the sample feed."""
import json
import os
import subprocess
import sys
from pathlib import Path

from service import Service

SAMPLE = json.loads((Path(__file__).parents[2] / "Config/sample/feed.json").read_text())

with Service(SAMPLE, {"events.tell-verdict": "true"}) as service:
    # One worker: Python 3.11 mistakes the depth of its own stack when several threads parse at once.
    # What it remembers of former runs lies in its own folder.
    tool = Path(sys.argv[1]).resolve()
    done = subprocess.run(
        [tool, "run", f"{service.base}/openapi.json", "--workers", "1", "--no-color", *sys.argv[2:]], cwd=tool.parents[1],
        env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(Path(__file__).parent)})
    assert service.ask("GET", "/readyz").status == 200, "the service is not ready any more"
sys.exit(done.returncode)
