"""The reports page for operators: its charts and its accessibility."""
import json
import urllib.error
import urllib.request

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from axe_cases import axe, findings, windows


def click_an_ad(service):
    ad = next(cell for cell in service.cells() if cell["id"].startswith("ad:"))
    # A click counts after the impression.
    impression = ad["actions"]["impression"]
    seen = urllib.request.Request(
        service.base_url + impression["href"], method="POST", data=json.dumps(impression["body"]).encode(),
        headers={"User-Agent": "Mozilla/5.0 Firefox", "Content-Type": "application/json"})
    urllib.request.urlopen(seen).close()
    request = urllib.request.Request(service.base_url + ad["actions"]["selection"]["href"], method="GET", headers={"User-Agent": "Mozilla/5.0 Firefox"})
    opener = urllib.request.build_opener(type("Stay", (urllib.request.HTTPRedirectHandler,), {"redirect_request": lambda *_: None}))
    try:
        opener.open(request)
    except urllib.error.HTTPError as answer:
        assert answer.code == 302, answer.code
    return ad["id"]


def ask(browser, **values):
    for name, value in values.items():
        Select(browser.driver.find_element(By.ID, name)).select_by_value(value)
    browser.script("document.querySelector('#status').textContent = ''")
    browser.click("#question button:not([type])")
    browser.wait(lambda: browser.text("#status") not in ("", "Loading …"), "the report")


def rows(browser):
    return browser.script(
        "return Array.from(document.querySelectorAll('#table tbody tr'), (row) => Array.from(row.cells, (cell) => cell.textContent))")


def it_plots_reports_for_operators(browser, relay, service):
    ad = click_an_ad(service)
    browser.driver.get(service.admin_url + "/reports")
    browser.wait(lambda: browser.find("#figure:not([hidden])"), "the plot")
    assert browser.find("#chart svg polyline") and len(rows(browser)) == 1
    ask(browser, by="ad", measure="clicks")
    [[name, _, clicks, *_]] = rows(browser)
    assert name == ad and int(clicks) >= 1, rows(browser)
    assert browser.find("#chart svg rect.bar") and ad in browser.text("#chart svg")
    ask(browser, by="feed", **{"and": "hour"})
    assert [row[0] for row in rows(browser)] == ["main"] and browser.text("#legend") == "main"
    ask(browser, by="day", **{"and": "day"})
    assert "two different groupings" in browser.text("#status"), browser.text("#status")
    # An unknown campaign has no deliveries and no known goal.
    browser.driver.find_element(By.ID, "campaign").send_keys("none")
    ask(browser, by="day", **{"and": "none"})
    assert "Nothing counted" in browser.text("#status"), browser.text("#status")


def it_asks_for_the_operators_token(browser, relay, service):
    def answer(exchange):
        if not exchange.path.startswith("/admin/reports"):
            return None
        if exchange.headers.get("authorization") != "Bearer secret-token":
            return 401, {"Content-Type": "application/problem+json"}, {"status": 401, "detail": "A bearer token is required."}
        report = {"from": "2026-11-01", "to": "2026-11-02", "by": "day", "rows": [{"key": "2026-11-01", "day": "2026-11-01", "impressions": 7}]}
        return 200, {"Content-Type": "application/json"}, report

    with type(relay)(service.admin_url) as operators:
        operators.answer = answer
        browser.driver.get(operators.url.rstrip("/") + "/reports")
        browser.wait(lambda: browser.find("#access:not([hidden])"), "the token form")
        browser.driver.find_element(By.ID, "token").send_keys("secret-token")
        browser.click("#access button")
        browser.wait(lambda: browser.find("#figure:not([hidden])"), "the plot")
        assert rows(browser)[0][:2] == ["2026-11-01", "7"], rows(browser)


def it_passes_axe_in_reports(browser, relay, service):
    click_an_ad(service)
    source = axe()
    found = []
    for look, window in windows(browser, ("dark", 1280)):
        window.driver.get(service.admin_url + "/reports")
        window.wait(lambda: window.find("#figure:not([hidden])"), "the plot")
        window.script(source)
        found += findings(window, f"{look}, the days")
        ask(window, by="ad", **{"and": "position"})
        found += findings(window, f"{look}, the ads")
        wide = window.script("return document.documentElement.scrollWidth > innerWidth")
        assert not wide, f"{look} scrolls sideways"
    assert not found, json.dumps(found, indent=1)
