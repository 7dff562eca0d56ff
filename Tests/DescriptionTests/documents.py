"""Writes the descriptions of both listeners into a folder, as they are served, and holds their examples against their schemas."""
import json
import sys
from pathlib import Path

from description import Description
from operators import Listener
from service import Service, user


def examples(description):
    """Every example, with where it stands and the schema that it must have."""
    def of(value, where):
        value = description.resolve(value)
        if "schema" in value:
            for example in [value["example"]] if "example" in value else [each["value"] for each in value.get("examples", {}).values()]:
                yield where, value["schema"], example
        for name, content in value.get("content", {}).items():
            yield from of(content, f"{where} {name}")
        for name, header in value.get("headers", {}).items():
            yield from of(header, f"{where} {name}")

    for path, item in description.document["paths"].items():
        for method, operation in item.items():
            where = f"{method} {path}"
            for parameter in operation.get("parameters", []):
                yield from of(parameter, f"{where} {parameter['name']}")
            yield from of(operation.get("requestBody", {}), f"{where} body")
            for status, response in operation["responses"].items():
                yield from of(response, f"{where} {status}")
    for name, schema in description.document["components"]["schemas"].items():
        for example in schema.get("examples", []):
            yield name, schema, example


def main():
    with Service([user("Ada")], {"admin.token": "open-sesame-17-42"}) as service:
        for name, listener in [("openapi", service), ("operators", Listener(service))]:
            description = Description.of(listener)
            (Path(sys.argv[1]) / f"{name}.json").write_text(json.dumps(description.document, indent=1, ensure_ascii=False))
            held = list(examples(description))
            for where, schema, example in held:
                description.validate(example, schema, where)
            print(f"{len(held)} examples in the description of {description.document['info']['title']}: as described")


if __name__ == "__main__":
    main()
