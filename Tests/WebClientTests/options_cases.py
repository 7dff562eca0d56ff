"""Cells of any kind, the options in the URL, synchronization, and the viewer's lists."""
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


# The first cell of an identifier, after its image is loaded.
CELL = """
    const cell = document.querySelector(`[data-identifier=${arguments[0]}]`);
    if (!cell?.querySelector(".image[data-state=shown]")) return null;
    const { scrollHeight, clientHeight } = cell.querySelector(".cell-content");
    const name = document.getElementById(cell.getAttribute("aria-labelledby")).textContent;
    return [cell.innerText, cell.querySelector("time").dateTime, name, scrollHeight - clientHeight, clientHeight, cell.offsetWidth];"""


def event(number, origin, **fields):
    return {"kind": "event", "id": number, "title": f"Event {number}", "starts": "2026-05-01T19:00:00Z",
            "image": f"http://127.0.0.1:{origin.port}/background-{number}.png", "signup": "https://example.com/x", **fields}


def it_shows_cells_of_every_kind_at_their_size(browser, relay, service):
    if service.origin is None:
        return
    with Service(settings=[f"kinds.file={KINDS}"]) as fresh:
        fresh.put(event(1, fresh.origin, city="Berlin"), event(2, fresh.origin, starts="2026-06-01"))
        for search, identifier in (("", "EventCollectionViewCell"), ("?layout=table", "EventTableViewCell")):
            browser.open(f"{fresh.base_url}/{search}", cells=20)
            # One script call reads all values, because the service may change the cell in between.
            text, date, name, spill, height, width = browser.wait(lambda: browser.script(CELL, identifier), f"{identifier} with its image")
            assert "Event 1" in text and "unsupported" not in text.lower(), text
            assert date == "2026-05-01T19:00:00Z" and name.startswith("Event 1"), (date, name)
            assert spill <= 0 and height == (160 if search == "" else 88), (spill, height)
        assert width == 720, "the row has another width than the table"


def it_applies_the_options_in_its_url(browser, relay, service):
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


def it_applies_changes_of_the_feed(browser, relay, service):
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
            return {"kind": "user", "id": name, "username": username, "avatarUrl": avatar, "type": "regular"}
        fresh.operate({"insert": person("new", "New Here"), "after": second}, {"move": third, "before": second}, {"remove": first},
                      *({"remove": name} for name in ids(browser)[3:7]),
                      {"update": person(second.removeprefix("user:"), "Renamed")})
        browser.wait(lambda: "user:new" in ids(browser) and first not in ids(browser), "the changes", seconds=30)
        browser.wait(lambda: "Renamed" in browser.text(".feed"), "the new name")
        assert browser.focused() == focused and abs(browser.script(place, focused) - top) < 2, "the position changed"
        shown = browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => [Number(cell.ariaPosInSet), cell.dataset.id])")
        pagination = [cell["id"] for cell in fresh.cells()]
        assert all(pagination[number - 1] == name for number, name in shown), "the list differs from a new pagination"
        asked = [e for e in before.passed("GET", "/feed/changes") if e.status]
        # A service with an event stream is not polled; any other one responds with 304 if nothing has changed.
        told = [exchange for exchange in asked if exchange.answer and exchange.answer.startswith(b"retry:")]
        browser.wait(lambda: told or any(e.status == 304 for e in before.passed("GET", "/feed/changes")), "304 without changes", seconds=60)
        assert len(asked) < 20


