"""Headless Chromium with helper methods for the cases."""
import base64
import json
import os
import socket
import struct
import time
import urllib.request

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


class Chromium:
    """A process of Chromium. Its start takes seconds of processor time, a window of it a fraction of one."""

    def __init__(self, traces=False):
        """`traces`: records every task of the browser's threads, for `task_times`."""
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        # Under load, Chromium 156 stops painting for ever: tiles that a frame needs wait while every thread of its pool is idle. It happens
        # between tiles of the frame and tiles in advance, which are tasks of best effort.
        for argument in ("--headless=new", "--hide-scrollbars", "--disable-dev-shm-usage", "--window-size=1280,860", "--disable-best-effort-tasks"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            # Chromium's sandbox does not run as root.
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", **({"performance": "ALL"} if traces else {})})
        if traces:
            options.add_experimental_option("perfLoggingPrefs", {"traceCategories": "toplevel", "enableNetwork": False, "enablePage": False})
        self.driver = webdriver.Chrome(service=Driver("/usr/bin/chromedriver"), options=options)
        # The driver's commands reach a page. Contexts belong to the browser, which has a connection of its own.
        address = self.driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
        with urllib.request.urlopen(f"http://{address}/json/version", timeout=TIMEOUT) as answer:
            self.tools = Tools(json.load(answer)["webSocketDebuggerUrl"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tools.close()
        self.driver.quit()

    def window(self, width=1280, height=860, dark=False, panel=False):
        return Browser(self, width, height, dark, panel)


class Tools:
    """The developer tools of the browser itself: a WebSocket with short messages, of which only responses are read."""

    def __init__(self, url):
        _, _, address, path = url.split("/", 3)
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT)
        self._stream = self._socket.makefile("rwb")
        self._number = 0
        key = base64.b64encode(os.urandom(16)).decode()
        self._stream.write(
            f"GET /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        self._stream.flush()
        status = self._stream.readline()
        assert b" 101 " in status, status
        while self._stream.readline() != b"\r\n":
            pass

    def call(self, method, **parameters):
        self._number += 1
        message = json.dumps({"id": self._number, "method": method, "params": parameters}).encode()
        # A text frame of at most 65,535 bytes, with a mask of zeros, which changes no byte.
        self._stream.write(struct.pack("!BBH", 0x81, 0x80 | 126, len(message)) + bytes(4) + message)
        self._stream.flush()
        while True:
            answer = json.loads(self._frame())
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _frame(self):
        length = self._stream.read(2)[1]
        if length >= 126:
            length = int.from_bytes(self._stream.read(2 if length == 126 else 8), "big")
        return self._stream.read(length)

    def close(self):
        self._stream.close()
        self._socket.close()


class Browser:
    """A window with a context of its own: no storage, cache, service worker or permission is shared with another window."""

    def __init__(self, chromium, width=1280, height=860, dark=False, panel=False):
        """`panel`: the page opens its panel beside the feed, as for a first visitor."""
        self.chromium, self.driver = chromium, chromium.driver
        self.size = (width, height)
        self._console = []
        self._threads = set()
        self._before = self.driver.current_window_handle
        self._context = chromium.tools.call("Target.createBrowserContext")["browserContextId"]
        self.handle = chromium.tools.call("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._others = {*self.driver.window_handles} - {self.handle}
        self.driver.switch_to.window(self.handle)
        self.driver.set_script_timeout(TIMEOUT)
        # Messages of pages before this one.
        self.driver.get_log("browser")
        phone = width < 500
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.tool("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if not panel:
            self.tool("Page.addScriptToEvaluateOnNewDocument", source="try { localStorage['intertwine.panel'] ??= 'closed'; } catch {}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.switch_to.window(self._before)
        self.chromium.tools.call("Target.disposeBrowserContext", browserContextId=self._context)

    def window(self, width=1280, height=860, dark=False, panel=False):
        """Returns another window of the same process. Until it is closed, only the new one can be used."""
        return self.chromium.window(width, height, dark, panel)

    def opened(self):
        """Returns the handles of the windows that the page has opened."""
        return [handle for handle in self.driver.window_handles if handle != self.handle and handle not in self._others]

    def close_opened(self):
        for handle in self.opened():
            self.driver.switch_to.window(handle)
            self.driver.close()
        self.driver.switch_to.window(self.handle)

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
        ActionChains(self.driver, duration=20).move_to_element(element).click().perform()

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
        until, pause = time.monotonic() + seconds, 0.01
        while True:
            value = condition()
            if value:
                return value
            assert time.monotonic() < until, f"timeout after {seconds} s: {what}"
            # Each question takes processor time of the browser, of the driver and of this process.
            time.sleep(pause)
            pause = min(pause * 1.5, 0.1)

    def settle(self):
        """Waits for two frames and a request, so that the page has noticed its state, and requests that it began before have arrived."""
        self.async_script(
            "const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(() => fetch('/readyz').then(done, done)));")

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

    def pixels(self, image):
        """Returns the pixels of the middle of a picture as the screen shows them. The picture may leave the edges of its element free."""
        x, y, width, height = self.script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'}); const { x, y, width, height } = arguments[0].getBoundingClientRect();"
            "return [x + scrollX, y + scrollY, width, height]", image)
        self.settle()
        clip = {"x": round(x + width / 2) - 20, "y": round(y + height / 2) - 20, "width": 40, "height": 40, "scale": 1}
        picture = self.tool("Page.captureScreenshot", clip=clip)["data"]
        return self.async_script(
            "const [text, done] = arguments; const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));"
            "createImageBitmap(new Blob([bytes])).then((image) => {"
            "  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');"
            "  context.drawImage(image, 0, 0);"
            "  done([...context.getImageData(0, 0, image.width, image.height).data]); });", picture)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.tool("Page.captureScreenshot")["data"]))
