"""Provokes responses of every operation, successes and errors, and validates each against the description."""
import json
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jsonschema

from description import Description
from service import Service, advertisement, user

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000 1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082".replace(" ", ""))
VIEWER = {"X-Viewer-ID": "v1"}
JSON = {"Content-Type": "application/json"}
SLOW = threading.Event()
SECTIONS = """
kinds:
  event: {fields: {title: {type: text, required: true}}, cells: {collection: {identifier: EventCell, size: 300x160, bind: {title: {text: title}}}}}
sections:
  main: {title: Everything}
  users: {title: People, kinds: [user], order: field username}
  events: {title: Events, kinds: [event]}
feeds: {main: [main, users], people: [users, events], nobody: [events]}
"""


class Origin(BaseHTTPRequestHandler):
    def do_GET(self):
        if "slow" in self.path:
            SLOW.wait(20)
        missing, text = "missing" in self.path, "text" in self.path
        body = b"no" if missing or text else PNG
        self.send_response(404 if missing else 200)
        self.send_header("Content-Type", "text/html" if text else "image/png")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=60")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Walk:
    """Sends requests and validates their responses."""

    def __init__(self, service, description):
        self.service, self.description = service, description

    def ask(self, method, template, status, values=None, query="", headers=None, body=None):
        path = template
        for name, value in (values or {}).items():
            path = path.replace("{" + name + "}", value)
        answer = self.service.ask(method.upper(), path + query, headers, body)
        assert answer.status == status, f"{method} {path}{query}: {answer.status}, not {status}: {answer.content[:200]}"
        self.description.check(method, template, answer, json.dumps(body) if isinstance(body, (dict, list)) else None)
        return answer

    def follow(self, method, template, status, href, headers=None, body=None):
        answer = self.service.ask(method.upper(), href, headers, body)
        assert answer.status == status, f"{method} {href}: {answer.status}, not {status}: {answer.content[:200]}"
        self.description.check(method, template, answer)
        return answer


def feed(walk):
    first = json.loads(walk.ask("get", "/feed", 200, query="?limit=2").content)
    href = first["page"]["next"]
    while href:
        href = json.loads(walk.follow("get", "/feed", 200, href).content)["page"]["next"]
    tag = walk.ask("get", "/feed", 200).getheader("ETag")
    walk.ask("get", "/feed", 200, headers=VIEWER)
    walk.ask("get", "/feed", 304, headers={"If-None-Match": tag})
    tag = walk.ask("get", "/feed", 200, query="?limit=2").getheader("ETag")
    assert walk.ask("get", "/feed", 304, query="?limit=2", headers={"If-None-Match": tag}).getheader("Link")
    walk.ask("get", "/feed", 412, headers={"If-Match": '"other"'})
    walk.ask("get", "/feed", 406, headers={"Accept-Encoding": "identity;q=0, gzip;q=0"})
    for query in ["?limit=0", "?limit=x", "?limit=1&limit=2", "?cursor=x", "?cursor="]:
        walk.ask("get", "/feed", 400, query=query)
    walk.ask("get", "/feed", 400, headers={"X-Viewer-ID": "v" * 257})
    walk.ask("get", "/saved", 200, headers=VIEWER)
    walk.ask("get", "/saved", 403)
    walk.ask("get", "/saved", 400, query="?cursor=x", headers=VIEWER)
    walk.ask("get", "/dismissed", 200, headers=VIEWER)
    walk.ask("get", "/dismissed", 403)
    schemas(walk)
    return json.loads(walk.ask("get", "/feed", 200, headers=VIEWER).content)["cells"]


