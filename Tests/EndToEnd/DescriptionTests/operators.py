"""Provokes responses of every operation of the admin listener, and validates each against its description."""
import base64
import json
import re
import time

from answers import Walk
from description import Description
from service import Service, advertisement, user

TOKEN = "open-sesame-17-42"
TAG = '"other"'


class Listener:
    """The admin listener of a service. Requests have the token unless their fields replace it."""

    def __init__(self, service):
        self.service = service

    def ask(self, method, path, headers=None, body=None):
        return self.service.ask(method, path, {"Authorization": f"Bearer {TOKEN}", **(headers or {})}, body, self.service.admin_port)


def items(walk, kind, good):
    template, one = "/admin/items/{kind}/{id}", {"id": "1", "kind": kind}
    other = {**good, "type": "audio" if "contentUrl" in good else "regular"}
    walk.ask("get", template, 404, one)
    walk.ask("put", template, 422, one, body={**good, "type": "odd"})
    walk.ask("put", template, 400, one, body="{")
    walk.ask("put", template, 400, one, headers={"If-Match": "x"}, body=good)
    walk.ask("put", template, 412, one, headers={"If-Match": "*"}, body=good)
    for method in ["put", "delete"]:
        assert walk.ask(method, template, 400, one, headers={"Host": "a b"}).getheader("Content-Type") == "application/problem+json"
    walk.ask("put", template, 413, one, body="x" * 70_000)
    walk.ask("put", template, 415, one, headers={"Content-Encoding": "gzip"}, body="{}")
    tag = walk.ask("put", template, 201, one, body=good).getheader("ETag")
    walk.ask("put", template, 200, one, body=good)
    walk.ask("put", template, 428, one, body=other)
    walk.ask("put", template, 412, one, headers={"If-None-Match": "*"}, body=other)
    walk.ask("get", template, 200, one)
    walk.ask("get", template, 304, one, headers={"If-None-Match": tag})
    walk.ask("put", template, 200, one, headers={"If-Match": tag}, body=other)
    walk.ask("delete", template, 400, one, headers={"If-Match": "x"})
    walk.ask("delete", template, 412, one, headers={"If-Match": TAG})
    walk.ask("delete", template, 204, one)
    walk.ask("delete", template, 404, one)
    walk.ask("delete", template, 401, one, headers={"Authorization": "Bearer wrong"})


def lists(walk):
    line = json.dumps(user("Ada"))
    walk.ask("post", "/admin/items", 200, query="?onError=skip", body=line + "\n{}\n")
    walk.ask("post", "/admin/items", 200, body=f"[{line}]")
    walk.ask("post", "/admin/items", 422, body="{}")
    walk.ask("post", "/admin/items", 400, query="?onError=perhaps", body=line)
    walk.ask("post", "/admin/items", 413, body=(line + "\n") * 1_000)
    patch = {"kind": "user", "id": "ada", "username": "Lovelace"}
    walk.ask("patch", "/admin/items", 200, body=json.dumps(patch) + "\n")
    walk.ask("patch", "/admin/items", 200, body=[patch])
    walk.ask("patch", "/admin/items", 400, body="[1]")
    walk.ask("patch", "/admin/items", 413, body=(json.dumps(patch) + "\n") * 2_000)
    walk.ask("patch", "/admin/items", 422, body=[patch | {"avatarUrl": 3}])
    operations = "/admin/operations"
    walk.ask("post", operations, 200, body={"operations": [{"move": "user:ada", "before": "user:grace"}]})
    walk.ask("post", operations, 400, body="{}")
    walk.ask("post", operations, 400, body=[])
    walk.ask("post", operations, 412, body={"operations": [{"remove": "user:ada", "ifMatch": TAG}]})
    walk.ask("post", operations, 422, body={"operations": [{"remove": "user:nobody"}]})


