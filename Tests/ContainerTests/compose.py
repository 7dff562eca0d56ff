"""What Config/compose.yaml has to promise, held against the Dockerfile it runs."""
import yaml

import dockerfile

# Keys of the Compose Specification that may stand in our service; another one is a slip of the pen.
KNOWN = {
    "build", "cap_drop", "environment", "healthcheck", "image", "init", "pids_limit", "ports", "read_only", "restart", "security_opt",
    "stop_grace_period", "ulimits", "volumes",
}


def check(path, stage):
    with open(path, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    assert document.keys() == {"name", "services", "volumes"}, f"keys {sorted(document)}"
    service = document["services"]["intertwine"]
    assert service.keys() <= KNOWN, f"unknown keys {sorted(service.keys() - KNOWN)}"
    assert service["read_only"] is True, "the root has to be read-only"
    assert service["cap_drop"] == ["ALL"], "no capability is needed"
    assert service["security_opt"] == ["no-new-privileges:true"], "no process may gain privileges"

    volume, target = service["volumes"][0].split(":")
    assert volume in document["volumes"], f"{volume} is no named volume"
    assert target == stage.volume, f"{target} is not the image's volume {stage.volume}"
    assert service["ports"][0].split(":")[-1] == str(stage.port), f"the image listens on {stage.port}"

    test, *command = service["healthcheck"]["test"]
    assert test == "CMD" and command == stage.health, "another health check than the image's"
    patience, grace = dockerfile.amount(service["stop_grace_period"]), dockerfile.amount(stage.environment["INTERTWINE_SERVER_SHUTDOWN_TIMEOUT"])
    assert patience > grace, f"killed after {patience} s, though answers may take {grace} s"
