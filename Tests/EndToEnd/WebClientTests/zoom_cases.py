"""The zoomed image: every part is reachable by pointer, touch, wheel and keyboard."""
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

USER = 'article[data-id^="user:"]'
BOX = "const { left, top, width, height } = $(arguments[0]).getBoundingClientRect(); return [left, top, width, height]"


def opened(browser, relay):
    browser.open(relay.url)
    browser.click(f"{USER} .cell-face")
    browser.wait(lambda: browser.find(".zoom-image"), "the zoomed image")


def scale(browser):
    return int(browser.text(".zoom-scale").split()[0])


def it_reaches_every_part_of_an_enlarged_image(browser, relay, service):
    opened(browser, relay)
    for _ in range(5):
        browser.click("[aria-label=Larger]")
    assert scale(browser) > 250
    stage, image = browser.script(BOX, ".zoom-stage"), browser.script(BOX, ".zoom-image")
    assert image[3] > stage[3] and image[1] < stage[1], "the image is not larger than the stage"
    # The zoom keeps the centre, and dragging reaches every edge.
    middle = [image[0] + image[2] / 2 - stage[0] - stage[2] / 2, image[1] + image[3] / 2 - stage[1] - stage[3] / 2]
    assert max(map(abs, middle)) < 3, f"the centre moved by {middle}"
    for x, y in ((400, 400), (-400, -400)):
        for _ in range(7):
            ActionChains(browser.driver).move_to_element(browser.find(".zoom-stage")).click_and_hold().move_by_offset(x, y // 2).release().perform()
        left, top, width, height = browser.script(BOX, ".zoom-image")
        reached = (left >= stage[0] - 1 or width < stage[2], top >= stage[1] - 1) if x > 0 else (
            left + width <= stage[0] + stage[2] + 1 or width < stage[2], top + height <= stage[1] + stage[3] + 1)
        assert all(reached), f"after dragging by {x}, it is at {left, top, width, height}"
    assert browser.find("dialog.zoom[open]"), "dragging closed the dialog"
    browser.press(Keys.ARROW_UP)
    assert browser.script(BOX, ".zoom-image")[1] > top, "the arrow key does not pan"


def it_closes_the_image_by_going_back(browser, relay, service):
    opened(browser, relay)
    browser.driver.back()
    browser.wait(lambda: not browser.find("dialog.zoom"), "the closed image")
    assert browser.driver.current_url == relay.url and browser.count() > 0
    # The key leaves no entry in the history.
    browser.click(f"{USER} .cell-face")
    browser.wait(lambda: browser.find(".zoom-image"), "the zoomed image")
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: browser.script("return history.state?.isZoomed !== true"), "the former entry")


def it_ignores_keys_of_the_browser(browser, relay, service):
    opened(browser, relay)
    for key in "-+0":
        prevented = browser.script(
            "return !$('dialog.zoom').dispatchEvent(new KeyboardEvent('keydown',"
            "  {key: arguments[0], ctrlKey: true, bubbles: true, cancelable: true}))", key)
        assert scale(browser) == 100 and not prevented, key
    browser.press("-")
    assert scale(browser) == 80
    # A pinch on a touchpad is a wheel event with the control key. It must zoom the image and not the page.
    prevented = browser.script(
        "return !$('.zoom-stage').dispatchEvent(new WheelEvent('wheel',"
        "  {deltaY: -40, ctrlKey: true, clientX: 640, clientY: 400, bubbles: true, cancelable: true}))")
    assert prevented and scale(browser) > 80


def it_can_be_pinched(browser, relay, service):
    opened(browser, relay)

    def touch(kind, *points):
        browser.tool("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)])

    browser.tool("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    touch("touchStart", (600, 400))
    touch("touchStart", (600, 400), (680, 400))
    for distance in (60, 80, 100):
        touch("touchMove", (640 - distance, 400), (640 + distance, 400))
    touch("touchEnd")
    assert 220 <= scale(browser) <= 280, scale(browser)
    left, top, width, height = browser.script(BOX, ".zoom-image")
    touch("touchStart", (640, 400))
    touch("touchMove", (640, 480))
    touch("touchMove", (640, 520))
    touch("touchEnd")
    assert browser.script(BOX, ".zoom-image")[1] > top, "one finger does not pan"
    assert browser.find("dialog.zoom[open]")
