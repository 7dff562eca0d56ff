#!/usr/bin/env python3
"""Renders Deploy/kubernetes, validates each object against the schemas of Kubernetes, and compares the objects with the image, the settings and
each other. There is no cluster here to apply them to. The schemas are those of the package kubernetes-validate, which `make test` installs."""
import os
import sys

import jsonschema
import kubernetes_validate
import yaml

import dockerfile
import kustomize
import settings

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(TREE, "Deploy/kubernetes")
# The oldest version that Documentation/reference/support.md names, and a recent one.
VERSIONS = ("1.31", "1.37")
NAME = {"app.kubernetes.io/name": "intertwine"}
# Of the Prometheus operator, whose schema the package does not have: the members in use, as its API reference defines them.
SECRET_KEY = {"type": "object", "required": ["name", "key"], "additionalProperties": False,
              "properties": {"name": {"type": "string"}, "key": {"type": "string"}}}
SERVICE_MONITOR = {
    "type": "object", "additionalProperties": False, "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "monitoring.coreos.com/v1"}, "kind": {"const": "ServiceMonitor"},
        "metadata": {"type": "object", "required": ["name"]},
        "spec": {
            "type": "object", "additionalProperties": False, "required": ["selector", "endpoints"],
            "properties": {
                "selector": {"type": "object", "additionalProperties": False, "required": ["matchLabels"],
                             "properties": {"matchLabels": {"type": "object", "additionalProperties": {"type": "string"}}}},
                "endpoints": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "additionalProperties": False, "required": ["port"],
                    "properties": {
                        "port": {"type": "string"}, "path": {"type": "string", "pattern": "^/"},
                        "interval": {"type": "string", "pattern": r"^\d+(ms|s|m|h)$"},
                        "authorization": {"type": "object", "additionalProperties": False, "required": ["credentials"],
                                          "properties": {"type": {"const": "Bearer"}, "credentials": SECRET_KEY}},
                    }}},
            }},
    }}


def validate(each):
    if each["kind"] == "ServiceMonitor":
        jsonschema.validate(each, SERVICE_MONITOR)
        return
    for version in VERSIONS:
        kubernetes_validate.validate(each, version, strict=True)


def validation_finds_mistakes():
    """The schemas are there, and strict."""
    (deployment,) = kustomize.documents(os.path.join(FOLDER, "base/deployment.yaml"))
    wrong = [
        {"spec": {"template": {"spec": {"containers": [{"name": "intertwine", "livenessprobe": {}}]}}}},
        {"spec": {"replicas": "three"}},
        {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": "30s"}}}},
    ]
    for change in wrong:
        try:
            validate(kustomize.merged(deployment, change))
        except (kubernetes_validate.ValidationError, jsonschema.ValidationError):
            continue
        raise AssertionError(f"the schemas accept {change}")


def check(overlay, stage, known):
    objects = kustomize.render(os.path.join(FOLDER, overlay))
    for each in objects:
        validate(each)
    by_name = {(each["kind"], each["metadata"]["name"]): each for each in objects}
    pod = by_name["Deployment", "intertwine"]["spec"]["template"]
    selectors(objects, pod["metadata"]["labels"])
    security(objects, pod["spec"], stage)
    probes(by_name, pod["spec"], stage)
    environment(pod["spec"], stage, known)
    network(by_name)
    return by_name


def selectors(objects, labels):
    """Each selector of pods selects the service's pod."""
    assert labels == NAME, labels
    for each in objects:
        spec = each.get("spec", {})
        selector = spec.get("podSelector") or spec.get("selector") or {}
        selector = selector.get("matchLabels", selector)
        if each["kind"] == "ServiceMonitor":
            services = [one["metadata"]["labels"] for one in objects if one["kind"] == "Service"]
            assert sum(selector.items() <= one.items() for one in services) == 1, f"{selector} selects not exactly one of {services}"
        elif selector:
            assert selector.items() <= labels.items(), f"{kustomize.identity(each)}: {selector} selects no pod"


def security(objects, pod, stage):
    (container,) = pod["containers"]
    outer, inner = pod["securityContext"], container["securityContext"]
    steps = " ".join(argument for name, argument in stage.steps if name == "RUN")
    assert outer["runAsNonRoot"] and str(outer["runAsUser"]) in steps, f"the image has no user {outer['runAsUser']}"
    assert outer["seccompProfile"] == {"type": "RuntimeDefault"}
    assert inner == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}, inner
    assert pod["automountServiceAccountToken"] is False and pod["enableServiceLinks"] is False
    (account,) = [each for each in objects if each["kind"] == "ServiceAccount"]
    assert account["metadata"]["name"] == pod["serviceAccountName"] and account["automountServiceAccountToken"] is False
    resources = container["resources"]
    assert resources["limits"].keys() == {"cpu", "memory"} == resources["requests"].keys(), "workers and caches are sized by the limits"
    assert not [each for each in objects if each["kind"] == "Secret"], "a manifest contains a secret"
    assert ":" in container["image"].split("/")[-1] and not container["image"].endswith(":latest"), container["image"]


