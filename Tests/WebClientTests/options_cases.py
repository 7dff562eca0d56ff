"""What the page shows beyond the sample: cells of any kind, by the URL, in step with the service, and the viewer's own lists."""
import json
import subprocess
import urllib.request
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from axe_cases import SCHEMES, axe, findings
from browser import Browser
from page import advertisements, ids, loaded
from relay import Relay
from service import Service

KINDS = Path(__file__).parents[2] / "Config/kinds.yaml"
JSON = {"Content-Type": "application/json"}


# The first cell of an identifier as it is shown, once its picture is.
CELL = """
    const cell = document.querySelector(`[data-identifier=${arguments[0]}]`);
    if (!cell?.querySelector(".picture[data-state=shown]")) return null;
    const { scrollHeight, clientHeight } = cell.querySelector(".cell-content");
    const name = document.getElementById(cell.getAttribute("aria-labelledby")).textContent;
    return [cell.innerText, cell.querySelector("time").dateTime, name, scrollHeight - clientHeight, clientHeight, cell.offsetWidth];"""


def event(number, origin, **fields):
    return {"klass": "event", "id": number, "title": f"Event {number}", "starts": "2026-05-01T19:00:00Z",
            "picture": f"http://127.0.0.1:{origin.port}/background-{number}.png", "signup": "https://example.com/x", **fields}


def it_shows_cells_of_every_kind_at_their_size(browser, relay, service):
    if service.origin is None:
        return
    with Service(settings=[f"feed.kinds={KINDS}"]) as fresh:
        fresh.put(event(1, fresh.origin, city="Berlin"), event(2, fresh.origin, starts="2026-06-01"))
        for search, identifier in (("", "EventCollectionViewCell"), ("?layout=table", "EventTableViewCell")):
            browser.open(f"{fresh.base_url}/{search}", cells=20)
            # In one step: a cell may be laid out anew between two, as when the service has come to know its picture.
            text, date, name, spill, height, width = browser.wait(lambda: browser.script(CELL, identifier), f"{identifier} with its picture")
            assert "Event 1" in text and "not shown" not in text.lower(), text
            assert date == "2026-05-01T19:00:00Z" and name.startswith("Event 1"), (date, name)
            assert spill <= 0 and height == (160 if search == "" else 88), (spill, height)
        assert width == 720, "a row is as wide as its table"


def it_shows_what_its_url_says(browser, relay, service):
    browser.open(f"{relay.url}?width=390&viewer=bob", cells=3)
    asked = relay.passed("GET", "/feed")[0]
    assert "width=390" in asked.path and asked.headers["X-Viewer-ID"] == "bob"
    assert browser.script("return document.querySelector('.cell').offsetWidth") == 312
    browser.press("v")
    browser.wait(lambda: browser.find("#view[open]"), "the dialog")
    browser.script("document.querySelector('#view-layout').value = 'table'")
    browser.click("#view [type=submit]")
    browser.wait(lambda: "layout=table" in browser.driver.current_url and browser.count() > 3, "the table")
    assert "viewer=bob" in browser.driver.current_url and "width=390" in browser.driver.current_url
    lefts = browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => [cell.offsetLeft, cell.offsetWidth])")
    assert {tuple(pair) for pair in lefts} == {(0, 390)}, lefts
    browser.driver.get(f"{relay.url}?feed=none")
    browser.wait(lambda: browser.find("#state:not([hidden])"), "the refusal")
    assert "There is no such feed." in browser.text("#state"), browser.text("#state")
    assert len(browser.console()) == 1, browser.console()


