"""Renders a folder as `kubectl kustomize` does, as far as Deploy/kubernetes uses it. A key that this module does not know is an error, so the
manifests cannot leave the subset that the tests understand."""
import copy
import os

import yaml

# Lists whose elements are merged by a key (the API's patchMergeKey). All other lists are replaced.
MERGE_KEYS = {"containers": "name", "env": "name", "ports": "containerPort", "volumes": "name", "volumeMounts": "mountPath"}
KNOWN = {"apiVersion", "kind", "components", "images", "patches", "resources"}


def render(folder):
    """The objects of an overlay, in the order of its resources."""
    with open(os.path.join(folder, "kustomization.yaml"), encoding="utf-8") as file:
        text = yaml.safe_load(file)
    assert text["kind"] in ("Kustomization", "Component"), f"{folder}: kind {text['kind']}"
    assert text.keys() <= KNOWN, f"{folder}: unknown keys {sorted(text.keys() - KNOWN)}"
    objects = []
    for name in text.get("resources", []) + text.get("components", []):
        path = os.path.join(folder, name)
        objects += render(path) if os.path.isdir(path) else documents(path)
    names = [identity(each) for each in objects]
    assert len(set(names)) == len(names), f"{folder}: the same object twice in {names}"
    for patch in text.get("patches", []):
        assert patch.keys() == {"path"}, f"{folder}: a patch is a file, and its own target"
        for change in documents(os.path.join(folder, patch["path"])):
            (index,) = [number for number, each in enumerate(objects) if identity(each) == identity(change)]
            objects[index] = merged(objects[index], change)
    for image in text.get("images", []):
        for each in objects:
            rename(each, image)
    return objects


def documents(path):
    with open(path, encoding="utf-8") as file:
        return [each for each in yaml.safe_load_all(file) if each is not None]


def identity(each):
    return each["apiVersion"], each["kind"], each["metadata"]["name"]


def merged(old, new, name=None):
    """A strategic merge: mappings by key, null removes, lists by their merge key, all else is replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        result = copy.deepcopy(old)
        for key, value in new.items():
            if value is None:
                assert key in old, f"null removes {key}, which is not there"
                del result[key]
            else:
                result[key] = merged(old[key], value, key) if key in old else copy.deepcopy(value)
        return result
    if isinstance(old, list) and isinstance(new, list) and name in MERGE_KEYS:
        key = MERGE_KEYS[name]
        result = copy.deepcopy(old)
        for element in new:
            places = [number for number, each in enumerate(result) if each[key] == element[key]]
            if places:
                result[places[0]] = merged(result[places[0]], element)
            else:
                result.append(copy.deepcopy(element))
        return result
    return copy.deepcopy(new)


def rename(value, image):
    """Replaces the name of an image, and its tag, in all containers of an object."""
    assert image.keys() <= {"name", "newName", "newTag", "digest"}, f"images: {image}"
    if isinstance(value, list):
        for each in value:
            rename(each, image)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "containers":
                for container in each:
                    if container["image"] == image["name"]:
                        suffix = "@" + image["digest"] if "digest" in image else ":" + image["newTag"]
                        container["image"] = image.get("newName", image["name"]) + suffix
            else:
                rename(each, image)
