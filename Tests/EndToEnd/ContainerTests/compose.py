#!/usr/bin/env python3
"""Compares the compose files with the image that they run and with the settings. HAProxy itself checks its configuration."""
import os
import shutil
import subprocess
import sys
import tempfile

import yaml

import dockerfile
import settings

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Keys of the Compose Specification that the service uses; another one is a typing error.
KNOWN = {
    "build", "cap_drop", "depends_on", "deploy", "environment", "image", "init", "pids_limit", "ports", "read_only", "restart", "security_opt",
    "stop_grace_period", "ulimits", "volumes",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def service_of(document, stage, known):
    """The service, after the checks that hold in both files. The health check is the image's own."""
    service = document["services"]["intertwine"]
    assert service.keys() <= KNOWN, f"unknown keys {sorted(service.keys() - KNOWN)}"
    assert service["read_only"] is True, "the root has to be read-only"
    assert service["cap_drop"] == ["ALL"], "no capability is needed"
    assert service["security_opt"] == ["no-new-privileges:true"], "no process may gain privileges"
    names = set(service["environment"])
    assert names <= known, f"unknown settings: {sorted(names - known)}"
    delay = dockerfile.amount(service["environment"].get("INTERTWINE_SERVER_SHUTDOWN_DELAY", "0s"))
    grace = delay + dockerfile.amount(stage.environment["INTERTWINE_SERVER_SHUTDOWN_TIMEOUT"])
    assert dockerfile.amount(service["stop_grace_period"]) > grace, f"a container needs {grace} s to end"
    return service


def check(path, stage):
    """One container with its files on a volume."""
    document = read(path)
    assert document.keys() == {"name", "services", "volumes"}, f"keys {sorted(document)}"
    service = service_of(document, stage, settings.variables(TREE))
    volume, target = service["volumes"][0].split(":")
    assert volume in document["volumes"], f"{volume} is no named volume"
    assert target == stage.volume, f"{target} is not the image's volume {stage.volume}"
    assert service["ports"][0].split(":")[-1] == str(stage.port), f"the image listens on {stage.port}"


def trial(path):
    """The additions for the guides: the admin listener on this machine, with a token."""
    service = read(path)["services"]["intertwine"]
    assert service.keys() <= KNOWN and service["environment"].keys() <= settings.variables(TREE), f"keys {sorted(service)}"
    assert service["ports"] == ["127.0.0.1:8081:8081"] and "?" in service["environment"]["INTERTWINE_ADMIN_TOKEN"], "the listener needs a token"


def replicas(path, stage):
    """Several containers on a database, behind HAProxy."""
    document = read(path)
    services = document["services"]
    service = service_of(document, stage, settings.variables(TREE))
    database, balancer = services["database"], services["balancer"]
    host = service["environment"]["INTERTWINE_STORE_DATABASE"].split("@")[1].split("/")[0]
    assert host in services, f"{host} is no service"
    assert service["environment"]["INTERTWINE_SERVER_DATA_FOLDER"] in service["volumes"], "the folder is on no volume"
    assert "healthcheck" in database and service["depends_on"]["database"]["condition"] == "service_healthy"
    assert {volume.split(":")[0] for volume in database["volumes"]} <= document["volumes"].keys()
    for file in balancer["configs"]:
        text = document["configs"][file["source"]]["content"]
        assert f"intertwine:{stage.port}" in text, f"the balancer does not use port {stage.port}"
        with tempfile.NamedTemporaryFile("w", suffix=".cfg") as written:
            written.write(text)
            written.flush()
            haproxy = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin")
            assert haproxy, "HAProxy is not installed: `make test` installs it"
            checked = subprocess.run([haproxy, "-c", "-f", written.name], capture_output=True, text=True, check=False)
            assert checked.returncode == 0, checked.stdout + checked.stderr


def main():
    _, stage = dockerfile.read(os.path.join(TREE, "Dockerfile"))
    check(os.path.join(TREE, "Deploy/compose.yaml"), stage)
    trial(os.path.join(TREE, "Deploy/compose-trial.yaml"))
    replicas(os.path.join(TREE, "Deploy/compose-replicas.yaml"), stage)
    print("The compose files fit the image and the settings.")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"compose.py: {error}")
