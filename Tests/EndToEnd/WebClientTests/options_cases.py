"""Cells of any kind, the options in the URL, synchronization, and the viewer's lists."""
import json
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from axe_cases import axe, findings, windows
from page import advertisements, ids, loaded
from relay import Relay
from service import Service

KINDS = Path(__file__).parents[3] / "Config/kinds.yaml"
JSON = {"Content-Type": "application/json"}


# The first cell of an identifier, after its image is loaded.
CELL = """
    const cell = $(`[data-identifier=${arguments[0]}]`);
    if (!cell?.querySelector(".image[data-state=shown]")) return null;
    const { scrollHeight, clientHeight } = cell.querySelector(".cell-content");
    const name = feed.getElementById(cell.getAttribute("aria-labelledby")).textContent;
    return [cell.innerText, cell.querySelector("time").dateTime, name, scrollHeight - clientHeight, clientHeight, cell.offsetWidth];"""


def event(number, origin, **fields):
    return {"kind": "event", "id": number, "title": f"Event {number}", "starts": "2026-05-01T19:00:00Z",
            "image": f"http://127.0.0.1:{origin.port}/background-{number}.png", "signup": "https://example.com/x", **fields}


def it_shows_cells_of_every_kind_at_their_size(browser, relay, service):
    with Service(settings=[f"kinds.file={KINDS}"]) as fresh:
        fresh.put(event(1, fresh.origin, city="Berlin"), event(2, fresh.origin, starts="2026-06-01"))
        for search, identifier in (("", "EventCollectionViewCell"), ("?layout=table", "EventTableViewCell")):
            browser.open(f"{fresh.base_url}/{search}", cells=20)
            # One script call reads all values, because the service may change the cell in between.
            text, date, name, spill, height, width = browser.wait(lambda: browser.script(CELL, identifier), f"{identifier} with its image")
            assert "Event 1" in text and "unsupported" not in text.lower(), text
            assert date == "2026-05-01T19:00:00Z" and name.startswith("Event 1"), (date, name)
            assert spill <= 0 and height >= (160 if search == "" else 88), (spill, height)
        assert width == 720, "the row has another width than the table"


def it_applies_the_options_in_its_url(browser, relay, service):
    browser.open(f"{relay.url}?width=390&viewer=bob", cells=3)
    asked = relay.feed_pages()[0]
    assert "width=390" in asked.path and asked.headers["X-Viewer-ID"] == "bob"
    assert browser.script("return $('.cell').offsetWidth") == 390
    browser.press("v")
    browser.wait(lambda: browser.find("#view[open]"), "the dialog")
    browser.script("$('#view-layout').value = 'table'")
    browser.click("#view [type=submit]")
    browser.wait(lambda: "layout=table" in browser.driver.current_url and browser.count() > 3, "the table")
    assert "viewer=bob" in browser.driver.current_url and "width=390" in browser.driver.current_url
    lefts = browser.script("return Array.from($$('.cell'), (cell) => [cell.offsetLeft, cell.offsetWidth])")
    assert {tuple(pair) for pair in lefts} == {(0, 390)}, lefts
    browser.driver.get(f"{relay.url}?feed=none")
    browser.wait(lambda: browser.find("#state:not([hidden])"), "the refusal")
    assert "There is no such feed." in browser.text("#state"), browser.text("#state")
    assert len(browser.console()) == 1, browser.console()


def it_restores_dismissed_cells(browser, relay, service):
    browser.open(relay.url, cells=20)
    dismissed = relay.feed_pages()[0].json["cells"][:3]
    restored = []

    def answer(exchange):
        if exchange.path.startswith("/dismissed/") and exchange.method == "DELETE":
            restored.append(exchange.path)
            return 200, JSON, {"commands": []}
        if exchange.path.split("?")[0] == "/dismissed":
            return 200, JSON, {"cells": dismissed, "page": {"limit": 20, "next": None, "previous": None}}
        return None

    relay.answer = answer
    browser.open(f"{relay.url}?list=dismissed", cells=3)
    browser.click(".cell:nth-child(2) [data-tool=dismiss]")
    browser.wait(lambda: dismissed[1]["id"] not in ids(browser) and "in the feed again" in browser.text("#toasts"), "the removal of the restored cell")
    assert restored == ["/dismissed/" + urllib.request.quote(dismissed[1]["id"], safe="")], restored
    dismissed[:] = []
    browser.driver.refresh()
    browser.wait(lambda: "No dismissed cells." in browser.text("#state"), "the message")


