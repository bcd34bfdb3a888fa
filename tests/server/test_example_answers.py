"""The description of the API shows what it says: an example for every body, each as its schema has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import httpx2
import jsonschema_rs
import pytest
import yaml

from tests.server.contracts import USERS, short
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.examples.answers import UNTOLD, with_examples
from treaty.server.examples.declared import SHORT_FORM
from treaty.server.examples.meanings import OF_OPERATIONS, OF_SCHEMAS
from treaty.server.examples.values import VALUES

JSON, YAML = "application/json", "application/yaml"
IN_BOTH_NOTATIONS = [
    "GET /contracts/{dataset_id}/latest",
    "GET /contracts/{dataset_id}/versions",
    "GET /contracts/{dataset_id}/versions/{version}",
    "POST /contracts/{dataset_id}/versions/{version}/deprecate",
    "POST /contracts/{dataset_id}/versions/{version}/archive",
]
REPORT = {
    "compatible": False,
    "mode": "backward",
    "issues": [
        {
            "severity": "error",
            "field": "ltv",
            "kind": "field_removed",
            "message": "field 'ltv' was removed; old data will fail validation",
        }
    ],
}
NOTHING_TO_SAY = ("string", "", UNTOLD)


class Body(NamedTuple):
    """What an operation takes or answers, in one notation."""

    operation: str
    of: str
    media: str
    content: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.operation} {self.of} {self.media}"


@cache
def described() -> dict[str, Any]:
    with TemporaryDirectory() as folder, Registry.open(f"{folder}/registry.db") as registry:
        return create_app(registry).openapi()


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in described()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def bodies() -> Iterator[Body]:
    for name, operation in operations():
        for media, content in operation.get("requestBody", {}).get("content", {}).items():
            yield Body(name, "request", media, content)
        for status, answer in operation["responses"].items():
            for media, content in answer.get("content", {}).items():
                yield Body(name, status, media, content)


def schema_of(body: Body) -> dict[str, Any]:
    return {**body.content["schema"], "components": described()["components"]}


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in an example, and where it stands."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from texts(one, f"{path}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, f"{path}[]")
    elif isinstance(value, str):
        yield path, value


def answers_of(operation: str) -> dict[str, Any]:
    answers: dict[str, Any] = dict(operations())[operation]["responses"]
    return answers


def shown(operation: str, status: str, media: str = JSON) -> Any:
    return answers_of(operation)[status]["content"][media]["example"]


def test_every_request_and_every_answer_has_an_example() -> None:
    assert [body.name for body in bodies() if "example" not in body.content] == []


def test_every_example_fits_its_schema() -> None:
    wrong = {
        body.name: error.message
        for body in bodies()
        for error in jsonschema_rs.iter_errors(schema_of(body), body.content["example"], validate_formats=True)
    }

    assert wrong == {}


def test_every_schema_says_something() -> None:
    assert [body.name for body in bodies() if not body.content.get("schema")] == []


def test_every_example_tells_something() -> None:
    silent = [  # "string" is the type of a field, and nothing else
        f"{body.name}{path}"
        for body in bodies()
        for path, text in texts(body.content["example"])
        if text in NOTHING_TO_SAY and not path.endswith(".type")
    ]

    assert silent == []


def test_every_property_of_an_answer_is_shown() -> None:
    schemas = described()["components"]["schemas"]
    lacking = [
        f"{body.name}: {sorted(left_out)}"
        for body in bodies()
        if (schema := schemas.get(body.content["schema"].get("$ref", "").rpartition("/")[2]))
        and (left_out := schema["properties"].keys() - body.content["example"].keys())
    ]

    # What was registered waits for nobody, and its answer leaves that out.
    assert lacking == ["POST /contracts 201 application/json: ['proposal', 'waits_for']"]


def test_the_tables_speak_of_nothing_that_is_not_there() -> None:
    schemas = {one["title"]: one.get("properties", {}) for one in described()["components"]["schemas"].values()}
    maps = {body.content["schema"].get("title") for body in bodies()}
    told = {**OF_SCHEMAS, **{name: one for here in OF_OPERATIONS.values() for name, one in here.items()}}

    assert VALUES.keys() - {name for properties in schemas.values() for name in properties} == set()
    assert OF_OPERATIONS.keys() - {one["operationId"] for _, one in operations()} == set()
    assert told.keys() - schemas.keys() - maps == set()
    assert {name: rest for name in told if name in schemas and (rest := told[name].keys() - schemas[name])} == {}


def test_errors_have_the_shape_of_their_path() -> None:
    keys = {"/api/v1": {"error", "detail", "findings", "request_id"}, "": {"detail"}}
    for body in bodies():
        if body.of.startswith(("4", "5")) and body.media == JSON:
            beginning = "/api/v1" if " /api/v1" in body.operation else ""
            assert body.content["example"].keys() == keys[beginning], body.name


def test_a_version_that_is_refused_shows_its_issues() -> None:
    assert shown("POST /contracts", "422") == {"detail": REPORT}


def test_an_answer_shows_what_its_operation_did() -> None:
    version = "/contracts/{dataset_id}/versions/{version}"

    assert shown("GET /contracts/{dataset_id}/latest", "200") == SHORT_FORM
    assert shown(f"POST {version}/deprecate", "200", YAML)["status"] == "deprecated"
    assert shown(f"POST {version}/archive", "200")["status"] == "archived"
    assert shown("POST /api/v1/proposals/{identity}/decline", "200")["state"] == "declined"
    assert shown("POST /api/v1/migrations/{identity}/move", "200")["consumers"][0]["state"] == "moved"
    assert shown("GET /api/v1/audit", "200")["items"][0]["action"] == "contract.register"


def test_an_example_that_is_there_stays() -> None:
    content = {"schema": {"type": "string"}, "example": "as it was"}
    operation = {"operationId": "say", "responses": {"200": {"content": {"text/plain": content}}}}

    with_examples({"components": {"schemas": {}}, "paths": {"/said": {"get": operation}}})

    assert content["example"] == "as it was"


def test_a_description_is_put_together_once(open_registry: Callable[..., Registry]) -> None:
    app = create_app(open_registry())

    assert app.openapi() is app.openapi()


def test_documents_are_declared_in_yaml() -> None:
    declared = [body.operation for body in bodies() if (body.of, body.media) == ("200", YAML)]

    assert declared == [*IN_BOTH_NOTATIONS, "GET /api/v1/contracts/{contract}/versions/{version}/document"]


@pytest.mark.parametrize("operation", IN_BOTH_NOTATIONS)
@pytest.mark.parametrize(
    ("asked", "given"),
    [(YAML, YAML), ("application/odcs+yaml", YAML), ("application/odcs+json", JSON), ("*/*", JSON)],
)
def test_documents_are_answered_as_they_are_declared(
    client: httpx2.Client, operation: str, asked: str, given: str
) -> None:
    client.post("/contracts", json=short())
    method, _, path = operation.partition(" ")
    body = {"deprecation_uri": "https://wiki.example.org/plan"} if path.endswith("/deprecate") else None

    answer = client.request(
        method, path.format(dataset_id=USERS, version="1.0.0"), json=body, headers={"Accept": asked}
    )

    assert (answer.status_code, answer.headers["content-type"]) == (200, given)
    schema = answers_of(operation)["200"]["content"][given]["schema"]
    assert jsonschema_rs.is_valid(schema, yaml.safe_load(answer.text))


def test_a_document_is_answered_in_the_notation_it_was_handed_in(client: httpx2.Client) -> None:
    client.post("/contracts", content=yaml.safe_dump(short()), headers={"Content-Type": YAML})

    answer = client.get(f"/api/v1/contracts/{USERS}/versions/1.0.0/document")

    assert answer.headers["content-type"] == YAML


def test_a_browser_is_answered_at_the_front_as_it_is_declared(client: httpx2.Client) -> None:
    declared = answers_of("GET /")
    browser = {"Accept": "text/html"}

    for answer in (client.get("/", headers=browser), client.get("/?q=%00", headers=browser)):
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "text/html" in declared[str(answer.status_code)]["content"]
    led = client.get("/", headers={**browser, "Authorization": "Bearer unknown"}, follow_redirects=False)
    assert str(led.status_code) in declared


def test_ids_are_answered_as_they_are_declared(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())
    content = answers_of("GET /datasets")["200"]["content"][JSON]

    assert client.get("/datasets").json().keys() == content["example"].keys()