def it_restores_dismissed_cells(browser, relay, service):
    browser.open(relay.url, cells=20)
    dismissed = relay.passed("GET", "/feed")[0].json["cells"][:3]
    restored = []

    def answer(exchange):
        if exchange.path.startswith("/dismissed/") and exchange.method == "DELETE":
            restored.append(exchange.path)
            return 200, JSON, {"commands": []}
        if exchange.path.split("?")[0] == "/dismissed":
            return 200, JSON, {"cells": dismissed, "page": {"limit": 20, "next": None, "previous": None}}
        return None

    relay.answer = answer
    browser.open(f"{relay.url}?list=dismissed", cells=3)
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: dismissed[1]["id"] not in ids(browser) and "in the feed again" in browser.text("#toasts"), "the removal of the restored cell")
    assert restored == ["/dismissed/" + urllib.request.quote(dismissed[1]["id"], safe="")], restored
    dismissed[:] = []
    browser.driver.refresh()
    browser.wait(lambda: "No dismissed cells." in browser.text("#state"), "the message")


def it_sends_its_languages_and_supported_cells(browser, relay, service):
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


def it_marks_the_language_of_its_cells(browser, relay, service):
    def page(language):
        bound = {"type": "bind", "bindings": {"username": {"type": "text", "text": "Schwung"}}}
        cell = {"id": "user:1", "identifier": "UserSnapshotCollectionViewCell", "size": {"width": 300, "height": 200}, "actions": {"configuration": bound}}
        told = {"Content-Language": language} if language else {}
        return 200, {**JSON, **told}, {"cells": [cell], "page": {"limit": 20, "next": None, "previous": None}}

    spoken = "return ['.cell', '.cell-content', '.cell-tools'].map((one) => document.querySelector(one).closest('[lang]').lang)"
    for language in ("de", None):
        relay.answer = lambda exchange: page(language) if exchange.path.startswith("/feed?") else None
        browser.open(relay.url, cells=1)
        assert browser.script(spoken) == ["en", language or "en", "en"], browser.script(spoken)


def it_reports_omitted_items_and_saved_cells(browser, relay, service):
    def alter(page):
        page["page"]["omitted"] = [{"kind": "story", "count": 2, "reason": "unknown-cell", "identifiers": ["StoryCell"]},
                                   {"kind": "talk", "count": 1, "reason": "unknown-type", "identifiers": ["TalkCell"], "types": ["date"]}]
        page["cells"][1]["state"] = {"saved": True}
        page["cells"][1]["actions"]["dismissal"]["label"] = "Hide"

    relay.alter_feed(alter)
    browser.open(relay.url, cells=20)
    browser.wait(lambda: browser.find("#omitted:not([hidden])"), "the message")

    def expected():
        pages = len({e.path for e in relay.passed("GET", "/feed?") if e.status == 200})
        return f"{2 * pages} story (StoryCell not supported), {pages} talk (date of TalkCell not supported)"

    # Further pages may load, because the client prefetches.
    browser.wait(lambda: expected() in browser.text("#omitted"), "the numbers of all loaded pages")
    saved = browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => cell.ariaDescription)")[:3]
    assert saved == [None, "Saved", None], saved
    titles = browser.script("return Array.from(document.querySelectorAll('[data-tool=dismiss]'), (tool) => tool.getAttribute('aria-label'))")[:3]
    assert titles == ["Dismiss", "Hide", "Dismiss"], titles


def it_shows_placeholders_until_images_are_loaded(browser, relay, service):
    def alter(page):
        for cell in page["cells"]:
            for binding in cell["actions"]["configuration"]["bindings"].values():
                if binding["type"] == "image":
                    binding |= {"color": "#123456", "placeholder": "3OcRJYB4d3h/iIeHeEh3eIhw+j2w", "alt": "A preview"}

    relay.alter_feed(alter)
    relay.hold = lambda exchange: exchange.path.startswith("/images/")
    browser.open(relay.url, cells=20)
    seen = "const image = document.querySelector('.cell .image'); return [getComputedStyle(image).backgroundColor, image.querySelector('canvas')?.width > 8]"
    assert browser.script(seen) == ["rgb(18, 52, 86)", True], browser.script(seen)
    relay.hold = None
    browser.wait(lambda: loaded(browser), "visible images")
    left = browser.script("const image = document.querySelector('.cell .image'); return [image.querySelector('img').alt, image.querySelector('canvas')]")
    assert left == ["A preview", None], left