def it_sends_its_languages_and_supported_cells(browser, relay, service):
    browser.open(f"{relay.url}?language=de,en;q=0.5&cells=own", cells=3)
    asked = relay.feed_pages()[0].headers
    assert asked["Accept-Language"] == "de,en;q=0.5", asked["Accept-Language"]
    known = asked["Accept-Cells"].split(", ")
    assert "UserSnapshotCollectionViewCell" in known and known[-1] == "*;q=0", known
    browser.press("v")
    browser.wait(lambda: browser.find("#view[open]"), "the dialog")
    assert browser.script("return $('#view-cells').value") == "own"
    browser.click(".view-developer summary")
    browser.find("#view-cells-text").send_keys("UserSnapshotCollectionViewCell, *;q=0")
    browser.click("#view [type=submit]")
    browser.wait(lambda: "cells=User" in browser.driver.current_url and browser.count() > 3, "the other cells")
    assert "language=de" in browser.driver.current_url
    assert relay.feed_pages()[-1].headers["Accept-Cells"] == "UserSnapshotCollectionViewCell, *;q=0"


def it_marks_the_language_of_its_cells(browser, relay, service):
    def page(language):
        bound = {"type": "bind", "bindings": {"username": {"type": "text", "text": "Schwung"}}}
        cell = {"id": "user:1", "identifier": "UserSnapshotCollectionViewCell", "size": {"width": 300, "height": 200}, "actions": {"configuration": bound}}
        told = {"Content-Language": language} if language else {}
        return 200, {**JSON, **told}, {"cells": [cell], "page": {"limit": 20, "next": None, "previous": None}}

    spoken = "return ['.cell', '.cell-content', '.cell-tools'].map((one) => $(one).closest('[lang]').lang)"
    for language in ("de", None):
        relay.answer = lambda exchange: page(language) if exchange.path.startswith("/feed?") else None
        browser.open(relay.url, cells=1)
        assert browser.script(spoken) == ["en", language or "en", "en"], browser.script(spoken)


def it_lays_a_feed_out_from_right_to_left(browser, relay, service):
    """In a language of such a script, and on such a page; its JSON stays from left to right."""
    def page(language):
        cells = [{"id": f"story:{number}", "identifier": "StoryCell", "size": {"width": 300, "height": 100},
                  "actions": {"configuration": {"type": "bind", "bindings": {"title": {"type": "text", "text": "قصة"}}}}} for number in range(6)]
        return 200, {**JSON, "Content-Language": language}, {"cells": cells, "page": {"limit": 20, "next": None, "previous": None}}

    lefts = "return $$('.cell').slice(0, 3).map((one) => Math.round(one.getBoundingClientRect().left))"
    direction = "const text = $(arguments[0]); return text && getComputedStyle(text).direction"
    for language in ("ar", "he-IL", "az-Arab", "de", "en"):
        relay.answer = lambda exchange: page(language) if exchange.path.startswith("/feed?") else None
        browser.open(f"{relay.url}?language={language}", cells=6)
        is_reversed = language not in ("de", "en")
        browser.wait(lambda: (browser.script(lefts) == sorted(browser.script(lefts), reverse=True)) == is_reversed, f"the order of {language}")
        # The words of the element are English or German.
        assert browser.script(direction, "#end") == "ltr" and browser.script(direction, "#switches") == "ltr", language
        browser.script("$('.cell').focus()")
        browser.press(Keys.ARROW_LEFT if is_reversed else Keys.ARROW_RIGHT)
        browser.wait(lambda: browser.focused() == "story:1", "the next cell")
        browser.press("i")
        browser.wait(lambda: browser.script(direction, "#inspector pre") == "ltr", "the JSON")
    browser.script("document.querySelector('intertwine-feed').dir = ''; document.documentElement.dir = 'rtl'")
    browser.wait(lambda: browser.script(lefts) == sorted(browser.script(lefts), reverse=True), "the direction of the page")


