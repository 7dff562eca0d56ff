"""The elements around the cells: tabs, tools, labels, targets, the reference of the API, and the help."""
import urllib.parse
from pathlib import Path

from axe_cases import axe, findings
from page import ids
from relay import Relay
from service import Service

KINDS = Path(__file__).parents[3] / "Config/kinds.yaml"

# Returns the tools that cover texts of any cell, or each other. They are in the corners of pictures.
COVERED = """
    const boxes = (selector) => $$(selector).filter((one) => one.checkVisibility()).map((one) => [one, one.getBoundingClientRect()]);
    const contents = boxes(".cell p:not(.cell-gone), .cell time, .section-title, .cell-line .cell-face").filter(([, box]) => box.width > 0 && box.height > 0);
    const around = boxes(".cell-tools .tool");
    const meets = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
    return around.flatMap(([tool, box]) => contents.filter(([, content]) => meets(box, content)).map(([content]) => [tool.className, content.className]));"""

SMALL = """
    return $$("a, button, input, select, textarea, summary").filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: false }))
      .filter((one) => !one.matches(".cell-link, .skip, p a") && (!one.matches("[type=radio], [type=checkbox]")))
      .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()]).filter(([, { width, height }]) => Math.min(width, height) < 44)
      .map(([html, { width, height }]) => [html, width, height]);"""


def it_covers_no_content_by_tools_and_titles(browser, relay, service):
    with Service(settings=[f"kinds.file={KINDS}"]) as fresh, Relay(fresh.base_url) as before:
        image = f"http://127.0.0.1:{fresh.origin.port}/background-1.png"
        fresh.put(*({"kind": "event", "id": number, "title": "An event with a title that is much longer than its cell is wide", "image": image,
                     "starts": "2026-05-01T19:00:00Z", "signup": "https://example.com/x", "city": "Berlin"} for number in (1, 2)))

        def alter(page):
            for cell in page["cells"]:
                if not cell["id"].startswith("section:"):
                    cell["state"] = {"saved": True}
                    cell["actions"]["like"] = {"type": "request", "method": "POST", "href": "/cells/x/like", "label": "Like"}

        before.alter_feed(alter)
        for width, search in ((1280, ""), (1280, "?layout=table"), (390, ""), (390, "?layout=table")):
            with browser.window(width, 860) as window:
                window.open(before.url + search, cells=8)
                assert window.find(".section-title") and window.find("[data-identifier^=Event]"), "no declared kind"
                for top in (0, 500):
                    window.script("scrollTo({top: arguments[0], behavior: 'instant'})", top)
                    assert window.script(COVERED) == [], f"at {width} with {search}: {window.script(COVERED)}"
                assert window.script(SMALL) == [], f"small targets at {width} with {search}: {window.script(SMALL)}"


def it_gives_the_cells_of_a_row_one_height(browser, relay, service):
    browser.open(relay.url, cells=20)
    rows = browser.script(
        "return Object.values(Object.groupBy($$('.cell'), ({ offsetTop }) => offsetTop)).map((cells) => [...new Set(cells.map(({ offsetHeight }) => offsetHeight))])")
    assert len(rows) >= 5 and all(len(heights) == 1 for heights in rows), rows


def it_keeps_the_colours_of_an_ad_in_the_dark(browser, relay, service):
    seen, ad = {}, ".is-advertisement"
    for dark in (False, True):
        with browser.window(dark=dark) as window:
            window.open(relay.url, cells=20)
            image = window.wait(lambda: window.find(f"{ad} .image[data-state=shown] img"), "the picture of an ad")
            seen[dark] = window.pixels(image)
            # The same ad in the other window.
            ad = window.script("return `.cell[data-id='${arguments[0].closest('.cell').dataset.id}']`", image)
    assert len(set(seen[False])) > 2, "the picture has one colour"
    assert seen[True] == seen[False], seen


def it_marks_failed_and_missing_images(browser, relay, service):
    problem = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "The image is gone."}
    relay.answer = lambda exchange: (404, {"Content-Type": "application/problem+json"}, problem) if exchange.path.startswith("/images/") else None
    browser.open(relay.url, cells=20)
    text = browser.wait(lambda: browser.text(".snapshot-background[data-state=failed]"), "the failed image")
    assert text == "Image unavailable" and browser.find(".snapshot-background .image-unavailable svg")
    browser.click(".cell:nth-child(2) .cell-face")
    browser.wait(lambda: "The image cannot be displayed. The image is gone." in browser.text("dialog.zoom .zoom-failure"), "the failure in the zoom")
    browser.script(axe())
    assert findings(browser, "a missing image") == []


