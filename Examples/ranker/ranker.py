#!/usr/bin/env python3
"""A ranker that learns from the event stream which items viewers open.

    python3 ranker.py [--port 9100] [--service http://127.0.0.1:8080] [--admin http://127.0.0.1:8081] [--feed all]

It orders the items of the feed `--feed` by Thompson sampling: the rate at which an item is opened is drawn from its beta distribution, so
items with few impressions are explored. The cursor has the seed of the session, which keeps the draws of its pages equal.
"""
import argparse, json, random, sys, threading, time, urllib.parse, urllib.request
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OPENED = {"click", "selection"}
JUDGED = {"counted", "no-token"}  # a selection of content has no token
EVENTS = "/admin/events?limit=500&wait=30"
items = {"": []}  # the ids of all cells that match each query of filters, of which the empty one matches all
seen, opened = defaultdict(int), defaultdict(int)
own = defaultdict(set)  # the cells that each viewer opened


def ask(server, path):
    request = urllib.request.Request(urllib.parse.urljoin(server, path), headers={"User-Agent": "ranker"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def read_items(filters):
    ids, following = [], f"/feeds/{options.feed}?limit=100&{filters}"
    while following:
        page = ask(options.service, following)
        ids += [cell["id"] for cell in page["cells"] if not cell.get("advertisement") and not cell["id"].startswith("section:")]
        following = page["page"]["next"]
    items[filters] = ids


def learn_items():
    """Reads the ids of all items now and then, from a feed that is not ranked."""
    while True:
        try:
            for filters in list(items):
                read_items(filters)
        except OSError as error:
            print("items:", error, file=sys.stderr)
        time.sleep(10 if items[""] else 1)


def learn_events():
    """Counts the impressions and openings of each cell. At its start, it reads all events that the service has."""
    following = EVENTS
    while True:
        try:
            page = ask(options.admin, following)
        except OSError as error:
            print("events:", error, file=sys.stderr)
            if getattr(error, "code", None) == 410:  # The service has deleted the events after the cursor.
                following = f"{EVENTS}&after={json.load(error)['oldest']}"
            time.sleep(1)
            continue
        following = page["page"]["next"]
        for event in page["events"]:
            if event["verdict"] in JUDGED and event["kind"] in OPENED:
                opened[event["cell"]] += 1
                if event["viewer"]:
                    own[event["viewer"]].add(event["cell"])
            elif event["verdict"] in JUDGED and event["kind"] == "impression":
                seen[event["cell"]] += 1


def rank(query):
    filters = urllib.parse.urlencode([(name.removeprefix("filter."), value) for name, value in query if name.startswith("filter.")])
    if filters not in items:
        read_items(filters)
    query = dict(query)
    mine, limit = own.get(query.get("viewer"), set()), int(query.get("limit", 20))
    seed, _, start = query.get("cursor", f"{random.getrandbits(32)}.0").partition(".")

    def rate(cell):
        # Before any event, one of 20 viewers opens an item. An opening of the viewer counts as ten of others.
        hits = opened[cell] + (10 if cell in mine else 0)
        return random.Random(f"{seed} {cell}").betavariate(1 + hits, 20 + max(0, seen[cell] - opened[cell]))

    def reason(cell):
        return "You opened this" if cell in mine else "Opened by others" if opened[cell] else "New here"

    order, end = sorted(items[filters], key=rate, reverse=True), int(start) + limit
    chosen = [{"id": cell, "reason": reason(cell)} for cell in order[int(start):end]]
    return {"items": chosen, "cursor": f"{seed}.{end}" if end < len(order) else None}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            status, answer = 200, rank(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        except (OSError, ValueError) as error:
            status, answer = 400, {"error": str(error)}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=9100)
    parser.add_argument("--service", default="http://127.0.0.1:8080")
    parser.add_argument("--admin", default="http://127.0.0.1:8081")
    parser.add_argument("--feed", default="all")
    options = parser.parse_args()
    for learn in [learn_items, learn_events]:
        threading.Thread(target=learn, daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()