def schemas(walk):
    """Validates cells of all kinds in both layouts by the schema of their identifier."""
    template, met = "/schemas/cells/{identifier}.json", set()
    for layout in ["collection", "table"]:
        for name in ["main", "people", "nobody"]:
            page = walk.ask("get", "/feeds/{name}", 200, {"name": name}, f"?limit=100&layout={layout}")
            for cell in json.loads(page.content)["cells"]:
                schema = walk.ask("get", template, 200, {"identifier": cell["identifier"]})
                validator = jsonschema.Draft202012Validator(json.loads(schema.content))
                validator.validate(cell)
                parts = cell["actions"]["configuration"]["bindings"]
                parts[next(iter(parts))] = {"else": "here"}
                assert not validator.is_valid(cell), f"{cell['identifier']}: any part would do"
                met.add(cell["identifier"])
    tag = walk.ask("get", template, 200, {"identifier": "EventCell"}).getheader("ETag")
    walk.ask("get", template, 304, {"identifier": "EventCell"}, headers={"If-None-Match": tag})
    walk.ask("get", template, 404, {"identifier": "NoCell"})
    assert len(met) >= 6, met


def sections(walk):
    named, section = "/feeds/{name}", "/feeds/{name}/sections/{section}"
    people, featured = {"name": "people"}, {"name": "people", "section": "users"}
    for template, values in [(named, people), (section, featured), (named, {"name": "main"})]:
        first = walk.ask("get", template, 200, values, "?limit=2")
        href = json.loads(first.content)["page"]["next"]
        walk.follow("get", template, 200, href)
        walk.ask("get", template, 200, values, headers=VIEWER)
        tag = walk.ask("get", template, 200, values).getheader("ETag")
        walk.ask("get", template, 304, values, headers={"If-None-Match": tag})
        tag = first.getheader("ETag")
        walk.ask("get", template, 304, values, "?limit=2", headers={"If-None-Match": tag})
        walk.ask("get", template, 412, values, headers={"If-Match": '"other"'})
        walk.ask("get", template, 400, values, "?limit=0")
        walk.ask("get", template, 400, values, "?cursor=x")
    page = json.loads(walk.ask("get", named, 200, people).content)
    assert page["page"]["sections"] == ["users"] and page["cells"][0]["id"] == "section:users", page
    cursor = json.loads(walk.ask("get", named, 200, people, "?limit=2").content)["page"]["next"].split("?")[1]
    walk.ask("get", section, 400, featured, "?" + cursor)
    walk.ask("get", "/feed", 400, query="?" + cursor)
    for name, status, items in [("nobody", 200, []), ("nothing", 404, None)]:
        answer = json.loads(walk.ask("get", named, status, {"name": name}).content)
        assert answer.get("cells") == items
    walk.ask("get", section, 404, {"name": "people", "section": "nothing"})
    walk.ask("get", section, 404, {"name": "nothing", "section": "users"})


def changes(walk):
    """Runs last, because it changes an item."""
    section = "/feeds/{name}/sections/{section}"
    feeds = [("/feed", {}), ("/feeds/{name}", {"name": "people"}), (section, {"name": "people", "section": "users"})]
    held = []
    for template, values in feeds:
        page = json.loads(walk.ask("get", template, 200, values, "?limit=2&changes=true").content)["page"]
        following = json.loads(walk.follow("get", template, 200, page["next"]).content)["page"]
        held.append(f"?syncToken={page['syncToken']},{following['syncToken']}")
    tags = []
    for (template, values), query in zip(feeds, held):
        answer = walk.ask("get", template + "/changes", 200, values, query)
        nothing = json.loads(answer.content)
        assert not nothing["reload"] and not any(nothing[name] for name in ["removed", "inserted", "moved", "reconfigured"]), nothing
        assert query == "?syncToken=" + ",".join(page["syncToken"] for page in nothing["pages"])
        tags.append(answer.getheader("ETag"))
    walk.service.import_items([user("Grace", "featured")])
    for (template, values), query, tag in zip(feeds, held, tags):
        answer = walk.ask("get", template + "/changes", 200, values, query, {"If-None-Match": tag})
        assert [each["cell"]["id"] for each in json.loads(answer.content)["reconfigured"]] == ["user:grace"]
        again = {"If-None-Match": answer.getheader("ETag")}
        walk.ask("get", template + "/changes", 304, values, query, again)
        walk.ask("get", template + "/changes", 412, values, query, {"If-Match": tag})
        walk.ask("get", template + "/changes", 200, values, query, VIEWER)
        assert json.loads(walk.ask("get", template + "/changes", 200, values, "?syncToken=AAAA").content) == {"reload": True}
        for wrong in ["", "?syncToken=", "?syncToken=a.b", "?syncToken=A&syncToken=B"]:
            walk.ask("get", template + "/changes", 400, values, wrong)
        # The same query in a body, which is not limited by the length of a URL.
        body = json.dumps({"syncTokens": query.removeprefix("?syncToken=").split(",")})
        posted = walk.ask("post", template + "/changes", 200, values, headers=JSON, body=body)
        assert [each["cell"]["id"] for each in json.loads(posted.content)["reconfigured"]] == ["user:grace"]
        walk.ask("post", template + "/changes", 400, values, headers=JSON, body="{}")
    walk.ask("get", "/feed", 400, query="?changes=perhaps")
    walk.ask("get", "/feeds/{name}/changes", 404, {"name": "nothing"}, "?syncToken=A")
    walk.ask("get", section + "/changes", 404, {"name": "people", "section": "nothing"}, "?syncToken=A")