def it_has_tabs_with_addresses_and_titles(browser, relay, service):
    browser.open(relay.url, cells=20)
    assert browser.driver.title == "Feed – Intertwine" and browser.text("#tabs [aria-current]") == "Feed"
    for name, list_name in (("Saved", "saved"), ("Dismissed", "dismissed")):
        browser.click(f"#tabs a[data-list={list_name}]")
        browser.wait(lambda: browser.driver.current_url.endswith(f"?list={list_name}") and browser.driver.title == f"{name} – Intertwine", name)
        assert browser.text("#tabs [aria-current]") == name
    browser.click(".brand a")
    browser.wait(lambda: browser.driver.current_url == relay.url and browser.count() >= 20, "the home page")
    assert "One feed for your app" in browser.text("#about")


def it_shows_what_an_app_receives_beside_the_feed(browser, relay, service):
    with browser.window(1440, 900, panel=True) as wide:
        wide.open(relay.url, cells=12)
        shown = wide.wait(lambda: wide.find("#inspector:not([hidden]) .form .json"), "the JSON of a cell")
        name = wide.text("#inspector h2")
        assert f'"id": "{name}"' in shown.text and wide.script("return $('.cell.is-inspected').dataset.id") == name
        assert wide.script("return $('.feed').getBoundingClientRect().right <= $('#inspector').getBoundingClientRect().left")
        for form, expected in (("Swift", "views.register("), ("Element", "<template data-cell="), ("Move", f'"move":"{name}"'), ("Move", f"{service.admin_url.rstrip('/').rsplit(':')[-1]}/admin/operations")):
            wide.script("$$('.form-choice').find((one) => one.textContent === arguments[0]).click()", form)
            assert expected in wide.text("#inspector .form"), (form, wide.text("#inspector .form"))
        # A line of code that wraps continues to the right of its beginning.
        lefts = wide.script("""
            $$('.form-choice')[2].click();
            return $$('#inspector .form .json-line').map((line) => {
              const text = document.createRange();
              text.selectNodeContents(line);
              return Array.from(text.getClientRects()).filter(({ width }) => width > 0).map(({ left }) => left); });""")
        assert any(len(line) > 1 for line in lefts) and all(min(line[1:]) > line[0] for line in lefts if len(line) > 1), lefts
        # Another cell is selected by the focus, and the focus stays.
        wide.script("$$('.cell')[3].focus()")
        other = wide.script("return $$('.cell')[3].dataset.id")
        wide.wait(lambda: wide.text("#inspector h2") == other, "the other cell")
        assert wide.focused() == other
        # The switches change the feed in place.
        wide.script("$$('.switch').find((one) => one.textContent === '200 %').click()")
        wide.wait(lambda: wide.script("return document.querySelector('intertwine-feed').textScale") == 2, "larger text")
        wide.script("$$('.switch').find((one) => one.textContent === 'Dark').click()")
        assert wide.script("return getComputedStyle(document.body).backgroundColor") == "rgb(19, 20, 23)"
        place = "const { left, top } = $$('.switch').find((one) => one.textContent === 'Phone').getBoundingClientRect(); return [left, top + scrollY]"
        before = wide.script(place)
        wide.script("$$('.switch').find((one) => one.textContent === 'Phone').click()")
        wide.wait(lambda: wide.script("return $('.feed').offsetWidth") == 390 and wide.count() > 4, "the width of a phone")
        # The switches stay, and the panel tells the size that the cell has here.
        assert wide.script(place) == before, (wide.script(place), before)
        wide.script("$$('.cell')[0].focus()")
        wide.wait(lambda: "here\u00a0390\u00a0×" in wide.text("#inspector header"), "the size of the cell")
        assert "width=390" in wide.driver.current_url and "text=2" in wide.driver.current_url
        wide.script(axe())
        assert findings(wide, "the panel") == []
        wide.click(".inspector-close")
        assert wide.console() == [], wide.console()
        wide.open(relay.url, cells=12)
        assert wide.find("#inspector[hidden]"), "the panel that was closed is open again"
        wide.click("#try-json")
        wide.wait(lambda: wide.find("#inspector:not([hidden]) .form .json"), "the JSON again")
    with browser.window(390, 844) as phone:
        phone.open(relay.url, cells=4)
        phone.click("#try-json")
        phone.wait(lambda: phone.find("#inspector:not([hidden]) .form .json"), "the JSON on a phone")
        phone.script(axe())
        assert findings(phone, "the JSON on a phone") == [] and not phone.script("return document.documentElement.scrollWidth > innerWidth")


