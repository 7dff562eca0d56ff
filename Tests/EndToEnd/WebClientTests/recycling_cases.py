"""Many cells with few views: bounded numbers of elements, short frames, and a stable focus and position."""
import os
from urllib.parse import parse_qs, urlsplit

from selenium.webdriver.common.keys import Keys

from browser import Chromium
from page import ids

COUNT, PAGE = 10_000, 100
FRAMES = 120

# Scrolls by one and a half cells in each frame. Returns the times of the frames and the numbers of elements.
SCROLL = """
    const [frames, done] = arguments;
    const times = [];
    let last = null, cells = 0, nodes = 0, number = 0;
    const step = (now) => {
      if (last !== null) times.push(now - last);
      last = now;
      cells = Math.max(cells, $$(".cell").length);
      nodes = Math.max(nodes, $$("*").length);
      if (number++ < frames) {
        scrollBy({ top: 330, behavior: "instant" });
        requestAnimationFrame(step);
        return;
      }
      times.sort((a, b) => a - b);
      done({ p95: times[Math.floor(times.length * 0.95)], cells, nodes });
    };
    requestAnimationFrame(step);"""


# Scrolls to the end and back to the start, in steps of a few screens.
WALK = """
    const [done] = arguments;
    let by = 3000;
    const step = () => {
      scrollBy({ top: by, behavior: "instant" });
      if (by > 0 && scrollY + innerHeight >= document.body.scrollHeight - 1) by = -3000;
      if (by < 0 && scrollY === 0) requestAnimationFrame(() => requestAnimationFrame(done));
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);"""


def ten_thousand(exchange):
    """A feed with this number of cells and three identifiers."""
    if exchange.method != "GET" or urlsplit(exchange.path).path != "/feed":
        return None
    start = int(parse_qs(urlsplit(exchange.path).query).get("cursor", ["0"])[0])
    items = []
    for number in range(start, min(start + PAGE, COUNT)):
        identifier = "CircularUserCollectionViewCell" if number % 5 == 0 else "UserSnapshotCollectionViewCell"
        bindings = {"username": {"type": "text", "text": f"Number {number}"}, "avatar": {"type": "image", "href": f"/images/none/{number % 40}"}}
        request = {"type": "request", "method": "POST", "href": f"/cells/user:{number}/selection"}
        items.append({
            "id": f"user:{number}", "identifier": identifier, "size": {"width": 300, "height": 190 if number % 5 == 0 else 200},
            "actions": {"configuration": {"type": "bind", "bindings": bindings}, "selection": request, "dismissal": request}})
    following = f"/feed?cursor={start + PAGE}" if start + PAGE < COUNT else None
    page = {"limit": PAGE, "next": following, "previous": None}
    return 200, {"Content-Type": "application/json", "Cache-Control": "no-store"}, {"cells": items, "page": page}


def it_shows_ten_thousand_cells_with_few_views(browser, relay, service):
    relay.answer = ten_thousand
    browser.open(relay.url, cells=20)
    few = heap(browser)
    # Measures the processor time of the page's thread, because other processes delay the page.
    browser.tool("Performance.enable", timeDomain="threadTicks")
    busy = busy_seconds(browser)
    rounds = scrolled_to_the_end(browser)
    cells, nodes = max(r["cells"] for r in rounds), max(r["nodes"] for r in rounds)
    p95 = sorted(r["p95"] for r in rounds)
    work = (busy_seconds(browser) - busy) * 1000 / (FRAMES * len(rounds))
    print(f"        {len(rounds)} rounds of {FRAMES} frames: p95 {p95[0]:.0f} to {p95[-1]:.0f} ms, at most {cells} cells and {nodes} nodes, {work:.1f} ms of work a frame")
    assert cells <= 120 and nodes <= 3300, f"{cells} cells, {nodes} nodes"
    # Other tests run at the same time. QUIET=1 checks the bar of a quiet machine.
    assert work <= (16.7 if os.environ.get("QUIET") else 33.3), f"{work:.1f} ms of work a frame"
    browser.driver.set_script_timeout(300)
    browser.async_script(WALK)
    once = heap(browser)
    browser.async_script(WALK)
    twice = heap(browser)
    print(f"        heap: {few >> 10} KiB with a page, {once >> 10} KiB after {COUNT} cells and back, {twice >> 10} KiB after them once more")
    assert once - few <= COUNT * 4096, f"{(once - few) / COUNT:.0f} bytes a cell"
    assert twice - once <= 2 << 20, f"the same cells again take {(twice - once) >> 10} KiB more"


