"""Cancelled images."""
from page import all_true, cancelled, loaded
from relay import Relay
from service import Service


def it_cancels_images_of_distant_cells(browser, relay, service):
    # A separate service, whose cache contains no image.
    with Service() as fresh, Relay(fresh.base_url) as before:
        # Longer than the scrolling, and shorter than the service's timeout.
        fresh.origin.delay = 4
        browser.open(before.url, cells=20)
        browser.wait(lambda: len(before.passed("GET", "/images/")) >= 4 and fresh.origin.readers >= 4, "requests for images")
        gone = {exchange.headers["X-Request-ID"]: exchange for exchange in before.passed("GET", "/images/")}
        cut = fresh.origin.cut
        browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
        names = browser.wait(lambda: cancelled(before) >= set(gone) and cancelled(before), "the cancellations")
        assert names <= {e.headers.get("X-Request-ID") for e in before.passed("GET", "/images/")}
        browser.wait(lambda: all_true(e.left or e.status == 499 for e in gone.values()), "the end of the requests")
        browser.wait(lambda: fresh.origin.cut > cut, "cancelled reads at the origin")
        assert all_true(e.status in (204, 404) for e in before.passed("DELETE", "/images/requests/") if e.status)
        fresh.origin.delay = 0
        browser.wait(lambda: loaded(browser), "the visible images")
        assert browser.console() == [], browser.console()


def it_distinguishes_a_cancelled_image_from_a_lost_server(browser, relay, service):
    # Without the relay, which buffers complete responses; with images that no cache contains.
    with Service() as fresh:
        fresh.origin.drips = True
        browser.open(fresh.base_url, cells=20)
        browser.script(
            "window.lost = []; const banner = $('#banner');"
            "new MutationObserver(() => banner.hidden || lost.push(banner.textContent)).observe(banner, {attributes: true})")
        for y in range(600, 4200, 600):
            browser.wait(lambda: fresh.origin.readers > 0, "images that arrive slowly")
            cut = fresh.origin.cut
            browser.script("scrollTo({top: arguments[0], behavior: 'instant'})", y)
            browser.wait(lambda: fresh.origin.cut > cut, "cancelled reads at the origin")
        assert browser.script("return lost") == [], "reported a lost server"
        assert "cannot be reached" not in browser.text("#live")
        # The inspector shows the requests for the first cell's images.
        browser.script("scrollTo({top: 0, behavior: 'instant'})")
        browser.wait(lambda: browser.script("return $('.cell').ariaPosInSet") == "1", "the first cell")
        browser.click(".cell [data-tool=inspect]")
        requests = browser.wait(lambda: browser.text(".requests"), "the requests")
        assert "cancelled" in requests and "no answer" not in requests, requests


def it_loads_no_further_pages_while_images_fail(browser, relay, service):
    def drop(exchange):
        if exchange.path.startswith("/images/"):
            raise ConnectionError

    relay.answer = drop
    browser.open(relay.url, cells=20)
    # Each failed image looks like a lost connection, and each probe restores it.
    browser.wait(lambda: len(relay.passed("GET", "/readyz")) >= 3, "three probes")
    pages = {exchange.path for exchange in relay.passed("GET", "/feed?")}
    assert len(pages) <= 2, pages
