"""axe-core finds no violation in any state. TEST_ALL=1 selects all colour schemes and widths."""
import os
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from media_cases import film
from service import Service

ROOT = Path(__file__).parents[3]
SCHEMES = {
    "light": {"prefers-color-scheme": "light"},
    "dark": {"prefers-color-scheme": "dark"},
    "forced colours": {"forced-colors": "active"},
    "dark forced colours": {"forced-colors": "active", "prefers-color-scheme": "dark"},
}

HEIGHTS = {1280: 860, 390: 844}


def windows(browser, usual, widths=HEIGHTS):
    """Yields windows with a description: of the usual colour scheme and width, or of all of them with TEST_ALL."""
    looks = [(scheme, width) for width in widths for scheme in SCHEMES] if os.environ.get("TEST_ALL") else [usual]
    for scheme, width in looks:
        with browser.window(width, HEIGHTS[width]) as window:
            features = {**SCHEMES[scheme], "prefers-reduced-motion": "reduce"}
            window.tool("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features.items()])
            yield f"{scheme} at {width}", window


def axe():
    """axe-core is part of a Python package. Without it, this test fails."""
    found = sorted(ROOT.glob(".build/python/lib/python3*/site-packages/axe_playwright_python/axe.min.js"))
    assert found, "axe-core is missing: .build/python/bin/pip install --no-deps axe-playwright-python"
    return found[0].read_text()


def findings(browser, state):
    # axe-core checks the size of targets (WCAG 2.2, 2.5.8) only on request. What a bar covers at one scroll position is as large at another.
    violations = browser.async_script(
        "const [done] = arguments; const bars = $$('*').filter((one) => getComputedStyle(one).position === 'sticky');"
        "const sizes = () => axe.run(document, {resultTypes: ['violations'], runOnly: ['target-size']});"
        "axe.run(document, {resultTypes: ['violations']}).then(async (found) => {"
        "  for (const bar of bars) bar.style.position = 'static';"
        "  found.violations.push(...(await sizes()).violations);"
        "  for (const bar of bars) bar.style.position = '';"
        "  done(found.violations.map("
        "    ({id, nodes}) => [id, nodes.length, nodes[0].html.slice(0, 160), nodes[0].failureSummary])); })")
    return [(state, violation) for violation in violations]


def it_passes_axe_in_tables_and_with_cells_of_every_kind(browser, relay, service):
    source = axe()
    found = []
    with Service(settings=[f"kinds.file={ROOT}/Config/kinds.yaml"]) as fresh:
        image = f"http://127.0.0.1:{fresh.origin.port}/background-1.png"
        fresh.put({"kind": "event", "id": 1, "title": "Event 1", "starts": "2026-05-01T19:00:00Z", "image": image, "signup": "https://example.com/x",
                   "city": "Berlin"})
        for look, window in windows(browser, ("light", 1280), widths=[1280]):
            for where, search, kind in (("collection", "", "EventCollectionViewCell"), ("table", "?layout=table", "EventTableViewCell")):
                window.open(f"{fresh.base_url}/{search}", cells=8)
                window.wait(lambda: window.find(f"[data-identifier={kind}] .image[data-state=shown]"), "the image")
                window.script(source)
                found += findings(window, f"{look}, the {where}")
            window.press("v")
            window.wait(lambda: window.find("#view[open]"), "the dialog")
            found += findings(window, f"{look}, what is shown")
            window.driver.get(f"{fresh.base_url}/?list=saved")
            window.wait(lambda: window.find("#state:not([hidden])"), "the message")
            window.script(source)
            found += findings(window, f"{look}, an empty list")
    assert found == [], found


def it_passes_axe(browser, relay, service):
    source = axe()
    found = []
    audio = film("ad:sound", "/sample/library.mp3", mediaType={"type": "text", "text": "audio/mpeg"}) | {"identifier": "AdvertisementAudioCollectionViewCell"}
    relay.alter_feed(lambda page: page["cells"].__setitem__(slice(3, 3), [film(), audio]))
    for look, window in windows(browser, ("dark", 390)):
        window.open(relay.url, cells=8)
        window.wait(lambda: window.find("video") and window.find("audio"), "the players")
        window.script(source)
        found += findings(window, f"{look}, the feed")
        window.script("$$('.cell')[1].querySelector('[data-tool=dismiss]').click()")
        window.wait(lambda: window.find(".toast-button"), "the notice")
        found += findings(window, f"{look}, a notice")
        if window.size[0] == 390:
            window.press("v")
            window.wait(lambda: window.find("#view[open]"), "the dialog")
            found += findings(window, f"{look}, the view options")
            window.press(Keys.ESCAPE)
            window.click(".cell:nth-child(2) [data-tool=more]")
            found += findings(window, f"{look}, the menu")
            window.press(Keys.ESCAPE)
        window.script("$$('[data-tool=inspect]')[1].click()")
        window.wait(lambda: window.find("#inspector:not([hidden])"), "the inspector")
        found += findings(window, f"{look}, the inspector")
        window.press(Keys.ESCAPE)
        window.press("?")
        found += findings(window, f"{look}, the help")
        window.press(Keys.ESCAPE)
        window.script("$('button.cell-face').click()")
        window.wait(lambda: window.find(".zoom-image"), "the zoom")
        found += findings(window, f"{look}, the zoom")
        window.press(Keys.ESCAPE)
    relay.answer = lambda exchange: exchange.path.startswith("/feed") and (
        400, {"Content-Type": "application/problem+json"}, {"title": "Bad", "detail": "So it is.", "status": 400, "type": "about:blank"})
    browser.driver.get(relay.url)
    browser.wait(lambda: browser.find("#state:not([hidden])"), "the message")
    browser.script(source)
    found += findings(browser, "a refusal")
    assert found == [], found
