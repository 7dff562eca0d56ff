"""The cases, each with the section that demands it. `expects` is about the second request of a client:

reused      the stored response, and the origin is not asked
fetched     the origin is asked without conditions, and its new response is shown
confirmed   the origin is asked under `conditions`, and the stored response is shown after its 304
stale       the stored response, although the origin fails
refreshed   the stored response at once, and the origin's new one soon
failed      502, because the origin fails
"""
import time
from dataclasses import dataclass, field
from email.utils import formatdate


@dataclass(frozen=True)
class Case:
    section: str
    title: str
    # Of the origin's first response.
    fields: list
    expects: str
    # Whether the second request comes when a lifetime of one second has passed.
    later: bool = False
    # The origin's second response: status, or None for none, and fields.
    then: tuple = (200, ())
    conditions: dict = field(default_factory=dict)
    # The second request, and what its response has. TAG is the proxy's own entity tag.
    method: str = "GET"
    request: dict = field(default_factory=dict)
    status: int = 200
    tells: dict = field(default_factory=dict)

    __hash__ = object.__hash__


def date(seconds):
    return formatdate(time.time() + seconds, usegmt=True)


def control(directives):
    return [f"Cache-Control: {directives}"]


TAG, CHANGED = 'ETag: "one"', date(-86_400)
FRESH, SHORT = control("max-age=3600"), control("max-age=1")
FAILS = (500, ())

