"""Headless Chromium with helper methods for the cases."""
import base64
import json
import os
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.action_chains import ActionChains

TIMEOUT = 30

# Scripts find elements in the page and in the shadow root of the feed by `$` and `$$`.
FINDERS = """
    const feed = document.querySelector("intertwine-feed")?.shadowRoot ?? document;
    const $ = (selector) => document.querySelector(selector) ?? feed.querySelector(selector);
    const $$ = (selector) => [...document.querySelectorAll(selector), ...(feed === document ? [] : feed.querySelectorAll(selector))];
    const focused = () => feed.activeElement ?? document.activeElement;
"""


class Browser:
    def __init__(self, width=1280, height=860, dark=False, traces=False):
        """`traces`: records every task of the browser's threads, for `task_times`."""
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--hide-scrollbars", "--disable-dev-shm-usage", f"--window-size={max(width, 500)},{height}"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            # Chromium's sandbox does not run as root.
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", **({"performance": "ALL"} if traces else {})})
        if traces:
            options.add_experimental_option("perfLoggingPrefs", {"traceCategories": "toplevel", "enableNetwork": False, "enablePage": False})
        self.driver = webdriver.Chrome(service=Driver("/usr/bin/chromedriver"), options=options)
        self.driver.set_script_timeout(TIMEOUT)
        self.size = (width, height)
        phone = width < 500
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._console = []
        self._threads = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def tool(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def open(self, url, cells=1):
        self.driver.get(url)
        self.wait(lambda: self.count() >= cells, f"{cells} cells")

    def script(self, text, *arguments):
        return self.driver.execute_script(FINDERS + text, *arguments)

    def async_script(self, text, *arguments):
        """Runs a script whose last argument is a function that ends it."""
        return self.driver.execute_async_script(FINDERS + text, *arguments)

    def count(self):
        return self.script("return $$('.cell').length")

    def find(self, selector):
        return self.script("return $(arguments[0])", selector)

    def click(self, selector):
        element = self.wait(lambda: self.find(selector), selector)
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        ActionChains(self.driver).move_to_element(element).click().perform()

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def text(self, selector):
        """Returns the text of an element, also while it fades in; the driver's text omits transparent elements."""
        return self.script("return $(arguments[0])?.textContent ?? ''", selector)

    def visible_text(self):
        """Returns the visible text of the page and of the feed."""
        return self.script("return document.body.innerText + [...feed.children].map((child) => child.innerText ?? '').join('\\n')")

    def focused(self):
        """Returns the id of the focused cell."""
        return self.script("return focused()?.closest('.cell')?.dataset.id ?? null")

    def wait(self, condition, what, seconds=TIMEOUT):
        """Returns the result of a condition as soon as it is true; fails after the time limit."""
        until = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            assert time.monotonic() < until, f"timeout after {seconds} s: {what}"
            time.sleep(0.02)

    def console(self):
        """Returns the errors and warnings on the console."""
        self._console += [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        return self._console

    def task_times(self):
        """Returns the processor time in milliseconds of each task of the page's thread since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        events = [event["params"] for event in events if event["method"] == "Tracing.dataCollected"]
        self._threads |= {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"] == "CrRendererMain"}
        return [e["tdur"] / 1000 for e in events if "tdur" in e and e["name"].endswith("RunTask") and (e["pid"], e["tid"]) in self._threads]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.tool("Page.captureScreenshot")["data"]))
