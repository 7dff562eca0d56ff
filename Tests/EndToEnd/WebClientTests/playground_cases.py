"""The playground: a declaration and a sample item, with the service's validation, in all layouts, languages and text sizes."""
from axe_cases import axe, findings, windows
from service import Service

URL = "web-client/playground.html"
SHOWN = """
    return Array.from(document.querySelectorAll('intertwine-feed'), (one) => {
      const cell = one.shadowRoot.querySelector('.cell');
      return cell && [cell.dataset.identifier, cell.querySelector('.generic-title')?.textContent, one.textScale, cell.querySelector('.cell-content').offsetHeight];
    });"""


def opened(browser, relay):
    # The element has views only near the window, so the window is as high as the page.
    width = browser.size[0]
    browser.tool("Emulation.setDeviceMetricsOverride", width=width, height=4600 if width > 900 else 9000, deviceScaleFactor=1, mobile=width < 500)
    browser.driver.get(relay.url + URL)
    browser.wait(lambda: browser.find("[data-switch=layout-all]"), "the choices")
    browser.script("$('[data-switch=layout-all]').click()")
    return browser.wait(lambda: shown_cells(browser), "the cells of the sample")


def shown_cells(browser):
    """Returns the first cell of each element; None until each of the twenty has one."""
    cells = browser.script(SHOWN)
    return cells if len(cells) == 20 and all(cells) else None


def typed(browser, selector, text, replaces=None):
    """Types text at the end of the field, or in place of a part of its text."""
    field = browser.find(selector)
    browser.click(selector)
    start, end = browser.script(
        "const [field, part] = arguments; const at = part === null ? field.value.length : field.value.indexOf(part);"
        "field.setSelectionRange(at, at + (part ?? '').length); return [at, at + (part ?? '').length]", field, replaces)
    assert start >= 0, f"{replaces} is not in the text"
    browser.press(*text)


def problems(browser):
    return browser.script("return Array.from($$('#problems:not([hidden]) li'), (one) => one.textContent)")


def it_shows_a_kind_in_all_languages_and_text_sizes(browser, relay, service):
    shown = opened(browser, relay)
    # Two languages, two layouts, five text sizes.
    assert len(shown) == 20, shown
    assert [title for _, title, _, _ in shown[:10]] == ["Swing night in Berlin"] * 5 + ["Swing night"] * 5, shown
    assert [title for _, title, _, _ in shown[10:]] == ["Swing-Abend in Berlin"] * 5 + ["Swing-Abend"] * 5, shown
    assert {name for name, *_ in shown} == {"EventCollectionViewCell", "EventTableViewCell"}
    # The cells grow with the text, in both languages alike.
    for name in ("EventCollectionViewCell", "EventTableViewCell"):
        english, german = ([(scale, height) for one, _, scale, height in half if one == name] for half in (shown[:10], shown[10:]))
        heights = [height for _, height in sorted(english)]
        assert english == german and heights == sorted(set(heights)), (name, english, german)
    # Real typing in the item.
    typed(browser, "#item", "Lindy hop", replaces="Swing night")
    browser.wait(lambda: "Lindy hop in Berlin" in str(shown_cells(browser)), "the new title")
    assert problems(browser) == []
    # Real typing in the declaration, up to an invalid text and back.
    typed(browser, "#declaration", "tilte", replaces="title")
    found = browser.wait(lambda: problems(browser), "the errors")
    assert all(text.startswith("line ") and "unknown field 'title'" in text for text in found), found
    # Each error is beside its line, too, and leads to it.
    lines = [int(text.split()[1].rstrip(":,")) for text in found]
    marked = browser.script("return Array.from($('#declaration').parentElement.querySelectorAll('.is-wrong'), (one) => Number(one.textContent))")
    assert marked == sorted(set(lines)), (marked, lines)
    browser.script("$('#problems button').click()")
    start = browser.script("const field = $('#declaration'); return field.value.slice(0, field.selectionStart).split('\\n').length")
    assert start == lines[0], (start, lines)
    assert browser.find("#declaration").get_attribute("aria-invalid") == "true" and browser.find("#item").get_attribute("aria-invalid") == "false"
    assert browser.text("#state") == "Not valid" and browser.find(".preview.is-outdated")
    typed(browser, "#declaration", "title", replaces="tilte")
    browser.wait(lambda: browser.text("#state") == "Valid" and problems(browser) == [], "the valid text")
    # Real typing of an invalid item.
    typed(browser, "#item", "x")
    assert browser.wait(lambda: problems(browser), "the error of the item"), "no error"
    assert browser.find("#item").get_attribute("aria-invalid") == "true"
    # Nothing is stored, and nothing else is sent.
    written = {exchange.path for exchange in relay.exchanges if exchange.method not in ("GET", "HEAD")}
    assert written == {"/web-client/playground"}, written
    assert browser.script("return Object.keys(localStorage)") == ["intertwine.panel"], "the playground stores something beyond this tab"
    assert [text for text in browser.console() if "400" not in text] == [], browser.console()