CASES = [
    # What is fresh.
    Case("9111, 4.2.1", "max-age is the lifetime", FRESH, "reused"),
    Case("9111, 4.2.1", "max-age has passed", SHORT, "fetched", later=True),
    Case("9111, 5.2", "names of directives have any case", control("MaX-aGe=3600"), "reused"),
    Case("9111, 5.2.2.1", "max-age is a quoted number", control('max-age="3600"'), "reused"),
    Case("9111, 5.2.3", "unknown directives are ignored", control('foobar="max-age=0", max-age=3600, x=1'), "reused"),
    Case("9111, 5.2", "text in quotes is no directive", control('foobar="no-store, max-age=0", max-age=3600'), "reused"),
    Case("9111, 1.2.2", "max-age is above 2^31", control("max-age=99999999999"), "reused"),
    Case("9111, 4.2.1", "an invalid max-age is stale", control("max-age=x"), "fetched", later=True),
    Case("9111, 5.2.2.1", "max-age is 0", control("max-age=0"), "fetched", later=True),
    Case("9111, 5.2.2.10", "s-maxage is before max-age", control("max-age=1, s-maxage=3600"), "reused", later=True),
    Case("9111, 5.2.2.10", "a shorter s-maxage is before max-age", control("max-age=3600, s-maxage=1"), "fetched", later=True),
    Case("9111, 5.2.2.10", "s-maxage stands in a second field", [*FRESH, "Cache-Control: s-maxage=1"], "fetched", later=True),
    Case("9111, 5.3", "Expires is the lifetime", [f"Expires: {date(3_600)}"], "reused"),
    Case("9111, 5.3", "Expires is past", [f"Expires: {date(-3_600)}"], "fetched", later=True),
    Case("9111, 5.3", "Expires is no date", ["Expires: 0"], "fetched", later=True),
    Case("9111, 5.3", "max-age is before Expires", [*FRESH, f"Expires: {date(-3_600)}"], "reused"),
    Case("9111, 4.2.1", "Expires counts from Date", [f"Date: {date(3_000)}", f"Expires: {date(3_001)}"], "fetched", later=True),
    Case("9111, 4.2.3", "Age counts", [*FRESH, "Age: 7200"], "fetched", later=True),
    Case("9111, 4.2.3", "an old Date counts", [*FRESH, f"Date: {date(-7_200)}"], "fetched", later=True),
    Case("9111, 4.2.2", "a tenth of the time since the change", [f"Last-Modified: {CHANGED}"], "reused", later=True),
    Case("9111, 5.4", "Pragma of a response is ignored", [*FRESH, "Pragma: no-cache"], "reused"),
    Case("9111, 7.3", "Set-Cookie does not prevent storage", [*FRESH, "Set-Cookie: a=b"], "reused", tells={"Set-Cookie": lambda value: value is None}),
    # What is not stored, or not reused without a question.
    Case("9111, 5.2.2.5", "no-store", control("no-store, max-age=3600"), "fetched", later=True),
    Case("9111, 5.2.2.5", "no-store in capitals, in a field of its own", [*FRESH, "Cache-Control: NO-STORE"], "fetched", later=True),
    Case("9111, 5.2.2.7", "private", control("private, max-age=3600"), "fetched", later=True),
    Case("9111, 5.2.2.3", "must-understand overrides no-store", control("no-store, must-understand, max-age=3600"), "reused"),
    Case("9111, 5.2.2.4", "no-cache is confirmed each time", [*control("no-cache, max-age=3600"), TAG], "confirmed", later=True,
         then=(304, [TAG]), conditions={"if-none-match": '"one"'}),
    Case("9111, 4.1", "Vary is *", [*FRESH, "Vary: *"], "fetched", later=True),
    Case("9111, 4.1", "Vary by a field that reaches no origin", [*FRESH, "Vary: Cookie"], "reused"),
    Case("9111, 4.1", "Vary by Accept", [*FRESH, "Vary: Accept"], "reused"),
    # How the origin is asked.
    Case("9111, 4.3.1", "an entity tag is asked about", [*SHORT, TAG], "confirmed", later=True, then=(304, [TAG]), conditions={"if-none-match": '"one"'}),
    Case("9111, 4.3.1", "a weak entity tag is asked about", [*SHORT, 'ETag: W/"one"'], "confirmed", later=True, then=(304, ['ETag: W/"one"']),
         conditions={"if-none-match": 'W/"one"'}),
    Case("9111, 4.3.1", "the date of the change is asked about", [*SHORT, f"Last-Modified: {CHANGED}"], "confirmed", later=True, then=(304, ()),
         conditions={"if-modified-since": CHANGED}),
    Case("9111, 4.3.1", "tag and date are asked about", [*SHORT, TAG, f"Last-Modified: {CHANGED}"], "confirmed", later=True, then=(304, ()),
         conditions={"if-none-match": '"one"', "if-modified-since": CHANGED}),
    Case("9111, 5.2.2.2", "must-revalidate is reused while fresh", control("max-age=3600, must-revalidate"), "reused"),
    # When the origin fails.
    Case("9111, 4.2.4", "must-revalidate is never stale", [*control("max-age=1, must-revalidate, stale-if-error=3600"), TAG], "failed", later=True, then=FAILS),
    Case("9111, 5.2.2.8", "proxy-revalidate is never stale", control("max-age=1, proxy-revalidate, stale-if-error=3600"), "failed", later=True, then=FAILS),
    Case("9111, 5.2.2.10", "s-maxage is never stale", control("s-maxage=1, stale-if-error=3600"), "failed", later=True, then=FAILS),
    Case("9111, 4.2.4", "nothing is stale without permission", SHORT, "failed", later=True, then=FAILS),
    Case("5861, 4", "stale-if-error for a status", control("max-age=1, stale-if-error=3600"), "stale", later=True, then=FAILS),
    Case("5861, 4", "stale-if-error for a connection that ends", control("max-age=1, stale-if-error=3600"), "stale", later=True, then=(None, ())),
    Case("5861, 4", "stale-if-error has passed", control("max-age=1, stale-if-error=0"), "failed", later=True, then=FAILS),
    Case("5861, 3", "stale-while-revalidate", control("max-age=1, stale-while-revalidate=3600"), "refreshed", later=True, then=(200, FRESH)),
    Case("5861, 3", "stale-while-revalidate has passed", control("max-age=1, stale-while-revalidate=0"), "fetched", later=True),
    # What a client is told.
    Case("9111, 5.1", "Age is that of the origin and of the cache", [*FRESH, "Age: 100"], "reused", later=True,
         tells={"Age": lambda value: value is not None and int(value) >= 102}),
    Case("9111, 4.3.2", "If-None-Match with the tag", FRESH, "reused", request={"If-None-Match": "TAG"}, status=304),
    Case("9111, 4.3.2", "If-None-Match with several tags", FRESH, "reused", request={"If-None-Match": '"other", TAG'}, status=304),
    Case("9111, 4.3.2", "If-None-Match with another tag", FRESH, "reused", request={"If-None-Match": '"other"'}),
    Case("9111, 4.3.2", "If-None-Match is before If-Modified-Since", [*FRESH, f"Last-Modified: {CHANGED}"], "reused",
         request={"If-None-Match": '"other"', "If-Modified-Since": date(0)}),
    Case("9111, 4.3.2", "If-Modified-Since", [*FRESH, f"Last-Modified: {CHANGED}"], "reused", request={"If-Modified-Since": CHANGED}, status=304),
    Case("9111, 3.4", "a range of a stored response", FRESH, "reused", later=True, request={"Range": "bytes=0-7"}, status=206,
         tells={"Content-Range": lambda value: value is not None and value.startswith("bytes 0-7/")}),
    Case("9111, 4", "HEAD is answered from a stored GET", FRESH, "reused", method="HEAD"),
    Case("9111, 5.2.1", "no-cache of a client is no order", FRESH, "reused", request={"Cache-Control": "no-cache", "Pragma": "no-cache"}),
]
