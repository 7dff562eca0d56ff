"""The main cases. A case is a function with a browser, a relay in front of the service, and the service."""
import json
import posixpath
import re
import urllib.request

from selenium.webdriver.common.keys import Keys

from page import ids, loaded, to_the_end, all_cells
from relay import Relay
from service import Service

USER = 'article[data-id^="user:"]'


def it_preloads_all_imported_modules(browser, relay, service):
    def read(path):
        with urllib.request.urlopen(service.base_url + path) as answer:
            return answer.read().decode()

    needed, unread = set(), ["main.mjs"]
    while unread:
        name = unread.pop()
        beside = re.findall(r'^(?:import|export|\}) (?:[^"]*from )?"(\.\.?/[^"]+)"', read("/web-client/" + name), re.MULTILINE)
        imported = {posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in beside} - needed
        needed |= imported
        unread += imported
    preloaded = re.findall(r'<link rel="modulepreload" href="web-client/([^"]+)">', read("/"))
    assert sorted(preloaded) == sorted(needed), set(preloaded) ^ needed


def it_zooms_a_user_and_deselects_when_the_zoom_closes(browser, relay, service):
    browser.open(relay.url)
    cell = browser.script(f"return $('{USER}').dataset.id")
    browser.click(f"{USER} .cell-face")
    browser.wait(lambda: browser.find("dialog.zoom[open]"), "the zoom")
    browser.wait(lambda: browser.find(".zoom-image"), "the zoomed image")
    selected = relay.passed("POST", "/cells/")[0]
    assert selected.status == 200 and selected.json["presentation"]["arguments"]["username"] == browser.text("#zoom-title")
    assert selected.headers["Idempotency-Key"]
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: not browser.find("dialog.zoom"), "the closed zoom")
    browser.wait(lambda: [e for e in relay.passed("DELETE", "/cells/") if e.status and e.status < 300], "the deselection")
    browser.wait(lambda: browser.focused() == cell, "the restored focus")
    assert browser.console() == [], browser.console()


def it_shows_an_ad_as_a_safe_link(browser, relay, service):
    browser.open(relay.url)
    face = browser.wait(lambda: browser.find('article[data-id^="ad:"] a.cell-face'), "an ad")
    assert face.get_attribute("rel") == "noopener" and "/click/" in face.get_attribute("href")
    label = browser.script("const label = $('.is-advertisement .cell-disclosure'); const box = label.getBoundingClientRect(); return [label.textContent, box.width, box.height]")
    assert label[0] == "Advertisement" and min(label[1:]) >= 15, f"the label is only {label}"
    browser.click('article[data-id^="ad:"] a.cell-face')
    browser.wait(lambda: [e for e in relay.passed("GET", "/click/") if e.status == 302], "the click")
    browser.close_opened()


def it_opens_the_link_of_an_invocation(browser, relay, service):
    browser.open(relay.url)
    value = {"invocation": {"id": "a"}, "slot": "selection", "commands": [], "open": {"href": "/openapi.json"}}
    relay.answer = lambda exchange: (200, {"Content-Type": "application/json"}, value) if exchange.path.endswith("/selection") else None
    browser.click(f"{USER} .cell-face")
    browser.wait(lambda: relay.passed("GET", "/openapi.json"), "the opened link")
    assert not browser.find("dialog.zoom")
    browser.close_opened()


def it_dismisses_and_undoes(browser, relay, service):
    browser.open(relay.url, cells=20)
    before = ids(browser)
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: before[1] not in ids(browser), "the removal of the cell")
    browser.wait(lambda: browser.find(".toast-button"), "the undo")
    assert relay.passed("POST", "/cells/")[0].status == 200
    browser.click(".toast-button")
    browser.wait(lambda: ids(browser)[:20] == before[:20], "the restored cells")
    assert relay.passed("DELETE", "/invocations/")[0].status < 300
    # A dismissal affects only the feed of this viewer.
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: [e for e in relay.passed("POST", "/cells/")[1:] if e.status == 200], "the dismissal")
    browser.open(relay.url, cells=19)
    assert before[1] not in ids(browser)
    assert before[1] in [cell["id"] for cell in next(service.pages())["cells"]]
    assert browser.console() == [], browser.console()


def it_uses_its_own_origin_if_the_service_has_another_name(browser, relay, service):
    with Service(settings=["server.public-url=https://feed.example.com"]) as other:
        browser.open(other.base_url, cells=20)
        to_the_end(browser)
        browser.wait(lambda: loaded(browser), "visible images")
        assert browser.find('article[data-id^="ad:"] a.cell-face').get_attribute("href").startswith("https://feed.example.com/click/")
        assert browser.console() == [], browser.console()


def it_shows_a_placeholder_for_an_unknown_identifier(browser, relay, service):
    def alter(page):
        poll = {"id": "poll:1", "identifier": "PollCollectionViewCell", "size": {"width": 260, "height": 150}, "actions": {}}
        page["cells"][2:2] = [poll, {"id": "poll:2"}, {"id": "poll:3", "identifier": 7, "size": {"width": "wide"}, "actions": None}]

    relay.alter_feed(alter)
    browser.open(relay.url, cells=23)
    unknown = browser.find('.cell[data-id="poll:1"] .cell-content')
    assert unknown.size["height"] >= 150 and "PollCollectionViewCell" in unknown.text
    assert browser.find('.cell[data-id="poll:2"] .cell-content').size["height"] >= 200
    to_the_end(browser)
    assert [name for name, *_ in all_cells(browser)].count("poll:1") == len({e.path for e in relay.passed("GET", "/feed?") if e.status})
    assert browser.console() == [], browser.console()