def it_is_reached_from_the_page_and_the_inspector(browser, relay, service):
    # The feed of the tests has no event, so the page of the sample has one.
    event = {"id": "event:1", "identifier": "EventCollectionViewCell", "size": {"width": 300, "height": 200}, "actions": {}}
    relay.alter_feed(lambda page: page["cells"].insert(1, event))
    browser.open(relay.url, cells=12)
    browser.script("$$('.cell')[1].focus()")
    browser.press("i")
    browser.click("#inspector a[href$='playground.html#example=event']")
    browser.wait(lambda: browser.find("#declaration"), "the playground")
    browser.open(relay.url, cells=12)
    browser.click("#about a")
    browser.wait(lambda: browser.find("#declaration"), "the playground")
    browser.click(".tabs a")
    browser.wait(lambda: browser.count() >= 12, "the feed again")


def it_leads_to_the_other_pages_at_every_width(browser, relay, service):
    with Service(settings=["server.documents-url=https://documents.example"]) as fresh:
        for width in (390, 768, 1280):
            with browser.window(width, 860) as window:
                for path, pages in ("", 0), ("?language=de", 0), (URL, 4), ("web-client/reference.html", 4):
                    window.driver.get(f"{fresh.base_url}/{path}")
                    window.wait(lambda: window.find("#tabs [aria-current], .tabs [aria-current]"), "the tabs")
                    window.wait(lambda: window.find("#switches .switch, .operation"), "the page")
                    # No choice is beyond an edge, where nothing says that there is one.
                    cut = window.script("""
                        return $$('.tabs a, .switch').filter((one) => one.checkVisibility() && !one.closest('.filters')).filter((one) => {
                          const { left, right } = one.getBoundingClientRect(), box = one.closest('.tabs, .switches').getBoundingClientRect();
                          return left < Math.max(0, box.left) - 1 || right > Math.min(innerWidth, box.right) + 1; }).map((one) => one.textContent)""")
                    assert cut == [], (width, path, cut)
                    shown = window.script("return $$('.tabs a[href]').filter((one) => one.checkVisibility()).map((one) => new URL(one.href).pathname)")
                    assert pages == 0 or shown == ["/", "/" + URL, "/web-client/reference.html", "/index.html"], (width, path, shown)


