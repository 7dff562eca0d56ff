"""The element `<intertwine-feed>` on the page of an app."""
import time
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from page import ids, loaded

ROOT = Path(__file__).parents[2]
README = (ROOT / "Clients/JavaScript/README.md").read_text()
TUTORIAL = (ROOT / "Documentation/tutorials/web.md").read_text()
JSON = {"Content-Type": "application/json"}

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>App</title>
<style>
  intertwine-feed { --intertwine-surface: rgb(1, 2, 3); --intertwine-radius: 4px; max-width: 700px; }
  intertwine-feed::part(title) { font-style: italic; }
</style>
<script type="module" src="/web-client/client/element/intertwine-feed.mjs"></script>
<body><h1>App</h1>
<intertwine-feed src="/feed?limit=9" viewer="ada">
  <template data-cell="UserSnapshotCollectionViewCell">
    <style>.mine { color: rgb(4, 5, 6); }</style>
    <img data-bind="avatar" width="40" height="40" style="width: 40px; height: 40px"><strong class="mine" data-bind="username"></strong>
    <button data-action="like">Like</button>
  </template>
</intertwine-feed>
</body></html>"""


def messages(browser):
    """Returns the messages on the console, without those of the browser for missing icons and cancelled images."""
    return [text for text in browser.console() if "/favicon.ico" not in text and "/images/" not in text]


def it_shows_a_feed_on_a_page_of_six_lines(browser, relay, service):
    page = README.split("```html\n")[1].split("```")[0].replace("https://feed.example.com/", "/")
    assert len(page.strip().splitlines()) <= 6, page
    assert TUTORIAL.split("```html\n")[1].split("```")[0].replace("http://127.0.0.1:8080/", "/") == page, "the page of the tutorial differs"
    relay.pages["/app"] = page
    began = time.monotonic()
    browser.driver.get(relay.url + "app")
    browser.wait(lambda: browser.count() >= 20 and loaded(browser), "the feed")
    first = ids(browser)
    # Paging, and actions with an undo.
    browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    browser.wait(lambda: len(relay.passed("GET", "/feed?cursor")) > 1, "further pages")
    browser.script("scrollTo({top: 0, behavior: 'instant'})")
    browser.wait(lambda: ids(browser)[:1] == first[:1], "the first cells")
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: first[1] not in ids(browser), "the dismissal")
    browser.press("u")
    browser.wait(lambda: first[1] in ids(browser), "the undo")
    browser.script("focused().blur()")
    browser.click(".cell:nth-child(1) .cell-face")
    browser.wait(lambda: browser.find("dialog.zoom[open] .zoom-image"), "the zoom")
    browser.press(Keys.ESCAPE)
    assert relay.passed("GET", "/feed/changes"), "no live changes"
    print(f"        listed, selected, undone and followed: {time.monotonic() - began:.1f} s, one file of {len(page.strip().splitlines())} lines")
    assert messages(browser) == [], messages(browser)


def it_has_templates_custom_properties_parts_and_events(browser, relay, service):
    relay.alter_feed(lambda page: [cell["actions"].update(like={"type": "request", "method": "POST", "href": "/cells/x/like", "label": "Like"})
                                   for cell in page["cells"]])
    relay.answer = lambda exchange: (200, JSON, {"commands": [], "open": {"href": "/there"}}) if exchange.path == "/cells/x/like" else None
    relay.pages["/app"] = PAGE
    browser.driver.get(relay.url + "app")
    mine = "$('[data-identifier=UserSnapshotCollectionViewCell]')"
    browser.wait(lambda: browser.script(f"return {mine}?.querySelector('.image[data-state=shown] img') != null"), "the image of the template")
    style = browser.script(
        f"const cell = {mine}; const circle = $('[data-identifier=CircularUserCollectionViewCell]');"
        "return [getComputedStyle(cell).backgroundColor, getComputedStyle(cell).borderRadius, getComputedStyle(cell.querySelector('strong')).color,"
        "  getComputedStyle(circle.querySelector('[part=title]')).fontStyle, cell.querySelector('strong').textContent.length > 0,"
        "  document.querySelector('intertwine-feed').shadowRoot.querySelector('.feed').clientWidth]")
    assert style == ["rgb(1, 2, 3)", "4px", "rgb(4, 5, 6)", "italic", True, 700], style
    assert {exchange.headers["X-Viewer-ID"] for exchange in relay.passed("GET", "/feed")} == {"ada"}
    # A page handles a link itself.
    browser.script("document.querySelector('intertwine-feed').addEventListener('feedopen', (event) => { event.preventDefault(); window.opened = event.detail.href; })")
    browser.click("[data-identifier=UserSnapshotCollectionViewCell] [data-action=like]")
    browser.wait(lambda: browser.script("return window.opened") == relay.url + "there", "the event")
    # Another address replaces the feed.
    browser.script("document.querySelector('intertwine-feed').src = '/dismissed'")
    browser.wait(lambda: "No dismissed cells." in browser.text("#state"), "the other list")
    browser.script("const element = document.querySelector('intertwine-feed'); element.remove(); window.empty = element.shadowRoot.childElementCount")
    assert browser.script("return window.empty") == 0
    assert messages(browser) == [], messages(browser)