def it_recovers_from_an_unreachable_server(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.wait(lambda: loaded(browser), "visible images")
    relay.go()
    browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    browser.wait(lambda: browser.find("#banner:not([hidden])"), "the banner")
    assert "cannot be reached" in browser.text("#banner")
    browser.script("scrollTo({top: 0, behavior: 'instant'})")
    browser.click(f"{USER} .cell-face")
    browser.wait(lambda: "Try again" in browser.text("#toasts"), "the retry button")
    relay.come()
    browser.wait(lambda: not browser.find("#banner:not([hidden])"), "the end of the banner", seconds=40)
    to_the_end(browser)
    browser.wait(lambda: loaded(browser), "visible images")


def it_is_operable_by_keyboard(browser, relay, service):
    browser.open(relay.url, cells=20)
    order = ids(browser)
    for _ in range(60):
        browser.press(Keys.TAB)
        if browser.focused():
            break
    assert browser.focused() == order[0]
    browser.press(Keys.ARROW_RIGHT)
    assert browser.focused() == order[1]
    left = "return focused().getBoundingClientRect().left"
    column = browser.script(left)
    browser.press(Keys.ARROW_DOWN)
    assert browser.script(left) == column and browser.focused() != order[1]
    browser.press(Keys.ARROW_UP, Keys.ARROW_LEFT)
    assert browser.focused() == order[0]
    browser.press(Keys.ENTER)
    browser.wait(lambda: browser.find("dialog.zoom[open]"), "the zoom")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: browser.focused() == order[0], "the restored focus")
    browser.wait(lambda: [e for e in relay.passed("DELETE", "/cells/") if e.status], "the deselection")
    browser.settle()
    browser.press(Keys.DELETE)
    browser.wait(lambda: browser.focused() == order[1] and browser.find(".toast-button"), "the focus on the neighbour")
    browser.press("u")
    browser.wait(lambda: browser.focused() == order[0], "the cell and the restored focus")
    browser.press("i")
    browser.wait(lambda: browser.find("#inspector:not([hidden])"), "the inspector")
    browser.press(Keys.ESCAPE)
    assert browser.find("#inspector[hidden]") and browser.focused() == order[0]
    browser.press("?")
    assert browser.find("#help[open]")


def it_restores_the_focus_on_a_cell_that_the_service_removed(browser, relay, service):
    browser.open(relay.url, cells=20)
    order = ids(browser)
    browser.wait(lambda: any(e.status == 200 for e in relay.passed("GET", "/feed/changes")), "the stream")
    browser.script("window.removed = feed.host.parts.list.entries[0]; $('.cell').focus()")
    browser.press(Keys.DELETE)
    browser.wait(lambda: browser.focused() == order[1] and browser.find(".toast-button"), "the focus on the neighbour")
    # The service has reported the dismissal, so the list creates a new entry when the cell returns.
    browser.wait(lambda: any(b"removed" in e.answer for e in relay.passed("GET", "/feed/changes")), "the service's changes")
    browser.wait(lambda: browser.script("return feed.host.parts.list.pageHref(removed) === null"), "the entry's end")
    browser.press("u")
    browser.wait(lambda: browser.focused() == order[0], "the cell and the restored focus")


def it_inspects_a_cell(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.wait(lambda: loaded(browser), "visible images")
    cell = relay.feed_pages()[0].json["cells"][1]
    browser.click(".cell:nth-child(2) [data-tool=inspect]")
    browser.wait(lambda: browser.find("#inspector:not([hidden])"), "the inspector")
    shown = json.loads(browser.script("return $('.inspector-scroll .form .json').textContent"))
    # The service adds these to the pictures that it has fetched, before or since.
    for binding in [*shown["actions"]["configuration"]["bindings"].values(), *cell["actions"]["configuration"]["bindings"].values()]:
        for name in ("placeholder", "color", "original"):
            binding.pop(name, None)
    assert shown == cell, (shown, cell)
    statuses = browser.script("return Array.from($$('.requests .status'), (status) => status.textContent)")
    # What the service adds to a picture configures the cell again: a picture in progress is cancelled (499, 204 or 404) and requested again.
    assert "200" in statuses and set(statuses) <= {"200", "204", "404", "499"}, statuses
    assert "X-Request-ID" in browser.script("return $('.request-body').textContent")
    browser.click(".cell:nth-child(2) .cell-face")
    browser.wait(lambda: browser.find("dialog.zoom[open]"), "the zoom")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: "selection" in browser.text(".requests") and "deselection" in browser.text(".requests"), "the new requests")


def it_works_with_a_strict_content_security_policy(browser, relay, service):
    browser.open(relay.url)
    policy = browser.script("return fetch('/').then((answer) => answer.headers.get('content-security-policy'))")
    assert policy and "default-src 'none'" in policy and "unsafe" not in policy, policy
    refused = browser.async_script(
        "document.addEventListener('securitypolicyviolation', ({ violatedDirective }) => arguments[0](violatedDirective), { once: true });"
        "document.body.insertAdjacentHTML('beforeend', '<img src=/icon.svg onload=\"document.title = 1\" onerror=\"document.title = 1\">')")
    assert refused == "script-src-attr" and browser.driver.title == "Feed – Intertwine", refused


def it_sends_the_configured_viewer_header(browser, relay, service):
    with Service(settings=["viewers.header=X-Member"]) as other, Relay(other.base_url) as before:
        browser.open(before.url)
        sent = before.feed_pages()[0].headers
        assert sent["X-Member"] and not sent["X-Viewer-ID"]


def it_can_be_disabled(browser, relay, service):
    with Service(settings=["web-client.enabled=false"]) as other, Relay(other.base_url) as before:
        browser.driver.get(before.url)
        browser.driver.get(before.url + "web-client/main.mjs")
        assert [exchange.status for exchange in before.exchanges if exchange.path in ("/", "/web-client/main.mjs")] == [404, 404]
