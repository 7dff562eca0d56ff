"""What the page has to do, one function for each; a case gets a browser, a relay before the service, and the service."""
import json
import sys
import time
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from browser import Browser
from relay import Relay
from service import Service

WATCH = (Path(__file__).parent / "watch.js").read_text()
USER = 'article[data-id^="user:"]'


def all():
    return [(name, case) for name, case in vars(sys.modules[__name__]).items() if name.startswith("it_")]


def it_shows_the_first_page_within_300_ms(browser, relay, service):
    browser.tool("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    times = []
    for _ in range(7):
        browser.open(service.base_url, cells=20)
        times.append(browser.wait(lambda: browser.script("return watched.firstPage"), "the first paint with cells"))
    print(f"        first page visible after {', '.join(f'{t:.0f}' for t in sorted(times))} ms")
    assert min(times) < 300, f"never within 300 ms: {times}"


def it_scrolls_to_the_end_and_shows_every_cell_at_its_size(browser, relay, service):
    expected = service.cells()
    browser.open(relay.url)
    to_the_end(browser)
    shown = browser.script(
        "return Array.from(document.querySelectorAll('.cell'), (cell) => [cell.dataset.id, cell.offsetWidth, cell.offsetHeight])")
    assert shown == [[cell["id"], cell["size"]["width"], cell["size"]["height"]] for cell in expected], "other cells than the feed's"
    assert f"{len(expected)} cells" in browser.text("#end")
    names = browser.script(
        "return Array.from(document.querySelectorAll('.cell'),"
        " (cell) => document.getElementById(cell.getAttribute('aria-labelledby')).textContent)")
    assert all_true(names), "a cell without a name"
    assert browser.console() == [], browser.console()


def it_shifts_nothing_while_pictures_load(browser, relay, service):
    held = time.monotonic() + 1.5
    relay.hold = lambda exchange: exchange.path.startswith("/images/") and time.monotonic() < held
    browser.tool("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    browser.open(relay.url, cells=20)
    for y in (0, 700, 1400, 2100):
        browser.script("scrollTo({top: arguments[0], behavior: 'instant'})", y)
        browser.wait(lambda: loaded(browser), "the pictures in sight")
    to_the_end(browser)
    shift, worst = browser.script("return [watched.shift, watched.worst]")
    assert shift == 0, f"layout shift of {shift}: {worst}"
    assert browser.console() == [], browser.console()


def it_zooms_a_user_and_deselects_when_the_zoom_closes(browser, relay, service):
    browser.open(relay.url)
    cell = browser.script(f"return document.querySelector('{USER}').dataset.id")
    browser.click(f"{USER} .cell-face")
    browser.wait(lambda: browser.find("dialog.zoom[open]"), "the zoom")
    browser.wait(lambda: browser.find(".zoom-picture"), "the picture in the zoom")
    selected = relay.passed("POST", "/cells/")[0]
    assert selected.status == 200 and selected.json["presentation"]["arguments"]["username"] == browser.text("#zoom-title")
    assert selected.headers["Idempotency-Key"]
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: not browser.find("dialog.zoom"), "the zoom to close")
    browser.wait(lambda: [e for e in relay.passed("DELETE", "/cells/") if e.status and e.status < 300], "the deselection")
    browser.wait(lambda: browser.focused() == cell, "the focus to come back")
    assert browser.console() == [], browser.console()


def it_offers_an_advertisement_as_a_safe_link(browser, relay, service):
    browser.open(relay.url)
    face = browser.wait(lambda: browser.find('article[data-id^="ad:"] a.cell-face'), "an advertisement")
    assert face.get_attribute("rel") == "noopener" and "/click/" in face.get_attribute("href")
    badge = browser.script("const box = document.querySelector('.badge').getBoundingClientRect(); return [box.width, box.height]")
    assert min(badge) >= 15, f"the label is only {badge}"
    page = browser.driver.current_window_handle
    browser.click('article[data-id^="ad:"] a.cell-face')
    browser.wait(lambda: [e for e in relay.passed("GET", "/click/") if e.status == 302], "the click")
    for handle in browser.driver.window_handles:
        if handle != page:
            browser.driver.switch_to.window(handle)
            browser.driver.close()
    browser.driver.switch_to.window(page)


def it_dismisses_and_undoes(browser, relay, service):
    browser.open(relay.url, cells=20)
    before = ids(browser)
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: before[1] not in ids(browser), "the cell to go")
    browser.wait(lambda: browser.find(".toast-button"), "the undo")
    assert relay.passed("POST", "/cells/")[0].status == 200
    browser.click(".toast-button")
    browser.wait(lambda: ids(browser)[:20] == before[:20], "the cell in its place")
    assert relay.passed("DELETE", "/selections/")[0].status < 300
    # Dismissed for good, it stays away from this viewer's feed, and from nobody else's.
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: [e for e in relay.passed("POST", "/cells/")[1:] if e.status == 200], "the dismissal")
    browser.open(relay.url, cells=19)
    assert before[1] not in ids(browser)
    assert before[1] in [cell["id"] for cell in next(service.pages())["items"]]
    assert browser.console() == [], browser.console()


