#!/usr/bin/env python3
"""Siblings of the public faults of section 1, as origins write them: encodings, bodies, fields and redirects, links to pages, and the values of mappings.

    INTERTWINE_BINARY=.build/debug/intertwine Tests/EndToEnd/PublicTrials/siblings.py [NAME…]

A list with one odd item keeps the others; a list that cannot be read is one error that changes nothing.
"""
import gzip
import http.server
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

from trial import BINARY, ENVIRONMENT, Trials

KINDS = """kinds:
  t:
    fields: {text: {type: text, max: 4000}, num: number, day: date, link: url, need: {type: text, required: true}}
    cells: {collection: {identifier: C, size: 300x100, bind: {n: {text: need}}}}
    actions: {selection: [analytics]}
"""
LIST = b'[{"id":"a","need":"x"},{"id":"b","need":"y"%s},{"id":"c","need":"z"}]'
PLAIN = LIST % b""
TEXT = PLAIN.decode()
trials = Trials()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    routes = {}
    agents = []

    def log_message(self, *_):
        pass

    def field(self, name, value):
        self._headers_buffer.append(name.encode() + b": " + (value if isinstance(value, bytes) else value.encode()) + b"\r\n")

    def do_GET(self):
        Handler.agents.append(self.headers.get_all("User-Agent"))
        route = self.routes.get(self.path) or self.routes.get(self.path.split("?")[0])
        if callable(route):
            return route(self)
        body, fields, status = (*route, [], 200)[:3] if route and len(route) == 1 else (*route, 200)[:3] if route else (b"{}", [], 404)
        fields = list(fields.items()) if isinstance(fields, dict) else fields
        self.send_response(status)
        if not any(name == "Content-Length" for name, _ in fields):
            self.send_header("Content-Length", str(len(body)))
        for name, value in fields:
            self.field(name, value)
        self.end_headers()
        self.wfile.write(body)


