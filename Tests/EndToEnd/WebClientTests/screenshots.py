"""Screenshots of the page: wide and narrow, light and dark."""
import time
from pathlib import Path

from browser import Chromium


def take(service, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with Chromium() as chromium:
        for dark in (False, True):
            for width, height in ((1280, 860), (390, 844)):
                with chromium.window(width, height, dark) as browser:
                    take_states(browser, service, folder, f"{'dark' if dark else 'light'}-{width}")


def take_states(browser, service, folder, name):
    browser.open(service.base_url, cells=8)
    time.sleep(1.5)
    browser.screenshot(folder / f"{name}-feed.png")
    browser.script("$$('[data-tool=inspect]')[1].click()")
    time.sleep(0.5)
    browser.screenshot(folder / f"{name}-inspector.png")
    browser.click(".inspector-close")
    browser.script("$('[data-tool=dismiss]')?.click()")
    time.sleep(0.7)
    browser.screenshot(folder / f"{name}-toast.png")
    browser.script("$$('button.cell-face')[2].click()")
    time.sleep(0.8)
    browser.screenshot(folder / f"{name}-zoom.png")
    browser.driver.get(f"{service.base_url}/web-client/playground.html")
    time.sleep(1.5)
    browser.screenshot(folder / f"{name}-playground.png")
