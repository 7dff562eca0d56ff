"""The environment variables of the settings."""
import os

import yaml

# Variables that the image's program and libpq read, beside the settings.
OTHER = {"INTERTWINE_CONFIG", "PGPASSWORD", "PGPASSFILE"}


def variables(tree):
    with open(os.path.join(tree, "Config/intertwine.yaml"), encoding="utf-8") as file:
        sections = yaml.safe_load(file)

    def names(value, path):
        if isinstance(value, dict) and value:
            return {name for key, inner in value.items() for name in names(inner, [*path, key])}
        return {"INTERTWINE_" + "_".join(path).replace("-", "_").upper()}

    return names(sections, []) | OTHER
