"""The page with the form for items, for operators."""
import json
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from axe_cases import SCHEMES, axe, findings
from browser import Browser
from service import Service

# A kind with every type of field, as a program or a configuration declares it.
KINDS = """
languages: [en, de]
kinds:
  story:
    fields:
      title: {type: text, required: true, languages: true}
      mood: {type: text, choices: [calm, loud]}
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
    Select(browser.driver.find_element(By.ID, "kind")).select_by_value(kind)
    enter(browser.driver.find_element(By.ID, "id"), key)
    press(browser, "#key button")


def press(browser, selector):
    """Clicks a button, and returns the status of the page after the operation."""
    browser.script("document.querySelector('#status').textContent = ''")
    browser.click(selector)
    return status(browser)


def status(browser):
    return browser.wait(lambda: (text := browser.text("#status")) not in ("", "Loading …") and text, "a status")


def enter(element, text):
    element.clear()
    element.send_keys(text)


def field(browser, name):
    """Returns the control whose label begins with a name."""
    return browser.script(
        "return $$('#fields label').find((label) => label.firstChild.textContent.split(' (')[0] === arguments[0]).querySelector('input, select, textarea')", name)


def item(service, path):
    try:
        with urllib.request.urlopen(f"{service.admin_url}/admin/items/{path}") as response:
            return json.load(response), response.headers["ETag"]
    except urllib.error.HTTPError as error:
        return error.code, None


def it_edits_items_for_operators(browser, relay, service):
    browser.driver.get(service.admin_url + "/items")
    choose(browser, "user", "form")
    assert status(browser) == "user:form does not exist. Save creates it."
    assert not browser.driver.find_element(By.ID, "remove").is_displayed()
    Select(field(browser, "type")).select_by_visible_text("regular")
    field(browser, "username").send_keys("Formidable")
    # The service refuses the URL, and the page shows its error at the field.
    field(browser, "avatarUrl").send_keys("ftp://pictures.example.com/a.png")
    assert "invalid" in press(browser, "#save")
    control = field(browser, "avatarUrl")
    error = browser.driver.find_element(By.ID, control.get_attribute("aria-describedby"))
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
    assert "changed" in press(browser, "#save") and item(service, "user/form")[0]["username"] == "Other"
    assert press(browser, "#key button") == "user:form is open." and field(browser, "username").get_attribute("value") == "Other"
    enter(field(browser, "username"), "Mine")
    assert press(browser, "#save") == "user:form is saved." and item(service, "user/form")[0]["username"] == "Mine"
    browser.click("#remove")
    browser.driver.switch_to.alert.dismiss()
    assert item(service, "user/form")[0]["username"] == "Mine"
    browser.click("#remove")
    browser.driver.switch_to.alert.accept()
    browser.wait(lambda: "is removed" in browser.text("#status"), "the removal")
    assert item(service, "user/form")[0] == 404 and not browser.driver.find_element(By.ID, "item").is_displayed()
    browser.driver.execute_script("location.hash = ''")
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
        Select(field(browser, "mood")).select_by_visible_text("loud")
        enter(field(browser, "stars"), "4.5")
        Select(field(browser, "isHot")).select_by_visible_text("false")
        enter(field(browser, "starts"), "2026-05-01")
        assert press(browser, "#save") == "story:s/1 is created.", browser.text("#status")
        story = {"kind": "story", "id": "s/1", "title": {"en": "Swing", "de": "Schwung"}, "mood": "loud", "stars": 4.5, "isHot": False, "starts": "2026-05-01"}
        assert item(own, "story/s%2F1")[0] == story, item(own, "story/s%2F1")
        # One text for all languages, and fields that become empty.
        for name in ("en", "de", "stars"):
            field(browser, name).clear()
        enter(field(browser, "all languages"), "Jazz")
        Select(field(browser, "mood")).select_by_visible_text("")
        assert press(browser, "#save") == "story:s/1 is saved."
        del story["mood"], story["stars"]
        assert item(own, "story/s%2F1")[0] == {**story, "title": "Jazz"}, item(own, "story/s%2F1")
        assert press(browser, "#key button") == "story:s/1 is open." and field(browser, "all languages").get_attribute("value") == "Jazz"
        field(browser, "all languages").clear()
        assert "invalid" in press(browser, "#save") and field(browser, "all languages").get_attribute("aria-invalid") == "true"
        # Nested objects, lists, and lists of objects as JSON.
        choose(browser, "campaign", "spring")
        enter(field(browser, "advertiser"), "Acme")
        enter(field(browser, "creatives"), "1\n2")
        enter(field(browser, "total"), "5000")
        enter(field(browser, "caps"), "[{")
        browser.click("#save")
        assert not browser.script("return arguments[0].checkValidity()", field(browser, "caps"))
        enter(field(browser, "caps"), '[{"count": 3, "window": "1d"}]')
        enter(field(browser, "any"), "plan=free")
        assert press(browser, "#save") == "campaign:spring is created.", browser.visible_text()
        stored = item(own, "campaign/spring")[0]
        assert stored["goal"] == {"total": 5000} and stored["caps"] == [{"count": 3, "window": "1d"}], stored
        assert [str(one) for one in stored["creatives"]] == ["1", "2"] and stored["targeting"] == {"attributes": {"any": ["plan=free"]}}, stored


def it_passes_axe_in_items(browser, relay, service):
    source = axe()
    found = []
    for width, height in ((1280, 860), (390, 844)):
        with Browser(width, height) as window:
            for name, features in SCHEMES.items():
                window.tool("Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in features.items()])
                window.driver.get(service.admin_url + "/items")
                choose(window, "campaign", "axe")
                window.script(source)
                found += findings(window, f"{name} at {width}, a campaign")
                choose(window, "user", "axe")
                Select(field(window, "type")).select_by_visible_text("regular")
                field(window, "username").send_keys("Axe")
                field(window, "avatarUrl").send_keys("ftp://pictures.example.com/a.png")
                assert "invalid" in press(window, "#save")
                found += findings(window, f"{name} at {width}, an error")
                assert not window.script("return document.documentElement.scrollWidth > innerWidth"), f"{name} at {width} scrolls sideways"
    assert not found, json.dumps(found, indent=1)