def it_has_no_long_task_over_ten_thousand_cells(browser, relay, service):
    relay.answer = ten_thousand
    with Chromium(traces=True) as chromium, chromium.window() as window:
        window.open(relay.url, cells=20)
        # The tasks of the start do not depend on the number of cells.
        window.task_times()
        tasks = []
        rounds = scrolled_to_the_end(window, lambda: tasks.extend(window.task_times()))
        tasks.sort()
        print(f"        {len(tasks)} tasks in {len(rounds)} rounds; the longest took {', '.join(f'{time:.0f}' for time in tasks[-5:])} ms of processor time")
        assert len(tasks) > FRAMES * len(rounds), "no tasks recorded"
        # Other tests run at the same time. QUIET=1 checks the bar of a quiet machine.
        limit = 50 if os.environ.get("QUIET") else 100
        assert tasks[-1] <= limit, f"long tasks: {tasks[-10:]}"


def scrolled_to_the_end(browser, after_each=lambda: None):
    # A browser that paints no frame any more is given up. Under load, the frames of a round take 10 s.
    browser.driver.set_script_timeout(60)
    rounds = []
    while not browser.find("#end:not([hidden])"):
        assert len(rounds) < 60, "no end of the feed"
        rounds.append(browser.async_script(SCROLL, FRAMES))
        after_each()
    assert str(COUNT) in browser.text("#end")
    return rounds


def heap(browser):
    """Returns the bytes of the page's reachable objects."""
    browser.tool("HeapProfiler.collectGarbage")
    return int(browser.tool("Runtime.getHeapUsage")["usedSize"])


def busy_seconds(browser):
    return next(metric["value"] for metric in browser.tool("Performance.getMetrics")["metrics"] if metric["name"] == "TaskDuration")


def it_reuses_elements(browser, relay, service):
    relay.answer = ten_thousand
    browser.open(relay.url, cells=20)
    browser.script("window.first = new Set($$('.cell'))")
    for _ in range(16):
        browser.script("scrollBy({top: 800, behavior: 'instant'})")
        browser.async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    again = browser.script(
        "const again = Array.from($$('.cell')).filter((cell) => first.has(cell));"
        "return again.map((cell) => [cell.dataset.id, cell.textContent, cell.ariaPosInSet, feed.getElementById(cell.getAttribute('aria-labelledby').split(' ')[0]).textContent])")
    assert len(again) >= 10, f"{len(again)} reused elements"
    for name, text, position, label in again:
        number = int(name.removeprefix("user:"))
        assert f"Number {number}" == label and text.count("Number") == 1 and int(position) == number + 1, (name, text, position)


def it_keeps_the_focus_on_a_distant_cell(browser, relay, service):
    relay.answer = ten_thousand
    browser.open(relay.url, cells=20)
    browser.script("$$('.cell')[4].focus()")
    for _ in range(12):
        browser.script("scrollBy({top: 900, behavior: 'instant'})")
        browser.async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert browser.focused() == "user:4" and browser.script("return scrollY") > 9000
    assert ids(browser)[:2] != ["user:0", "user:1"], "nothing was recycled"
    browser.press(Keys.ARROW_RIGHT)
    assert browser.focused() == "user:5"
    box = browser.script("const { top, bottom } = focused().getBoundingClientRect(); return [top, bottom]")
    assert 60 <= box[0] and box[1] <= 860, f"not visible: {box}"
    assert browser.script("return focused().ariaPosInSet") == "6"
    order = browser.script("return Array.from($$('.cell'), (cell) => Number(cell.ariaPosInSet))")
    assert order == sorted(order), f"wrong reading order: {order}"
    assert browser.script("return $$('.cell[tabindex=\"0\"]').length") == 1


def it_restores_the_scroll_position(browser, relay, service):
    browser.open(relay.url, cells=20)
    seen = """
        const cell = Array.from($$('.cell')).find((one) => one.getBoundingClientRect().bottom > 400);
        return cell && [cell.dataset.id, Math.round(cell.getBoundingClientRect().top)]"""
    def there():
        return browser.script(seen)
    # Further pages load on the way.
    browser.wait(lambda: browser.script("scrollBy({top: 700, behavior: 'instant'}); return scrollY > 5000"), "the place")
    place = browser.wait(there, "a cell in the middle")
    browser.wait(lambda: browser.script("return history.state?.position?.y === scrollY"), "the saved place")
    held = []
    relay.hold = lambda exchange: "cursor=" in exchange.path and not held
    browser.driver.refresh()
    browser.wait(lambda: browser.text("#count"), "the first page")
    outlines = "return Array.from($$('.skeletons:not([hidden]) i'), (one) => one.getBoundingClientRect()).some(({ top, bottom }) => bottom > 60 && top < innerHeight)"
    browser.wait(lambda: browser.script(outlines), "outlines at the saved position")
    held.append(True)
    browser.wait(lambda: there() == place, f"{place} after the reload")
    browser.script("$('.bar-link[href$=\"reference.html\"]').click()")
    browser.wait(lambda: "reference.html" in browser.driver.current_url, "the reference")
    browser.driver.back()
    browser.wait(lambda: there() == place, f"{place} after going back")