def it_serves_the_client_package(browser, relay, service):
    browser.driver.get(f"{relay.url}openapi.json")
    all_cells = browser.driver.execute_async_script("""
        const [done] = arguments;
        import("/web-client/client/index.mjs").then(async ({ FeedClient, FeedList }) => {
          const list = new FeedList(new FeedClient({ base: location.href, viewer: "other" }), "/feed?limit=3");
          await list.loadNext();
          done(list.sections.flatMap(({ entries }) => entries.map(({ cell }) => cell.id)));
        }).catch((error) => done(String(error)));""")
    assert len(all_cells) == 4 and set(all_cells) <= {cell["id"] for cell in service.cells()}, all_cells


def it_plays_ads_and_reports_quartiles(browser, relay, service):
    if service.origin is None:
        return
    slots = ("start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute")
    played = {"type": "media", "href": f"http://127.0.0.1:{service.origin.port}/jingle.wav"}

    def alter(page):
        told = {slot: {"type": "request", "method": "POST", "href": f"/told/{slot}", "body": {"events": [{"type": slot}]}} for slot in slots}
        bound = {"type": "bind", "bindings": {"media": played, "mediaType": {"type": "text", "text": "audio/wav"}, "duration": {"type": "number", "number": 1}}}
        page["cells"].insert(0, {"id": "ad:sound", "identifier": "AdvertisementAudioCollectionViewCell", "size": {"width": 300, "height": 120},
                                 "actions": {"configuration": bound, "selection": {"type": "link", "href": "/click/x"}, **told}})

    relay.alter_feed(alter)
    relay.answer = lambda exchange: (200, JSON, {"results": []}) if exchange.path.startswith("/told/") else None
    browser.open(relay.url, cells=20)
    player = browser.wait(lambda: browser.find('[data-id="ad:sound"] audio'), "the player")
    assert player.get_attribute("aria-label") == "Advertisement" and player.get_attribute("controls")
    # Autoplay requires a user gesture.
    browser.press(Keys.TAB)
    heard = browser.driver.execute_async_script(
        "const [player, done] = arguments; player.addEventListener('ended', () => setTimeout(() => done('ended'), 300));"
        "player.muted = true; player.play().catch((error) => done(String(error)))", player)
    assert heard == "ended", heard
    told = [exchange.path.removeprefix("/told/") for exchange in relay.passed("POST", "/told/")]
    assert sorted(told) == sorted(slots), told