def it_speaks_german_and_takes_words_of_the_page(browser, relay, service):
    browser.open(relay.url + "?language=de", cells=20)
    # The label is in the language of the feed, which declares none.
    browser.wait(lambda: browser.text(".is-advertisement .cell-disclosure") == "Advertisement", "the label")
    assert browser.script("return $('.cell-tools').closest('[lang]').lang") == "de"
    element = "document.querySelector('intertwine-feed')"
    browser.script("$('.cell [data-tool=dismiss]').click()")
    browser.wait(lambda: "ausgeblendet." in browser.text("#toasts") and "Rückgängig" in browser.text("#toasts"), "the German notice")
    browser.script(f"{element}.setAttribute('words', JSON.stringify({{ undo: 'Oops' }}))")
    browser.wait(lambda: browser.count() >= 19, "the feed again")
    browser.script("$('.cell [data-tool=dismiss]').click()")
    browser.wait(lambda: "Oops" in browser.text("#toasts"), "the word of the page")
    assert browser.console() == [], browser.console()


# The words of the page: texts and names outside of code, names of languages, and what the service sends.
OWN_WORDS = """
    const words = [], other = 'pre, code, kbd, script, noscript, option, .requests, #filters, #inspector header > div, [lang]:not(html)';
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if ((node.parentElement ?? node).closest(other)) continue;
      words.push(...(node.data === undefined ? ['aria-label', 'title', 'placeholder'].map((name) => node.getAttribute(name)) : [node.data.trim()]));
    }
    words.push(...Array.from($$('#view option'), (one) => one.textContent).filter((text) => !/\\(/.test(text)));
    return words.filter((text) => /[a-z]{2}/.test(text ?? ''));"""


def it_shows_the_page_in_the_language_of_its_feed(browser, relay, service):
    def words(window):
        window.press("v")
        window.wait(lambda: window.find("#view[open]"), "the dialog")
        found = set(window.script(OWN_WORDS))
        window.press(Keys.ESCAPE)
        for form in range(4):
            window.script("$$('.form-choice')[arguments[0]].click()", form)
            found |= set(window.script(OWN_WORDS))
        return found

    with browser.window(1440, 900, panel=True) as wide:
        wide.open(relay.url, cells=12)
        wide.wait(lambda: wide.find("#inspector .form-choice"), "the panel")
        english = words(wide)
        wide.click("#switches [lang=de]")
        wide.wait(lambda: wide.script("return document.documentElement.lang") == "de" and wide.find("#inspector .form-choice"), "the German page")
        assert wide.script("return document.activeElement.lang") == "de" and "language=de" in wide.driver.current_url
        german = words(wide)
        # Names are equal in both languages.
        names = {"Intertwine", "API", "Code", "Feed", "Playground", "Text", "Tablet", "System", "Swift", "Element", "Layout", "Normal", "Accept-Language", "Accept-Cells", "ada", "bob",
                 "de, en;q=0.5", "http://127.0.0.1:8081/"}
        assert english & german <= names, sorted(english & german - names)
        assert len(german) > 60 and wide.console() == [], (german, wide.console())


def it_reports_omitted_items_and_saved_cells(browser, relay, service):
    def alter(page):
        page["page"]["omitted"] = [{"kind": "story", "count": 2, "reason": "unknown-cell", "identifiers": ["StoryCell"]},
                                   {"kind": "talk", "count": 1, "reason": "unknown-type", "identifiers": ["TalkCell"], "types": ["date"]}]
        page["cells"][1]["state"] = {"saved": True}
        page["cells"][1]["actions"]["dismissal"]["label"] = "Hide"

    relay.alter_feed(alter)
    browser.open(relay.url, cells=20)
    browser.wait(lambda: browser.find("#omitted:not([hidden])"), "the message")

    def expected():
        pages = len({e.path for e in relay.passed("GET", "/feed?") if e.status == 200})
        return f"{2 * pages} story (StoryCell not supported), {pages} talk (date of TalkCell not supported)"

    # Further pages may load, because the client prefetches.
    browser.wait(lambda: expected() in browser.text("#omitted"), "the numbers of all loaded pages")
    saved = browser.script("return Array.from($$('.cell'), (cell) => cell.ariaDescription)")[:3]
    assert saved == [None, "Saved", None], saved
    titles = browser.script("return Array.from($$('[data-tool=dismiss]'), (tool) => tool.getAttribute('aria-label'))")[:3]
    assert titles == ["Dismiss", "Hide", "Dismiss"], titles


