"""Text sizes: cells grow as they declare, and no text is cut."""
from pathlib import Path

from page import loaded
from service import Service

SAMPLE_KINDS = Path(__file__).parents[3] / "Sources/IntertwineSample/files/kinds.yaml"

# The cells whose text does not fit: the id, the height that the text needs, and the height that it has.
CUT = """
    return Array.from($$('.username, .section-title, .generic-words > p, .cell-disclosure, .row-title')).flatMap((text) => {
      const { top, bottom, height } = text.getBoundingClientRect();
      const cell = text.closest('.cell');
      const box = text.closest('.cell-content').getBoundingClientRect();
      const fits = height === 0 || (text.scrollHeight <= text.clientHeight + 1 && top >= box.top - 1 && bottom <= box.bottom + 1);
      return fits ? [] : [[cell.dataset.id, text.className, text.scrollHeight, text.clientHeight, top - box.top, bottom - box.bottom]];
    });"""
OVERLAPS = """
    const avatars = Array.from($$('.snapshot-avatar, .circular-avatar'));
    return avatars.filter((one) => {
      const name = one.parentElement.querySelector('.username').getBoundingClientRect();
      return one.getBoundingClientRect().bottom > name.top + 1;
    }).length;"""
HEIGHTS = "return Array.from($$('.cell-content'), (content) => content.offsetHeight)"


def it_grows_cells_with_the_text_and_cuts_none(browser, relay, service):
    declared = {cell["id"]: cell["size"] for cell in service.cells()}
    images = set()
    for search, scale in (("", 1), ("?text=2", 2), ("?text=3", 3), ("?layout=table&text=3", 3)):
        browser.open(relay.url + search, cells=12)
        browser.wait(lambda: loaded(browser), "the images")
        assert browser.script(CUT) == [], (search, browser.script(CUT))
        assert browser.script(OVERLAPS) == 0, f"an avatar covers a name at {search}"
        size = browser.script("return parseFloat(getComputedStyle($('.username, .row-title')).fontSize)")
        assert size == 15 * scale, (search, size)
        # Text sizes divide no caches: the service is not asked for them.
        assert "text" not in relay.feed_pages()[-1].path
        if "table" in search:
            continue
        cell = '[data-identifier="UserSnapshotCollectionViewCell"]'
        name, *shown = browser.script(
            f"const cell = $('{cell}'); const {{ offsetHeight, offsetWidth }} = cell.querySelector('.cell-content'); return [cell.dataset.id, offsetWidth, offsetHeight]")
        size = declared[name]
        assert size["textHeight"] > 0 and shown[1] >= size["height"] + size["textHeight"] * (scale - 1), (size, shown)
        images.add(browser.script(f"return $('{cell} .snapshot-background').offsetHeight"))
    assert min(images) >= 140, f"the text has taken the place of the image: {images}"


def it_grows_cells_of_declared_kinds_with_the_text(browser, relay, service):
    with Service(settings=[f"kinds.file={SAMPLE_KINDS}"]) as fresh:
        image = f"http://127.0.0.1:{fresh.origin.port}/background-1.png"
        fresh.put({"kind": "event", "id": 1, "title": "Open-air cinema", "starts": "2026-05-01T19:00:00Z", "image": image, "city": "Berlin",
                   "by": "Glasses", "authorId": "user:glasses", "topic": "culture", "signup": "https://example.com/x"})
        fresh.operate({"move": "event:1", "before": fresh.cells()[0]["id"]})
        for search, identifier, height in (("", "EventCollectionViewCell", 200), ("layout=table&", "EventTableViewCell", 88)):
            for scale in (1, 2, 3):
                browser.open(f"{fresh.base_url}/?{search}text={scale}", cells=8)
                content = browser.wait(lambda: browser.find(f"[data-identifier={identifier}] .cell-content"), identifier)
                assert content.size["height"] >= height + 44 * (scale - 1), (identifier, scale, content.size)
                assert browser.script(CUT) == [], (search, scale, browser.script(CUT))


def it_chooses_the_text_size(browser, relay, service):
    browser.open(relay.url, cells=12)
    browser.press("v")
    browser.wait(lambda: browser.find("#view[open]"), "the dialog")
    browser.script("$('#view-text').value = '2'")
    browser.click("#view [type=submit]")
    browser.wait(lambda: "text=2" in browser.driver.current_url and browser.count() >= 8, "larger text")
    assert browser.script("return document.querySelector('intertwine-feed').textScale") == 2
    browser.press("v")
    assert browser.script("return $('#view-text').value") == "2"


def it_follows_the_font_size_of_the_browser(browser, relay, service):
    browser.open(relay.url, cells=12)
    heights = browser.script(HEIGHTS)
    # A reader in the middle of the feed keeps the place.
    browser.script("scrollTo({top: 700, behavior: 'instant'})")
    seen = browser.script("return feed.elementFromPoint(640, 120)?.closest('.cell')?.dataset.id")
    browser.script("document.documentElement.style.fontSize = '200%'")
    element = "document.querySelector('intertwine-feed')"
    browser.wait(lambda: browser.script(f"return {element}.textScale") == 2, "the new text scale")
    grown = browser.wait(lambda: browser.script(HEIGHTS) != heights and browser.script(HEIGHTS), "new heights")
    assert max(grown) >= max(heights), (heights, grown)
    assert browser.script("return feed.elementFromPoint(640, 120)?.closest('.cell')?.dataset.id") in (seen, None)
    assert browser.script(CUT) == [], browser.script(CUT)
    paths = [exchange.path for exchange in relay.passed("GET", "/feed?")]
    assert len(set(paths)) == len(paths), f"a larger text loaded a page again: {paths}"
    # The attribute overrides the font size. Values outside the range are limited, others are ignored.
    for value, scale in (("3", 3), ("99", 4), ("0.1", 0.5), ("x", 2), ("-1", 2), ("", 2)):
        browser.script(f"{element}.setAttribute('text-scale', '{value}')")
        assert browser.script(f"return {element}.textScale") == scale, (value, scale)
    browser.script(f"{element}.removeAttribute('text-scale'); document.documentElement.style.fontSize = ''")
    browser.wait(lambda: browser.script(f"return {element}.textScale") == 1, "the normal text")
    assert browser.console() == [], browser.console()
