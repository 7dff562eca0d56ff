"""Video and audio ads: real clicks, the poster, the label, the quartiles, and the pause out of sight."""
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

JSON = {"Content-Type": "application/json"}


def film(name="ad:film", media="/sample/bakery.mp4", **more):
    bindings = {"media": {"type": "media", "href": media}, "mediaType": {"type": "text", "text": "video/mp4"}, **more}
    return {"id": name, "identifier": "AdvertisementVideoCollectionViewCell", "size": {"width": 320, "height": 180},
            "actions": {"configuration": {"type": "bind", "bindings": bindings}, "selection": {"type": "link", "href": "/click/x"}}}


def it_plays_a_video_by_a_real_click_and_pauses_it_out_of_sight(browser, relay, service):
    poster = service.cells()[0]["actions"]["configuration"]["bindings"]["avatar"]
    disclosure = {"type": "disclosure", "label": "Sponsored", "advertiser": "The Bakery"}
    relay.alter_feed(lambda page: page["cells"].insert(0, film(poster={**poster, "alt": "Bread"}, disclosure=disclosure)))
    browser.open(relay.url, cells=20)
    browser.wait(lambda: browser.find('[data-id="ad:film"] .media-poster img'), "the poster")
    # The poster is visible until the player starts, under the button that starts it.
    assert browser.script("return getComputedStyle($('[data-id=\"ad:film\"] video')).visibility") == "hidden"
    at = "const { left, top, width, height } = $('[data-id=\"ad:film\"] .media-outlet').getBoundingClientRect();"
    assert browser.script(f"{at} return feed.elementFromPoint(left + width / 2, top + height / 2).closest('.media-start') !== null")
    assert browser.script("return $('[data-id=\"ad:film\"] .media-start').ariaLabel") == "Play Sponsored · The Bakery"
    assert browser.text('[data-id="ad:film"] .cell-disclosure') == "Sponsored · The Bakery"
    assert browser.script("return $('[data-id=\"ad:film\"] video').ariaLabel") == "Sponsored · The Bakery"
    browser.click('[data-id="ad:film"] .media-start')
    browser.wait(lambda: browser.script("const player = $('[data-id=\"ad:film\"] video'); return !player.paused && player.currentTime > 0.1"), "the playback")
    assert browser.opened() == [], "the click opened the ad"
    # The button of the controls pauses and plays.
    player = browser.find('[data-id="ad:film"] video')
    width, height = player.size["width"], player.size["height"]
    button = ActionChains(browser.driver).move_to_element_with_offset(player, 26 - width // 2, height // 2 - 28)
    button.click().perform()
    browser.wait(lambda: browser.script("return $('[data-id=\"ad:film\"] video').paused"), "the pause by the controls")
    button.click().perform()
    browser.wait(lambda: not browser.script("return $('[data-id=\"ad:film\"] video').paused"), "the playback by the controls")
    browser.script("scrollTo({top: 1400, behavior: 'instant'})")
    browser.wait(lambda: browser.script("return $('[data-id=\"ad:film\"] video')?.paused ?? true"), "the pause")
    # The link to the advertiser is beside the label.
    browser.script("scrollTo({top: 0, behavior: 'instant'})")
    link = browser.wait(lambda: browser.find('[data-id="ad:film"] .cell-line a.cell-face'), "the link")
    assert link.text == "Visit" and link.get_attribute("href").endswith("/click/x")
    assert link.accessible_name == "Visit Sponsored · The Bakery Bread", link.accessible_name
    ActionChains(browser.driver).move_to_element(link).click().perform()
    browser.wait(lambda: relay.passed("GET", "/click/x"), "the click")
    browser.close_opened()


def it_plays_ads_and_reports_quartiles(browser, relay, service):
    slots = ("start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute")
    played = {"type": "media", "href": f"http://127.0.0.1:{service.origin.port}/jingle.wav"}

    def alter(page):
        told = {slot: {"type": "request", "method": "POST", "href": f"/told/{slot}", "body": {"events": [{"type": slot}]}} for slot in slots}
        bound = {"type": "bind", "bindings": {"media": played, "mediaType": {"type": "text", "text": "audio/wav"}, "duration": {"type": "number", "number": 1}}}
        page["cells"].insert(0, {"id": "ad:sound", "advertisement": True, "identifier": "AdvertisementAudioCollectionViewCell", "size": {"width": 300, "height": 120},
                                 "actions": {"configuration": bound, "selection": {"type": "link", "href": "/click/x"}, **told}})

    relay.alter_feed(alter)
    relay.answer = lambda exchange: (200, JSON, {"results": []}) if exchange.path.startswith("/told/") else None
    browser.open(relay.url, cells=20)
    player = browser.wait(lambda: browser.find('[data-id="ad:sound"] audio'), "the player")
    assert player.get_attribute("aria-label") == "Advertisement" and player.get_attribute("controls")
    browser.script("arguments[0].addEventListener('ended', () => { window.ended = true; }); arguments[0].muted = true", player)
    # The button has the duration, because nothing is loaded before.
    start = browser.find('[data-id="ad:sound"] .media-start')
    assert start.accessible_name == "Play Advertisement, 0:01" and not [e for e in relay.exchanges if "jingle" in e.path], start.accessible_name
    browser.click('[data-id="ad:sound"] .media-start')
    browser.wait(lambda: browser.script("return window.ended === true"), "the end of the audio")
    browser.wait(lambda: len(relay.passed("POST", "/told/")) >= len(slots), "the reports")
    told = [exchange.path.removeprefix("/told/") for exchange in relay.passed("POST", "/told/")]
    assert sorted(told) == sorted(slots), told


def it_plays_the_sample_video_and_reports_unplayable_media(browser, relay, service):
    def alter(page):
        for name, media in (("ad:film", "/sample/bakery.mp4"), ("ad:gone", "http://pictures.sample.invalid/gone.mp4")):
            bound = {"type": "bind", "bindings": {"media": {"type": "media", "href": media}, "mediaType": {"type": "text", "text": "video/mp4"}}}
            page["cells"].insert(0, {"id": name, "identifier": "AdvertisementVideoCollectionViewCell", "size": {"width": 320, "height": 180},
                                     "actions": {"configuration": bound}})

    relay.alter_feed(alter)
    browser.open(relay.url, cells=20)
    player = browser.wait(lambda: browser.find('[data-id="ad:film"] video'), "the player")
    browser.press(Keys.TAB)
    shown = browser.async_script(
        "const [player, done] = arguments; player.addEventListener('timeupdate', () => player.currentTime > 0.2 && done(player.videoWidth));"
        "player.addEventListener('error', () => done('error')); player.muted = true; player.play().catch((error) => done(String(error)))", player)
    assert shown == 320, shown
    browser.script("$('[data-id=\"ad:gone\"] video').play().catch(() => {})")
    browser.wait(lambda: browser.find('[data-id="ad:gone"] .media-failed'), "the error message")