def it_plays_the_sample_video_and_reports_unplayable_media(browser, relay, service):
    if service.origin is None:
        return

    def alter(page):
        for name, media in (("ad:film", "/sample/bakery.mp4"), ("ad:gone", "http://pictures.sample.invalid/gone.mp4")):
            bound = {"type": "bind", "bindings": {"media": {"type": "media", "href": media}, "mediaType": {"type": "text", "text": "video/mp4"}}}
            page["cells"].insert(0, {"id": name, "identifier": "AdvertisementVideoCollectionViewCell", "size": {"width": 320, "height": 180},
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
    browser.wait(lambda: browser.find('[data-id="ad:gone"] .media-failed'), "the error message")


def it_shows_operators_the_explanation_of_a_cell(browser, relay, service):
    if service.origin is None:
        return
    browser.open(f"{relay.url}?operators={service.admin_url}", cells=20)
    ad = browser.wait(lambda: next(iter(advertisements(browser)), None), "an ad")
    for name, expected in ((ids(browser)[1], "in the order of its section"), (ad, "ad slot 1 of page 1")):
        tool = browser.find(f"[data-id='{name}'] [data-tool=inspect]")
        browser.script("arguments[0].click()", tool)
        browser.click("#inspector .why summary")
        if name != ad:
            # The first explanation asks for confirmation of the origin.
            where = browser.wait(lambda: browser.find("#inspector .why-where"), "the confirmation")
            assert service.admin_url.rstrip("/") in where.text and browser.find("#inspector iframe") is None, where.text
            browser.click("#inspector .why-where button")
        browser.driver.switch_to.frame(browser.wait(lambda: browser.find("#inspector iframe"), "the explanation"))
        browser.wait(lambda: expected in browser.text("#explanation"), f"the explanation of {name}")
        assert browser.text("h1") == f"Why is {name} here?", browser.text("h1")
        assert browser.script("return Array.from(document.querySelectorAll('[aria-current] td'), (one) => one.textContent)")[0] == name
        browser.driver.switch_to.default_content()
    assert browser.console() == [], browser.console()


def it_requires_the_token_for_explanations_and_passes_axe(browser, relay, service):
    assert service.admin_url, "requires a service that the tests started"
    ad = next(cell["id"] for cell in service.cells() if cell["id"].startswith("ad:"))
    found = []
    with type(relay)(service.admin_url) as operators:
        refused = 401, {"Content-Type": "application/problem+json"}, {"status": 401, "detail": "A bearer token is required."}
        operators.answer = lambda exchange: refused if exchange.path.startswith("/admin/") and exchange.headers.get("authorization") != "Bearer secret" else None
        for name, features in SCHEMES.items():
            with Browser(390, 844) as window:
                window.tool("Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in features.items()])
                window.driver.get(f"{operators.url}explain#cell={ad}&limit=5")
                window.wait(lambda: window.find("#access:not([hidden])"), "the token form")
                window.script(axe())
                found += findings(window, f"{name}, the token")
                window.driver.find_element("id", "token").send_keys("secret")
                window.click("#access button")
                window.wait(lambda: window.find("#explanation:not([hidden])"), "the explanation")
                found += findings(window, f"{name}, the explanation")
                assert not window.script("return document.documentElement.scrollWidth > innerWidth"), f"{name} scrolls sideways"
    assert found == [], found


def it_shows_a_form_for_the_input_of_a_slot(browser, relay, service):
    report = {"type": "object", "required": ["reason"], "properties": {
        "reason": {"type": "string", "enum": ["spam", "wrong"]}, "note": {"type": "string", "maxLength": 9}, "stars": {"type": "number", "minimum": 1}}}
    action = {"type": "request", "method": "POST", "href": "/cells/x/report", "label": "Report", "input": report}
    relay.alter_feed(lambda page: page["cells"][1]["actions"].update(report=action))
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
        browser.wait(lambda: not browser.find("dialog[open]"), "the closed form")
    browser.wait(lambda: "Report: " in browser.text("#toasts"), "the notice")
    told = relay.passed("POST", "/cells/x/report")
    assert [json.loads(exchange.body) for exchange in told] == [{"reason": "spam", "stars": 4}], "the first form was cancelled"


def it_offers_custom_slots(browser, relay, service):
    like = {"type": "request", "method": "POST", "href": "/cells/x/like", "label": "Like"}
    relay.alter_feed(lambda page: page["cells"][1]["actions"].update(like=like, start={**like, "label": None}))
    relay.answer = lambda exchange: (200, JSON, {"commands": []}) if exchange.path == "/cells/x/like" else None
    browser.open(relay.url, cells=20)
    assert browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => getComputedStyle(cell.querySelector('[data-tool=more]')).display !== 'none')")[:3] == [False, True, False]
    browser.script("document.querySelectorAll('.cell')[1].querySelector('[data-tool=more]').click()")
    offered = browser.script("return Array.from(document.querySelectorAll('.menu-item'), (item) => item.textContent)")
    assert offered == ["Like", "Inspect", "Dismiss"], offered
    browser.click("[data-menu=like]")
    browser.wait(lambda: "Like: " in browser.text("#toasts"), "the notice")
    assert relay.passed("POST", "/cells/x/like")[0].headers["Idempotency-Key"]
