"""The positions, sizes and accessible names of cells."""
from pathlib import Path

from page import all_true, loaded, to_the_end, all_cells

WATCH = (Path(__file__).parent / "watch.js").read_text()


def it_shows_every_cell_at_its_size(browser, relay, service):
    expected = service.cells()
    browser.open(relay.url)
    shown = all_cells(browser)
    assert [name for name, _, _ in shown] == [cell["id"] for cell in expected], "the cells differ from the feed"
    # Cells fill their columns and rows, so they are at most a tenth narrower and at least as high as the feed says.
    small = [one for one, cell in zip(shown, expected) if one[1] < cell["size"]["width"] * 0.9 or one[2] < cell["size"]["height"]]
    assert not small, f"smaller than their size: {small[:5]}"
    assert f"{len(expected)} cells" in browser.text("#end")
    assert browser.console() == [], browser.console()


def it_gives_every_cell_an_accessible_name(browser, relay, service):
    browser.open(relay.url, cells=36)
    nodes = [node for node in browser.tool("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    named = {role: [node["name"]["value"] for node in nodes if node["role"]["value"] == role] for role in ("article", "button", "link")}
    assert len(named["article"]) >= 36
    for role, names in named.items():
        assert all_true(names), f"{role}s without a name: {len([name for name in names if not name])} of {len(names)}"
    # The names of ads and of their links say what is advertised, because people may not see the picture.
    shown = {picture["alt"] for cell in service.cells() if cell.get("advertisement")
             for picture in cell["actions"]["configuration"]["bindings"].values() if picture["type"] == "image"}
    for role in ("article", "link"):
        ads = [name for name in named[role] if "Advertisement" in name]
        assert ads and all(any(subject in name for subject in shown) for name in ads), (role, ads, shown)


def it_has_no_layout_shift_while_images_load(browser, relay, service):
    relay.hold = lambda exchange: exchange.path.startswith("/images/")
    browser.tool("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    browser.open(relay.url, cells=20)
    browser.wait(lambda: relay.passed("GET", "/images/"), "requests for images")
    browser.settle()
    relay.hold = None
    for y in (0, 700, 1400, 2100):
        browser.script("scrollTo({top: arguments[0], behavior: 'instant'})", y)
        browser.wait(lambda: loaded(browser), "visible images")
    to_the_end(browser)
    shift, worst = browser.script("return [watched.shift, watched.worst]")
    # Rounded heights of rows may differ by a fraction of a pixel.
    assert shift < 0.002, f"layout shift of {shift}: {worst}"
    assert browser.console() == [], browser.console()


def it_fits_a_phone_and_respects_reduced_motion(browser, relay, service):
    with browser.window(390, 844) as phone:
        phone.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        phone.open(relay.url, cells=8)
        assert phone.script("return document.documentElement.scrollWidth") == 390
        phone.click(".cell:nth-child(2) [data-tool=more]")
        phone.click("#cell-menu [data-menu=inspect]")
        phone.wait(lambda: phone.find("#inspector:not([hidden])"), "the inspector")
        assert phone.script("return document.documentElement.scrollWidth") == 390
        assert phone.script("return document.getAnimations().length") == 0
        assert phone.console() == [], phone.console()
    with browser.window(320, 640) as narrow:
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
    for width in (2560, 1280, 700, 390):
        with browser.window(width, 860) as window:
            window.open(relay.url, cells=9)
            # A change of the service may have inserted a cell that no page has.
            sizes = window.script("return Object.fromEntries(document.querySelector('intertwine-feed').parts.list.entries.map(({ cell }) => [cell.id, cell.size]))")
            room, bar, shown = window.script(
                "const edges = (one) => { const { left, right, top, bottom } = one.getBoundingClientRect(); return { left, right, top, bottom }; };"
                "return [edges($('.feed')), edges($('.bar-row')), $$('.cell').map((cell) => {"
                "  const content = cell.matches('.is-header') ? cell : cell.querySelector('.cell-content');"
                "  return { id: cell.dataset.id, ...edges(cell), width: cell.offsetWidth, height: content.offsetHeight }; })]")
            assert 0 <= room["left"] and room["right"] <= width, f"at {width}: {room}"
            for cell in shown:
                wanted = sizes[cell["id"]]
                # A cell has at least its size, unless the window or the columns are narrower.
                fits = cell["width"] >= min(wanted["width"], room["right"] - room["left"]) * 0.5
                assert cell["height"] >= min(wanted["height"], 40) and fits, f"at {width}: {cell}"
                assert room["left"] <= cell["left"] and cell["right"] <= room["right"], f"outside at {width}: {cell}"
                over = [other["id"] for other in shown if other["id"] < cell["id"] and meet(cell, other)]
                assert not over, f"{cell['id']} covers {over} at {width}"
            # Each row but the last one of a section fills the width, and its cells share their edges.
            rows = {}
            for cell in shown:
                rows.setdefault(cell["top"], []).append(cell)
            ordered = [rows[top] for top in sorted(rows)]
            for row, following in zip(ordered, ordered[1:]):
                if following[0]["id"] == "section:x":
                    continue
                followed = sorted(row, key=lambda cell: cell["left"])
                assert len({cell["bottom"] for cell in row}) == 1, f"uneven heights at {width}: {row}"
                assert abs(followed[0]["left"] - room["left"]) <= 1 and abs(followed[-1]["right"] - room["right"]) <= 1, f"a hole at {width}: {row}"
                gaps = [right["left"] - left["right"] for left, right in zip(followed, followed[1:])]
                assert all(15 <= gap <= 17 for gap in gaps), f"uneven gaps at {width}: {gaps}"
            # The header aligns with the cells.
            assert abs(bar["left"] - room["left"]) <= 1 and abs(bar["right"] - room["right"]) <= 1, f"at {width}: the header at {bar}, the cells in {room}"


def meet(one, other):
    return one["left"] < other["right"] and other["left"] < one["right"] and one["top"] < other["bottom"] and other["top"] < one["bottom"]