def it_follows_what_becomes_of_the_feed(browser, relay, service):
    if service.origin is None:
        return
    with Service() as fresh, Relay(fresh.base_url) as before:
        browser.open(before.url, cells=30)
        for _ in range(3):
            browser.script("scrollBy({top: 400, behavior: 'instant'})")
            browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        focused = browser.script("const cell = document.elementFromPoint(300, 500).closest('.cell'); cell.focus(); return cell.dataset.id")
        place = "return document.querySelector(`[data-id=\"${arguments[0]}\"]`)?.getBoundingClientRect().top"
        top = browser.script(place, focused)
        first = ids(browser)[0]
        second, third = ids(browser)[1:3]
        def person(name, username):
            avatar = f"http://127.0.0.1:{fresh.origin.port}/avatar-0.png"
            return {"klass": "user", "id": name, "username": username, "avatarUrl": avatar, "type": "regular"}
        fresh.operate({"insert": person("new", "New Here"), "after": second}, {"move": third, "before": second}, {"remove": first},
                      *({"remove": name} for name in ids(browser)[3:7]),
                      {"update": person(second.removeprefix("user:"), "Renamed")})
        browser.wait(lambda: "user:new" in ids(browser) and first not in ids(browser), "the changes", seconds=30)
        browser.wait(lambda: "Renamed" in browser.text(".feed"), "the new name")
        assert browser.focused() == focused and abs(browser.script(place, focused) - top) < 2, "the place was lost"
        shown = browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => [Number(cell.ariaPosInSet), cell.dataset.id])")
        fresh_walk = [cell["id"] for cell in fresh.cells()]
        assert all(fresh_walk[number - 1] == name for number, name in shown), "not what a walk finds now"
        asked = [e for e in before.passed("GET", "/feed/changes") if e.status]
        # A service that tells of changes by itself is not asked; any other says in a line that nothing has happened.
        told = [exchange for exchange in asked if exchange.answer and exchange.answer.startswith(b"retry:")]
        browser.wait(lambda: told or any(e.status == 304 for e in before.passed("GET", "/feed/changes")), "nothing sent where nothing happens", seconds=60)
        assert len(asked) < 20


def it_restores_what_was_dismissed(browser, relay, service):
    browser.open(relay.url, cells=20)
    dismissed = relay.passed("GET", "/feed")[0].json["items"][:3]
    restored = []

    def answer(exchange):
        if exchange.path.startswith("/dismissed/") and exchange.method == "DELETE":
            restored.append(exchange.path)
            return 200, JSON, {"commands": []}
        if exchange.path.split("?")[0] == "/dismissed":
            return 200, JSON, {"items": dismissed, "page": {"limit": 20, "next": None, "previous": None}}
        return None

    relay.answer = answer
    browser.open(f"{relay.url}?list=dismissed", cells=3)
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: dismissed[1]["id"] not in ids(browser) and "back in the feed" in browser.text("#toasts"), "the restored cell to go")
    assert restored == ["/dismissed/" + urllib.request.quote(dismissed[1]["id"], safe="")], restored
    dismissed[:] = []
    browser.driver.refresh()
    browser.wait(lambda: "Nothing is dismissed." in browser.text("#state"), "the sentence")


def it_tells_the_service_its_languages_and_the_cells_that_it_knows(browser, relay, service):
    browser.open(f"{relay.url}?language=de,en;q=0.5&cells=own", cells=3)
    asked = relay.passed("GET", "/feed")[0].headers
    assert asked["Accept-Language"] == "de,en;q=0.5", asked["Accept-Language"]
    known = asked["Accept-Cells"].split(", ")
    assert "UserSnapshotCollectionViewCell" in known and known[-1] == "*;q=0", known
    browser.press("v")
    browser.wait(lambda: browser.find("#view[open]"), "the dialog")
    assert browser.script("return document.querySelector('#view-cells').value") == "own"
    browser.script("document.querySelector('#view-cells').value = 'UserSnapshotCollectionViewCell, *;q=0'")
    browser.click("#view [type=submit]")
    browser.wait(lambda: "cells=User" in browser.driver.current_url and browser.count() > 3, "the other cells")
    assert "language=de" in browser.driver.current_url
    assert relay.passed("GET", "/feed")[-1].headers["Accept-Cells"] == "UserSnapshotCollectionViewCell, *;q=0"


