"""The positions, sizes and accessible names of cells."""
import time
from pathlib import Path

from browser import Browser
from page import all_true, loaded, to_the_end, all_cells

WATCH = (Path(__file__).parent / "watch.js").read_text()


def it_shows_every_cell_at_its_size(browser, relay, service):
    expected = service.cells()
    browser.open(relay.url)
    shown = all_cells(browser)
    assert shown == [[cell["id"], cell["size"]["width"], cell["size"]["height"]] for cell in expected], "the cells differ from the feed"
    assert f"{len(expected)} cells" in browser.text("#end")
    assert browser.console() == [], browser.console()


def it_gives_every_cell_an_accessible_name(browser, relay, service):
    browser.open(relay.url, cells=36)
    nodes = [node for node in browser.tool("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    named = {role: [node["name"]["value"] for node in nodes if node["role"]["value"] == role] for role in ("article", "button")}
    assert len(named["article"]) >= 36
    for role, names in named.items():
        assert all_true(names), f"{role}s without a name: {len([name for name in names if not name])} of {len(names)}"


def it_has_no_layout_shift_while_images_load(browser, relay, service):
    held = time.monotonic() + 1.5
    relay.hold = lambda exchange: exchange.path.startswith("/images/") and time.monotonic() < held
    browser.tool("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    browser.open(relay.url, cells=20)
    for y in (0, 700, 1400, 2100):
        browser.script("scrollTo({top: arguments[0], behavior: 'instant'})", y)
        browser.wait(lambda: loaded(browser), "visible images")
    to_the_end(browser)
    shift, worst = browser.script("return [watched.shift, watched.worst]")
    # Rounded heights of rows may differ by a fraction of a pixel.
    assert shift < 0.002, f"layout shift of {shift}: {worst}"
    assert browser.console() == [], browser.console()


def it_fits_a_phone_and_respects_reduced_motion(browser, relay, service):
    with Browser(390, 844) as phone:
        phone.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        phone.open(relay.url, cells=8)
        assert phone.script("return document.documentElement.scrollWidth") == 390
        phone.click(".cell:nth-child(2) [data-tool=more]")
        phone.click("#cell-menu [data-menu=inspect]")
        phone.wait(lambda: phone.find("#inspector:not([hidden])"), "the inspector")
        assert phone.script("return document.documentElement.scrollWidth") == 390
        assert phone.script("return document.getAnimations().length") == 0
        assert phone.console() == [], phone.console()
    with Browser(320, 640) as narrow:
        narrow.open(relay.url, cells=8)
        edges = narrow.script("return [document.documentElement.scrollWidth, $('#help-button').getBoundingClientRect().right]")
        assert edges[0] == 320 and edges[1] <= 320, edges


def it_lays_out_cells_of_all_widths(browser, relay, service):
    others = [("Odd", 320, 60), ("Wide", 700, 120), ("Wider", 1500, 80)]

    def alter(page):
        page["cells"][1:1] = [
            {"id": f"x:{number}", "identifier": identifier, "size": {"width": width, "height": height}, "actions": {}}
            for number, (identifier, width, height) in enumerate(others)]
        title = {"type": "bind", "bindings": {"title": {"type": "text", "text": "A section with a title that is longer than its header is wide"}}}
        page["cells"].insert(0, {
            "id": "section:x", "identifier": "SectionHeaderCollectionReusableView", "size": {"width": 320, "height": 50},
            "actions": {"configuration": title}})

    relay.alter_feed(alter)
    for width in (2560, 1600, 1280, 1000, 700, 390):
        with Browser(width, 860) as window:
            window.open(relay.url, cells=9)
            sizes = {cell["id"]: cell["size"] for e in relay.passed("GET", "/feed?") if e.status == 200 for cell in e.json["cells"]}
            shown = window.script(
                "return Array.from($$('.cell'), (cell) => {"
                "  const { left, right } = cell.getBoundingClientRect();"
                "  const content = cell.matches('.is-header') ? cell : cell.querySelector('.cell-content');"
                "  return [cell.dataset.id, left, right, cell.offsetWidth, content.offsetHeight]; })")
            # The page has margins of 24 points, and of 16 on a phone.
            room = width - (48 if width > 640 else 32)
            for name, left, right, *size in shown:
                wanted = [min(sizes[name]["width"], room), sizes[name]["height"]]
                assert size == wanted, f"{name} at {width}: {size}, not {wanted}"
                assert 0 <= left and right <= width, f"{name} at {width}: from {left} to {right}"
            # All other cells are in the columns of the layout, as many as the width permits.
            column = 312 if width == 390 else 300
            columns = (room + 20) // (column + 20)
            first = (width - (columns * (column + 20) - 20)) // 2
            expected = {first + number * (column + 20) for number in range(columns)}
            found = {round(left) for name, left, _, *size in shown if name.startswith("user:")}
            assert found == expected, f"at {width}: {found}, not {expected}"
            # The header aligns with the cells.
            bar = window.script("const { left, right } = $('.bar-row').getBoundingClientRect(); return [left, right]")
            assert bar == [first, width - first], f"at {width}: the header from {bar}, the cells from {first}"