def takedowns(walk):
    one = {"id": "user:ada"}
    walk.ask("put", "/admin/takedowns/{id}", 201, one)
    walk.ask("put", "/admin/takedowns/{id}", 200, one, body={"reason": "complaint 4711"})
    walk.ask("put", "/admin/takedowns/{id}", 400, {"id": "ada"})
    walk.ask("put", "/admin/takedowns/{id}", 400, one, body="{")
    walk.ask("put", "/admin/takedowns/{id}", 422, one, body={"reason": 7})
    href, found = "/admin/takedowns?limit=1", []
    while href:
        answer = walk.follow("get", "/admin/takedowns", 200, href)
        listed = json.loads(answer.content)
        found += [takedown["item"] for takedown in listed["takedowns"]]
        assert listed["page"]["limit"] == 1
        href = listed["page"]["next"]
        assert answer.getheader("Link") == (f'<{href}>; rel="next"' if href else None)
    assert found == sorted(found) and len(found) > 2 and "user:ada" in found, found
    walk.ask("get", "/admin/takedowns", 400, query="?cursor=ada.")
    imported = json.loads(walk.ask("post", "/admin/items", 200, body=json.dumps(user("Ada")) + "\n").content)
    assert imported["withheld"] == 1 and imported["withheldItems"] == ["user:ada"]
    walk.ask("delete", "/admin/takedowns/{id}", 204, one)
    walk.ask("delete", "/admin/takedowns/{id}", 404, one)
    walk.ask("delete", "/admin/takedowns/{id}", 400, {"id": "ada"})


def refused(walk):
    """Checks errors before routing, and requests without a route."""
    for method, path in [("post", "/admin/operations"), ("post", "/admin/items"), ("get", "/admin/explain"), ("get", "/admin/reports")]:
        walk.ask(method, path, 400, headers={"Host": "a b"})
        assert walk.description.met >= {(method, path, 400, "about:blank")}
    whole = ["/healthz", "/readyz", "/metrics", "/admin/events", "/admin/reports", "/admin/explain", "/admin/campaigns", "/admin/sources", "/admin/takedowns", "/admin/kinds"]
    for path in whole:
        walk.ask("get", path, 304, headers={"If-None-Match": "*"})
    answer = walk.ask("get", "/openapi.json", 406, headers={"Accept-Encoding": "identity;q=0, gzip;q=0"})
    assert answer.getheader("Vary")


def reading(walk, service):
    shown = next(cell for cell in service.get("/feed")["cells"] if cell["id"].startswith("ad:"))["actions"]
    # A click counts after the impression, which counts as soon as a client can have viewed the ad.
    impression = json.dumps(shown["impression"]["body"])
    while "too-early" in service.ask("POST", "/events", {"Content-Type": "application/json"}, impression).content.decode():
        time.sleep(0.1)
    assert service.ask("GET", shown["selection"]["href"]).status == 302
    for by in ["day", "hour", "ad", "campaign", "advertiser", "creative", "feed", "section", "position", "verdict", "reason"]:
        assert json.loads(walk.ask("get", "/admin/reports", 200, query=f"?by={by}").content)["rows"]
    walk.ask("get", "/admin/reports", 200, query="?by=ad&thenBy=day")
    walk.ask("get", "/admin/reports", 400, query="?by=day&thenBy=day")
    walk.ask("get", "/admin/reports", 400, query="?from=2026-02-30")
    walk.ask("get", "/admin/reports", 400, query="?by=moon")
    walk.ask("get", "/admin/explain", 200)
    cursor = service.get("/feed?limit=1")["page"]["next"].split("?")[1]
    walk.ask("get", "/admin/explain", 200, query="?" + cursor)
    walk.ask("get", "/admin/explain", 200, query="?layout=table&width=390")
    walk.ask("get", "/admin/explain", 400, query="?cursor=x")
    walk.ask("get", "/admin/explain", 400, query="?layout=round")
    walk.ask("get", "/admin/explain", 200, query="?viewer=ann&attributes=plan%3Dfree&languages=de")
    walk.ask("get", "/admin/explain", 400, query="?viewer=")
    events = json.loads(walk.ask("get", "/admin/events", 200, query="?limit=1&wait=1").content)
    assert events["events"][0]["kind"] == "impression" and walk.follow("get", "/admin/events", 200, events["page"]["next"])
    walk.ask("get", "/admin/events", 400, query="?wait=31")
    assert json.loads(walk.ask("get", "/admin/events", 410, query="?after=999").content)["oldest"] == 0
    told = json.loads(walk.ask("get", "/admin/campaigns", 200).content)["campaigns"]
    assert [(one["campaign"], one["state"], one["goal"]["total"]) for one in told] == [("spring", "paced", 1_000)], told
    override = "/admin/campaigns/{id}/override"
    # The campaign is of the store.
    for body, status in (({"paused": True}, 404), ({"paused": 1}, 422), ([], 400)):
        walk.ask("put", override, status, {"id": "spring"}, body=body)
    walk.ask("delete", override, 404, {"id": "spring"})
    walk.ask("delete", "/admin/images", 204, query="?url=https://pictures.example.com/a.png")
    for query in ("?prefix=https://pictures.example.com/2026/", "?host=*.example.com", "?all=true"):
        walk.ask("delete", "/admin/images", 204, query=query)
    walk.ask("delete", "/admin/images", 400)
    walk.ask("delete", "/admin/images", 400, query="?all=true&host=example.com")
    walk.ask("delete", "/admin/viewers/{id}", 200, {"id": "v1"})
    walk.ask("get", "/admin/sources", 200)
    kinds = json.loads(walk.ask("get", "/admin/kinds", 200).content)["kinds"]
    for one in kinds:
        walk.ask("get", "/admin/kinds/{kind}", 200, {"kind": one["kind"]})
    walk.ask("get", "/admin/kinds/{kind}", 304, {"kind": "user"}, headers={"If-None-Match": "*"})
    walk.ask("get", "/admin/kinds/{kind}", 404, {"kind": "nothing"})
    walk.ask("get", "/admin/kinds", 400, query="?cursor=ada.")
    walk.ask("post", "/admin/sources/{name}/sync", 404, {"name": "nothing"})
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"]:
        walk.ask("get", path, 200)
        walk.ask("get", path, 401, headers={"Authorization": "Bearer wrong"})
    walk.ask("get", "/healthz", 417, headers={"Expect": "wonders"})
    tag = walk.ask("get", "/openapi.json", 200).getheader("ETag")
    walk.ask("get", "/openapi.json", 304, headers={"If-None-Match": tag})