def it_says_in_which_language_its_cells_are(browser, relay, service):
    def page(language):
        bound = {"type": "bind", "bindings": {"username": {"text": "Schwung"}}}
        cell = {"id": "user:1", "identifier": "UserSnapshotCollectionViewCell", "size": {"width": 300, "height": 200}, "actions": {"configuration": bound}}
        told = {"Content-Language": language} if language else {}
        return 200, {**JSON, **told}, {"items": [cell], "page": {"limit": 20, "next": None, "previous": None}}

    spoken = "return ['.cell', '.cell-content', '.cell-tools'].map((one) => document.querySelector(one).closest('[lang]').lang)"
    for language in ("de", None):
        relay.answer = lambda exchange: page(language) if exchange.path.startswith("/feed?") else None
        browser.open(relay.url, cells=1)
        assert browser.script(spoken) == ["en", language or "en", "en"], browser.script(spoken)


def it_says_what_a_page_leaves_out_and_what_is_saved(browser, relay, service):
    def alter(page):
        page["page"]["omitted"] = [{"kind": "story", "count": 2, "reason": "unknown-cell", "identifiers": ["StoryCell"]},
                                   {"kind": "talk", "count": 1, "reason": "unknown-type", "identifiers": ["TalkCell"], "types": ["date"]}]
        page["items"][1]["state"] = {"saved": True}
        page["items"][1]["actions"]["dismissal"]["label"] = "Hide"

    relay.alter_feed(alter)
    browser.open(relay.url, cells=20)
    browser.wait(lambda: browser.find("#omitted:not([hidden])"), "the sentence")
    told = browser.text("#omitted")
    pages = len({e.path for e in relay.passed("GET", "/feed") if e.status})
    assert f"{2 * pages} story (StoryCell not known), {pages} talk (date of TalkCell not known)" in told, told
    saved = browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => cell.ariaDescription)")[:3]
    assert saved == [None, "Saved", None], saved
    titles = browser.script("return Array.from(document.querySelectorAll('[data-tool=dismiss]'), (tool) => tool.getAttribute('aria-label'))")[:3]
    assert titles == ["Dismiss", "Hide", "Dismiss"], titles


def it_shows_what_pictures_look_like_before_they_come(browser, relay, service):
    def alter(page):
        for cell in page["items"]:
            for binding in cell["actions"]["configuration"]["bindings"].values():
                if "image" in binding:
                    binding |= {"color": "#123456", "placeholder": "3OcRJYB4d3h/iIeHeEh3eIhw+j2w", "alt": "A likeness"}

    relay.alter_feed(alter)
    relay.hold = lambda exchange: exchange.path.startswith("/images/")
    browser.open(relay.url, cells=20)
    seen = "const picture = document.querySelector('.cell .picture'); return [getComputedStyle(picture).backgroundColor, picture.querySelector('canvas')?.width > 8]"
    assert browser.script(seen) == ["rgb(18, 52, 86)", True], browser.script(seen)
    relay.hold = None
    browser.wait(lambda: loaded(browser), "the pictures in sight")
    left = browser.script("const picture = document.querySelector('.cell .picture'); return [picture.querySelector('img').alt, picture.querySelector('canvas')]")
    assert left == ["A likeness", None], left


def it_can_be_built_by_others_from_the_same_package(browser, relay, service):
    browser.driver.get(f"{relay.url}openapi.json")
    walked = browser.driver.execute_async_script("""
        const [done] = arguments;
        import("/viewer/client/index.mjs").then(async ({ FeedClient, FeedList }) => {
          const list = new FeedList(new FeedClient({ base: location.href, viewer: "other" }), "/feed?limit=3");
          await list.loadNext();
          done(list.sections.flatMap(({ entries }) => entries.map(({ cell }) => cell.id)));
        }).catch((error) => done(String(error)));""")
    assert len(walked) == 4 and set(walked) <= {cell["id"] for cell in service.cells()}, walked