def sync(path, rest=""):
    """Synchronizes a list into a new store, and returns the output and the items by id."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kinds.yaml").write_text(KINDS)
        (folder / "sources.yaml").write_text(f"sources: {{t: {{url: 'http://127.0.0.1:{PORT}{path}', kind: t, on-error: skip{rest}}}}}")
        settings = {"sources.file": folder / "sources.yaml", "kinds.file": folder / "kinds.yaml", "sources.allowed-networks": "127.0.0.0/8",
                    "sources.allowed-ports": PORT}
        flags = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        done = subprocess.run([BINARY, "sync", "t", "--database", folder / "items.sqlite", *flags], capture_output=True, text=True, env=ENVIRONMENT,
                              timeout=120, check=False)
        items = {}
        if (folder / "items.sqlite").exists():
            items = {id: json.loads(body) for id, body in sqlite3.connect(folder / "items.sqlite").execute("SELECT id, body FROM item")}
        return done.stdout + done.stderr, items


def with_member(member):
    return (LIST % (b"," + member),)


ALL, SOME, CLEAR = "all items", "all items but one", "all items, or one error"


def expect(name, outcome, expected, count=3):
    output, items = outcome
    is_one_error = not items and "Error" in output and output.strip().count("\n") < 2
    is_met = len(items) == count or expected == SOME and len(items) == count - 1 or expected == CLEAR and is_one_error
    trials.expect(f"{name}: {output.strip()[-200:]}", is_met, True)


def serve(section, cases, rest="", count=3):
    for number, (name, route, expected) in enumerate(cases):
        path = f"/{section}/{number}"
        Handler.routes[path] = route
        expect(f"{section}: {name}", sync(path, rest), expected, count)


def bodies():
    serve("bodies", [
        ("UTF-32LE, marked", (b"\xff\xfe\0\0" + TEXT.encode("utf-32-le"),), ALL), ("UTF-32BE, marked", (b"\0\0\xfe\xff" + TEXT.encode("utf-32-be"),), ALL),
        ("UTF-32LE", (TEXT.encode("utf-32-le"),), ALL), ("UTF-32BE", (TEXT.encode("utf-32-be"),), ALL),
        ("a call (JSONP)", (b"callback(" + PLAIN + b");",), ALL), ("a call behind a comment", (b"/**/ cb(" + PLAIN + b")\n",), ALL),
        ("a call of a member", (b"jQuery36005184839203_1700000000000.cb_1(" + PLAIN + b");\n",), ALL),
        ("a call behind a test", (b"/**/typeof cb === 'function' && cb(" + PLAIN + b");",), ALL), ("an assignment", (b"window.data = " + PLAIN + b";",), ALL),
        ("spaces around", (b"\n\n \t\r\n" + PLAIN + b"\n\n",), ALL), ("a no-break space before", (b"\xc2\xa0" + PLAIN,), CLEAR),
        ("words after", (PLAIN + b" trailing",), CLEAR), ("two lists", (PLAIN + PLAIN,), CLEAR), ("a comma at the end", (PLAIN[:-1] + b",]",), ALL),
        ("two commas", (PLAIN.replace(b"},{", b"},,{", 1),), ALL), ("a comment in an item", with_member(b'"n":1 // x\n'), SOME),
        ("apostrophes", with_member(b"'n':'x'"), SOME), ("a name without quotes", with_member(b"n:1"), SOME), ("1e999", with_member(b'"n":1e999'), ALL),
        (".5", with_member(b'"n":.5'), ALL), ("undefined", with_member(b'"n":undefined'), ALL), ("True", with_member(b'"n":True'), ALL),
        ("\\x41", with_member(rb'"n":"\x41"'), ALL), ("half an escape", with_member(rb'"n":"\u00"'), ALL), ("a raw new line", with_member(b'"n":"a\nb"'), ALL),
        ("NUL", with_member(b'"n":"a\0b"'), ALL), ("overlong UTF-8", with_member(b'"n":"\xc0\x80"'), ALL), ("surrogates in UTF-8", with_member(b'"n":"\xed\xa0\xbd"'), ALL),
        ("Windows-1252 in a mapped text", with_member(b'"text":"caf\xe9"'), ALL), ("escaped quotes", with_member(rb'"n":"}],[{\"\\"'), ALL),
        ("depth 100,000", with_member(b'"n":' + b"[" * 100_000 + b"]" * 100_000), ALL), ("500 KB", with_member(b'"n":"' + b"x" * 500_000 + b'"'), ALL),
        ("a name twice", with_member(b'"n":1,"n":2'), ALL), ("an empty name", with_member(b'"":1'), ALL), ("nulls", (b"[null," + PLAIN[1:-1] + b",null]",), ALL),
        ("other values", (b'[1,"x",true,[],' + PLAIN[1:-1] + b"]",), ALL), ("a truncated list", (PLAIN[:-3],), CLEAR), ("nothing", (b"",), CLEAR),
        ("a list with gaps of PHP", (b'{"0":' + PLAIN[1:-1].replace(b"},{", b"},\n\"2\" : {", 1).replace(b"},{", b"},\"7\":{", 1) + b"}",), ALL),
        ("an object with an error", (b'{"error":{"id":"a","need":"x"}}',), CLEAR), ("an object of numbers", (b'{"0":1,"1":2}',), CLEAR),
        ("a web page", (b"<!doctype html><title>x</title>", {"Content-Type": "text/html"}), CLEAR),
    ])
    lines = PLAIN[1:-1].replace(b"},{", b"}\n{")
    serve("lines", [(kind, (lines + b"\n", {"Content-Type": kind}), ALL) for kind in ("application/x-ndjson", "application/jsonl", "text/plain", "application/json")] + [
        ("a sequence", (b"\x1e" + lines.replace(b"\n", b"\n\x1e"), {"Content-Type": "application/json-seq"}), ALL), ("a broken line", (lines.replace(b'"y"', b'"y', 1),), SOME),
        ("CR alone", (lines.replace(b"\n", b"\r"),), ALL), ("a mark on each line", (b"\xef\xbb\xbf" + lines.replace(b"\n", b"\n\xef\xbb\xbf"),), ALL),
        ("NUL alone", (b"\0\0", {"Content-Type": "application/x-ndjson"}), CLEAR), ("commas alone", (b",\n,", {"Content-Type": "application/x-ndjson"}), CLEAR),
        ("CRLF and commas", (lines.replace(b"\n", b",\r\n"),), ALL), ("a truncated last line", (lines[:-4],), CLEAR), ("UTF-16", (lines.decode().encode("utf-16"),), ALL),
    ])
    named = b'{"-Na":{"need":"x"},"-Nb":{"need":"y"},"-Nc":{"need":"z"}}'
    serve("named", [("an object of Firebase", (named,), ALL), ("an array of Firebase", (b'[null,{"need":"x"},{"need":"y"},null,{"need":"z"}]',), ALL),
                    ("a value that is no object", (named.replace(b'{"need":"y"}', b"true"),), SOME), ("null", (b"null",), CLEAR)], ", key: id")
    serve("mapped-bodies", [("an optional value twice", with_member(b'"text":"a","text":"b"'), ALL), ("a required value twice", with_member(b'"need":"y"'), SOME)],
          ", fields: {id: id, need: need, text: text}")


def responses():
    def chunked(extension=b"", trailer=b""):
        def answer(handler):
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for start in range(0, len(PLAIN), 7):
                piece = PLAIN[start:start + 7]
                handler.wfile.write(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece))
            handler.wfile.write(b"0\r\n" + trailer + b"\r\n")
        return answer

    def raw(head, is_last=False):
        def answer(handler):
            handler.wfile.write(head + PLAIN)
            handler.close_connection = is_last
        return answer

    length = b"Content-Length: %d" % len(PLAIN)
    packed = gzip.compress(PLAIN)
    serve("responses", [
        ("deflate", (zlib.compress(PLAIN), {"Content-Encoding": "deflate"}), ALL),
        ("deflate without a header", (zlib.compress(PLAIN)[2:-4], {"Content-Encoding": "deflate"}), ALL), ("deflate of plain bytes", (PLAIN, {"Content-Encoding": "deflate"}), ALL),
        ("Latin-1", (LIST % b',"text":"caf\xe9"', {"Content-Type": "application/json; charset=ISO-8859-1"}), ALL), ("x-gzip", (packed, {"Content-Encoding": "x-gzip"}), ALL),
        ("gzip without a field", (packed,), ALL), ("GZIP", (packed, {"Content-Encoding": "GZIP"}), ALL), ("gzip, identity", (packed, {"Content-Encoding": "gzip, identity"}), ALL),
        ("two gzip members", (gzip.compress(PLAIN[:20]) + gzip.compress(PLAIN[20:]), {"Content-Encoding": "gzip"}), ALL),
        ("truncated gzip", (packed[:-6], {"Content-Encoding": "gzip"}), CLEAR), ("br of plain bytes", (PLAIN, {"Content-Encoding": "br"}), ALL),
        ("a vendor's type", (PLAIN, {"Content-Type": 'application/vnd.api+json; charset="utf-8"'}), ALL), ("203", (PLAIN, {}, 203), ALL), *[(str(status), (PLAIN, {}, status), ALL) for status in (201, 202, 226)],
        ("whole 206", (PLAIN, {"Content-Range": f"bytes 0-{len(PLAIN) - 1}/{len(PLAIN)}"}, 206), ALL),
        ("part 206", (PLAIN[:20], {"Content-Range": f"bytes 0-19/{len(PLAIN)}"}, 206), CLEAR),
        ("a length twice", (PLAIN, [("Content-Length", str(len(PLAIN)))] * 2), ALL), ("a length with zeros", (PLAIN, {"Content-Length": f"00{len(PLAIN)}"}), ALL),
        ("an empty field", (PLAIN, {"X-Empty": ""}), ALL), ("a line folded by a tab", (PLAIN, {"X-A": "b\r\n\tc"}), ALL), ("Latin-1 in a field", (PLAIN, {"X-A": b"caf\xe9"}), ALL),
        ("100 fields", (PLAIN, {f"X-{number}": "v" * 50 for number in range(100)}), ALL), ("60 cookies", (PLAIN, [("Set-Cookie", f"a{number}=b") for number in range(60)]), ALL),
        ("odd validators", (PLAIN, {"Date": "yesterday", "Last-Modified": "never", "ETag": "not quoted"}), ALL), ("chunks", chunked(), ALL),
        ("chunk extensions", chunked(extension=b";a=b"), ALL), ("a trailer", chunked(trailer=b"X-T: 1\r\n"), ALL),
        ("until the end", raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", True), ALL), ("HTTP/1.0", raw(b"HTTP/1.0 200 OK\r\n\r\n", True), ALL),
        ("no reason", raw(b"HTTP/1.1 200\r\n" + length + b"\r\n\r\n"), ALL),
        ("early hints", raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n" + length + b"\r\n\r\n"), ALL),
    ])
    trials.expect("User-Agent, once and with a URL", all(one and len(one) == 1 and "(+https://" in one[0] for one in Handler.agents), True)
    sync("/responses/1", ", headers: {User-Agent: mine}")
    trials.expect("a source's own User-Agent, once", Handler.agents[-1], ["mine"])


def redirects():
    def to(*locations, status=302):
        def answer(handler):
            handler.send_response(status)
            for location in locations:
                handler.field("Location", location)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        return answer

    Handler.routes |= {"/goal": (PLAIN,), "/g%20oal": (PLAIN,), "/%D1%84": (PLAIN,)}
    serve("redirects", [(str(status), to("/goal", status=status), ALL) for status in (301, 302, 303, 307, 308)] + [
        ("a path with dots", to("./x/../../goal"), ALL), ("no scheme", to(f"//127.0.0.1:{PORT}/goal"), ALL), ("capitals", to(f"HTTP://127.0.0.1:{PORT}/goal"), ALL),
        ("a fragment", to("/goal#x"), ALL), ("spaces around", to("  /goal  "), ALL), ("a space", to("/g oal"), ALL), ("UTF-8", to("/ф"), ALL), ("no UTF-8", to(b"/\xff"), CLEAR),
        ("nothing", to(""), CLEAR), ("a backslash", to("\\goal"), ALL), ("twice", to("/goal", "/goal"), ALL), ("a file", to("file:///etc/passwd"), CLEAR),
        ("a tab", to("/go\tal"), ALL), ("an empty query", to(f"http://127.0.0.1:{PORT}/goal?"), ALL),
    ])


def links():
    def first(*values, name="Link"):
        return b'[{"id":"a","need":"x"}]', [(name, value) for value in values]

    for path in ("/p2", "/p2,x", "/p;2"):
        Handler.routes[path] = (b'[{"id":"b","need":"x"}]',)
    base = f"http://127.0.0.1:{PORT}"
    serve("links", [(name, route, ALL) for name, route in [
        ("quoted", first(f'<{base}/p2>; rel="next"')), ("plain", first(f"<{base}/p2>;rel=next")), ("apostrophes", first(f"<{base}/p2>; rel='next'")),
        ("two relations", first(f'<{base}/p2>; rel="prev next"')), ("a path", first('</p2>; rel="next"')), ("another first", first(f'<{base}/p1>; rel="prev", <{base}/p2>; rel="next"')),
        ("two fields", first(f'<{base}/p1>; rel="prev"', f'<{base}/p2>; rel="next"')), ("capitals", first(f'<{base}/p2>; REL="NEXT"', name="LINK")),
        ("a title", first(f'<{base}/p2>; title="a, b; c"; rel="next"')), ("a comma in the URL", first(f'<{base}/p2,x>; rel="next"')),
        ("a semicolon in the URL", first(f'<{base}/p;2>; rel="next"')), ("spaces", first(f' < {base}/p2 > ; rel = "next" ')), ("an escape", first(f'<{base}/p2>; title="a\\"b"; rel="next"')),
        ("a folded field", first(f'<{base}/p1>; rel="prev",\r\n <{base}/p2>; rel="next"')), ("an empty field before", first("", f'<{base}/p2>; rel="next"')),
    ]], ", next: link", 2)


def mapped(form, values, title):
    """Maps values, and compares the fields of the items."""
    field, path = form.split(":")[0], f"/mapped/{title}"
    Handler.routes[path] = (json.dumps([{"id": f"i{number}", "need": "x", "v": value} for number, (value, _) in enumerate(values)]).encode(),)
    begun = time.monotonic()
    output, items = sync(path, f", fields: {{id: id, need: need, {form}}}")
    for number, (value, expected) in enumerate(values):
        item = items.get(f"i{number}", output[-200:])
        trials.expect(f"{title} {str(value)[:80]!r}", item.get(field) if isinstance(item, dict) else item, expected)
    return time.monotonic() - begun


def html():
    mapped("text: {from: v, as: text}", [
        ("a &amp;amp; b", "a &amp; b"), ("&copy2026", "©2026"), ("&copy 2026", "© 2026"), ("AT&T", "AT&T"), ("a & b", "a & b"), ("&#8217;&#x1F600;&#X41;", "’😀A"), ("&#146;", "’"),
        ("&#0;&#xD800;&#99999999999;", "\ufffd" * 3), ("&bogus;&;&#;&#x;", "&bogus;&;&#;&#x;"), ("&nbsp;x&nbspy", "\u00a0x\u00a0y"), ("<p>a</p><p>b</p>", "a\nb"),
        ("a<br>b<br/>c<BR />d", "a\nb\nc\nd"), ("<b>bo</b>ld", "bold"), ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"), ("a<!-- x > y -->b", "ab"), ("<a href=\"x>y\">l</a>", "l"),
        ("<script>alert('<b>')</script>t", "t"), ("<STYLE>p{}</Style>t", "t"), ("<svg><text>no</text></svg>yes", "yes"), ("<ul><li>a</li><li>b</li></ul>", "a\nb"), ("un<wbr>break", "unbreak"),
        ("&lt;b&gt;", "<b>"), ("<p>unclosed", "unclosed"), ("<", "<"), ("<3 you", "<3 you"), ("  a \n\t b ", "a b"), ("&hellip;&mdash;&euro;&trade;", "…—€™"),
        ("&ccaron;&Zcaron;&lstrok;&odblac;", "čŽłő"), ("&frac12;&times;&deg;", "½×°"), ("<td>a</td><td>b</td>", "a b"), ("<h1>T</h1>x", "T\nx"), ("<o:p>word</o:p>", "word"),
        ("<!DOCTYPE html><html><head><title>T</title></head><body>B</body></html>", "B"), ("emoji 👩‍👩‍👧 stays", "emoji 👩‍👩‍👧 stays"), (12, "12"), (12.5, "12.5"), (None, None), ([], None),
    ], "html")
    long = [("<svg>" * 60_000 + "</svg>x", "x"), ("<svg></svg>" * 60_000, None), ("<a \"" * 100_000, None)]
    trials.expect("html of 700 KB takes no time that grows with its square", mapped("text: {from: v, as: text}", long, "long") < 20, True)


def dates():
    moment = "2026-05-01T17:00:00Z"
    mapped("day: {from: v, as: date}", [(value, moment) for value in [
        "2026-05-01T17:00:00Z", "2026-05-01T19:00:00+02:00", "2026-05-01 19:00:00 +0200", "2026-05-01t17:00:00z", "2026-05-01T17:00Z", "2026-05-01T17:00:00,000Z",
        "2026-05-01T17:00:00+00", "2026-05-01 17:00:00 UTC", "2026-05-01T19:00:00+02:00[Europe/Berlin]", "20260501T170000Z", "2026/05/01 17:00:00 +0000", "2026-05-01T17:00:00\u221200:00",
        "Fri, 01 May 2026 17:00:00 GMT", "Fri, 1 May 2026 17:00:00 GMT", "1 May 2026 17:00:00 GMT", "Fri, 01 May 2026 19:00:00 +0200", "Fri May  1 17:00:00 2026",
        "Friday, 01-May-26 17:00:00 GMT", "Fri, 01 May 2026 13:00:00 EDT", "Fri, 01 May 2026 17:00:00 UT", "Fri May 01 17:00:00 +0000 2026", "May 1, 2026 17:00:00 GMT",
        "Fri, 01 May 2026 17:00:00 +0000 (UTC)", "Fri May 01 2026 19:00:00 GMT+0200 (Central European Summer Time)",
        "2026-05-01 19:00:00 +0200 CEST", "2026-05-01 10:00:00 PDT", "May 1, 2026, 5:00:00\u202fPM UTC", "Fri, 1 May 26 17:00:00 GMT",
        "/Date(1777654800000)/", "/Date(1777654800000+0200)/", 1777654800, 1777654800000, "1777654800", "1777654800.0", 1777654800000000, " 2026-05-01T17:00:00Z \n",
    ]] + [
        ("2026-05-01", "2026-05-01"), ("2026-5-1", "2026-05-01"), ("May 1st, 2026", "2026-05-01"), ("01-May-2026", "2026-05-01"), ("20260501", "2026-05-01"), ("2026/05/01", "2026-05-01"), ("2026-05-01T17:00:00", None), ("soon", None), ("", None), (None, None),
        (0, "1970-01-01T00:00:00Z"), (-86400, None), ("20260501170000", None), (202613011700, None), (2026, None), ("2026-02-30T00:00:00Z", None), ("0000-00-00 00:00:00", None), ("01.05.2026", "2026-05-01"), ("05/01/2026", None),
        (True, None), ("NaN", None), ("May 2026", None), ("1 May 2026 25:00:00 GMT", None), ("1 Maybe 2026", None),
    ], "dates")
    mapped("day: {from: v, as: date, zone: Europe/Berlin}", [(value, moment) for value in [
        20260501190000, "202605011900", "Fri May  1 19:00:00 2026", "2026-05-01T19:00:00", "2026-05-01 19:00", "2026-05-01T17:00:00Z", "Fri, 01 May 2026 19:00:00", "May 1, 2026 19:00",
    ]] + [("2026-01-01T00:00:00", "2025-12-31T23:00:00Z")], "zones")


def numbers_and_urls():
    mapped("num: {from: v, as: number}", [
        (" 12.90 ", 12.9), ("+5", 5), ("007", 7), ("1e3", 1000), (".5", .5), ("5.", 5), ("Infinity", None), ("nan", None), ("0x10", None), ("", None), ("1_000", None),
        ("9223372036854775807", 9223372036854775807), (1.5, 1.5), ("1e400", None), ("- 5", None)], "numbers")
    mapped("num: {from: v, as: number, decimal: ','}", [("12,90", 12.9), ("1.234,56 €", 1234.56), ("1.234", 1234), ("12.90", None), ("1,2,3", None), (12.9, 12.9)], "decimals")
    base = f"http://127.0.0.1:{PORT}"
    mapped("link: v", [
        ("https://e.example/фото.jpg", "https://e.example/%D1%84%D0%BE%D1%82%D0%BE.jpg"), ("https://BÜCHER.example/a", "https://xn--bcher-kva.example/a"),
        ("//cdn.example/a", "http://cdn.example/a"), (" https://e.example/a\n", "https://e.example/a"), ("\0https://e.example/a\0", "https://e.example/a"), ("https://e.ex\nample/a b", "https://e.example/a%20b"),
        ("https:\\\\e.example\\a", "https://e.example/a"), ("https:/e.example/a", "https://e.example/a"), ("https:e.example/a", "https://e.example/a"),
        ("https://e。example/a", "https://e.example/a"), ("/abs", f"{base}/abs"), ("rel", f"{base}/mapped/rel"), ("javascript:alert(1)", None), ("data:image/png;base64,AA", None),
        ("mailto:a@b.example", None), ("ftp://e.example/a", None), ("https://", None), ("https://e example/a", None), ("https://e.example:99999/", None), ("", None), ("   ", None),
        (None, None), (False, None), ([], None), ({}, None), ("https://e.example/" + "a" * 9_000, None)], "urls")


def users():
    """One user after the other, with the same group, on a data folder that the group may write: it needs root."""
    if os.geteuid() != 0:
        return
    # Other users must reach the folder, and the one of TMPDIR may be closed to them.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        data, program = Path(name) / "data", Path(name) / "intertwine"
        os.chmod(name, 0o755)
        shutil.copy(BINARY, program)
        data.mkdir()
        os.chown(data, 0, 0)

        def import_items(user):
            command = ["setpriv", f"--reuid={user}", "--regid=0", "--clear-groups", "--inh-caps=-all", program, "import", "--database",
                       data / "items.sqlite", "-"]
            return subprocess.run(command, input=f'[{{"kind":"user","id":"u{user}","username":"x","avatarUrl":"https://e.example/a","type":"regular"}}]', cwd=data,
                                  capture_output=True, text=True, env=ENVIRONMENT, umask=0o077, check=False)

        os.chmod(data, 0o2770)
        for user in (1000660000, 1000670000):
            done = import_items(user)
            trials.expect(f"user {user}: {done.stderr}", done.returncode, 0)
        modes = {path.name: oct(path.stat().st_mode & 0o777) for path in data.iterdir()}
        trials.expect(f"modes {modes}", set(modes.values()), {"0o660"})
        os.chmod(data / "items.sqlite", 0o600)
        refused = import_items(1000680000)
        message = "belongs to uid 1000660000 and gid 0, mode 600; this process has uid 1000680000 and gid 0"
        trials.expect(f"a refusal: {refused.stderr}", refused.returncode != 0 and message in refused.stderr, True)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
PORT = server.server_port
for part in (bodies, responses, redirects, links, html, dates, numbers_and_urls, users):
    if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
        part()
trials.report()
