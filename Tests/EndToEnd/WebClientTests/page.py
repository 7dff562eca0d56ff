"""Helper functions of the cases."""
import json


def to_the_end(browser):
    def reached():
        browser.script("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
        return browser.find("#end:not([hidden])")

    browser.wait(reached, "the end of the feed", seconds=60)


def advertisements(browser):
    return [name for name in ids(browser) if name.startswith("ad:")]


def ids(browser):
    return browser.script("return Array.from($$('.cell'), (cell) => cell.dataset.id)")


def all_cells(browser):
    """Returns all cells as `[id, width, height]`, in the order of the list, by scrolling through it."""
    cells = {}
    browser.script("scrollTo({top: 0, behavior: 'instant'})")

    def step():
        # After two frames, the cells at the new position are displayed.
        shown = browser.async_script(
            "const [done] = arguments;"
            "const cells = () => Array.from($$('.cell'), (cell) => [Number(cell.ariaPosInSet),"
            "  [cell.dataset.id, cell.offsetWidth, cell.querySelector('.cell-content').offsetHeight]]);"
            "requestAnimationFrame(() => requestAnimationFrame(() => {"
            "  done(cells());"
            "  scrollBy({top: innerHeight, behavior: 'instant'});"
            "}));")
        cells.update(shown)
        return browser.find("#end:not([hidden])") and browser.script("return scrollY + innerHeight >= document.body.scrollHeight - 1")

    browser.wait(step, "the end of the feed", seconds=60)
    step()
    assert list(sorted(cells)) == list(range(1, len(cells) + 1)), "missing or duplicate cells"
    return [cells[number] for number in sorted(cells)]


def loaded(browser):
    """Returns true if all visible images are loaded."""
    return browser.script(
        "return Array.from($$('.image')).every((image) => {"
        "  const { top, bottom } = image.getBoundingClientRect();"
        "  const isOutOfSight = bottom < 0 || top > innerHeight;"
        "  const isUnbound = image.matches('.snapshot-background:not([data-state])');"
        "  return isOutOfSight || isUnbound || image.dataset.state === 'shown'; })")


def cancelled(relay):
    return {exchange.path.rsplit("/", 1)[1] for exchange in relay.passed("DELETE", "/images/requests/")}


def events(relay):
    return [event for exchange in relay.passed("POST", "/events") for event in json.loads(exchange.body)["events"]]


def all_true(values):
    values = list(values)
    return bool(values) and not [value for value in values if not value]