def it_shows_one_cell_with_its_json_and_shares_the_texts(browser, relay, service):
    browser.driver.get(relay.url + URL)
    browser.wait(lambda: '"identifier": "EventCollectionViewCell"' in browser.text("#cells .json"), "the JSON")
    assert len(browser.script("return Array.from(document.querySelectorAll('intertwine-feed'))")) == 1
    choose = "const menu = $('#example'); menu.value = arguments[0]; menu.dispatchEvent(new Event('change'))"
    for name, kind, part in (("article", "article", "The Platform"), ("product", "product", "49.50\u00a0€"), ("recipe", "recipe", "25\u00a0min, serves 4"),
                             ("podcast", "episode", '"type": "media"'), ("job", "job", "Baker")):
        browser.script(choose, name)
        browser.wait(lambda: f'"id": "{kind}:' in browser.text("#cells .json"), kind)
        assert part in browser.text("#cells .json"), browser.text("#cells .json")
        if name == "podcast":
            browser.wait(lambda: browser.find(".media-outlet audio"), "the player")
        assert problems(browser) == [] and browser.text("#state") == "Valid", kind
    browser.script("$('[data-switch=text-2]').click()")
    browser.wait(lambda: browser.script("return document.querySelector('intertwine-feed').textScale") == 2, "larger text")
    typed(browser, "#item", "Night", replaces="Baker")
    browser.wait(lambda: "Night for the early shift" in browser.text("#cells .json"), "the change")
    # The texts are kept over a reload, and a link has them.
    browser.driver.refresh()
    browser.wait(lambda: "Night for the early shift" in browser.text("#cells .json"), "the kept texts")
    # An example does not lose the person's text.
    choose = "const menu = $('#example'); menu.value = arguments[0]; menu.dispatchEvent(new Event('change'))"
    assert browser.script("return $('#example').selectedOptions[0].textContent") == "Your text"
    browser.script(choose, "recipe")
    browser.wait(lambda: '"id": "recipe:' in browser.text("#cells .json"), "the example")
    browser.script(choose, "")
    browser.wait(lambda: "Night for the early shift" in browser.text("#cells .json"), "the person's text")
    browser.script("$('#share').click()")
    link = browser.wait(lambda: browser.script("return location.hash.startsWith('#share=') && location.href"), "the link")
    with browser.window() as other:
        other.driver.get(link)
        other.wait(lambda: "Night for the early shift" in other.text("#cells .json"), "the shared texts")
        assert other.console() == [], other.console()


def it_refuses_dangerous_declarations(browser, relay, service):
    opened(browser, relay)
    bomb = "a: &a [x]\\n" + "b: &b [*a, *a]\\n"
    for text, reason in ((bomb, "aliases are not supported"), ("[" * 5000, "more than 400 brackets"), ("- " * 5000, "deeper than 80"),
                         ("x" * 20000, "longer than 16384 bytes"), ("", "the file is empty"), ("kinds: {}", "kinds is missing")):
        browser.script("const field = $('#declaration'); field.value = arguments[0].replaceAll('\\\\n', '\\n'); field.dispatchEvent(new Event('input'))", text)
        browser.wait(lambda: any(reason in one for one in problems(browser)), reason)


def it_passes_axe_in_the_playground(browser, relay, service):
    source = axe()
    found = []
    for look, window in windows(browser, ("light", 390)):
        opened(window, relay)
        window.script(source)
        found += findings(window, f"{look}, the playground")
        window.script("const field = $('#item'); field.value = '{}'; field.dispatchEvent(new Event('input'))")
        window.wait(lambda: problems(window), "the errors")
        found += findings(window, f"{look}, errors")
        assert window.script("return document.documentElement.scrollWidth <= innerWidth"), f"the page scrolls sideways, {look}"
    assert found == [], found


def it_aligns_the_preview_and_continues_lines_below_their_value(browser, relay, service):
    for width in (390, 1280):
        with browser.window(width) as window:
            window.driver.get(relay.url + URL)
            window.wait(lambda: window.find(".one") and window.text("#cells .json"), "the preview")
            window.wait(lambda: window.script("return $('.one intertwine-feed').shadowRoot.querySelector('.cell') !== null"), "the cell")
            window.settle()
            window.script("$('#cells details').open = true")
            places = window.script("""
                const box = (element) => element.getBoundingClientRect();
                const cell = box($('.one intertwine-feed').shadowRoot.querySelector('.cell')), card = box($('.one'));
                const line = $$('.json-line').find((line) => box(line).height > 30);
                const text = document.createRange();
                if (line) text.selectNodeContents(line.querySelector('.json-string, .json-value'));
                return { title: box($('#title')).top, switches: box($('.switch-label')).left, choices: box($('#switches')).top, card: card.left, editors: box($('#declaration')).top,
                         above: cell.left - card.left, below: card.bottom - cell.bottom,
                         lines: line ? [box(line.querySelector('.json-name')), ...text.getClientRects()].map(({ left }) => left) : null };""")
            assert places["title"] <= min(places["choices"], places["editors"]), f"the title is not first at {width}: {places}"
            assert abs(places["switches"] - places["card"]) <= 1, f"the switches are not above the card at {width}: {places}"
            assert abs(places["above"] - places["below"]) <= 1, f"unequal margins around the cell at {width}: {places}"
            if width == 390:
                name, *values = places["lines"]
                assert len(values) > 1 and min(values) > name, f"a line continues before its name: {places}"
