"""The element `<intertwine-feed>` on the page of an app."""
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from media_cases import film
from page import ids, loaded
from service import Service, free_port

ROOT = Path(__file__).parents[3]
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
    <img data-bind="avatar" width="40" height="40"><strong class="mine" data-bind="username"></strong>
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
    # The service's response offers the undo.
    browser.wait(lambda: first[1] not in ids(browser) and browser.find(".toast-button"), "the dismissal")
    browser.press("u")
    browser.wait(lambda: first[1] in ids(browser), "the undo")
    browser.script("focused().blur()")
    browser.click(".cell:nth-child(1) .cell-face")
    browser.wait(lambda: browser.find("dialog.zoom[open] .zoom-image"), "the zoom")
    browser.press(Keys.ESCAPE)
    assert relay.passed("GET", "/feed/changes"), "no live changes"
    print(f"        listed, selected, undone and followed: {time.monotonic() - began:.1f} s, one file of {len(page.strip().splitlines())} lines")
    assert messages(browser) == [], messages(browser)


def it_follows_the_tutorial_from_an_empty_folder_on_another_origin(browser, relay, service):
    began = time.monotonic()
    steps = TUTORIAL.split("## 3.")[0]
    commands = [line for block in re.findall(r"^```sh[^\n]*\n(.*?)^```$", steps, re.M | re.S) for line in block.splitlines()]
    start, serve = commands
    port = str(free_port())
    name, origins = re.fullmatch(r"(\w+)=(\S+) make run", start).groups()
    page = steps.split("```html\n")[1].split("```")[0]
    lines = len(page.strip().splitlines())
    assert len(commands) < 10 and lines <= 30, (commands, page)
    file, address = re.search(r"Create `([\w.]+)`", steps)[1], re.search(r"Open <(\S+)>", steps)[1]
    # `make run` builds the service and starts it with this environment.
    with Service(keeps_sample=True, environment={name: origins.replace("9000", port)}) as fresh, tempfile.TemporaryDirectory() as folder:
        (Path(folder) / file).write_text(page.replace("http://127.0.0.1:8080", fresh.base_url))
        server = subprocess.Popen(["bash", "-c", "exec " + serve.replace("9000", port)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            browser.wait(lambda: reachable(address.replace("9000", port)), "the page")
            browser.driver.get(address.replace("9000", port))
            browser.wait(lambda: browser.count() >= 20 and loaded(browser), "the feed")
            first = ids(browser)
            browser.click(".cell:nth-child(2) [data-tool=dismiss]")
            browser.wait(lambda: first[1] not in ids(browser) and browser.find(".toast-button"), "the dismissal")
            browser.press("u")
            browser.wait(lambda: first[1] in ids(browser), "the undo")
            print(f"        from an empty folder to an undo: {time.monotonic() - began:.1f} s, {len(commands)} commands, one file of {lines} lines")
            assert messages(browser) == [], messages(browser)
        finally:
            server.terminate()
            server.wait(timeout=30)


def reachable(url):
    try:
        urllib.request.urlopen(url, timeout=5).close()
        return True
    except OSError:
        return False


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
    assert browser.script(f"const {{ offsetWidth, offsetHeight }} = {mine}.querySelector('.image'); return [offsetWidth, offsetHeight]") == [40, 40]
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


def page_of(template="", attributes='src="/feed?limit=9"', script=""):
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title><body>'
            '<script>window.faults = []; addEventListener("error", (event) => faults.push(event.message));'
            'addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason)));</script>'
            f'<intertwine-feed {attributes}>{template}</intertwine-feed><script>{script}</script>'
            '<script type="module" src="/web-client/client/element/intertwine-feed.mjs"></script></body></html>')


def cell(name, actions=None, **bindings):
    return {"id": name, "identifier": "StoryCell", "size": {"width": 300, "height": 200},
            "actions": {"configuration": {"type": "bind", "bindings": bindings}, **(actions or {})}}


def page(*cells, following=None):
    return 200, JSON, {"cells": list(cells), "page": {"limit": 9, "next": following, "previous": None}}


def it_shows_templates_with_images_links_and_repeated_bindings(browser, relay, service):
    href = service.cells()[0]["actions"]["configuration"]["bindings"]["avatar"]["href"]
    site = {"type": "link", "href": "https://example.com/a"}
    cells = [cell(name, title={"type": "text", "text": name}, image={"type": "image", "href": href}, site=link)
             for name, link in (("good", site), ("bad", {"type": "link", "href": "https://"}))]
    relay.answer = lambda exchange: page(*cells) if exchange.path.startswith("/feed?") else None
    example = README.split('<template data-cell="StoryCell">')[1].split("</template>")[0]
    relay.pages["/app"] = page_of(f'<template data-cell="StoryCell">{example}<i data-bind="title"></i><a data-bind="site"></a></template>')
    browser.driver.get(relay.url + "app")
    browser.wait(lambda: browser.count() == 2 and loaded(browser), "the cells")
    shown = browser.script(
        "return Array.from($$('.cell-content'), (content) => {"
        "  const [box, h3, i, a] = ['.image', 'h3', 'i', 'a'].map((name) => content.querySelector(name));"
        "  const texts = [h3.textContent, i.textContent, a.getAttribute('href'), a.textContent];"
        "  return [box.offsetWidth, box.offsetHeight, ...texts, content.querySelectorAll('a').length]; })")
    assert shown == [[304, 100, "good", "good", "https://example.com/a", "example.com", 1], [304, 100, "bad", "bad", None, "", 1]], shown
    assert browser.script("return $('.cell').getAttribute('aria-labelledby') === $('.cell h3').id && window.faults.length === 0")


def it_keeps_the_texts_of_templates_from_edges_and_tools(browser, relay, service):
    template = '<template data-cell="UserSnapshotCollectionViewCell">{}<h3 data-bind="username"></h3><p data-bind="username"></p></template>'
    source = '<!doctype html><html lang="en"><title>App</title><script type="module" src="/web-client/client/element/intertwine-feed.mjs"></script><body><intertwine-feed src="/feed">{}</intertwine-feed>'
    relay.alter_feed(lambda page: [cell["actions"].get("configuration", {}).get("bindings", {}).get("username", {}).update(text="A name that is as long as its cell is wide, and longer")
                                   for cell in page["cells"]])
    distances = """
        const cell = $$('.cell').find((cell) => cell.querySelector('h3')), box = cell.getBoundingClientRect();
        const tools = cell.querySelector('[data-tool=more]').getBoundingClientRect();
        return Array.from(cell.querySelectorAll('h3, p[data-bind]'), (text) => {
          const range = document.createRange();
          range.selectNodeContents(text);
          const rects = Array.from(range.getClientRects());
          return [Math.min(...rects.map(({ left }) => left)) - box.left, box.right - Math.max(...rects.map(({ right }) => right)),
                  rects.some(({ left, right, top, bottom }) => right > tools.left && left < tools.right && bottom > tools.top && top < tools.bottom)]; });"""
    relay.pages["/app"] = source.format(template.format(""))
    relay.pages["/own"] = source.format(template.format("<style>h3, p { margin: 0; }</style>"))
    browser.open(relay.url + "app", cells=12)
    found = browser.script(distances)
    assert len(found) == 2 and all(left >= 8 and right >= 8 and not covered for left, right, covered in found), found
    browser.open(relay.url + "own", cells=12)
    assert all(left <= 1 for left, _, _ in browser.script(distances)), "the page's own rule has no effect"


def it_needs_no_more_than_the_documented_policy(browser, relay, service):
    policy = re.search(r"^    Content-Security-Policy: (.*)$", README, re.M)[1].replace("https://feed.example.com", relay.url.rstrip("/"))
    policy += "; require-trusted-types-for 'script'; trusted-types 'none'"
    page = README.split("```html\n")[1].split("```")[0].replace("https://feed.example.com/", "/")
    relay.pages["/app"] = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">')
    relay.alter_feed(lambda feed: feed["cells"].insert(0, film()))
    browser.open(relay.url + "app", cells=20)
    browser.wait(lambda: browser.script("return $$('.image[data-state=shown]').length") > 5, "pictures")
    browser.click(".cell:nth-child(3) .cell-face")
    browser.wait(lambda: browser.find("dialog.zoom[open] .zoom-image"), "the zoom")
    browser.press(Keys.ESCAPE)
    browser.click(".media-start")
    browser.wait(lambda: browser.script("return $('video').currentTime > 0"), "the video")
    assert [text for text in messages(browser) if "Policy" in text or "TrustedHTML" in text] == [], messages(browser)


def it_loads_no_picture_in_a_hidden_part_of_the_page(browser, relay, service):
    relay.pages["/app"] = ('<!doctype html><html lang="en"><title>App</title><script type="module" src="/web-client/client/element/intertwine-feed.mjs"></script>'
                           '<body><div id="tab" style="display: none"><intertwine-feed src="/feed"></intertwine-feed></div>')
    browser.open(relay.url + "app", cells=3)
    browser.settle()
    assert relay.passed("GET", "/images/") == [], relay.passed("GET", "/images/")
    browser.script("$('#tab').style.display = ''")
    browser.wait(lambda: loaded(browser) and browser.script("return $('.image[data-state=shown]') !== null"), "the pictures")
    # A tab of a page that removes the element and adds it again keeps its place.
    browser.script("scrollTo({top: 1500, behavior: 'instant'})")
    first = "return $$('.cell').find((cell) => cell.getBoundingClientRect().top > 0)?.dataset.id"
    browser.wait(lambda: browser.script("return scrollY === 1500") and browser.script(first), "the place")
    browser.settle()
    place = browser.script(first)
    browser.script("window.removed = $('intertwine-feed'); removed.remove()")
    browser.script("$('#tab').append(removed)")
    browser.wait(lambda: browser.script("return scrollY > 1000") and browser.script(first) == place, "the place again")
    assert messages(browser) == [], messages(browser)


def it_returns_the_focus_after_a_menu_and_a_form(browser, relay, service):
    note = {"type": "object", "properties": {"note": {"type": "string"}, "none": None}}
    action = {"type": "request", "method": "POST", "href": "/cells/x/report", "label": "Report", "input": note}
    actions = {"report": action, "odd": {**action, "label": "Odd", "input": {"properties": None, "required": 5}},
               "dismissal": {**action, "label": {}, "input": None}, "selection": {"type": "request", "method": "POST", "href": "/cells/x/zoom"}}
    zoom = {"commands": [], "presentation": {"screen": "ImageZoom", "arguments": {"username": 5}}}

    def answer(exchange):
        if exchange.path.startswith("/feed?"):
            return page(cell("a", actions), cell("b", actions))
        return (200, JSON, zoom if exchange.path.endswith("zoom") else {"commands": []}) if exchange.path.startswith("/cells/x/") else None
    relay.answer = answer
    relay.pages["/app"] = page_of()
    browser.driver.get(relay.url + "app")
    browser.wait(lambda: browser.count() == 2, "the cells")
    browser.script("$('.cell').focus()")
    tool = "focused().dataset.tool === 'more' && focused().closest('.cell').dataset.id === 'a'"

    def opened(name):
        browser.script("$('[data-tool=more]').click()")
        browser.script("$(`[data-menu=${arguments[0]}]`).focus()", name)

    opened("report")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: browser.script("return " + tool), "the focus after Escape")
    for end in (Keys.ESCAPE, "[type=button]", "[type=submit]"):
        opened("report")
        browser.press(Keys.ENTER)
        browser.wait(lambda: browser.find("dialog[open] [name=note]"), "the form")
        browser.press(end) if end == Keys.ESCAPE else browser.script("$(`dialog[open] ${arguments[0]}`).click()", end)
        browser.wait(lambda: not browser.find("dialog") and browser.script("return " + tool), f"the focus after {end}")
    opened("odd")
    assert browser.script("return Array.from($$('.menu-item'), (item) => item.textContent)") == ["Report", "Odd", "Dismiss"]
    browser.press(Keys.ENTER)
    browser.wait(lambda: browser.find("dialog[open] [type=submit]"), "the form without fields")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: not browser.find("dialog"), "the closed form")
    browser.script("$('.cell-face').click()")
    browser.wait(lambda: "This person has no image." in browser.text("dialog.zoom"), "the screen without a name")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: browser.focused() == "a", "the focused cell")
    opened("dismiss")
    browser.press(Keys.ENTER)
    browser.wait(lambda: ids(browser) == ["b"] and browser.focused() == "b", "the focus on the neighbour")
    assert browser.script("return window.faults") == []