def it_plays_advertisements_and_tells_how_far_somebody_came(browser, relay, service):
    if service.origin is None:
        return
    slots = ("start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute")
    played = {"media": f"http://127.0.0.1:{service.origin.port}/jingle.wav"}

    def alter(page):
        told = {slot: {"type": "request", "method": "POST", "href": f"/told/{slot}", "body": [{"type": slot}]} for slot in slots}
        bound = {"type": "bind", "bindings": {"media": played, "mediaType": {"text": "audio/wav"}, "duration": {"number": 1}}}
        page["items"].insert(0, {"id": "ad:sound", "identifier": "AdvertisementAudioCollectionViewCell", "size": {"width": 300, "height": 120},
                                 "actions": {"configuration": bound, "selection": {"type": "link", "href": "/click/x"}, **told}})

    relay.alter_feed(alter)
    relay.answer = lambda exchange: (202, JSON, []) if exchange.path.startswith("/told/") else None
    browser.open(relay.url, cells=20)
    player = browser.wait(lambda: browser.find('[data-id="ad:sound"] audio'), "the player")
    assert player.get_attribute("aria-label") == "Advertisement" and player.get_attribute("controls")
    # Nothing plays before somebody has done something.
    browser.press(Keys.TAB)
    heard = browser.driver.execute_async_script(
        "const [player, done] = arguments; player.addEventListener('ended', () => setTimeout(() => done('ended'), 300));"
        "player.muted = true; player.play().catch((error) => done(String(error)))", player)
    assert heard == "ended", heard
    told = [exchange.path.removeprefix("/told/") for exchange in relay.passed("POST", "/told/")]
    assert sorted(told) == sorted(slots), told


def it_plays_the_samples_video_and_says_what_cannot_be_played(browser, relay, service):
    if service.origin is None:
        return

    def alter(page):
        for name, media in (("ad:film", "/sample/bakery.mp4"), ("ad:gone", "http://pictures.sample.invalid/gone.mp4")):
            bound = {"type": "bind", "bindings": {"media": {"media": media}, "mediaType": {"text": "video/mp4"}}}
            page["items"].insert(0, {"id": name, "identifier": "AdvertisementVideoCollectionViewCell", "size": {"width": 320, "height": 180},
                                     "actions": {"configuration": bound}})

    relay.alter_feed(alter)
    browser.open(relay.url, cells=20)
    player = browser.wait(lambda: browser.find('[data-id="ad:film"] video'), "the player")
    browser.press(Keys.TAB)
    shown = browser.driver.execute_async_script(
        "const [player, done] = arguments; player.addEventListener('timeupdate', () => player.currentTime > 0.2 && done(player.videoWidth));"
        "player.addEventListener('error', () => done('error')); player.muted = true; player.play().catch((error) => done(String(error)))", player)
    assert shown == 320, shown
    browser.script("document.querySelector('[data-id=\"ad:gone\"] video').play().catch(() => {})")
    browser.wait(lambda: browser.find('[data-id="ad:gone"] .media-failed'), "the word that it cannot be played")


def it_leads_operators_to_why_a_cell_is_here(browser, relay, service):
    if service.origin is None:
        return
    browser.open(f"{relay.url}?operators={service.admin_url}", cells=20)
    ad = browser.wait(lambda: next(iter(advertisements(browser)), None), "an advertisement")
    for name, expected in ((ids(browser)[1], "in the order of its section"), (ad, "place 1 for advertisements on page 1")):
        tool = browser.find(f"[data-id='{name}'] [data-tool=inspect]")
        browser.script("arguments[0].click()", tool)
        browser.click("#inspector .why summary")
        if name != ad:
            # Whoever asks the first time is told whom.
            where = browser.wait(lambda: browser.find("#inspector .why-where"), "the question where to ask")
            assert service.admin_url.rstrip("/") in where.text and browser.find("#inspector iframe") is None, where.text
            browser.click("#inspector .why-where button")
        browser.driver.switch_to.frame(browser.wait(lambda: browser.find("#inspector iframe"), "the explanation"))
        browser.wait(lambda: expected in browser.text("#explanation"), f"why {name} is here")
        assert browser.text("h1") == f"Why is {name} here?", browser.text("h1")
        assert browser.script("return Array.from(document.querySelectorAll('[aria-current] td'), (one) => one.textContent)")[0] == name
        browser.driver.switch_to.default_content()
    assert browser.console() == [], browser.console()


