"""Changes of the feed keep the reader's place, and outages are reported once."""
import json
import urllib.request
from pathlib import Path

from axe_cases import axe, findings
from page import all_cells, ids
from relay import Relay
from service import Service

WATCH = (Path(__file__).parent / "watch.js").read_text()
PLACES = "return Object.fromEntries($$('.cell').map((cell) => [cell.dataset.id, cell.getBoundingClientRect()]).filter(([, { bottom, top }]) => bottom > 0 && top < innerHeight).map(([id, { left, top }]) => [id, [left, top]]))"


def person(fresh, name, username):
    avatar = f"http://127.0.0.1:{fresh.origin.port}/avatar-0.png"
    return {"kind": "user", "id": name, "username": username, "avatarUrl": avatar, "type": "regular"}


def it_holds_changes_of_the_feed_until_the_reader_asks(browser, relay, service):
    with Service() as fresh, Relay(fresh.base_url) as before:
        browser.tool("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        browser.open(before.url, cells=30)
        for _ in range(3):
            browser.script("scrollBy({top: 400, behavior: 'instant'})")
            browser.async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        focused = browser.script("const cell = feed.elementFromPoint(300, 500).closest('.cell'); cell.focus(); return cell.dataset.id")
        places = browser.script(PLACES)
        first, second, third, *others = ids(browser)[:7]
        gone = next(name for name in places if name.startswith("user:") and name != focused)
        fresh.operate({"insert": person(fresh, "new", "New Here"), "after": second}, {"move": third, "before": second}, {"remove": first},
                      *({"remove": name} for name in others), *([] if gone in others else [{"remove": gone}]),
                      {"update": person(fresh, second.removeprefix("user:"), "Renamed")})
        browser.wait(lambda: browser.find(".pill:not([hidden])"), "the pill", seconds=30)
        assert browser.text(".pill") == "1 new" and browser.text("#live") == "1 new cell in the feed.", browser.text("#live")
        # Nothing moves, and cells change in their places.
        browser.wait(lambda: "Renamed" in browser.text(".feed"), "the new name")
        assert browser.script(f"const places = (() => {{ {PLACES} }})(); return places") == places, "cells moved"
        assert browser.focused() == focused and "user:new" not in ids(browser)
        assert browser.script("return $(`[data-id=\"${arguments[0]}\"]`).matches('.is-removed')", gone)
        assert browser.script("return watched.shift") < 0.02, browser.script("return watched.worst")
        browser.script(axe())
        assert findings(browser, "held changes") == []
        browser.click(".pill")
        browser.wait(lambda: "user:new" in ids(browser) and first not in ids(browser) and gone not in ids(browser), "the changes")
        box = browser.script("const { top, bottom } = $('[data-id=\"user:new\"]').getBoundingClientRect(); return [top, bottom]")
        assert 60 <= box[0] and box[1] <= 860 and browser.focused() == "user:new", box
        assert browser.find(".pill[hidden]")
        shown = browser.script("return Array.from($$('.cell'), (cell) => [Number(cell.ariaPosInSet), cell.dataset.id])")
        pagination = [cell["id"] for cell in fresh.cells()]
        assert all(pagination[number - 1] == name for number, name in shown), "the list differs from a new pagination"
        asked = [e for e in before.passed("GET", "/feed/changes") if e.status]
        # A service with an event stream is not polled; any other one responds with 304 if nothing has changed.
        told = [exchange for exchange in asked if exchange.answer and exchange.answer.startswith(b"retry:")]
        browser.wait(lambda: told or any(e.status == 304 for e in before.passed("GET", "/feed/changes")), "304 without changes", seconds=60)
        assert len(asked) < 20


def it_holds_a_new_size_of_a_visible_cell(browser, relay, service):
    heights = "return $$('.cell').map(({ offsetHeight }) => offsetHeight)"
    with Service() as fresh:
        browser.open(fresh.base_url + "/?layout=table", cells=20)
        name = browser.script("return $('[data-identifier=UserTableViewCell]').dataset.id")
        before = browser.script(PLACES), browser.script(heights)
        row = f"$('[data-id=\"{name}\"]')"
        # Rows of featured users are lower.
        fresh.operate({"update": person(fresh, name.removeprefix("user:"), "Renamed") | {"type": "featured"}})
        browser.wait(lambda: browser.find(".pill:not([hidden])"), "the pill", seconds=30)
        assert browser.text(".pill") == "Show changes" and browser.text("#live") == "The feed has changes.", browser.text("#live")
        assert (browser.script(PLACES), browser.script(heights)) == before and "Renamed" not in browser.text(".feed")
        browser.click(".pill")
        browser.wait(lambda: browser.script(f"return {row}.dataset.identifier") == "CircularUserTableViewCell", "the other row")
        assert "Renamed" in browser.text(".feed")
        assert browser.find(".pill[hidden]") and browser.console() == [], browser.console()


def it_shows_changes_below_the_window_immediately(browser, relay, service):
    with Service() as fresh:
        browser.open(fresh.base_url, cells=30)
        places = browser.script(PLACES)
        fresh.operate({"insert": person(fresh, "new", "New Here"), "after": ids(browser)[18]})
        browser.wait(lambda: "user:new" in ids(browser), "the new cell", seconds=30)
        assert browser.find(".pill[hidden]") and browser.script(PLACES) == places


def it_makes_no_pill_for_a_dismissal_and_loses_no_cell(browser, relay, service):
    with Service() as fresh, Relay(fresh.base_url) as before:
        browser.open(before.url, cells=20)
        browser.wait(lambda: any(e.status == 200 for e in before.passed("GET", "/feed/changes")), "the stream")
        for _ in range(3):
            gone = browser.script("const cell = $('article[data-id^=\"user:\"]'); cell.querySelector('[data-tool=dismiss]').click(); return cell.dataset.id")
            browser.wait(lambda: gone not in ids(browser), "the dismissal")
        changed = "return feed.host.parts.list.entries.every(({ isRemoved }) => !isRemoved) && $('.pill').hidden"
        browser.wait(lambda: any(b"removed" in (e.answer or b"") for e in before.passed("GET", "/feed/changes")), "the changes")
        browser.settle()
        assert browser.script(changed), "a pill, or a cell that is not available"
        viewer = before.feed_pages()[0].headers["X-Viewer-ID"]
        shown = [cell for cell in all_cells(browser)]
        request = urllib.request.Request(fresh.base_url + "/feed?limit=50", headers={"X-Viewer-ID": viewer, "User-Agent": "Mozilla/5.0 Firefox"})
        with urllib.request.urlopen(request) as answer:
            expected = [cell["id"] for cell in json.load(answer)["cells"] if cell["id"].startswith("user:")]
        people = [name for name, *_ in shown if name.startswith("user:")]
        assert people[:len(expected)] == expected, (people[:30], expected)


def it_reports_a_partial_outage_by_one_notice(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.script(
        "window.said = []; new MutationObserver(() => { const text = $('#banner').hidden ? '' : $('.banner-message').textContent;"
        "  if (said.at(-1) !== text) said.push(text); }).observe($('#banner'), {attributes: true, childList: true, subtree: true});"
        "window.toasts = []; new MutationObserver(() => toasts.push($('#toasts').textContent)).observe($('#toasts'), {childList: true, subtree: true})")
    problem = {"type": "about:blank", "title": "Service Unavailable", "status": 503}
    relay.answer = lambda exchange: (503, {"Content-Type": "application/problem+json"}, problem) if exchange.path.startswith("/feed?") else None
    browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    browser.wait(lambda: "A part of the server" in browser.text(".banner-message"), "the notice")
    browser.script(axe())
    assert findings(browser, "a partial outage") == []
    asked = len(relay.passed("GET", "/feed?"))
    again = lambda: browser.script("$('#banner .button:enabled')?.click()") or len(relay.passed("GET", "/feed?")) >= asked + 3
    browser.wait(again, "three further failures")
    browser.settle()
    said = [text for text in browser.script("return said") if text]
    assert said == ["The server is temporarily unavailable.", "A part of the server does not respond, so some content may be missing."], said
    assert "" not in browser.script("return said")[1:], "the notice disappeared"
    assert "available again" not in "".join(browser.script("return toasts"))
