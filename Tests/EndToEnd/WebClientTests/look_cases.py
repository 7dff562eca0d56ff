"""The page before the first cells, without cells, and around them."""
from selenium.webdriver.common.keys import Keys

from page import ids

JSON = {"Content-Type": "application/json"}


def page_of(*items):
    return lambda exchange: (200, JSON, {"cells": list(items), "page": {"limit": 20, "next": None, "previous": None}}) \
        if exchange.path.split("?")[0] == "/feed" else None


def user(name):
    bindings = {"username": {"type": "text", "text": name}, "avatar": {"type": "image", "href": f"/images/none/{name}"}}
    return {"id": f"user:{name}", "identifier": "UserSnapshotCollectionViewCell", "size": {"width": 300, "height": 200},
            "actions": {"configuration": {"type": "bind", "bindings": bindings}}}


def it_shows_outlines_until_the_first_cells_arrive(browser, relay, service):
    held = []
    relay.hold = lambda exchange: exchange.path.startswith("/feed") and not held
    browser.driver.get(relay.url)
    outlines = browser.script(
        "return Array.from($$('.skeletons i'), (one) => one.getBoundingClientRect()).filter(({ top }) => top < innerHeight)"
        "  .map(({ left, top, width, height }) => [left, top, width, height])")
    assert len(outlines) >= 9 and browser.script("return getComputedStyle($('.skeletons')).display") == "grid"
    held.append(True)
    browser.wait(lambda: browser.count() >= 20 and not browser.find(".skeletons:not([hidden])"), "the restored cells")
    first = browser.script("const { left, top } = $$('.cell')[1].getBoundingClientRect(); return [left, top]")
    assert first == outlines[1][:2], f"the outline was at {outlines[1]}, the cell at {first}"


def it_says_that_a_feed_is_empty_and_what_to_do(browser, relay, service):
    relay.answer = page_of()
    browser.driver.get(relay.url)
    browser.wait(lambda: browser.find("#state:not([hidden])"), "the message")
    assert "This feed is empty" in browser.text("#state")
    assert browser.script("const hint = $('[slot=empty]'); return hint.checkVisibility() && hint.textContent").count("intertwine import") == 1
    assert browser.script("return $('.skeletons').hidden")
    relay.answer = None
    browser.click("#state button")
    browser.wait(lambda: browser.count() >= 20, "the feed")


def it_reports_a_refused_feed(browser, relay, service):
    relay.answer = lambda exchange: (400, {"Content-Type": "application/problem+json"}, {
        "type": "/problems/invalid-cursor", "title": "Invalid cursor", "status": 400, "detail": "It is of another feed."}) \
        if exchange.path.startswith("/feed") else None
    browser.driver.get(relay.url)
    browser.wait(lambda: browser.find("#state:not([hidden])"), "the message")
    assert "It is of another feed." in browser.text("#state") and not browser.find(".skeletons:not([hidden])")
    relay.answer = None
    browser.click("#state button")
    browser.wait(lambda: browser.count() >= 20, "the feed")


def it_leads_from_an_unknown_feed_to_the_feed(browser, relay, service):
    browser.driver.get(relay.url + "?feed=nothing")
    browser.wait(lambda: browser.text("#state button") == "Go to the feed", "the way out")
    browser.click("#state button")
    browser.wait(lambda: browser.count() >= 20 and "feed=" not in browser.driver.current_url, "the feed")


def it_has_one_button_per_cell_on_phones(browser, relay, service):
    with browser.window(390, 844) as phone:
        phone.open(relay.url, cells=8)
        shown = phone.script(
            "return Array.from($$('.cell'), (cell) => Array.from(cell.querySelectorAll('.tool'))"
            "  .filter((tool) => tool.getClientRects().length > 0).map((tool) => tool.dataset.tool).join())")
        assert set(shown) == {"more"}, set(shown)
        before = ids(phone)
        phone.click(".cell:nth-child(2) [data-tool=more]")
        assert phone.script("return focused().dataset.menu") == "inspect"
        phone.press(Keys.ARROW_DOWN, Keys.ENTER)
        phone.wait(lambda: before[1] not in ids(phone), "the removal of the cell")
        # The page sends the width of the screen, and cells fill it.
        assert "width=390" in relay.feed_pages()[0].path
        assert phone.script("return $('.cell').offsetWidth") == 358


def it_uses_different_colours_for_similar_names(browser, relay, service):
    relay.answer = page_of(*(user(f"u{number}") for number in range(1, 9)))
    browser.open(relay.url, cells=8)
    hues = browser.script("return Array.from($$('.cell'), (cell) => Number(cell.style.getPropertyValue('--hue')))")
    apart = [min(abs(a - b), 360 - abs(a - b)) for a, b in zip(hues, hues[1:])]
    assert min(apart) >= 8 and apart[0] >= 30, hues


def it_animates_moves_and_respects_reduced_motion(browser, relay, service):
    moved = (
        "const [done] = arguments; const cells = Array.from($$('.cell'));"
        "cells[1].querySelector('[data-tool=dismiss]').click();"
        "requestAnimationFrame(async () => { const top = cells[4].getBoundingClientRect();"
        "  await Promise.all(cells[4].getAnimations().map(({ finished }) => finished));"
        "  const after = cells[4].getBoundingClientRect(); done([top.left, top.top, after.left, after.top]); });")
    browser.open(relay.url, cells=20)
    left, top, later_left, later_top = browser.async_script(moved)
    assert (left, top) != (later_left, later_top), "the cell is not animated"
    browser.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    left, top, later_left, later_top = browser.async_script(moved)
    assert (left, top) == (later_left, later_top), "the cell is animated despite reduced motion"


def it_does_not_dismiss_with_backspace(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.script("$$('.cell')[1].focus()")
    browser.press(Keys.BACKSPACE)
    # The page has handled the key when it has handled the next one.
    browser.press("i")
    browser.wait(lambda: browser.find("#inspector:not([hidden])"), "the inspector")
    browser.settle()
    assert not relay.passed("POST", "/cells/") and len(ids(browser)) >= 20