def single(walk):
    cell = json.loads(walk.ask("get", "/cells/{id}", 200, {"id": "user:grace"}).content)
    assert cell["id"] == "user:grace"
    walk.ask("get", "/cells/{id}", 200, {"id": "ad:1"}, headers=VIEWER)
    walk.ask("get", "/cells/{id}", 404, {"id": "user:nobody"})
    assert {feed["path"] for feed in json.loads(walk.ask("get", "/feeds", 200).content)["feeds"]} >= {"/feed", "/feeds/people"}
    known = json.dumps({"cells": "UserSnapshotCollectionViewCell, *;q=0"})
    digest = json.loads(walk.ask("put", "/clients/{name}", 200, {"name": "ios-4.2"}, headers=JSON, body=known).content)["digest"]
    walk.ask("get", "/feed", 200, query=f"?client={digest}")
    walk.ask("put", "/clients/{name}", 400, {"name": "ios-4.2"}, headers=JSON, body="{}")


def actions(walk, cells):
    cell, ad = {"id": "user:grace"}, {"id": "ad:1"}
    selection, dismissal = "/cells/{id}/selection", "/cells/{id}/dismissal"
    walk.ask("post", selection, 200, cell, "?dryRun=true")
    walk.ask("post", selection, 400, cell, "?dryRun=perhaps")
    done = json.loads(walk.ask("post", selection, 200, cell, headers={**VIEWER, "Idempotency-Key": "k"}).content)
    walk.ask("post", selection, 422, {"id": "user:ada"}, headers={**VIEWER, "Idempotency-Key": "k"})
    walk.ask("post", selection, 400, cell, headers={"Idempotency-Key": "a b"})
    walk.ask("post", selection, 404, {"id": "user:nobody"})
    walk.ask("delete", selection, 200, cell)
    walk.ask("delete", selection, 404, ad)
    clicked = json.loads(walk.ask("post", selection, 200, ad).content)
    assert clicked["open"]["href"].startswith("http") and clicked["slot"] == "selection", clicked
    dismissed = json.loads(walk.ask("post", dismissal, 200, cell, headers=VIEWER).content)
    walk.ask("post", dismissal, 403, cell)
    walk.ask("post", dismissal, 404, {"id": "user:nobody"}, headers=VIEWER)
    walk.ask("post", "/cells/{id}/{slot}", 404, {"id": "user:ada", "slot": "like"})
    undo = "/invocations/{id}"
    walk.follow("delete", undo, 200, done["undo"]["href"], VIEWER)
    walk.follow("delete", undo, 409, done["undo"]["href"], VIEWER)
    walk.follow("delete", undo, 404, dismissed["undo"]["href"], {"X-Viewer-ID": "v2"})
    walk.follow("delete", undo, 200, dismissed["undo"]["href"], VIEWER)
    walk.ask("delete", undo, 409, {"id": clicked["invocation"]["id"]})
    walk.ask("post", dismissal, 200, cell, headers=VIEWER)
    for template in ["/dismissed/{cell}", "/saved/{cell}"]:
        walk.ask("delete", template, 403, {"cell": "user:grace"})
        walk.ask("delete", template, 404, {"cell": "user:nobody"}, headers=VIEWER)
    walk.ask("delete", "/dismissed/{cell}", 200, {"cell": "user:grace"}, "?dryRun=true", headers=VIEWER)
    walk.ask("delete", "/dismissed/{cell}", 200, {"cell": "user:grace"}, headers=VIEWER)

    shown = next(cell for cell in cells if cell["id"].startswith("ad:"))["actions"]
    walk.follow("get", "/click/{token}", 302, shown["selection"]["href"])
    walk.ask("get", "/click/{token}", 404, {"token": "forged"})
    event = shown["impression"]["body"]["events"][0]
    judged = walk.ask("post", "/events", 200, body={"events": [event, event, {**event, "cell": "ad:9"}]})
    assert [each["verdict"] for each in json.loads(judged.content)["results"]] == ["counted", "duplicate", "unknown"]
    first, again = (walk.ask("post", "/events", 200, body={"events": [event]}, headers={**VIEWER, "Idempotency-Key": "k2"}) for _ in range(2))
    assert first.content == again.content
    walk.ask("post", "/events", 422, body={"events": []}, headers={**VIEWER, "Idempotency-Key": "k2"})
    walk.ask("post", "/events", 400, body={"events": [event]}, headers={"Idempotency-Key": "a b"})
    walk.ask("post", "/events", 200, body={"events": [event, {**event, "type": "seen"}, {**event, "token": 1}, {}]})
    for wrong in [{}, {"events": {}}, {"events": [event] * 501}]:
        walk.ask("post", "/events", 400, body=wrong)
    walk.ask("post", "/events", 413, body="x" * (600 << 10))
    walk.ask("post", "/events", 415, body="[]", headers={"Content-Encoding": "gzip"})
    walk.ask("post", "/events", 415, body="[]", headers={"Content-Type": "text/plain"})
    for method, template in [("post", selection), ("delete", selection), ("delete", undo), ("post", "/events")]:
        values = {"id": "x"} if template == undo else cell if "{id}" in template else None
        walk.ask(method, template, 403, values, headers={"Origin": "https://evil.example.com"})