def it_leads_to_a_cell_by_its_link(browser, relay, service):
    name = [cell["id"] for cell in service.cells() if cell["id"].startswith("user:")][70]
    link = urllib.parse.urlencode({"cell": name})
    browser.open(f"{relay.url}#{link}")
    browser.wait(lambda: browser.focused() == name, "the cell of a later page")
    browser.wait(lambda: browser.script("const { top, bottom } = focused().getBoundingClientRect(); return top >= 0 && bottom <= innerHeight"), "the cell in the window")
    # The panel has the link to its cell.
    browser.press("i")
    assert browser.wait(lambda: browser.find("#inspector h2 a"), "the link").get_attribute("href") == f"{relay.url}#{link}"
    first = service.cells()[0]["id"]
    browser.script("location.hash = arguments[0]", urllib.parse.urlencode({"cell": first}))
    browser.wait(lambda: browser.focused() == first and browser.script("return scrollY") < 400, "the first cell")
    browser.open(f"{relay.url}#cell=user:nobody", cells=12)
    browser.settle()
    assert browser.console() == [], browser.console()


def it_shows_an_operator_moving_a_cell(browser, relay, service):
    with Service() as fresh, browser.window(1440, 900, panel=True) as wide:
        wide.open(fresh.base_url, cells=12)
        before = [name for name in ids(wide) if name.startswith("user:")][:4]
        wide.click("#try-move")
        wide.wait(lambda: "admin/operations" in wide.text("#inspector .form"), "the command")
        name = wide.text("#inspector h2")
        opened = wide.wait(wide.opened, "the console")
        wide.driver.switch_to.window(opened[0])
        wide.wait(lambda: wide.script("return document.activeElement?.ariaLabel") == f"Move {name} up", "the buttons of the item")
        wide.script(axe())
        assert findings(wide, "the order beside the feed") == []
        wide.driver.find_element("css selector", f'[aria-label="Move {name} down"]').click()
        wide.wait(lambda: f"{name} is after" in wide.text("#found"), "the move")
        wide.driver.switch_to.window(wide.handle)
        moved = [before[1], name, *before[2:]]
        assert name == before[0]
        wide.wait(lambda: [one for one in ids(wide) if one.startswith("user:")][:4] == moved, "the moved cell")
        assert wide.find(".pill[hidden]")
        # Without that window, what the person sees stays again.
        wide.close_opened()
        fresh.operate({"move": name, "before": before[1]})
        wide.wait(lambda: wide.find(".pill:not([hidden])"), "the pill")
        assert [one for one in ids(wide) if one.startswith("user:")][:4] == moved and wide.console() == [], wide.console()


def it_names_the_page_after_the_title_of_its_feed(browser, relay, service):
    feeds = {"feeds": [{"name": "main", "title": "Home feed"}, {"name": "party", "title": "Tonight"}]}
    relay.answer = lambda exchange: (200, {"Content-Type": "application/json"}, feeds) if exchange.path == "/feeds" else None
    for search, title in (("", "Home feed"), ("?list=saved", "Saved"), ("?feed=party", "Tonight")):
        browser.driver.get(relay.url + search)
        browser.wait(lambda: "Home feed" in browser.text("#tabs"), "the titles of the feeds")
        assert browser.text("#tabs [aria-current]") == title and browser.driver.title == f"{title} – Intertwine", browser.driver.title


def it_shows_a_readable_reference_of_the_api(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.click(".bar-link[href$='reference.html']")
    browser.wait(lambda: browser.find(".operation"), "the operations")
    parts = browser.script("return $$('#parts a').map((one) => one.textContent)")
    assert parts == browser.script("return $$('#operations h3').map((one) => one.textContent)") and len(parts) > 2, parts
    browser.click("#parts a:last-child")
    bar = "$('.bar').getBoundingClientRect().bottom"
    browser.wait(lambda: browser.script(f"const {{ top }} = $('#operations section:last-child h3').getBoundingClientRect(); return top >= {bar} && top < innerHeight"), "the last part")
    browser.click("#getFeed summary")
    browser.wait(lambda: all(word in browser.text("#getFeed") for word in ["Parameters", "limit", "Responses"]), "the parts of an operation")
    browser.find("#filter").send_keys("dismissed")
    shown = browser.script("return $$('.operation:not([hidden])').filter((one) => one.checkVisibility()).map((one) => one.querySelector('.path').textContent)")
    assert shown and all("dismissed" in path for path in shown), shown
    browser.script(axe())
    assert findings(browser, "the reference") == []
    assert browser.console() == [], browser.console()


def it_skips_to_the_feed_and_fits_the_help_to_the_device(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.press("\ue004")
    assert browser.script("return focused().textContent") == "Skip to the feed"
    browser.press("\ue007")
    browser.press("\ue004")
    assert browser.focused() is not None, "the next stop is not a cell"
    browser.tool("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    browser.tool("Emulation.setEmulatedMedia", features=[{"name": "hover", "value": "none"}])
    browser.press("?")
    shown = browser.script("return [...$$('#help dl')].filter((one) => one.checkVisibility()).map((one) => one.className)")
    assert shown in (["for-touch"], ["for-keyboard"]), shown
