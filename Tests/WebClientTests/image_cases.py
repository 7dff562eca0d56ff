"""Cancelled images."""
import time

from page import all_true, cancelled, loaded
from relay import Relay
from service import Service


def it_cancels_images_of_distant_cells(browser, relay, service):
    if service.origin:
        # A separate service, whose cache contains no image.
        with Service() as fresh, Relay(fresh.base_url) as before:
            # The delay is longer than the scrolling and shorter than the service's timeout.
            fresh.origin.delay = 4
            cancels(browser, before, fresh)
    else:
        relay.hold = lambda exchange: exchange.method == "GET" and exchange.path.startswith("/images/")
        cancels(browser, relay, service)


def cancels(browser, relay, service):
    try:
        browser.open(relay.url, cells=20)
        browser.wait(lambda: len(relay.passed("GET", "/images/")) >= 4, "requests for images")
        gone = {exchange.headers["X-Request-ID"]: exchange for exchange in relay.passed("GET", "/images/")}
        cut = service.origin.cut if service.origin else 0
        browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
        names = browser.wait(lambda: cancelled(relay) >= set(gone) and cancelled(relay), "the cancellations")
        assert names <= {e.headers.get("X-Request-ID") for e in relay.passed("GET", "/images/")}
        browser.wait(lambda: all_true(e.left or e.status == 499 for e in gone.values()), "the end of the requests")
        if service.origin:
            browser.wait(lambda: service.origin.cut > cut, "cancelled reads at the origin")
            assert all_true(e.status in (204, 404) for e in relay.passed("DELETE", "/images/requests/") if e.status)
    finally:
        relay.hold = None
        if service.origin:
            service.origin.delay = 0
    browser.wait(lambda: loaded(browser), "the visible images")
    assert browser.console() == [], browser.console()


def it_distinguishes_a_cancelled_image_from_a_lost_server(browser, relay, service):
    if service.origin is None:
        return
    # Without the relay, which buffers complete responses; with images that no cache contains.
    with Service() as fresh:
        fresh.origin.drips = True
        browser.open(fresh.base_url, cells=20)
        browser.script(
            "window.lost = []; const banner = $('#banner');"
            "new MutationObserver(() => banner.hidden || lost.push(banner.textContent)).observe(banner, {attributes: true})")
        time.sleep(0.8)
        for y in range(600, 4200, 600):
            browser.script("scrollTo({top: arguments[0], behavior: 'instant'})", y)
            time.sleep(0.5)
        assert browser.script("return lost") == [], "reported a lost server"
        assert "cannot be reached" not in browser.text("#live")
        # The inspector shows the requests for the first cell's images.
        browser.script("scrollTo({top: 0, behavior: 'instant'})")
        browser.wait(lambda: browser.script("return $('.cell').ariaPosInSet") == "1", "the first cell")
        browser.click(".cell [data-tool=inspect]")
        requests = browser.wait(lambda: browser.text(".requests"), "the requests")
        assert "cancelled" in requests and "no answer" not in requests, requests
