#!/usr/bin/env python3
"""What browsers, apps, proxies and programs send, against the service with the sample feed, and what intermediaries answer, against the client.

    INTERTWINE_BINARY=.build/debug/intertwine Tests/EndToEnd/PublicTrials/clients.py
"""
import os
import re
import subprocess
import tempfile
import time

from trial import BINARY, ENVIRONMENT, FIREFOX, ROOT, Sample, Trials

trials = Trials()

# What no sender of links is refused for.
QUERIES = [
    "utm_campaign=50%off", "u=%u0416", "u=%", "u=%zz", "u=%ff%c0%af", "%=%", "u=é", "u=\\x", 'u="<>#^`{|}', "u=%00", "limit=x", "token=1&token=2", "?", "&&&=",
]


def get(path, fields="", host="feed.example.com"):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {FIREFOX}\r\nConnection: close\r\n{fields}\r\n"


def post(fields, host="feed.example.com", body='{"events":[]}'):
    return (f"POST /events HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {FIREFOX}\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"{fields}\r\n{body}")


def requests(service):
    link = service.click()
    for query in QUERIES:
        trials.expect(f"a click with ?{query}", service.raw(get(f"{link}?{query}"))[0], 302)
    for suffix in ["&utm_source=mail", "&cb=50", "%3Futm_source=mail", ";jsessionid=1", ")", ".", "%20", "%E2%80%8B"]:
        trials.expect(f"a click with {suffix} after its token", service.raw(get(f"{link}{suffix}"))[0], 302)
    trials.expect("a click with invalid UTF-8", service.raw(get(f"{link}?u=").encode().replace(b"?u=", b"?u=\xff\xfe"))[0], 302)
    for query in ["utm=50%off", "u=%u0416", "u=é", 'u="<>\\']:
        # A feed with filters names its filters instead.
        trials.expect(f"a cell with &{query}", service.raw(get(f"/cells/user:glasses?width=320&{query}"))[0], 200)
    trials.expect("a parameter of the service in invalid UTF-8", service.raw(get("/feed?limit=%ff"))[0], 400)
    for ids in [("a", "b"), ("a", "a"), ("", "b")]:
        trials.expect(f"X-Request-ID {ids}", service.raw(get("/feed?limit=1", "".join(f"X-Request-ID: {one}\r\n" for one in ids)))[0], 200)
    for length, status in [("13", 200), ("0013", 200), ("00000000000000000000013", 200), ("+13", 400), ("-13", 400), ("13, 14", 400), ("0x0d", 400)]:
        trials.expect(f"Content-Length: {length}", service.raw(post(f"Content-Length: {length}\r\n"))[0], status)
    trials.expect("two lengths", service.raw(post("Content-Length: 13\r\nContent-Length: 14\r\n"))[0], 400)
    trials.expect("two codings", service.raw(post("Content-Length: 13\r\nTransfer-Encoding: chunked\r\n"))[0], 400)
    for target, host, status in [
        ("https://feed.example.com/feed", "feed.example.com", 200), ("http://feed.example.com/feed", "feed.example.com", 200),
        ("https://FEED.example.com:443/feed", "feed.example.com", 200), ("https://feed.example.com:8443/feed", "feed.example.com:8443", 200),
        ("https://other.example.com/feed", "feed.example.com", 421), ("https://feed.example.com:444/feed", "feed.example.com", 421),
    ]:
        trials.expect(f"{target} of {host}", service.raw(get(target, host=host))[0], status)
    for path, status in [("/cells/user:é", 404), ("/cells/user:日本", 404), ("/cells/user:%C3%A9", 404), ("/cells/user:%ff", 400)]:
        trials.expect(f"the path {path}", service.raw(get(path))[0], status)
    trials.expect("a path in invalid UTF-8", service.raw(get("/cells/user:").encode().replace(b"user:", b"user:\xff"))[0], 400)
    for origin, host, status in [
        ("http://feed.example.com:8090", "feed.example.com", 200), ("http://feed.example.com:8090", "feed.example.com:8090", 200),
        ("https://feed.example.com", "feed.example.com", 200), ("http://feed.example.com:8090", "feed.example.com:8091", 403),
        ("http://localhost:3000", "localhost", 403), ("http://127.0.0.1:3000", "127.0.0.1", 403),
        ("https://evil.example", "feed.example.com", 403), ("http://feed.example.com.evil.example", "feed.example.com", 403),
        ("capacitor://localhost", "feed.example.com", 200), ("null", "feed.example.com", 403), ("capacitor://other", "feed.example.com", 403),
    ]:
        trials.expect(f"{origin} at {host}", service.raw(post(f"Origin: {origin}\r\nContent-Length: 13\r\n", host=host))[0], status)


def viewers(service, public):
    """The field of a viewer, and the names of the service (DNS rebinding)."""
    for name, status in [("ann", 200), ("Zoë", 200), ("a\tb", 400), ("a\u0085b", 400), ("a\u009fb", 400)]:
        trials.expect(f"the viewer {name!r}", service.raw(get("/feed?limit=1", f"X-Viewer-ID: {name}\r\n", host="localhost"))[0], status)
    hosts = [
        (f"localhost:{service.port}", 200), ("app.localhost", 200), ("127.0.0.1", 200), ("[::1]", 200), ("192.0.2.1:80", 200), ("intertwine:8080", 200),
        ("feed.example.com", 200 if public else 403), ("FEED.example.com.:8443", 200 if public else 403), ("evil.example", 403),
        ("feed.example.com.evil.example", 403), ("127.0.0.1.evil.example", 403), ("localhost.evil.example", 403),
    ]
    for host, status in hosts:
        what = f"a viewer at {host}, {'with' if public else 'without'} a public URL"
        trials.expect(what, service.raw(get("/feed?limit=1", "X-Viewer-ID: ann\r\n", host=host))[0], status)
        trials.expect(f"nobody at {host}", service.raw(get("/feed?limit=1", host=host))[0], 200)
    forwarded = "X-Viewer-ID: ann\r\nX-Forwarded-For: 192.0.2.7\r\n"
    trials.expect("a viewer behind a proxy", service.raw(get("/feed?limit=1", forwarded, host="evil.example"))[0], 403 if public else 200)


def programs(service, names, *, count):
    link = service.click()
    for number, name in enumerate(names):
        answer = service.ask(link, User_Agent=name, X_Viewer_ID=f"{name}-{number}".encode("ascii", "replace").decode()[:200])[1]
        trials.expect(name, answer.getheader("X-Verdict") == "bot", not count)


def origins():
    accepted = ["capacitor://localhost", "ionic://localhost", "tauri://localhost", "app://-", "https://localhost", "file://", "null",
                "chrome-extension://abcdefghijklmnopabcdefghijklmnop", "moz-extension://1b4f0e1c-3c1a-4c5e-9f55-2a0d2f0d5f11", "http://tauri.localhost"]
    refused = ["capacitor://localhost/", "localhost", "https://a.example/x", "https://A.example", "capacitor:localhost", "a b://c"]
    for origin in accepted + refused:
        code = subprocess.run([BINARY, "check-config", "--set", f"cors.origins={origin}"], env=ENVIRONMENT, capture_output=True).returncode
        trials.expect(f"cors.origins={origin}", code == 0, origin in accepted)


PROGRAMS = """GoogleOther|Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)|Mozilla/5.0 (Linux; Android 10) Chrome/125 Mobile (compatible; Google-Read-Aloud)|\
python-requests/2.32.3|python-httpx/0.27|Python/3.12 aiohttp/3.9|curl/8.5.0|Wget/1.21|Go-http-client/2.0|Java/17.0.2|Apache-HttpClient/4.5.14 (Java/17)|\
axios/1.7.2|node-fetch|GuzzleHttp/7|libwww-perl/6.67|PostmanRuntime/7.37|Barracuda Sentinel (EE)|Mozilla/4.0 (compatible; ms-office; MSOffice 16)|\
n8n|img2dataset|Akkoma 3.10|Fastly/cache-check|Varnish|Traefik|Line-Parser|kakaotalk-scrap/1.0|DoubleVerify|Barkrowler/0.9|Elastic-Heartbeat/8.12|\
Swagger-Codegen/1.0.0/java|aws-sdk-js/2.1|Microsoft Office Protocol Discovery|Microsoft Office Existence Discovery|BazQux/2.4|Podbean/FeedUpdate|Overcast/1.0 Podcast Sync|Jetpack by WordPress.com|\
Magento|MediaWiki/1.41|Datadog/Synthetics|Site24x7|kube-probe/1.31|ELB-HealthChecker/2.0|Amazon CloudFront""".split("|")
PEOPLE = ["okhttp/4.12.0", "Dalvik/2.1.0 (Linux; U; Android 14; CUBOT_KINGKONG)", "News/412 CFNetwork/1496.0.7 Darwin/23.5.0", FIREFOX,
          "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.1; Trident/7.0; Microsoft Outlook 14.0.7113; ms-office; MSOffice 14)",
          "Mozilla/5.0 (X11; Linux x86_64; Linux Mint/19) AppleWebKit/537.36 Chrome/125 Safari/537.36", "KAKAOTALK 10.5", "Dart/3.2 (dart:io)",
          "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Safari Line/14.5.0", "UnityPlayer/5.6.0f3 (http://unity3d.com)", "Lynx/2.9.0 libwww-FM/2.14 SSL-MM/1.4.1"]


def documents():
    """The page of the names has those of the program."""
    source = (ROOT / "Sources/IntertwineFeed/Ledger/Counting/RobotNames.swift").read_text()
    known = source.split('known = """\n')[1].split('\n        """')[0].replace("\\\n", "").replace("        ", "")
    robots, people = (ROOT / "Documentation/reference/robots.md").read_text().split("## Built-in names")[1].split("## Names of people")
    robots, people = (part.split("```text\n")[1].split("\n```")[0] for part in (robots, people))
    trials.expect("the documented names", robots.replace("\n", "|").split("|"), known.split("|"))
    known = re.findall(r'"([^"]*)"', source.split("people = [")[1].split("\n    ]")[0])
    trials.expect("the documented names of people", people.split("\n"), known)
    # Process 1 of a container ends the processes that others left.
    for name in ("compose.yaml", "compose-replicas.yaml"):
        services = [one for one in re.split(r"\n  (?=\S)", (ROOT / "Deploy" / name).read_text()) if "build:" in one]
        trials.expect(f"init in {name}", ["init: true" in one for one in services], [True])
    # `$host` has no port, so that the service would not know its own name.
    pages = {path.name: re.findall(r"proxy_set_header\s+Host\s+(\S+);", path.read_text()) for path in (ROOT / "Documentation").rglob("*.md")}
    fields = [(name, value) for name, values in pages.items() for value in values]
    trials.expect("Host in the pages about nginx", {value for _, value in fields}, {"$http_host"})


def client():
    for command in (["node", "Tests/EndToEnd/PublicTrials/redirects.mjs"],
                    ["node", "--input-type=module", "-e", 'await import("./Clients/JavaScript/source/element/intertwine-feed.mjs")']):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        trials.expect(" ".join(command)[:60], (done.returncode, done.stdout[-500:] + done.stderr[-500:]), (0, ""))


with tempfile.TemporaryDirectory() as folder:
    robots = os.path.join(folder, "robots")
    with open(robots, "w") as file:
        file.write("# Ours\nAcmeProbe\n!Robotics News\n")
    with Sample(**{"events.report-verdict": "true", "events.click-rate": 100_000, "cors.origins": "capacitor://localhost", "events.robots-file": robots}) as sample:
        requests(sample)
        viewers(sample, public=False)
        programs(sample, PROGRAMS + ["AcmeProbe/2"], count=False)
        programs(sample, PEOPLE + ["Robotics News/2 okhttp/4.12", "NewProbe/1"], count=True)
        with open(robots, "w") as file:
            file.write("!*\nNewProbe\n")
        sample.reload()
        link, end = sample.click(), time.monotonic() + 10
        while sample.ask(link, User_Agent="NewProbe/1", X_Viewer_ID=str(time.monotonic()))[1].getheader("X-Verdict") != "bot" and time.monotonic() < end:
            time.sleep(0.1)
        programs(sample, ["NewProbe/1"], count=False)
        programs(sample, ["curl/8.5.0", "AcmeProbe/2"], count=True)
    with Sample(**{"server.public-url": "https://feed.example.com"}) as sample:
        viewers(sample, public=True)
origins()
documents()
client()
trials.report()