def images(walk, cells):
    image, cancel = "/images/{signature}/{source}", "/images/requests/{id}"
    bindings = {cell["id"]: cell["actions"]["configuration"]["bindings"] for cell in cells}

    def original(cell):
        shown = json.loads(walk.service.ask("POST", f"/cells/{cell}/selection").content)["presentation"]
        return shown["arguments"]["image"]

    sized, shown = "/images/{signature}/{source}/{variant}", bindings["user:grace"]["avatar"]
    assert shown["href"].endswith(f"/{shown['width']}x{shown['height']}-attention") and shown["scales"] == [1, 2, 3]
    for end in ["", "@2x", "@3x"]:
        walk.follow("get", sized, 200, shown["href"] + end)
    walk.follow("get", sized, 403, shown["href"] + "@4x")
    walk.follow("get", sized, 403, shown["href"].replace("-attention", "-fit"))
    page = json.loads(walk.ask("get", "/feed", 200, query="?scale=2").content)
    assert {cell["id"]: cell for cell in page["cells"]}["user:grace"]["actions"]["configuration"]["bindings"]["avatar"]["href"] == (
        shown["href"] + "@2x")
    walk.ask("get", "/feed", 400, query="?scale=4")

    href = original("user:grace")
    first = walk.follow("get", image, 200, href)
    tag = walk.follow("get", image, 200, href).getheader("ETag")
    assert first.content == PNG and tag
    walk.follow("get", image, 304, href, {"If-None-Match": tag})
    walk.follow("get", image, 206, href, {"Range": "bytes=0-3"})
    walk.follow("get", image, 416, href, {"Range": "bytes=9999-"})
    walk.follow("get", image, 412, href, {"If-Match": '"other"'})
    assert walk.follow("get", image, 200, href, {"X-Request-ID": "1"}).getheader("X-Request-ID") == "1"
    signature, source = href.split("/")[2:]
    walk.ask("get", image, 403, {"signature": signature, "source": source[:-2] + "AA"})
    walk.ask("get", image, 403, {"signature": "x", "source": "y"})
    walk.follow("get", image, 404, original("user:missing"))
    walk.follow("get", image, 415, original("user:text"))
    walk.follow("get", image, 403, original("user:denied"))

    name, answers, crawling = str(uuid.uuid4()), [], original("user:slow")
    slow = threading.Thread(
        target=lambda: answers.append(walk.follow("get", image, 499, crawling, {"X-Request-ID": name})))
    slow.start()
    while walk.service.ask("DELETE", f"/images/requests/{name}").status != 204:
        assert slow.is_alive()
    slow.join()
    SLOW.set()
    assert len(answers) == 1, "the cancelled request was not answered 499"
    walk.ask("delete", cancel, 404, {"id": name})
    walk.description.met.add(("delete", cancel, 204, None))
    walk.ask("post", "/images/viewport", 200, body={"visible": [name], "gone": []})
    walk.ask("post", "/images/viewport", 200, body={"visible": [name] * 1000, "gone": [name] * 1000})
    walk.ask("post", "/images/viewport", 400, body={"gone": None})


