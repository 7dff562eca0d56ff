"""The description, and the validation of responses by it."""
import json
from urllib.parse import quote

from jsonschema import Draft202012Validator, FormatChecker

# Fields that every HTTP/1.1 response may have, and the request's id.
FRAMING = {"date", "content-length", "transfer-encoding", "connection", "keep-alive", "x-request-id"}

# Problem types that name each invalid value in `errors`.
NAMING = {f"/problems/{name}" for name in ["invalid-parameter", "invalid-body", "invalid-cursor", "unknown-client", "invalid-item",
                                           "invalid-operation"]}


def check_problem(problem, body, request_id):
    """Throws if a problem lacks a member that its type requires, or if a pointer does not resolve in the body of the request."""
    if problem["type"] in NAMING:
        assert problem.get("errors"), f"a problem without errors: {problem}"
    for error in problem.get("errors", []):
        assert ("parameter" in error) != ("pointer" in error), error
        if error.get("pointer") and error["code"] not in ("required", "conflict") and body is not None:
            value = json.loads(body)
            for part in error["pointer"].split("/")[1:]:
                part = part.replace("~1", "/").replace("~0", "~")
                value = value[int(part)] if isinstance(value, list) else value[part]
    if problem["type"] not in ("about:blank", "/problems/foreign-origin"):
        assert problem.get("instance") == f"urn:intertwine:request:{quote(request_id, safe='')}", problem


class Description:
    def __init__(self, document):
        self.document = document
        self.met = set()

    @staticmethod
    def of(service):
        """Loads the description from a listener."""
        answer = service.ask("GET", "/openapi.json")
        assert answer.status == 200, answer.status
        return Description(json.loads(answer.content))

    def resolve(self, value):
        while "$ref" in value:
            target = self.document
            for part in value["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            value = target
        return value

    def operations(self):
        return [(method, path) for path, item in self.document["paths"].items() for method in item]

    def responses(self, method, path):
        return self.document["paths"][path][method]["responses"]

    def check(self, method, path, answer, sent_body=None):
        """Throws if a response differs from its description; records the described parts that occurred."""
        where = f"{method.upper()} {path} {answer.status}"
        responses = self.responses(method, path)
        response = self.resolve(responses.get(str(answer.status), responses.get("default", {})))
        assert response, f"{where} is not described"
        described = {name.lower(): self.resolve(header) for name, header in response.get("headers", {}).items()}
        sent = {name.lower() for name, _ in answer.getheaders()}
        unknown = sent - set(described) - FRAMING - {"content-type"}
        assert not unknown, f"{where}: undescribed fields {unknown}"
        for name, header in described.items():
            assert not header.get("required") or name in sent, f"{where}: {name} is missing"
            if name in sent:
                self.validate(answer.getheader(name), header["schema"], f"{where} {name}")
        self.met.add((method, path, answer.status, None))
        content = response.get("content")
        if content is None:
            assert not answer.content, f"{where} has a body"
            return
        media_type = answer.getheader("Content-Type")
        if "image/*" in content:
            assert media_type.startswith("image/"), f"{where}: {media_type}"
            return
        assert media_type in content, f"{where}: {media_type}"
        body = json.loads(answer.content) if "json" in media_type else answer.content.decode()
        self.validate(body, content[media_type]["schema"], where)
        if media_type == "application/problem+json":
            assert body["status"] == answer.status
            check_problem(body, sent_body, answer.getheader("X-Request-ID"))
            self.met.add((method, path, answer.status, body["type"]))

    def validate(self, value, schema, where):
        # The schema is a sibling of the components, so that references resolve.
        validator = Draft202012Validator({**self.document_schema(), **schema}, format_checker=FormatChecker())
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]
        assert not errors, f"{where}: {errors[:3]}"

    def document_schema(self):
        return {"components": self.document["components"]}
