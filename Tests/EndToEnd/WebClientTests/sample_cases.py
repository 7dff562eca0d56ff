"""The sample feed, imported and with `intertwine serve --sample`."""
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

from page import loaded
from service import Service, free_port


def image_hrefs(page):
    return sorted({binding["href"] for cell in page["cells"] for binding in cell["actions"]["configuration"]["bindings"].values()
                   if binding["type"] == "image"})


def it_shows_every_image_of_the_sample_without_a_network(browser, relay, service):
    with Service(keeps_sample=True) as plain:
        browser.open(plain.base_url, cells=20)
        browser.wait(lambda: loaded(browser), "visible images")
        hrefs = {href for page in plain.pages() for href in image_hrefs(page)}
        # Each image has one or more sizes. A program gets none of the campaign's three ads.
        assert len({href.split("/")[3] for href in hrefs}) == 26, sorted(hrefs)
        for href in hrefs:
            with urllib.request.urlopen(plain.base_url + href) as answer:
                assert answer.status == 200 and answer.read(4) == b"\x89PNG", href


def it_reports_why_images_are_missing(browser, relay, service):
    with Service(settings=["images.allowed-networks="]) as strict:
        browser.open(strict.base_url, cells=20)
        browser.wait(lambda: "images.allowed-networks" in browser.text("#toasts"), "the reason")
        assert browser.text("#toasts").count("address") == 1, browser.text("#toasts")
        failed = browser.wait(lambda: browser.find(".image[data-state=failed]"), "a missing image")
        assert "not public" in failed.get_attribute("title")


def it_runs_beside_used_ports_and_reports_a_conflict(browser, relay, service):
    binary = os.path.abspath(os.environ.get("WEB_CLIENT_TESTS_BINARY") or ".build/debug/intertwine")
    with tempfile.TemporaryDirectory() as folder, socket.socket() as taken:
        port, admin_port = free_port(), free_port()
        command = [binary, "serve", "--sample", "--port", str(port), "--admin-port", str(admin_port), "--database", f"{folder}/feed.sqlite"]
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8082))
            taken.listen()
        except OSError:
            # Another program uses the port, which has the same effect.
            pass
        run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            until = time.monotonic() + 60
            for line in run.stdout:
                if line.startswith("Ctrl-C"):
                    break
                assert time.monotonic() < until
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/feed") as answer:
                hrefs = image_hrefs(json.load(answer))
            assert len(hrefs) > 10
            for href in hrefs:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{href}") as answer:
                    assert answer.status == 200
            second = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30)
            assert second.returncode != 0 and second.stdout == "", second
            assert second.stderr == f"Error: 127.0.0.1:{port} is in use: select other ports with --port and --admin-port\n", second.stderr
        finally:
            run.send_signal(signal.SIGTERM)
            run.wait(timeout=30)