def problems(walk):
    """The description explains the type of each problem, and each invalid parameter is named."""
    explained = walk.description.document["components"]["schemas"]["ProblemType"]["x-explanations"]
    met = {kind for _, _, _, kind in walk.description.met if kind and kind != "about:blank" and not kind.startswith("/problems/image-")}
    assert met <= set(explained), met - set(explained)
    several = json.loads(walk.ask("get", "/feed", 400, query="?limit=101&layout=round").content)
    assert [(error["parameter"], error["code"]) for error in several["errors"]] == [("limit", "out-of-range"), ("layout", "unknown")], several


def rest(walk):
    for path in ["/healthz", "/readyz", "/openapi.json", "/schemas/cell.json"]:
        walk.ask("get", path, 200)
    for path in ["/openapi.json", "/schemas/cell.json"]:
        tag = walk.ask("get", path, 200).getheader("ETag")
        walk.ask("get", path, 304, headers={"If-None-Match": tag})
    walk.ask("get", "/healthz", 414, query="?" + "a" * 18000)
    walk.ask("get", "/healthz", 431, headers={"X-Long": "a" * 20000})
    walk.ask("get", "/healthz", 501, headers={"Transfer-Encoding": "gzip"})
    answer = walk.service.ask("GET", "/healthz", version="HTTP/3.1")
    assert answer.status == 505
    walk.description.check("get", "/healthz", answer)
    for method, path in walk.description.operations():
        assert {"501", "505"} <= set(walk.description.responses(method, path)), f"{method} {path}"
    walk.ask("get", "/healthz", 417, headers={"Expect": "wonders"})


def main():
    origin = ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{origin.server_port}"
    items = [user(name, image=here) for name in ["Grace", "Ada", "Missing", "Text", "Slow"]]
    items += [user("Denied", image="http://10.0.0.1"), advertisement(1, here)]
    settings = {"images.allowed-networks": "127.0.0.1/32", "images.allowed-ports": f"80,443,{origin.server_port}", "events.report-verdict": "true"}
    with Service(items, settings, kinds=SECTIONS) as service:
        description = Description.of(service)
        walk = Walk(service, description)
        cells = feed(walk)
        sections(walk)
        single(walk)
        actions(walk, cells)
        images(walk, cells)
        rest(walk)
        changes(walk)
        problems(walk)
    origin.shutdown()

    met = {(method, path) for method, path, _, _ in description.met}
    missing = set(description.operations()) - met
    assert not missing, f"no answer of {sorted(missing)}"
    kinds = {kind for _, _, _, kind in description.met if kind}
    print(f"{len(met)} operations, {len({each[:3] for each in description.met})} of their statuses, {len(kinds)} types of problem: as described")


if __name__ == "__main__":
    sys.exit(main())
