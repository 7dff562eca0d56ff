"""Impressions of visible cells."""
import time

from selenium.webdriver.common.keys import Keys

from page import advertisements, events, loaded


def it_reports_ads_that_were_visible_for_a_second(browser, relay, service):
    browser.open(relay.url, cells=20)
    # The second ad is completely invisible at the top. The timers of the page run in order, also if the machine is slow.
    show = """
        const [milliseconds, returns, done] = arguments;
        const ads = $$('article[data-id^="ad:"]');
        scrollTo({ top: ads[1].offsetTop - 200, behavior: "instant" });
        setTimeout(() => {
          if (returns) scrollTo({ top: 0, behavior: "instant" });
          requestAnimationFrame(() => requestAnimationFrame(() => done(ads[1].dataset.id)));
        }, milliseconds);"""
    browser.wait(lambda: len(advertisements(browser)) > 1, "a second ad")
    token = browser.async_script(show, 400, True)
    # Longer than the delay of a batch.
    time.sleep(2.5)
    assert not [event for event in events(relay) if event["cell"] == token], "reported after less than a second"
    browser.async_script(show, 0, False)
    browser.wait(lambda: loaded(browser), "the pictures")
    browser.async_script(show, 1300, False)
    # Leaving the page sends pending impressions.
    browser.driver.get("about:blank")
    browser.wait(lambda: [event for event in events(relay) if event["cell"] == token], "the impression")
    assert len([event for event in events(relay) if event["cell"] == token]) == 1
    browser.wait(lambda: relay.passed("POST", "/events")[0].status == 200, "200")


def it_reports_no_cell_that_left_while_the_page_was_busy(browser, relay, service):
    leave = """
        const [done] = arguments;
        const cell = $$('article[data-id^="ad:"]')[1];
        const show = (share) => {
          const { top, height } = cell.getBoundingClientRect();
          scrollTo({ top: scrollY + top - innerHeight + height * share, behavior: "instant" });
        };
        show(0.55);
        setTimeout(() => {
          show(0.05);
          for (const until = performance.now() + 250; performance.now() < until;);
          done(cell.dataset.id);
        }, 880);"""
    for _ in range(3):
        browser.open(relay.url, cells=20)
        browser.wait(lambda: len(advertisements(browser)) > 1, "a second ad")
        token = browser.async_script(leave)
        time.sleep(0.3)
        browser.driver.get("about:blank")
        time.sleep(0.3)
        assert not [event for event in events(relay) if event["cell"] == token], "reported although it had left"


def it_reports_no_ad_whose_picture_is_missing(browser, relay, service):
    ad = next(cell for cell in next(service.pages())["cells"] if cell["id"].startswith("ad:"))
    picture = ad["actions"]["configuration"]["bindings"]["content"]["href"].split("?")[0]
    problem = {"type": "about:blank", "title": "Not Found", "status": 404}
    relay.answer = lambda exchange: (404, {"Content-Type": "application/problem+json"}, problem) if exchange.path.startswith(picture) else None
    browser.open(relay.url, cells=20)
    show = f"$('[data-id=\"{ad['id']}\"]').scrollIntoView({{block: 'center', behavior: 'instant'}})"
    browser.script(show)
    browser.wait(lambda: browser.find(f'[data-id="{ad["id"]}"] .image[data-state=failed]'), "the missing picture")
    time.sleep(2)
    browser.script("dispatchEvent(new PageTransitionEvent('pagehide'))")
    browser.settle()
    assert not [event for event in events(relay) if event["cell"] == ad["id"]], "reported without its picture"
    # The picture arrives, and the ad is seen from then on.
    relay.answer = None
    browser.script("feed.host.parts.collection.views.forEach((view) => view.retry())")
    browser.wait(lambda: browser.find(f'[data-id="{ad["id"]}"] .image[data-state=shown]'), "the picture")
    time.sleep(1.6)
    browser.script("dispatchEvent(new PageTransitionEvent('pagehide'))")
    browser.wait(lambda: [event for event in events(relay) if event["cell"] == ad["id"]], "the impression")


def it_reports_an_ad_before_its_link_is_followed(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.wait(lambda: advertisements(browser), "an ad")
    ad = browser.script(
        "const cell = $('article[data-id^=\"ad:\"]'); cell.scrollIntoView({block: 'center', behavior: 'instant'}); return cell.dataset.id")
    browser.wait(lambda: loaded(browser), "the pictures")
    # The ad has been seen for a second, and the batch is not due yet.
    time.sleep(1.2)
    browser.click(f'article[data-id="{ad}"] a.cell-face')
    browser.wait(lambda: relay.passed("GET", "/click/"), "the click")
    asked = [exchange for exchange in list(relay.exchanges) if exchange.path.startswith(("/events", "/click/"))]
    assert asked[0].path.startswith("/events") and any(event["cell"] == ad for event in events(relay)), [e.path for e in asked]
    browser.close_opened()


def it_reports_no_covered_cell(browser, relay, service):
    browser.open(relay.url, cells=20)
    browser.wait(lambda: len(advertisements(browser)) > 1, "a second ad")
    token = browser.script(
        "const cell = $$('article[data-id^=\"ad:\"]')[1]; const { top, height } = cell.getBoundingClientRect();"
        "scrollTo({top: scrollY + top + height * 0.45, behavior: 'instant'}); return cell.dataset.id")
    time.sleep(1.5)
    center = "$$('article[data-id^=\"ad:\"]')[1].scrollIntoView({block: 'center', behavior: 'instant'})"
    browser.press("?")
    browser.script(center)
    time.sleep(1.5)
    # Hiding the page sends pending impressions.
    browser.script("dispatchEvent(new PageTransitionEvent('pagehide'))")
    time.sleep(0.5)
    assert not [event for event in events(relay) if event["cell"] == token], "reported below the bar or a dialog"
    browser.press(Keys.ESCAPE)
    browser.wait(lambda: [event for event in events(relay) if event["cell"] == token], "the impression of the visible ad")