def it_cancels_the_pictures_of_cells_that_leave(browser, relay, service):
    if service.origin:
        # A service of its own, whose cache knows no picture yet.
        with Service() as fresh, Relay(fresh.base_url) as before:
            fresh.origin.delay = 8
            cancels(browser, before, fresh)
    else:
        relay.hold = lambda exchange: exchange.method == "GET" and exchange.path.startswith("/images/")
        cancels(browser, relay, service)


def cancels(browser, relay, service):
    try:
        browser.open(relay.url, cells=20)
        browser.wait(lambda: len(relay.passed("GET", "/images/")) >= 4, "requests for pictures")
        gone = {exchange.headers["X-Request-ID"]: exchange for exchange in relay.passed("GET", "/images/")}
        cut = service.origin.cut if service.origin else 0
        browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
        names = browser.wait(lambda: cancelled(relay) >= set(gone) and cancelled(relay), "the cancellations")
        assert names <= {e.headers.get("X-Request-ID") for e in relay.passed("GET", "/images/")}
        browser.wait(lambda: all_true(e.left or e.status == 499 for e in gone.values()), "the requests to end")
        if service.origin:
            browser.wait(lambda: service.origin.cut > cut, "the origin to see its readers leave")
            assert all_true(e.status in (204, 404) for e in relay.passed("DELETE", "/images/requests/") if e.status)
    finally:
        relay.hold = None
        if service.origin:
            service.origin.delay = 0
    browser.wait(lambda: loaded(browser), "the pictures that are in sight now")
    assert browser.console() == [], browser.console()


def it_shows_a_placeholder_for_an_unknown_identifier(browser, relay, service):
    def alter(page):
        poll = {"id": "poll:1", "identifier": "PollCollectionViewCell", "size": {"width": 260, "height": 150}, "actions": {}}
        page["items"][2:2] = [poll, {"id": "poll:2"}, {"id": "poll:3", "identifier": 7, "size": {"width": "wide"}, "actions": None}]

    relay.alter_feed(alter)
    browser.open(relay.url, cells=23)
    unknown = browser.find('.cell[data-id="poll:1"]')
    assert unknown.size == {"width": 260, "height": 150} and "PollCollectionViewCell" in unknown.text
    assert browser.find('.cell[data-id="poll:2"]').size == {"width": 300, "height": 200}
    to_the_end(browser)
    assert ids(browser).count("poll:1") == len(relay.passed("GET", "/feed"))
    assert browser.console() == [], browser.console()


def it_survives_a_server_that_goes_and_comes_back(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.wait(lambda: loaded(browser), "the pictures in sight")
    relay.go()
    browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    browser.wait(lambda: browser.find("#banner:not([hidden])"), "the banner")
    assert "cannot be reached" in browser.text("#banner")
    cells = browser.count()
    browser.click(f"{USER} .cell-face")
    browser.wait(lambda: "Try again" in browser.text("#toasts"), "the offer to try again")
    relay.come()
    browser.wait(lambda: not browser.find("#banner:not([hidden])"), "the banner to go", seconds=40)
    to_the_end(browser)
    assert browser.count() > cells
    browser.wait(lambda: loaded(browser), "the pictures in sight")


def it_reports_what_was_seen_for_a_second(browser, relay, service):
    browser.open(relay.url, cells=20)
    # The second one: no part of it is in sight at the top.
    advertisement = "const cell = document.querySelectorAll('article[data-id^=\"ad:\"]')[1];"
    browser.wait(lambda: browser.script(f"{advertisement} return cell"), "a second one")
    token = browser.script(f"{advertisement} scrollTo({{top: cell.offsetTop - 200, behavior: 'instant'}}); return cell.dataset.id")
    time.sleep(0.4)
    browser.script("scrollTo({top: 0, behavior: 'instant'})")
    # Longer than what was seen waits for more to be told with it.
    time.sleep(2.5)
    assert not [event for event in events(relay) if event["cell"] == token], "counted after less than a second"
    browser.script(f"{advertisement} scrollTo({{top: cell.offsetTop - 200, behavior: 'instant'}})")
    time.sleep(1.3)
    # Leaving the page sends what is waiting.
    browser.driver.get("about:blank")
    browser.wait(lambda: [event for event in events(relay) if event["cell"] == token], "the impression")
    assert len([event for event in events(relay) if event["cell"] == token]) == 1
    browser.wait(lambda: relay.passed("POST", "/events")[0].status == 202, "202")


def it_can_be_walked_by_keyboard(browser, relay, service):
    browser.open(relay.url, cells=20)
    order = ids(browser)
    for _ in range(4):
        browser.press(Keys.TAB)
        if browser.focused():
            break
    assert browser.focused() == order[0]
    browser.press(Keys.ARROW_RIGHT)
    assert browser.focused() == order[1]
    left = "return document.activeElement.getBoundingClientRect().left"
    column = browser.script(left)
    browser.press(Keys.ARROW_DOWN)
    assert browser.script(left) == column and browser.focused() != order[1]
    browser.press(Keys.ARROW_UP, Keys.ARROW_LEFT)
    assert browser.focused() == order[0]
    browser.press(Keys.ENTER)
    browser.wait(lambda: browser.find("dialog.zoom[open]"), "the zoom")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: browser.focused() == order[0], "the focus to come back")
    browser.wait(lambda: relay.passed("DELETE", "/cells/"), "the deselection")
    time.sleep(0.2)
    browser.press(Keys.DELETE)
    browser.wait(lambda: browser.focused() == order[1] and browser.find(".toast-button"), "the focus on the neighbour")
    browser.press("u")
    browser.wait(lambda: browser.focused() == order[0], "the cell and the focus to come back")
    browser.press("i")
    browser.wait(lambda: browser.find("#inspector:not([hidden])"), "the inspector")
    browser.press(Keys.ESCAPE)
    assert browser.find("#inspector[hidden]") and browser.focused() == order[0]
    browser.press("?")
    assert browser.find("#help[open]")


