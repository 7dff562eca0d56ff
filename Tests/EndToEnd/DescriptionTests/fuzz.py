"""Runs schemathesis on all operations of both listeners of a service with the sample feed."""
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from service import Service

HERE = Path(__file__).parent.resolve()
SAMPLE = json.loads((HERE.parents[2] / "Sources/IntertwineSample/files/feed.json").read_text())


def cursor(service):
    return parse_qs(urlsplit(service.get("/feed?limit=2")["page"]["next"]).query)["cursor"][0]


def run(service, tool, base, arguments):
    # One worker, because Python 3.11 miscounts its stack depth when several threads parse.
    # The examples of earlier runs are in the temporary folder.
    cursors = {path: cursor(service) for path in ["/feed", "/admin/explain"]}
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "CURSORS": json.dumps(cursors)}
    done = subprocess.run(
        [tool, "--config-file", HERE / "schemathesis.toml", "run", f"{base}/openapi.json", "--workers", "1", "--no-color", *arguments],
        cwd=tool.parents[1], env=environment)
    assert service.ask("GET", "/readyz").status == 200, "the service is not ready any more"
    return done.returncode


def main():
    tool = Path(sys.argv[1]).resolve()
    with Service(SAMPLE, {"events.report-verdict": "true"}) as service:
        code = run(service, tool, service.base, sys.argv[2:])
        # After the feed's listener, because these operations change the store.
        return run(service, tool, f"http://127.0.0.1:{service.admin_port}", sys.argv[2:]) or code


if __name__ == "__main__":
    sys.exit(main())
