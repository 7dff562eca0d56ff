"""The page with the form for items, for operators."""
import json
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from axe_cases import axe, findings, windows
from service import Service

# A kind with every type of field, as a program or a configuration declares it.
KINDS = """
languages: [en, de]
kinds:
  story:
    fields:
      title: {type: text, required: true, languages: true}
      mood: {type: text, choices: {calm: {en: Calm, de: Ruhig}, loud: {en: Loud and clear, de: Laut}}}
      stars: {type: number, min: 1, max: 5}
      isHot: boolean
      starts: date
    cells:
      collection: {identifier: StoryCell, size: 300x50, bind: {title: {text: title}}}
sections:
  stories: {title: Stories, kinds: [story]}
feeds:
  main: [stories, main]
"""


def choose(browser, kind, key):
    browser.wait(lambda: browser.script("return document.querySelectorAll('#kind option').length > 2"), "the kinds")
    browser.script("""
        document.querySelector('#status').textContent = '';
        const hash = `#${new URLSearchParams({ kind: arguments[0], id: arguments[1] })}`;
        if (location.hash === hash) dispatchEvent(new Event('hashchange'));
        else location.hash = hash""", kind, key)
    status(browser)


def press(browser, selector):
    """Clicks a button, and returns the status of the page after the operation."""
    browser.script("document.querySelector('#status').textContent = ''")
    browser.click(selector)
    return status(browser)


def status(browser):
    return browser.wait(lambda: (text := browser.text("#status")) not in ("", "Loading …") and text, "a status")


def answer(browser, yes):
    """Answers a question of the page, which may follow requests, and returns its text."""
    def asked():
        try:
            return browser.driver.switch_to.alert
        except NoAlertPresentException:
            return None

    question = browser.wait(asked, "a question")
    text = question.text
    (question.accept if yes else question.dismiss)()
    return text


def enter(element, text):
    element.clear()
    element.send_keys(text)


def field(browser, name):
    """Returns the control of the field with a name."""
    return browser.script("return document.querySelector(`#fields [data-name=\"${arguments[0]}\"] label`).querySelector('input, select, textarea')", name)


def item(service, path):
    try:
        with urllib.request.urlopen(f"{service.admin_url}/admin/items/{path}") as response:
            return json.load(response), response.headers["ETag"]
    except urllib.error.HTTPError as error:
        return error.code, None


