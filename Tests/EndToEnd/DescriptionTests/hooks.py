"""Hooks of schemathesis for rules about valid requests that a schema cannot express."""
import json
import os
from urllib.parse import unquote

import schemathesis

from description import check_problem

# A cursor of each list with cursors, because clients cannot create one.
CURSORS = json.loads(os.environ.get("CURSORS", "{}"))


def is_positive(case):
    return case.meta is None or not case.meta.generation.mode.is_negative


@schemathesis.hook
def filter_case(context, case):
    """A valid value that holds what looks like an escape, such as `%1D`, is sent unescaped, as a control character, which the description
    excludes: it would not be valid any more. And days are in their order."""
    if not is_positive(case):
        return True
    if case.operation.path == "/images/{signature}/{source}" and (case.path_parameters or {}).get("signature") == "requests":
        # A cell's cancellation link is a different resource, without a signature.
        return False
    if (case.headers or {}).get("X-Viewer-ID") in (".", ".."):
        # HTTP clients resolve dot segments. The service refuses such a name, which a simple schema cannot express.
        return False
    query = case.query or {}
    if query.get("from") and query["from"] > query.get("to", "2000-01-01"):
        return False
    if case.operation.path == "/admin/reports":
        by = query.get("by", "day")
        second = query.get("thenBy", "none")
        if second == "choice" or by == "choice" and second not in ("none", "day"):
            return False
    values = (unquote(str(value)) for value in (case.path_parameters or {}).values())
    return not any(ord(character) < 0x20 or character in "\x7f\ufffd" for value in values for character in value)


@schemathesis.hook
def map_case(context, case):
    """A valid cursor is one that the list gave out, a valid client one that is registered, its cells a list of RFC 9651, images are
    forgotten by one thing at a time, and reports are by two different things."""
    if not is_positive(case):
        return case
    if "cursor" in (case.query or {}):
        if cursor := CURSORS.get(case.operation.path):
            case.query["cursor"] = cursor
        else:
            del case.query["cursor"]
    (case.query or {}).pop("client", None)
    if "Accept-Cells" in (case.headers or {}):
        case.headers["Accept-Cells"] = "CircularUserCollectionViewCell;v=2, *"
    if case.operation.path == "/clients/{name}" and isinstance(case.body, dict):
        case.body["cells"] = "CircularUserCollectionViewCell;v=2, *"
    if case.operation.path == "/admin/reports" and case.query:
        by = case.query.get("by", "day")
        second = case.query.get("thenBy", "none")
        pair = {by, second} - {"none"}
        if len(pair) == 1 or pair & {"verdict", "reason"} or second == "choice" or by == "choice" and second != "day":
            case.query.pop("thenBy", None)
    if case.operation.path == "/admin/events":
        # Other markers are behind the last event, and a wait takes its time.
        case.query = {name: value for name, value in (case.query or {}).items() if name not in ("after", "wait")}
    if case.operation.path == "/admin/images":
        case.query = next(({name: case.query[name]} for name in ("url", "prefix", "host") if name in (case.query or {})), {"all": "true"})
    return case


@schemathesis.hook
def before_call(context, case, kwargs):
    """Sets the id in a body to that of the path, because links between operations may have changed it."""
    if is_positive(case) and case.method == "PUT" and isinstance(case.body, dict) and {"id"} <= case.body.keys() & case.path_parameters.keys():
        case.body["id"] = unquote(str(case.path_parameters["id"]))


@schemathesis.check
def invalid_values(context, response, case):
    """Checks that each problem of an invalid parameter or body has the members that its type requires."""
    media_type = (response.headers.get("content-type") or [""])[0]
    if media_type == "application/problem+json" and response.content:
        check_problem(json.loads(response.content), None, response.headers["x-request-id"][0])


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    if isinstance(value, list):
        value = "".join(json.dumps(each) + "\n" for each in value)
    return {"data": value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")}