def it_stops_at_unusable_and_empty_pages(browser, relay, service):
    following = "http://["
    relay.answer = lambda exchange: page(*map(cell, "abcdef"), following=following) if exchange.path.startswith("/feed?") else None
    relay.pages["/app"] = page_of()
    browser.driver.get(relay.url + "app")
    browser.wait(lambda: browser.count() == 6, "the cells")
    # A layout during the observation of sizes would be an error of the page.
    for width in (500, 320, 700):
        browser.script("feed.host.style.width = `${arguments[0]}px`; document.documentElement.style.fontSize = `${arguments[0] / 20}px`", width)
        browser.wait(lambda: browser.script("return feed.host.parts.collection.layout.width") == width, "the layout")
    browser.settle()
    assert "ResizeObserver" not in str(browser.script("return window.faults")), browser.script("return window.faults")
    for following in ("http://[", "javascript:alert(1)"):
        browser.script("document.querySelector('intertwine-feed').reload()")
        browser.wait(lambda: "The next page cannot be loaded." in browser.text("#state:not([hidden])"), "the message")
        assert browser.text("#state button") == "Reload"
    assert browser.script("return window.faults") == []
    relay.exchanges.clear()
    relay.answer = lambda exchange: page(following=f"/feed?cursor={len(relay.exchanges)}") if exchange.path.startswith("/feed?") else None
    browser.script("document.querySelector('intertwine-feed').reload()")
    browser.wait(lambda: browser.text("#state:not([hidden]) button") == "Load more", "the message")
    browser.settle()
    assert len(relay.passed("GET", "/feed?")) == 5, len(relay.passed("GET", "/feed?"))
    browser.script("$('#state button').click()")
    browser.wait(lambda: len(relay.passed("GET", "/feed?")) == 10 and browser.find("#state:not([hidden])"), "five further pages")