def probes(by_name, pod, stage):
    (container,) = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": stage.port, "admin": 8081}, f"the image listens on {stage.port}"
    for probe, path in (("startupProbe", "/healthz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "admin"}, f"{probe}: {container[probe]}"
    public = by_name["Service", "intertwine"]["spec"]
    assert [port["targetPort"] for port in public["ports"]] == ["http"], "the public service has operators' routes"
    assert [port["targetPort"] for port in by_name["Service", "intertwine-admin"]["spec"]["ports"]] == ["admin"]


def environment(pod, stage, known):
    (container,) = pod["containers"]
    names = [variable["name"] for variable in container["env"]]
    assert len(set(names)) == len(names) and set(names) <= known, f"unknown settings: {sorted(set(names) - known)}"
    values = {variable["name"]: variable.get("value") for variable in container["env"]}
    for variable in container["env"]:
        if "PASSWORD" in variable["name"] or "TOKEN" in variable["name"]:
            assert variable.get("value") is None, f"{variable['name']} is in the manifest"
            secret(variable["valueFrom"]["secretKeyRef"])
    assert values["INTERTWINE_ADMIN_HOST"] == "0.0.0.0", "the kubelet cannot reach the admin listener"
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    assert mounts == {stage.volume: "data"} and [volume["name"] for volume in pod["volumes"]] == ["data"], mounts
    grace = dockerfile.amount(values["INTERTWINE_SERVER_SHUTDOWN_DELAY"])
    grace += dockerfile.amount(stage.environment["INTERTWINE_SERVER_SHUTDOWN_TIMEOUT"])
    assert grace < pod["terminationGracePeriodSeconds"], f"a pod needs {grace} s to end"


def secret(reference):
    """The page creates each key of the secret that a manifest refers to."""
    with open(os.path.join(TREE, "Documentation/how-to/kubernetes.md"), encoding="utf-8") as file:
        page = file.read()
    assert f"create secret generic {reference['name']}" in page, f"no page creates the secret {reference['name']}"
    assert f"--from-literal={reference['key']}=" in page, f"no page creates the key {reference['key']}"


def network(by_name):
    policy = by_name["NetworkPolicy", "intertwine"]["spec"]
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    for rule in policy["ingress"]:
        assert [port["port"] for port in rule["ports"]] == ["http"] or rule.get("from"), "the admin port is open to every pod"
    blocks = [peer["ipBlock"] for rule in policy["egress"] for peer in rule["to"] if "ipBlock" in peer]
    private = next(block["except"] for block in blocks if block["cidr"] == "0.0.0.0/0")
    assert {"10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"} <= set(private), private


def main():
    _, stage = dockerfile.read(os.path.join(TREE, "Dockerfile"))
    known = settings.variables(TREE)
    validation_finds_mistakes()

    single = check("single-node", stage, known)
    deployment = single["Deployment", "intertwine"]["spec"]
    assert deployment["replicas"] == 1 and deployment["strategy"] == {"type": "Recreate"}, "two processes would serve one file"
    (volume,) = deployment["template"]["spec"]["volumes"]
    assert volume == {"name": "data", "persistentVolumeClaim": {"claimName": "intertwine"}}, volume
    assert ("PersistentVolumeClaim", "intertwine") in single

    several = check("postgresql", stage, known)
    deployment = several["Deployment", "intertwine"]["spec"]
    assert "replicas" not in deployment, "each apply would undo what the autoscaler has set"
    values = {variable["name"]: variable.get("value") for variable in deployment["template"]["spec"]["containers"][0]["env"]}
    assert values["INTERTWINE_STORE_DATABASE"].startswith("postgresql://") and values["INTERTWINE_SERVER_DATA_FOLDER"] == stage.volume
    scaler = several["HorizontalPodAutoscaler", "intertwine"]["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "intertwine"}
    assert several["PodDisruptionBudget", "intertwine"]["spec"]["minAvailable"] < scaler["minReplicas"], "no node could ever be emptied"

    (monitor,) = kustomize.render(os.path.join(FOLDER, "monitoring"))
    validate(monitor)
    selectors([monitor, *several.values()], NAME)
    credentials = monitor["spec"]["endpoints"][0]["authorization"]["credentials"]
    secret(credentials)
    print(f"{len(single)} and {len(several)} objects and the ServiceMonitor are valid in Kubernetes {' and '.join(VERSIONS)}.")


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, kubernetes_validate.ValidationError, jsonschema.ValidationError) as error:
        sys.exit(f"manifests.py: {error}")