def it_explains_to_operators_alone_and_gives_axe_nothing_to_find(browser, relay, service):
    assert service.admin_url, "only where the tests started the service"
    ad = next(cell["id"] for cell in service.cells() if cell["id"].startswith("ad:"))
    found = []
    with type(relay)(service.admin_url) as operators:
        refused = 401, {"Content-Type": "application/problem+json"}, {"status": 401, "detail": "A bearer token is required."}
        operators.answer = lambda exchange: refused if exchange.path.startswith("/admin/") and exchange.headers.get("authorization") != "Bearer secret" else None
        for name, features in SCHEMES.items():
            with Browser(390, 844) as window:
                window.tool("Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in features.items()])
                window.driver.get(f"{operators.url}explain#cell={ad}&limit=5")
                window.wait(lambda: window.find("#access:not([hidden])"), "the question for the token")
                window.script(axe())
                found += findings(window, f"{name}, the token")
                window.driver.find_element("id", "token").send_keys("secret")
                window.click("#access button")
                window.wait(lambda: window.find("#explanation:not([hidden])"), "the explanation")
                found += findings(window, f"{name}, the explanation")
                assert not window.script("return document.documentElement.scrollWidth > innerWidth"), f"{name} scrolls sideways"
    assert found == [], found


def it_asks_what_a_slot_takes(browser, relay, service):
    report = {"type": "object", "required": ["reason"], "properties": {
        "reason": {"type": "string", "enum": ["spam", "wrong"]}, "note": {"type": "string", "maxLength": 9}, "stars": {"type": "number", "minimum": 1}}}
    action = {"type": "request", "method": "POST", "href": "/cells/x/report", "label": "Report", "input": report}
    relay.alter_feed(lambda page: page["items"][1]["actions"].update(report=action))
    relay.answer = lambda exchange: (200, JSON, {"commands": []}) if exchange.path == "/cells/x/report" else None
    browser.open(relay.url, cells=20)
    more = "document.querySelectorAll('.cell')[1].querySelector('[data-tool=more]').click()"
    for button in ("button[type=button]", "button[type=submit]"):
        browser.wait(lambda: browser.script(more) or browser.find("[data-menu=report]"), "the menu")
        browser.click("[data-menu=report]")
        browser.wait(lambda: browser.find("dialog[open] [name=stars]"), "the form")
        browser.script(axe())
        assert findings(browser, "the form") == []
        browser.find("dialog[open] [name=stars]").send_keys("4")
        assert browser.find("dialog[open] [name=note]").get_attribute("maxlength") == "9"
        browser.click(f"dialog[open] {button}")
        browser.wait(lambda: not browser.find("dialog[open]"), "the form is gone")
    browser.wait(lambda: "Report: " in browser.text("#toasts"), "the notice")
    told = relay.passed("POST", "/cells/x/report")
    assert [json.loads(exchange.body) for exchange in told] == [{"reason": "spam", "stars": 4}], "the first was called off"


def it_offers_what_a_kind_offers_beyond_the_usual(browser, relay, service):
    like = {"type": "request", "method": "POST", "href": "/cells/x/like", "label": "Like"}
    relay.alter_feed(lambda page: page["items"][1]["actions"].update(like=like, start={**like, "label": None}))
    relay.answer = lambda exchange: (200, JSON, {"commands": []}) if exchange.path == "/cells/x/like" else None
    browser.open(relay.url, cells=20)
    assert browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => getComputedStyle(cell.querySelector('[data-tool=more]')).display !== 'none')")[:3] == [False, True, False]
    browser.script("document.querySelectorAll('.cell')[1].querySelector('[data-tool=more]').click()")
    offered = browser.script("return Array.from(document.querySelectorAll('.menu-item'), (item) => item.textContent)")
    assert offered == ["Like", "Inspect", "Dismiss"], offered
    browser.click("[data-menu=like]")
    browser.wait(lambda: "Like: " in browser.text("#toasts"), "the notice")
    assert relay.passed("POST", "/cells/x/like")[0].headers["Idempotency-Key"]