def it_shows_placeholders_until_images_are_loaded(browser, relay, service):
    def alter(page):
        for cell in page["cells"]:
            for binding in cell["actions"]["configuration"]["bindings"].values():
                if binding["type"] == "image":
                    binding |= {"color": "#123456", "placeholder": "3OcRJYB4d3h/iIeHeEh3eIhw+j2w", "alt": "A preview"}

    relay.alter_feed(alter)
    relay.hold = lambda exchange: exchange.path.startswith("/images/")
    browser.open(relay.url, cells=20)
    seen = "const image = $('.cell .image'); return [getComputedStyle(image).backgroundColor, image.querySelector('canvas')?.width > 8]"
    assert browser.script(seen) == ["rgb(18, 52, 86)", True], browser.script(seen)
    relay.hold = None
    browser.wait(lambda: loaded(browser), "visible images")
    left = browser.script("const image = $('.cell .image'); return [image.querySelector('img').alt, image.querySelector('canvas')]")
    assert left == ["A preview", None], left


def it_serves_the_client_package(browser, relay, service):
    browser.driver.get(f"{relay.url}openapi.json")
    all_cells = browser.async_script("""
        const [done] = arguments;
        import("/web-client/client/index.mjs").then(async ({ FeedClient, FeedList }) => {
          const list = new FeedList({ client: new FeedClient({ base: location.href, viewer: "other" }), href: "/feed?limit=3" });
          await list.loadNext();
          done(list.sections.flatMap(({ entries }) => entries.map(({ cell }) => cell.id)));
        }).catch((error) => done(String(error)));""")
    assert len(all_cells) == 4 and set(all_cells) <= {cell["id"] for cell in service.cells()}, all_cells


def it_shows_operators_the_explanation_of_a_cell(browser, relay, service):
    browser.open(f"{relay.url}?operators={service.admin_url}", cells=20)
    ad = browser.wait(lambda: next(iter(advertisements(browser)), None), "an ad")
    for name, expected in ((ids(browser)[1], "in the order of its section"), (ad, "ad slot 1 of page 1")):
        tool = browser.find(f"[data-id='{name}'] [data-tool=inspect]")
        browser.script("arguments[0].click()", tool)
        browser.click("#inspector .why summary")
        if name != ad:
            # The first explanation asks for confirmation of the origin.
            where = browser.wait(lambda: browser.find("#inspector .why-where"), "the confirmation")
            assert service.admin_url.rstrip("/") in where.text and browser.find("#inspector iframe") is None, where.text
            browser.click("#inspector .why-where button")
        browser.driver.switch_to.frame(browser.wait(lambda: browser.find("#inspector iframe"), "the explanation"))
        browser.wait(lambda: expected in browser.text("#explanation"), f"the explanation of {name}")
        assert browser.text("h1") == f"Why is {name} here?", browser.text("h1")
        assert browser.script("return Array.from($$('[aria-current] td'), (one) => one.textContent)")[0] == name
        browser.driver.switch_to.default_content()
    assert browser.console() == [], browser.console()


FILTERED = """
languages: [en, de]
kinds:
  event:
    fields:
      title: {type: text, required: true}
      category: {type: text, choices: {music: {en: Music, de: Musik}, art: Art, food: {de: Essen}}}
      city: {type: text, max: 40, label: {en: Town, de: Ort}}
      free: boolean
    cells:
      collection: {identifier: EventCell, size: {width: 300, height: 100}, bind: {title: {text: "{{title}}: {{category}}"}}}
sections:
  events: {kinds: [event]}
feeds:
  main: {sections: [events], filters: [category, city, free]}
"""