def console(walk):
    """Provokes what the pages of the console show."""
    template, one = "/admin/items/{kind}/{id}/revisions", {"kind": "user", "id": "grace"}
    edited = {**user("Grace"), "username": "Grace H."}
    walk.ask("put", "/admin/items/{kind}/{id}", 200, one, headers={"If-Match": "*"}, body=edited)
    revisions = json.loads(walk.ask("get", template, 200, one).content)["revisions"]
    number = {**one, "number": str(revisions[0]["number"])}
    walk.ask("get", template + "/{number}", 200, number)
    walk.ask("get", template + "/{number}", 404, {**one, "number": "999"})
    listed = json.loads(walk.ask("get", "/admin/items", 200, query="?kind=user&q=grace").content)["items"]
    assert [each["id"] for each in listed] == ["grace"], listed
    walk.ask("get", "/admin/items", 400, query="?limit=0")
    walk.ask("get", "/admin/pictures", 200, query="?url=https://pictures.example.com/ada.png")
    walk.ask("get", "/admin/pictures", 400)
    walk.ask("get", "/admin/takedowns/{id}", 404, {"id": "user:grace"})
    walk.ask("put", "/admin/takedowns/{id}", 201, {"id": "user:grace"}, body={"reason": "spam"})
    walk.ask("get", "/admin/takedowns/{id}", 200, {"id": "user:grace"})
    walk.ask("delete", "/admin/takedowns/{id}", 204, {"id": "user:grace"})
    feed = "/admin/preview/feeds/{name}"
    walk.ask("get", feed, 200, {"name": "main"}, query="?at=2027-01-31T08:00:00Z&drafts=true&viewer=ann")
    walk.ask("get", feed, 400, {"name": "main"}, query="?at=tomorrow")
    walk.ask("get", feed, 404, {"name": "nothing"})
    assert json.loads(walk.ask("get", "/admin/items", 200, query="?state=scheduled&picture=https://example.com/none.png").content)["items"] == []
    cells, one = "/admin/preview/items/{kind}/{id}", {"kind": "user", "id": "new"}
    walk.ask("post", cells, 200, one, body=user("new"))
    walk.ask("post", cells, 400, one, body="{")
    walk.ask("post", cells, 404, {"kind": "nothing", "id": "new"}, body="{}")
    walk.ask("post", cells, 413, one, body="x" * 70_000)
    walk.ask("post", cells, 422, one, body="{}")
    walk.ask("get", "/admin/audit", 200, query="?action=takedowns")
    walk.ask("get", "/admin/audit", 400, query="?limit=0")
    walk.ask("get", "/admin/audit", 400, query="?cursor=" + base64.urlsafe_b64encode(b"-9223372036854775808").decode().rstrip("="))
    walk.ask("get", "/admin/system", 200)
    void = "/admin/events/void"
    walk.ask("post", void, 200, body={"campaign": "spring", "from": "2026-01-01T00:00:00Z", "until": "2026-12-01T00:00:00Z", "dryRun": True})
    walk.ask("post", void, 200, body={"campaign": "spring", "from": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"})
    walk.ask("post", void, 422, body={"dryRun": 1})
    walk.ask("post", void, 400, body="{")


def audited(walk):
    """Each described operation that writes is in the audit log with who sent it, and as done if one succeeded: a new one must be, too."""
    entries, href = [], "/admin/audit?limit=1000"
    while href:
        answer = json.loads(walk.follow("get", "/admin/audit", 200, href).content)
        entries += answer["entries"]
        href = answer["page"]["next"]
    assert entries and all(entry["who"] for entry in entries)
    reading = {("post", "/admin/preview/items/{kind}/{id}")}
    for method, path in sorted(set(walk.description.operations()) - reading):
        if method in ("get", "head", "options"):
            continue
        pattern = re.compile(re.sub(r"\\\{[^}]*\}", "[^/]*", re.escape(path)) + r"(\?.*)?")
        own = [entry for entry in entries if entry["method"] == method.upper() and pattern.fullmatch(entry["path"])]
        assert own, f"{method} {path} is not in the audit log"
        succeeded = any(met[:2] == (method, path) and met[2] < 300 for met in walk.description.met)
        assert not succeeded or any(entry["outcome"] == "done" for entry in own), f"{method} {path} is not in the audit log as done: {own[:3]}"


def problem_types(walk):
    """The description explains the type of each problem."""
    kinds = {kind for _, _, _, kind in walk.description.met if kind and kind != "about:blank"}
    explained = walk.description.document["components"]["schemas"]["ProblemType"]["x-explanations"]
    assert len(kinds) >= 5 and kinds <= set(explained), kinds - set(explained)


def main():
    # The campaign starts in the next century, so none of it is due.
    spring = {
        "kind": "campaign", "id": "spring", "advertiser": "ACME", "creatives": ["10"], "starts": "2026-01-01T00:00:00Z",
        "ends": "9999-01-01T00:00:00Z", "goal": {"total": 1_000}}
    started = [spring, user("Grace"), user("Cash"), advertisement(9), {**advertisement(10), "type": "video", "house": False}]
    with Service(started, {"admin.token": TOKEN, "admin.max-import": "64KiB"}) as service:
        description = Description.of(Listener(service))
        walk = Walk(Listener(service), description)
        featured = {"username": "Ada", "avatarUrl": "https://pictures.example.com/ada.png", "type": "featured"}
        items(walk, "user", featured)
        items(walk, "ad", {name: value for name, value in advertisement(1).items() if name not in ("id", "kind")})
        lists(walk)
        takedowns(walk)
        reading(walk, service)
        console(walk)
        audited(walk)
        refused(walk)
        problem_types(walk)
    with Service(started) as service:
        walk = Walk(service, description)
        service.port = service.admin_port
        walk.ask("delete", "/admin/items/{kind}/{id}", 403, {"kind": "user", "id": "grace"}, headers={"Origin": "https://evil.example.com"})
    met = {(method, path) for method, path, _, _ in description.met}
    missing = set(description.operations()) - met
    assert not missing, f"no answer of {sorted(missing)}"
    print(f"{len(met)} operations for operators, {len({each[:3] for each in description.met})} of their statuses: as described")


if __name__ == "__main__":
    main()
