"""Notices: undoable dismissals, and an unreachable or unavailable server."""
from selenium.webdriver.common.action_chains import ActionChains

from page import ids


def it_undoes_each_of_five_quick_dismissals(browser, relay, service):
    browser.open(relay.url, cells=20)
    before = ids(browser)
    for name in before[1:6]:
        browser.script("$(`[data-id=\"${arguments[0]}\"] [data-tool=dismiss]`).click()", name)
    browser.wait(lambda: "5 dismissed" in browser.text("#toasts"), "the notice of five")
    assert not set(before[1:6]) & set(ids(browser))
    browser.press("u")
    browser.wait(lambda: "4 dismissed" in browser.text("#toasts"), "the notice of four")
    # A notice stays while the pointer is on it.
    ActionChains(browser.driver).move_to_element(browser.find(".toast-button:nth-of-type(2)")).perform()
    browser.wait(lambda: before[5] in ids(browser), "the last one")
    browser.click(".toast-button:nth-of-type(2)")
    browser.wait(lambda: ids(browser)[:20] == before[:20], "the restored cells")
    assert len([e for e in relay.passed("DELETE", "/invocations/") if e.status == 200]) == 5
    assert browser.console() == [], browser.console()


def it_distinguishes_an_unavailable_from_an_unreachable_server(browser, relay, service):
    with browser.window(390, 844) as phone:
        phone.open(relay.url, cells=8)
        relay.answer = lambda exchange: (503, {"Retry-After": "30", "Content-Type": "application/problem+json"}, {
            "type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": "The store does not respond."})
        phone.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
        phone.wait(lambda: phone.find("#banner:not([hidden])"), "the banner")
        said = phone.visible_text()
        assert "cannot be reached" not in said and said.count("temporarily unavailable") == 1, said
        # At this width the banner is one row with a text and a button, within the page.
        left, right, height = phone.script(
            "const { left, right, height } = $('#banner').getBoundingClientRect(); return [left, right, height]")
        button = phone.script("return $('#banner .button').getClientRects().length")
        assert left >= 8 and right <= 382 and height <= 84 and button == 1, (left, right, height)
        relay.go()
        phone.click("#banner .button")
        phone.wait(lambda: "cannot be reached" in phone.text("#banner"), "the other message")
        phone.script("$('button.cell-face').click()")
        phone.wait(lambda: "Try again" in phone.text("#toasts"), "the retry button")
        said = phone.visible_text()
        assert said.count("cannot be reached") == 1, said
        assert phone.text("#live") == "", "announced twice"
        relay.answer = None
        relay.come()
        phone.click("#banner .button")
        phone.wait(lambda: not phone.find("#banner:not([hidden])"), "the end of the banner", seconds=40)
