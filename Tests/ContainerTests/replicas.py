#!/usr/bin/python3
"""Holds the manifests for replicas against the image that they run, the settings that there are, and each other: there is no cluster here to try
them in. HAProxy's configuration in Config/compose-replicas.yaml is read by HAProxy itself."""
import os
import shutil
import subprocess
import sys
import tempfile

import yaml

import dockerfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What the image's program and libpq read, beside settings.
OTHER = {"INTERTWINE_CONFIG", "PGPASSWORD", "PGPASSFILE"}


def read(name):
    with open(os.path.join(TREE, name), encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def settings():
    """The names of the variables of all settings."""
    (sections,) = read("Config/intertwine.yaml")

    def names(value, path):
        if isinstance(value, dict) and value:
            return {name for key, inner in value.items() for name in names(inner, [*path, key])}
        return {"INTERTWINE_" + "_".join(path).replace("-", "_").upper()}

    return names(sections, []) | OTHER


def kubernetes(stage, known):
    documents = {document["kind"]: document for document in read("Config/kubernetes/intertwine.yaml")}
    assert documents.keys() == {"Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget"}, sorted(documents)
    deployment = documents["Deployment"]
    spec, pod = deployment["spec"], deployment["spec"]["template"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    for where in (spec["selector"]["matchLabels"], documents["Service"]["spec"]["selector"],
                  documents["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
                  pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]):
        assert where.items() <= labels.items(), f"{where} finds no pod of {labels}"
    (container,) = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports["http"] == stage.port, f"the image listens on {stage.port}"
    assert {port["targetPort"] for port in documents["Service"]["spec"]["ports"]} <= ports.keys(), "a port of the service is nobody's"
    assert "admin" not in {port["targetPort"] for port in documents["Service"]["spec"]["ports"]}, "operators' routes are not for everybody"
    for probe, path in (("startupProbe", "/healthz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        asked = container[probe]["httpGet"]
        assert asked["path"] == path and asked["port"] in ports, f"{probe}: {asked}"
    names = [variable["name"] for variable in container["env"]]
    assert len(set(names)) == len(names) and set(names) <= known, f"unknown settings: {sorted(set(names) - known)}"
    values = {variable["name"]: variable.get("value") for variable in container["env"]}
    for name in names:
        assert not ("PASSWORD" in name or "TOKEN" in name) or values[name] is None, f"{name} stands in the manifest"
    assert values["INTERTWINE_STORE_DATABASE"].startswith("postgresql://")
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    assert mounts.get(values["INTERTWINE_SERVER_DATA_FOLDER"]) in {volume["name"] for volume in pod["volumes"]}, "the folder is on no volume"
    security, inner = pod["securityContext"], container["securityContext"]
    steps = " ".join(argument for name, argument in stage.steps if name == "RUN")
    assert security["runAsNonRoot"] and f"{security['runAsUser']}" in steps, f"the image has no user {security['runAsUser']}"
    assert inner["readOnlyRootFilesystem"] and not inner["allowPrivilegeEscalation"] and inner["capabilities"] == {"drop": ["ALL"]}
    grace = dockerfile.amount(values["INTERTWINE_SERVER_SHUTDOWN_DELAY"]) + dockerfile.amount(stage.environment["INTERTWINE_SERVER_SHUTDOWN_TIMEOUT"])
    assert grace < pod["terminationGracePeriodSeconds"], f"a pod needs {grace} s to end"
    scaler = documents["HorizontalPodAutoscaler"]["spec"]
    target = {key: scaler["scaleTargetRef"][key] for key in ("apiVersion", "kind")}
    assert target == {key: deployment[key] for key in target} and scaler["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert scaler["minReplicas"] <= spec["replicas"] <= scaler["maxReplicas"]
    assert documents["PodDisruptionBudget"]["spec"]["minAvailable"] < scaler["minReplicas"], "no node could ever be emptied"


def compose(stage, known):
    (document,) = read("Config/compose-replicas.yaml")
    services = document["services"]
    service, database, balancer = (services[name] for name in ("intertwine", "database", "balancer"))
    names = set(service["environment"])
    assert names <= known, f"unknown settings: {sorted(names - known)}"
    host = service["environment"]["INTERTWINE_STORE_DATABASE"].split("@")[1].split("/")[0]
    assert host in services, f"{host} is no service"
    assert service["environment"]["INTERTWINE_SERVER_DATA_FOLDER"] in service["volumes"], "the folder is on no volume"
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]
    assert service["healthcheck"]["test"] == ["CMD", *stage.health], "another health check than the image's"
    grace = dockerfile.amount(service["environment"]["INTERTWINE_SERVER_SHUTDOWN_DELAY"]) + dockerfile.amount(stage.environment["INTERTWINE_SERVER_SHUTDOWN_TIMEOUT"])
    assert dockerfile.amount(service["stop_grace_period"]) > grace, f"a container needs {grace} s to end"
    assert "healthcheck" in database and service["depends_on"]["database"]["condition"] == "service_healthy"
    assert {volume.split(":")[0] for volume in database["volumes"]} <= document["volumes"].keys()
    for file in balancer["configs"]:
        text = document["configs"][file["source"]]["content"]
        assert f"intertwine:{stage.port}" in text, f"the balancer does not ask port {stage.port}"
        with tempfile.NamedTemporaryFile("w", suffix=".cfg") as written:
            written.write(text)
            written.flush()
            haproxy = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin")
            assert haproxy, "HAProxy is not installed: `make test` sees to it"
            checked = subprocess.run([haproxy, "-c", "-f", written.name], capture_output=True, text=True, check=False)
            assert checked.returncode == 0, checked.stdout + checked.stderr


def main():
    _, stage = dockerfile.read(os.path.join(TREE, "Dockerfile"))
    known = settings()
    kubernetes(stage, known)
    compose(stage, known)
    print("The manifests for replicas fit the image and the settings.")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"replicas.py: {error}")