def it_inspects_a_cell(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.wait(lambda: loaded(browser), "the pictures in sight")
    cell = relay.passed("GET", "/feed")[0].json["items"][1]
    browser.click(".cell:nth-child(2) [data-tool=inspect]")
    browser.wait(lambda: browser.find("#inspector:not([hidden])"), "the inspector")
    assert json.loads(browser.script("return document.querySelector('.inspector-scroll > .json').textContent")) == cell
    statuses = browser.script("return Array.from(document.querySelectorAll('.requests .status'), (status) => status.textContent)")
    assert statuses and set(statuses) == {"200"}, statuses
    assert "X-Request-ID" in browser.script("return document.querySelector('.request-body').textContent")
    browser.click(".cell:nth-child(2) .cell-face")
    browser.wait(lambda: browser.find("dialog.zoom[open]"), "the zoom")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: "selection" in browser.text(".requests") and "deselection" in browser.text(".requests"), "the new requests")


def it_fits_a_phone_and_keeps_still_where_asked(browser, relay, service):
    with Browser(390, 844) as phone:
        phone.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        phone.open(relay.url, cells=20)
        assert phone.script("return document.documentElement.scrollWidth") == 390
        phone.click(".cell:nth-child(2) [data-tool=inspect]")
        assert phone.script("return document.documentElement.scrollWidth") == 390
        assert phone.script("return document.getAnimations().length") == 0
        assert phone.console() == [], phone.console()


def it_needs_no_more_than_a_strict_policy(browser, relay, service):
    browser.open(relay.url)
    policy = browser.script("return fetch('/').then((answer) => answer.headers.get('content-security-policy'))")
    assert policy and "default-src 'none'" in policy and "unsafe" not in policy, policy
    browser.script("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title = 1\">')")
    time.sleep(0.3)
    assert browser.driver.title == "Intertwine"


def it_names_the_viewer_as_configured(browser, relay, service):
    if service.origin is None:
        return
    with Service(settings=["events.viewer-header=X-Member"]) as other, Relay(other.base_url) as before:
        browser.open(before.url)
        sent = before.passed("GET", "/feed")[0].headers
        assert sent["X-Member"] and not sent["X-Viewer-ID"]


def it_can_be_switched_off(browser, relay, service):
    if service.origin is None:
        return
    with Service(settings=["viewer.enabled=false"]) as other, Relay(other.base_url) as before:
        browser.driver.get(before.url)
        browser.driver.get(before.url + "viewer/main.mjs")
        assert [exchange.status for exchange in before.exchanges if exchange.path in ("/", "/viewer/main.mjs")] == [404, 404]


def to_the_end(browser):
    def reached():
        browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
        return browser.find("#end:not([hidden])")

    browser.wait(reached, "the end of the feed", seconds=60)


def ids(browser):
    return browser.script("return Array.from(document.querySelectorAll('.cell'), (cell) => cell.dataset.id)")


def loaded(browser):
    """Whether every picture in sight is there."""
    return browser.script(
        "return Array.from(document.querySelectorAll('.picture')).every((picture) => {"
        "  const { top, bottom } = picture.getBoundingClientRect();"
        "  const isOutOfSight = bottom < 0 || top > innerHeight;"
        "  const isUnbound = picture.matches('.snapshot-background:not([data-state])');"
        "  return isOutOfSight || isUnbound || picture.dataset.state === 'shown'; })")


def cancelled(relay):
    return {exchange.path.rsplit("/", 1)[1] for exchange in relay.passed("DELETE", "/images/requests/")}


def events(relay):
    return [event for exchange in relay.passed("POST", "/events") for event in json.loads(exchange.body)]


def all_true(values):
    values = list(values)
    return bool(values) and not [value for value in values if not value]
