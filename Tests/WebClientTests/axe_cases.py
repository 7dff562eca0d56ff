"""axe-core finds no violation, in every state and colour scheme."""
import time
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from browser import Browser
from media_cases import film
from service import Service

ROOT = Path(__file__).parents[2]
SCHEMES = {
    "light": {"prefers-color-scheme": "light"},
    "dark": {"prefers-color-scheme": "dark"},
    "forced colours": {"forced-colors": "active"},
    "dark forced colours": {"forced-colors": "active", "prefers-color-scheme": "dark"},
}


def axe():
    """axe-core is part of a Python package. Without it, this test fails."""
    found = sorted(ROOT.glob(".build/python/lib/python3*/site-packages/axe_playwright_python/axe.min.js"))
    assert found, "axe-core is missing: .build/python/bin/pip install --no-deps axe-playwright-python"
    return found[0].read_text()


def findings(browser, state):
    violations = browser.async_script(
        "const [done] = arguments; axe.run(document, {resultTypes: ['violations']}).then(({violations}) => done(violations.map("
        "  ({id, nodes}) => [id, nodes.length, nodes[0].html.slice(0, 160), nodes[0].failureSummary])))")
    return [(state, violation) for violation in violations]


def it_passes_axe_in_tables_and_with_cells_of_every_kind(browser, relay, service):
    source = axe()
    found = []
    with Service(settings=[f"kinds.file={ROOT}/Config/kinds.yaml"]) as fresh:
        image = f"http://127.0.0.1:{fresh.origin.port}/background-1.png"
        fresh.put({"kind": "event", "id": 1, "title": "Event 1", "starts": "2026-05-01T19:00:00Z", "image": image, "signup": "https://example.com/x",
                   "city": "Berlin"})
        with Browser(1280, 860) as window:
            for name, features in SCHEMES.items():
                motion = {**features, "prefers-reduced-motion": "reduce"}
                window.tool("Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in motion.items()])
                for where, search, kind in (("collection", "", "EventCollectionViewCell"), ("table", "?layout=table", "EventTableViewCell")):
                    window.open(f"{fresh.base_url}/{search}", cells=8)
                    window.wait(lambda: window.find(f"[data-identifier={kind}] .image[data-state=shown]"), "the image")
                    window.script(source)
                    found += findings(window, f"{name}, the {where}")
                window.press("v")
                window.wait(lambda: window.find("#view[open]"), "the dialog")
                found += findings(window, f"{name}, what is shown")
                window.driver.get(f"{fresh.base_url}/?list=saved")
                window.wait(lambda: window.find("#state:not([hidden])"), "the message")
                window.script(source)
                found += findings(window, f"{name}, an empty list")
    assert found == [], found


def it_passes_axe(browser, relay, service):
    source = axe()
    found = []
    audio = film("ad:sound", "/sample/library.mp3", mediaType={"type": "text", "text": "audio/mpeg"}) | {"identifier": "AdvertisementAudioCollectionViewCell"}
    relay.alter_feed(lambda page: page["cells"].__setitem__(slice(3, 3), [film(), audio]))
    for width, height in ((1280, 860), (390, 844)):
        with Browser(width, height) as window:
            for name, features in SCHEMES.items():
                motion = {**features, "prefers-reduced-motion": "reduce"}
                window.tool("Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in motion.items()])
                window.open(relay.url, cells=8)
                window.wait(lambda: window.find("video") and window.find("audio"), "the players")
                window.script(source)
                where = f"{name} at {width}"
                found += findings(window, f"{where}, the feed")
                window.script("$$('.cell')[1].querySelector('[data-tool=dismiss]').click()")
                window.wait(lambda: window.find(".toast-button"), "the notice")
                found += findings(window, f"{where}, a notice")
                if width == 390:
                    window.press("v")
                    window.wait(lambda: window.find("#view[open]"), "the dialog")
                    found += findings(window, f"{where}, the view options")
                    window.press(Keys.ESCAPE)
                    window.click(".cell:nth-child(2) [data-tool=more]")
                    found += findings(window, f"{where}, the menu")
                    window.press(Keys.ESCAPE)
                window.script("$$('[data-tool=inspect]')[1].click()")
                window.wait(lambda: window.find("#inspector:not([hidden])"), "the inspector")
                found += findings(window, f"{where}, the inspector")
                window.press(Keys.ESCAPE)
                window.press("?")
                found += findings(window, f"{where}, the help")
                window.press(Keys.ESCAPE)
                window.script("$('button.cell-face').click()")
                window.wait(lambda: window.find(".zoom-image"), "the zoom")
                found += findings(window, f"{where}, the zoom")
                window.press(Keys.ESCAPE)
    relay.answer = lambda exchange: exchange.path.startswith("/feed") and (
        400, {"Content-Type": "application/problem+json"}, {"title": "Bad", "detail": "So it is.", "status": 400, "type": "about:blank"})
    browser.driver.get(relay.url)
    browser.wait(lambda: browser.find("#state:not([hidden])"), "the message")
    browser.script(source)
    found += findings(browser, "a refusal")
    assert found == [], found