def it_filters_the_feed(browser, relay, service):
    found = []
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as kinds:
        kinds.write(FILTERED)
        kinds.flush()
        with Service(settings=[f"kinds.file={kinds.name}"]) as fresh:
            fresh.put(*({"kind": "event", "id": number, "title": f"Event {number}", "category": ["music", "art", "food"][number % 3],
                         "city": "Berlin" if number < 6 else "Oslo", "free": number == 0} for number in range(12)))
            events = lambda: sorted(int(name.split(":")[1]) for name in ids(browser) if name.startswith("event:"))
            shows = lambda *numbers: browser.wait(lambda: events() == list(numbers), f"the events {numbers}, not {events()}")
            browser.open(fresh.base_url, cells=12)
            browser.wait(lambda: browser.find("#filters [value=music]"), "the filters")
            assert browser.script("return document.querySelector('meta[name=filtered-feeds]').content") == "main"
            assert browser.text("#filters [value=music]") == "Music (4)" and browser.text("#filters [value=false]") == "No (11)"
            browser.click("#filters [value=music]")
            shows(0, 3, 6, 9)
            # The arrow keys lead to the next chip, and the values of a filter are alternatives.
            browser.press(Keys.ARROW_RIGHT)
            browser.press(Keys.SPACE)
            shows(0, 1, 3, 4, 6, 7, 9, 10)
            Select(browser.driver.find_element("css selector", "#filters select")).select_by_value("Berlin")
            shows(0, 1, 3, 4)
            assert browser.script("return location.search") == "?filter.category=music&filter.category=art&filter.city=Berlin"
            browser.driver.refresh()
            shows(0, 1, 3, 4)
            browser.wait(lambda: browser.find("#filters [value=art][aria-pressed=true]"), "the pressed chip")
            assert browser.script("return document.querySelector('#feed').filters") == {"category": ["music", "art"], "city": ["Berlin"]}
            for look, window in windows(browser, ("light", 1280)):
                window.open(f"{fresh.base_url}/?filter.category=art", cells=4)
                window.wait(lambda: window.find("#filters [value=art][aria-pressed=true]"), "the pressed chip")
                window.script(axe())
                found += findings(window, look)
                assert not window.script("return document.documentElement.scrollWidth > innerWidth"), f"{look} scrolls sideways"
            browser.click("#filters > button")
            shows(*range(12))
            assert browser.script("return location.search") == ""
            browser.open(f"{fresh.base_url}/?language=de", cells=12)
            browser.wait(lambda: browser.text("#filters [value=music]") == "Musik (4)", "the German filters")
            assert [browser.text(f"#filters [value={value}]") for value in ("art", "food")] == ["Art (4)", "Essen (4)"]
            assert browser.script("return $('#filters select').ariaLabel") == "Ort" and browser.text("#filters [value=false]") == "Nein (11)"
            # The cells have the label beside the chips.
            assert "Event 0: Musik" in str(browser.script("return $$('.cell').map((cell) => cell.textContent)"))
            # A value that the filter does not have is refused, with the ones that it has.
            browser.driver.get(f"{fresh.base_url}/?filter.category=sport")
            browser.wait(lambda: "sport" in browser.text("#filters") and browser.find("#state:not([hidden])"), "the refusal")
    assert found == [], found


def it_explains_where_an_item_is(browser, relay, service):
    with Service() as fresh:
        fresh.put({"kind": "user", "id": "hidden", "type": "regular", "username": "Hidden", "avatarUrl": "https://pictures.invalid/a.png", "draft": True})
        last = next(cell["id"] for cell in reversed(fresh.cells()) if cell["id"].startswith("user:"))
        browser.driver.get(f"{fresh.admin_url}/explain")
        browser.wait(lambda: browser.find("#question:not([hidden])"), "the form")
        # Without a question, it explains the first page of the feed.
        browser.wait(lambda: "user:" in browser.text("#explanation"), "the page")
        for cell, answer in [("lamp", "the kind and the id"), ("user:nobody", "No item user:nobody"), ("user:hidden", "It is a draft"), (last, "further below: cell ")]:
            browser.script("$('#question [name=cell]').value = arguments[0]", cell)
            browser.click("#question button")
            browser.wait(lambda: browser.text("h1") == f"Why is {cell} not here?" and answer in browser.text("#explanation"), f"the answer for {cell}")


def it_requires_the_token_for_explanations_and_passes_axe(browser, relay, service):
    ad = next(cell["id"] for cell in service.cells() if cell["id"].startswith("ad:"))
    found = []
    with type(relay)(service.admin_url) as operators:
        refused = 401, {"Content-Type": "application/problem+json"}, {"status": 401, "detail": "A bearer token is required."}
        operators.answer = lambda exchange: refused if exchange.path.startswith("/admin/") and exchange.headers.get("authorization") != "Bearer secret" else None
        for look, window in windows(browser, ("light", 390), widths=[390]):
            window.driver.get(f"{operators.url}explain#cell={ad}&limit=5")
            window.wait(lambda: window.find("#access:not([hidden])"), "the token form")
            window.script(axe())
            found += findings(window, f"{look}, the token")
            window.driver.find_element("id", "token").send_keys("secret")
            window.click("#access button")
            window.wait(lambda: window.find("#explanation:not([hidden])"), "the explanation")
            found += findings(window, f"{look}, the explanation")
            assert not window.script("return document.documentElement.scrollWidth > innerWidth"), f"{look} scrolls sideways"
    assert found == [], found