def it_keeps_early_properties_and_names_invalid_attributes(browser, relay, service):
    early = ("Object.assign(document.querySelector('intertwine-feed'), { token: () => 'secret', src: '/feed?limit=9', parts: 1, viewer: 'ada', "
             "commands: [{ name: 'own', label: 'Own', paths: [], run() {} }] });")
    relay.pages["/app"] = page_of(attributes="", script=early)
    browser.driver.get(relay.url + "app")
    browser.wait(lambda: relay.passed("GET", "/feed?"), "the request")
    first = relay.passed("GET", "/feed?")[0]
    assert (first.headers["Authorization"], first.headers["X-Viewer-ID"]) == ("Bearer secret", "ada")
    browser.wait(lambda: browser.script("return feed.host?.parts?.list !== undefined && $('[data-tool=own]') !== null"), "the command")
    first = "/feed?limit=9"
    for name, value, valid in (("src", "http://[", first), ("src", "javascript:1", first), ("src", "", first), ("viewer", "a\nb", "ada"),
                               ("viewer-header", "bad header", "X-Viewer-ID"), ("language", "de\nfr", "en"), ("cells", "a\nb", "own")):
        browser.script("document.querySelector('intertwine-feed').setAttribute(...arguments)", name, value)
        assert f"The attribute {name} of the element is not valid." in browser.text("#state"), browser.text("#state")
        browser.script("document.querySelector('intertwine-feed').setAttribute(...arguments)", name, valid)
        browser.wait(lambda: browser.count() > 0, f"the cells after a valid {name}")
    assert browser.script("return window.faults.length === 0 && $('#banner').hidden")
