#!/usr/bin/env python3
"""A ranker that learns from the event stream which items viewers open.

    python3 ranker.py [--port 9100] [--service http://127.0.0.1:8080] [--admin http://127.0.0.1:8081] [--feed all]

It orders the items of the feed `--feed` by Thompson sampling: the rate at which an item is opened is drawn from its beta distribution, so
items with few impressions are explored. The cursor has the seed of the session, which keeps the draws of its pages equal.
"""
import argparse, json, random, sys, threading, time, urllib.error, urllib.parse, urllib.request
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OPENED = {"click", "selection"}
JUDGED = {"counted", "no-token"}  # a selection of content has no token
lock = threading.Lock()
items = {"": []}  # the ids of all cells that match each query of filters, of which the empty one matches all
seen, opened = defaultdict(int), defaultdict(int)
own = defaultdict(set)  # the cells that each viewer opened


def ask(url):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"User-Agent": "ranker"}), timeout=60) as answer:
        return json.load(answer)


def read_items(service, feed, filters):
    ids, following = [], f"/feeds/{feed}?limit=100&{filters}"
    while following:
        page = ask(urllib.parse.urljoin(service, following))
        ids += [cell["id"] for cell in page["cells"] if not cell.get("advertisement") and not cell["id"].startswith("section:")]
        following = page["page"]["next"]
    with lock:
        items[filters] = ids


def learn_items(service, feed):
    """Reads the ids of all items now and then, from a feed that is not ranked."""
    while True:
        try:
            for filters in list(items):
                read_items(service, feed, filters)
        except OSError as error:
            print("items:", error, file=sys.stderr)
        time.sleep(10 if items[""] else 1)


def learn_events(admin):
    """Counts the impressions and openings of each cell. At its start, it reads all events that the service has."""
    following = "/admin/events?limit=500&wait=30"
    while True:
        try:
            page = ask(urllib.parse.urljoin(admin, following))
            following = page["page"]["next"]
            with lock:
                for event in page["events"]:
                    if event["verdict"] not in JUDGED:
                        continue
                    if event["kind"] in OPENED:
                        opened[event["cell"]] += 1
                        own[event["viewer"]].add(event["cell"])
                    elif event["kind"] == "impression":
                        seen[event["cell"]] += 1
        except urllib.error.HTTPError as error:
            if error.code == 410:
                following = f"/admin/events?after={json.load(error)['oldest']}&limit=500&wait=30"
            time.sleep(1)
        except OSError as error:
            print("events:", error, file=sys.stderr)
            time.sleep(1)


def draw(cell, seed, viewer):
    """Draws a rate. Before any event, one of 20 viewers opens an item. An opening of the viewer counts as ten of others."""
    hits = opened[cell] + (10 if cell in own[viewer] else 0)
    return random.Random(f"{seed} {cell}").betavariate(1 + hits, 20 + max(0, seen[cell] - opened[cell]))


def reason(cell, viewer):
    if cell in own[viewer]:
        return "You opened this"
    return f"Opened {opened[cell]} times" if opened[cell] else "New here"


def rank(query):
    filters = urllib.parse.urlencode([(name.removeprefix("filter."), value) for name, value in query if name.startswith("filter.")])
    if filters not in items:
        read_items(options.service, options.feed, filters)
    query = dict(query)
    limit = int(query.get("limit", 20))
    seed, _, start = query.get("cursor", f"{random.getrandbits(32)}.0").partition(".")
    start, viewer = int(start), query.get("viewer")
    with lock:
        order = sorted(items[filters], key=lambda cell: draw(cell, seed, viewer), reverse=True)
        chosen = [{"id": cell, "reason": reason(cell, viewer)} for cell in order[start:start + limit]]
    more = {"cursor": f"{seed}.{start + limit}"} if start + limit < len(order) else {}
    return {"items": chosen, **more}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            status, answer = 200, rank(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        except (OSError, ValueError) as error:
            status, answer = 400, {"error": str(error)}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
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
    threading.Thread(target=learn_items, args=(options.service, options.feed), daemon=True).start()
    threading.Thread(target=learn_events, args=(options.admin,), daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()
