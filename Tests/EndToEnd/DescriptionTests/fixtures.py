"""Fixtures for tests of clients: responses of the service with a constant clock and key, and constants for random ids.

Without --write, compares the current responses with Conformance, and validates both by the description.
"""
import json
import os
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

from description import Description
from service import Service, advertisement, user

FOLDER = Path(__file__).parents[3] / "Conformance"
VIEWER = {"X-Viewer-ID": "viewer-1"}
EVENT = {"kind": "event", "id": 1, "title": "Swing", "starts": "2026-05-01T19:00:00Z", "image": "https://pictures.example.com/swing.png",
         "signup": "https://sign.example.com/1", "city": "Berlin"}
SECTIONS = (Path(__file__).parents[3] / "Config/kinds.yaml").read_text()


def performed(answer):
    """Replaces the random id of an invocation by a constant."""
    content = json.loads(answer.content)
    return json.loads(json.dumps(content).replace(content["invocation"]["id"], "AAECAwQFBgcICQoLDA0ODw"))


def answers():
    """Returns the fixtures by name, with their schemas; the description is the first."""
    items = [user("Tongue Twister", "featured"), user("Glasses"), user("Sunglasses"), user("Cash", "featured"), user("Grace")]
    items += [advertisement(1), advertisement(2)]
    with Service(items, preload=os.environ["FIXED_CLOCK"]) as service:
        yield None, None, Description.of(service)
        first = service.get("/feed?limit=2")
        middle = service.get(first["page"]["next"])
        last = service.get(middle["page"]["next"])
        yield "page-first", "Page", first
        yield "page-middle", "Page", middle
        yield "page-last", "Page", last
        yield "page-empty", "Page", service.get("/saved", VIEWER)
        yield "page-with-viewer", "Page", service.get("/feed?limit=2", VIEWER)
        # A later version: a cell, an action, a binding and members that current clients do not know.
        unknown = {"id": "story:1", "identifier": "StoryCollectionViewCell", "size": {"width": 320, "height": 568}, "actions": {
            "configuration": {"type": "bind", "bindings": {
                "title": {"type": "text", "text": "A story"}, "published": {"type": "date", "date": "2026-01-02"},
                "weather": {"type": "weather", "sky": "clear"}}},
            "selection": {"type": "play", "href": "/stories/1"}, "sharing": {"type": "link", "href": "/stories/1"}}, "section": "stories"}
        yield "page-with-unknown", "Page", {**first, "cells": first["cells"][:1] + [unknown] + first["cells"][1:]}
        yield "selection", "Performance", performed(service.ask("POST", "/cells/user:glasses/selection", VIEWER))
        yield "dismissal", "Performance", performed(service.ask("POST", "/cells/user:glasses/dismissal", VIEWER))
        yield "problem", "Problem", json.loads(service.ask("GET", "/feed?limit=0", {"X-Request-ID": "5f8b1a52-3a59-4c6e-9f4e-6a2d1c0b7e90"}).content)
        seen = next(cell for cell in first["cells"] if cell["id"].startswith("ad:"))["actions"]["impression"]["body"]
        yield "events-request", "Events", seen
        yield "events-answer", "EventResults", json.loads(service.ask("POST", "/events", VIEWER, seen).content)
        yield "cell.schema", None, service.get("/schemas/cell.json")
    with Service(items[:2] + items[5:] + [EVENT], preload=os.environ["FIXED_CLOCK"], kinds=SECTIONS) as service:
        yield "page-with-sections", "Page", service.get("/feed")
    media = [{**advertisement(number), **more} for number, more in [
        (1, {"type": "video", "contentUrl": "https://ads.example.com/1.mp4", "posterUrl": "https://ads.example.com/1.png",
             "mediaType": "video/mp4", "duration": 12.5}),
        (2, {"type": "audio", "contentUrl": "https://ads.example.com/2.mp3", "mediaType": "audio/mpeg", "duration": 30})]]
    with Service(items[:4] + media, {"ads.placement": "every 2 offset 1"}, preload=os.environ["FIXED_CLOCK"]) as service:
        yield "page-with-media", "Page", service.get("/feed")


def broken_cells(cell):
    yield {**cell, "size": {"width": "300"}}
    values = [("text", {"text": 5}), ("image", {"href": ""}), ("date", {"date": 5}), ("date", {"date": "2026-02-30"}), ("date", {"date": "soon"}),
              ("number", {"number": "5"}), ("link", {"href": ""}), ("link", {"href": 5}), ("media", {"href": 5}), ("disclosure", {"label": "Ad"}), ("text", {})]
    for value in [{"text": "no type"}, {}] + [{"type": kind, **members} for kind, members in values]:
        yield {**cell, "actions": {"configuration": {"type": "bind", "bindings": {"part": value}}}}
    for action in [{"type": "bind"}, {"type": "request", "href": "/x"}, {"type": "link"}, {"href": "/x"}]:
        yield {**cell, "actions": {"selection": action}}


def released(description):
    """Validates the fixtures of each released version by the current description."""
    for folder in sorted(FOLDER.glob("v*")):
        for file in sorted(folder.glob("*.json")):
            schema = {"page": "Page", "dismissal": "Performance", "selection": "Performance", "problem": "Problem", "changes": "Changes"}[
                file.stem.split("-")[0]]
            description.validate(json.loads(file.read_text()), {"$ref": f"#/components/schemas/{schema}"}, f"{folder.name}/{file.name}")


def main():
    write, wrong, cells = "--write" in sys.argv, [], []
    (_, _, description), *made = answers()
    for name, schema, content in made:
        if schema:
            description.validate(content, {"$ref": f"#/components/schemas/{schema}"}, name)
        cells += content["cells"] if schema == "Page" else []
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        file = FOLDER / f"{name}.json"
        if write:
            FOLDER.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            wrong.append(file.name)
    released(description)
    schema = dict((name, content) for name, _, content in made)["cell.schema"]
    Draft202012Validator.check_schema(schema)
    for cell in cells:
        Draft202012Validator(schema).validate(cell)
    for broken in broken_cells(cells[0]):
        assert not Draft202012Validator(schema).is_valid(broken), f"the schema of a cell takes {broken}"
    assert not wrong, f"not what the service answers: {wrong}; where that is meant, write them anew: Tests/EndToEnd/DescriptionTests/run fixtures"
    print(f"{len(made)} fixtures {'written' if write else 'are what the service answers'}")


if __name__ == "__main__":
    main()