def it_edits_items_for_operators(browser, relay, service):
    browser.driver.get(service.admin_url + "/items")
    choose(browser, "user", "form")
    assert status(browser) == "user:form does not exist. Save creates it, and releases it if it is taken down."
    assert browser.text("#fields legend") == "user:form" and browser.driver.title == "user:form – Intertwine"
    assert not browser.driver.find_element(By.ID, "remove").is_displayed()
    Select(field(browser, "type")).select_by_visible_text("regular")
    field(browser, "username").send_keys("Formidable")
    # The page refuses what the schema excludes. The service refuses the rest, and the page shows its error at the field.
    field(browser, "avatarUrl").send_keys("ftp://pictures.example.com/a.png")
    assert press(browser, "#save") == "1 field needs a correction." and "https://" in browser.text("#fields .error:not(:empty)")
    enter(field(browser, "avatarUrl"), "https://pictures example.com/a.png")
    assert "avatarUrl" in press(browser, "#save")
    control = field(browser, "avatarUrl")
    error = browser.driver.find_element(By.ID, control.get_attribute("aria-describedby").split(" ")[0])
    assert control.get_attribute("aria-invalid") == "true" and error.text and browser.driver.switch_to.active_element == control, error.text
    enter(control, "https://pictures.example.com/a.png")
    assert press(browser, "#save") == "user:form is created."
    assert field(browser, "avatarUrl").get_attribute("aria-invalid") is None and not browser.find("#fields .error:not(:empty)")
    assert item(service, "user/form")[0] == {
        "kind": "user", "id": "form", "type": "regular", "username": "Formidable", "avatarUrl": "https://pictures.example.com/a.png"}
    # A link to the item opens it. A write of someone else is not overwritten.
    browser.driver.get("about:blank")
    browser.driver.get(service.admin_url + "/items#kind=user&id=form")
    assert status(browser) == "user:form is open."
    stored, tag = item(service, "user/form")
    changed = json.dumps({**stored, "username": "Other"}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{service.admin_url}/admin/items/user/form", changed, {"If-Match": tag}, method="PUT")).close()
    enter(field(browser, "username"), "Mine")
    assert press(browser, "#save") == "The item has changed. Choose which document stays." and item(service, "user/form")[0]["username"] == "Other"
    # What discards the edits unasked needs a confirmation.
    for button in ("#add", "#close"):
        browser.click(button)
        browser.driver.switch_to.alert.dismiss()
        assert field(browser, "username").get_attribute("value") == "Mine"
    browser.script("[...document.querySelectorAll('#facts button')].find((one) => one.textContent === 'Take what is stored').click()")
    browser.wait(lambda: browser.text("#status") == "user:form is open.", "the item")
    assert field(browser, "username").get_attribute("value") == "Other"
    enter(field(browser, "username"), "Mine")
    assert press(browser, "#save") == "user:form is saved." and item(service, "user/form")[0]["username"] == "Mine"
    browser.click("#remove")
    answer(browser, False)
    assert item(service, "user/form")[0]["username"] == "Mine"
    browser.click("#remove")
    assert "No other item shows the same pictures" in answer(browser, True)
    browser.wait(lambda: "is removed" in browser.text("#status"), "the removal")
    assert item(service, "user/form")[0] == 404 and not browser.driver.find_element(By.ID, "item").is_displayed()
    urllib.request.urlopen(urllib.request.Request(f"{service.admin_url}/admin/takedowns/user:form", method="DELETE")).close()


def it_edits_all_types_of_fields(browser, relay, service):
    with tempfile.TemporaryDirectory() as folder:
        kinds = Path(folder) / "kinds.yaml"
        kinds.write_text(KINDS)
        edit_all_types(browser, str(kinds))


def edit_all_types(browser, kinds):
    with Service(settings=[f"kinds.file={kinds}"]) as own:
        browser.driver.get(own.admin_url + "/items")
        choose(browser, "story", "s/1")
        enter(field(browser, "en"), "Swing")
        enter(field(browser, "de"), "Schwung")
        assert field(browser, "de").get_attribute("lang") == "de"
        Select(field(browser, "mood")).select_by_visible_text("Loud and clear")
        enter(field(browser, "stars"), "4.5")
        # A box that is not required can be without a value. It becomes checked, unchecked and empty.
        assert not field(browser, "isHot").is_selected()
        for _ in range(2):
            browser.click('[data-name="isHot"] input')
        enter(field(browser, "starts"), "2026-05-01")
        assert press(browser, "#save") == "story:s/1 is created.", browser.text("#status")
        story = {"kind": "story", "id": "s/1", "title": {"en": "Swing", "de": "Schwung"}, "mood": "loud", "stars": 4.5, "isHot": False, "starts": "2026-05-01"}
        assert item(own, "story/s%2F1")[0] == story, item(own, "story/s%2F1")
        # One text for all languages, and fields that become empty. Both texts are refused by the page.
        enter(field(browser, "all languages"), "Jazz")
        browser.click("#save")
        assert not browser.script("return arguments[0].checkValidity()", field(browser, "all languages"))
        for name in ("en", "de", "stars"):
            field(browser, name).clear()
        Select(field(browser, "mood")).select_by_visible_text("")
        assert press(browser, "#save") == "story:s/1 is saved."
        del story["mood"], story["stars"]
        assert item(own, "story/s%2F1")[0] == {**story, "title": "Jazz"}, item(own, "story/s%2F1")
        choose(browser, "story", "s/1")
        assert status(browser) == "story:s/1 is open." and field(browser, "all languages").get_attribute("value") == "Jazz"
        field(browser, "all languages").clear()
        assert press(browser, "#save") == "1 field needs a correction." and field(browser, "all languages").get_attribute("aria-invalid") == "true"
        enter(field(browser, "all languages"), "Jazz")
        assert press(browser, "#save") == "story:s/1 is saved."
        browser.click('[data-name="isHot"] button')
        assert press(browser, "#save") == "story:s/1 is saved." and "isHot" not in item(own, "story/s%2F1")[0]
        # Nested objects, lists, and lists of objects.
        choose(browser, "campaign", "spring")
        enter(field(browser, "advertiser"), "Acme")
        enter(field(browser, "creatives"), "2\n7")
        enter(field(browser, "total"), "5000")
        for count in (3, 4):
            browser.click('[data-name="caps"] > button')
            enter(browser.driver.find_elements(By.CSS_SELECTOR, '[data-name="count"] input')[-1], str(count))
            enter(browser.driver.find_elements(By.CSS_SELECTOR, '[data-name="window"] input')[-1], "1d" if count == 3 else "day")
        assert press(browser, "#save") == "1 field needs a correction."
        browser.click('[data-name="caps"] > fieldset:last-of-type > button')
        enter(field(browser, "any"), "plan=free")
        enter(field(browser, "creatives"), "2\nnone")
        assert "no ad 'none'" in press(browser, "#save") and browser.driver.switch_to.active_element == field(browser, "creatives")
        enter(field(browser, "creatives"), "2\n7")
        assert press(browser, "#save") == "campaign:spring is created.", browser.visible_text()
        stored = item(own, "campaign/spring")[0]
        assert stored["goal"] == {"total": 5000} and stored["caps"] == [{"count": 3, "window": "1d"}], stored
        assert [str(one) for one in stored["creatives"]] == ["2", "7"] and stored["targeting"] == {"attributes": {"any": ["plan=free"]}}, stored


# Declarations of a kind before and after a change, and an item that was stored before it.
BEFORE = """
languages: [en, de, fr]
kinds:
  note:
    fields:
      title: {type: text, required: true, languages: true}
      constructor: text
      lines: {type: text, max: 300}
      mood: {type: text, choices: [calm, loud]}
      number: text
      flag: text
      texts: {type: text, languages: true}
    cells: {collection: {identifier: NoteCell, size: 300x50, bind: {title: {text: title}}}}
feeds: {main: [main]}
"""
AFTER = """
languages: [en, de]
kinds:
  note:
    fields:
      title: {type: text, required: true, languages: true}
      constructor: text
      lines: {type: text, max: 300}
      mood: {type: text, choices: [calm]}
      number: number
      flag: boolean
      texts: text
    cells: {collection: {identifier: NoteCell, size: 300x50, bind: {title: {text: title}}}}
feeds: {main: [main]}
"""
NOTE = {
    "kind": "note", "id": "n", "title": {"en": "Swing", "fr": "Souingue"}, "lines": "one\r\ntwo\n", "mood": "loud", "number": "abc", "flag": "yes",
    "texts": {"en": "Text"},
}
CAMPAIGN = {
    "kind": "campaign", "id": "c", "advertiser": "Acme", "creatives": [7, "2"], "labels": [" x", "y "], "targeting": {"attributes": {"any": ["plan=free "]}},
    "goal": {"daily": 1_000_000_000_000},
}
AD = {
    "kind": "ad", "id": "0017", "type": "image", "contentUrl": "https://pictures.example.com/a.png", "clickthroughUrl": "https://example.com/", "alt": "",
    "impressionTrackers": ["https://example.com/?{time}"],
}


def it_keeps_the_values_of_fields_that_are_not_edited(browser, relay, service):
    with tempfile.TemporaryDirectory() as folder:
        kinds = Path(folder) / "kinds.yaml"
        kinds.write_text(BEFORE)
        with Service(settings=[f"kinds.file={kinds}"]) as own:
            own.put(NOTE, CAMPAIGN, AD)
            kinds.write_text(AFTER)
            own.restart()
            browser.driver.get(own.admin_url + "/items")
            for key, edit in (("campaign/c", ("advertiser", "Acme Inc.")), ("ad/0017", ("advertiser", "Acme")), ("user/cash", ("username", "Dollar"))):
                stored, tag = item(own, key)
                choose(browser, *key.split("/"))
                assert "is open" in status(browser)
                assert "is saved" in press(browser, "#save") and item(own, key) == (stored, tag), (stored, item(own, key))
                enter(field(browser, edit[0]), edit[1])
                assert "is saved" in press(browser, "#save") and item(own, key)[0] == {**stored, edit[0]: edit[1]}, (stored, item(own, key))
            # Values that no longer fit their fields are refused, and shown as they are.
            stored, tag = item(own, "note/n")
            choose(browser, "note", "n")
            assert "is open" in status(browser)
            assert "title" in press(browser, "#save") and item(own, "note/n") == (stored, tag)
            field(browser, "fr, not declared").clear()
            assert json.loads(field(browser, "mood").get_attribute("value")) == "loud"
            for name, text in (("mood", '"calm"'), ("number", "12"), ("flag", "true"), ("texts", '"Text"')):
                press(browser, "#save")
                enter(field(browser, name), text)
            assert press(browser, "#save") == "note:n is saved.", browser.text("#status")
            assert item(own, "note/n")[0] == {**stored, "title": {"en": "Swing"}, "mood": "calm", "number": 12, "flag": True, "texts": "Text"}, item(own, "note/n")


def it_acts_on_the_item_that_it_shows(browser, relay, service):
    browser.driver.get(service.admin_url + "/items#kind=nothing&id=1")
    assert status(browser) == "There is no kind nothing."
    first = user_ids(service)[0]
    choose(browser, "user", first)
    assert status(browser) == f"user:{first} is open."
    # While an operation is pending, the page accepts no input. The first request waits.
    browser.driver.execute_script(
        "const send = window.fetch; window.fetch = async (...all) => { window.fetch = send; await new Promise((done) => { window.release = done; }); return send(...all); };")
    browser.driver.execute_script("document.querySelector('#save').click()")
    browser.wait(lambda: browser.script("return document.querySelector('#key').inert && document.querySelector('#item').inert"), "the pending operation")
    browser.driver.execute_script("window.release()")
    browser.wait(lambda: browser.text("#status") == f"user:{first} is saved.", "the result")
    # An id that the path of a request cannot have.
    choose(browser, "user", "..")
    assert status(browser) == "The id is not valid." and not browser.driver.find_element(By.ID, "item").is_displayed()


def user_ids(service):
    return [cell["id"].split(":")[1] for cell in service.cells() if cell["id"].startswith("user:")][:2]


def it_keeps_edits_if_the_token_expires(browser, relay, service):
    def answer(exchange):
        token = exchange.headers.get("authorization")
        if exchange.method == "PUT" and token != "Bearer second-token":
            return 401, {"Content-Type": "application/problem+json"}, {"status": 401, "detail": "The bearer token is not valid."}
        return None

    with type(relay)(service.admin_url) as operators:
        operators.answer = answer
        browser.driver.get(operators.url.rstrip("/") + "/items")
        choose(browser, "user", user_ids(service)[0])
        assert "is open" in status(browser)
        enter(field(browser, "username"), "Edited")
        assert press(browser, "#save") == "The bearer token is not valid."
        assert browser.driver.switch_to.active_element == browser.driver.find_element(By.ID, "token")
        browser.driver.find_element(By.ID, "token").send_keys("second-token")
        browser.click("#access button")
        browser.wait(lambda: not browser.driver.find_element(By.ID, "access").is_displayed(), "the kinds with the new token")
        assert field(browser, "username").get_attribute("value") == "Edited"


def it_passes_axe_in_items(browser, relay, service):
    source = axe()
    found = []
    for look, window in windows(browser, ("forced colours", 1280)):
        window.driver.get(service.admin_url + "/items")
        choose(window, "campaign", "axe")
        window.script(source)
        found += findings(window, f"{look}, a campaign")
        choose(window, "user", "axe")
        Select(field(window, "type")).select_by_visible_text("regular")
        field(window, "username").send_keys("Axe")
        field(window, "avatarUrl").send_keys("ftp://pictures.example.com/a.png")
        assert press(window, "#save") == "1 field needs a correction."
        found += findings(window, f"{look}, an error")
        assert not window.script("return document.documentElement.scrollWidth > innerWidth"), f"{look} scrolls sideways"
    assert not found, json.dumps(found, indent=1)