def it_shows_a_form_for_the_input_of_a_slot(browser, relay, service):
    report = {"type": "object", "required": ["reason"], "properties": {
        "reason": {"type": "string", "enum": ["spam", "wrong"]}, "note": {"type": "string", "maxLength": 9}, "stars": {"type": "number", "minimum": 1},
        "longStory": {"type": "string", "maxLength": 2000}, "until": {"type": "string", "pattern": "^[0-9]{4}-0[0-9]-(?:0[1-9]|[12][0-9]|3[01])(?:T[+-]?)?$"},
        "mail": {"type": "string", "title": "Your address", "maxLength": 80}}}
    action = {"type": "request", "method": "POST", "href": "/cells/x/report", "label": "Report", "input": report}
    relay.alter_feed(lambda page: page["cells"][1]["actions"].update(report=action))
    relay.answer = lambda exchange: (200, JSON, {"commands": []}) if exchange.path == "/cells/x/report" else None
    browser.open(relay.url, cells=20)
    more = "$$('.cell')[1].querySelector('[data-tool=more]').click()"
    for button in ("button[type=button]", "button[type=submit]"):
        browser.wait(lambda: browser.script(more) or browser.find("[data-menu=report]"), "the menu")
        browser.click("[data-menu=report]")
        browser.wait(lambda: browser.find("dialog[open] [name=stars]"), "the form")
        browser.script(axe())
        assert findings(browser, "the form") == []
        browser.find("dialog[open] [name=stars]").send_keys("4")
        assert browser.find("dialog[open] [name=note]").get_attribute("maxlength") == "9"
        kinds = browser.script("return ['longStory', 'until', 'mail'].map((name) => { const one = $(`dialog[open] [name=${name}]`); return [one.type, one.labels[0].textContent]; })")
        assert kinds == [["textarea", "Long story"], ["date", "Until"], ["text", "Your address"]], kinds
        # No choice is selected. A missing one is an error beside the field.
        assert browser.script("return $$('dialog[open] [name=reason]').some((choice) => choice.checked)") is False
        assert "Reason (required)" == browser.text("dialog[open] legend"), browser.text("dialog[open] legend")
        if button == "button[type=submit]":
            browser.click("dialog[open] [type=submit]")
            error = browser.wait(lambda: browser.find("dialog[open] fieldset .field-error:not([hidden])"), "the error beside the field")
            assert error.text and browser.script("return focused().name") == "reason"
            assert findings(browser, "the form with an error") == []
            browser.click("dialog[open] [name=reason][value=spam]")
        browser.click(f"dialog[open] {button}")
        browser.wait(lambda: not browser.find("dialog[open]"), "the closed form")
    browser.wait(lambda: "Report: " in browser.text("#toasts"), "the notice")
    told = relay.passed("POST", "/cells/x/report")
    assert [json.loads(exchange.body) for exchange in told] == [{"reason": "spam", "stars": 4}], "the first form was cancelled"


def it_offers_custom_slots(browser, relay, service):
    like = {"type": "request", "method": "POST", "href": "/cells/x/like", "label": "Like"}
    relay.alter_feed(lambda page: page["cells"][1]["actions"].update(like=like, start={**like, "label": None}))
    relay.answer = lambda exchange: (200, JSON, {"commands": []}) if exchange.path == "/cells/x/like" else None
    browser.open(relay.url, cells=20)
    assert browser.script("return Array.from($$('.cell'), (cell) => cell.querySelector('[data-tool=save]').hidden)")[:3] == [True, False, True]
    browser.script("$$('.cell')[1].querySelector('[data-tool=more]').click()")
    offered = browser.script("return Array.from($$('.menu-item'), (item) => item.textContent)")
    assert offered == ["Like", "Inspect", "Dismiss"], offered
    browser.click("[data-menu=like]")
    browser.wait(lambda: "Like: " in browser.text("#toasts"), "the notice")
    assert relay.passed("POST", "/cells/x/like")[0].headers["Idempotency-Key"]
    # A slot that saves has a button of its own, which is always visible.
    save = browser.find(".cell:nth-child(2) [data-tool=save]")
    assert save.accessible_name == "Like" and browser.script("return getComputedStyle(arguments[0]).opacity", save) == "1"
    browser.click(".cell:nth-child(2) [data-tool=save]")
    browser.wait(lambda: len(relay.passed("POST", "/cells/x/like")) == 2, "the second performance")
