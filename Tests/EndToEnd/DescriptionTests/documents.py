"""Compares the descriptions of both listeners with those in Documentation/reference, and their examples with their schemas. The reference pages
that pages.py generates from them are compared too.

Copies of the served descriptions are written into a folder for the other tests. With --write, those in Documentation/reference are written too.
"""
import json
import sys
from pathlib import Path

import pages
from description import Description
from operators import Listener
from service import Service, user

REFERENCE = Path(__file__).parents[3] / "Documentation/reference"


def examples(description):
    """Yields each example with its path and its schema."""
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


def text(document):
    """Returns a description as text. Its members are sorted, so that a difference is a change of the API."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main():
    folder, write, stale = Path(sys.argv[1]), "--write" in sys.argv, []
    documents = {}
    with Service([user("Ada")], {"admin.token": "open-sesame-17-42"}) as service:
        for name, listener in [("openapi", service), ("openapi-admin", Listener(service))]:
            description = Description.of(listener)
            documents[name] = description.document
            served, reference = text(description.document), REFERENCE / f"{name}.json"
            (folder / f"{name}.json").write_text(served)
            if write:
                REFERENCE.mkdir(exist_ok=True)
                reference.write_text(served)
            elif not reference.exists() or reference.read_text() != served:
                stale.append(str(reference.relative_to(REFERENCE.parents[1])))
            held = list(examples(description))
            for where, schema, example in held:
                description.validate(example, schema, where)
            print(f"{len(held)} examples in the description of {description.document['info']['title']}: as described")

        for name, page in pages.generate(documents["openapi"], documents["openapi-admin"]).items():
            if write:
                (REFERENCE / name).write_text(page)
            elif not (REFERENCE / name).exists() or (REFERENCE / name).read_text() != page:
                stale.append(str((REFERENCE / name).relative_to(REFERENCE.parents[1])))
    assert not stale, f"not as generated: {', '.join(stale)}; to write them again: Tests/EndToEnd/DescriptionTests/run reference"


if __name__ == "__main__":
    main()
