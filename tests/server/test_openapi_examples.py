"""The OpenAPI description: every request and response body has an example that matches its schema."""

from __future__ import annotations

from collections.abc import Iterator
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
from treaty.server.openapi import EXAMPLE_CONTRACT

JSON, YAML = "application/json", "application/yaml"
NEGOTIATED = [
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
MISSING = "(no example)"


class Body(NamedTuple):
    """A request or response body of an operation in one media type."""

    operation: str
    part: str
    media: str
    content: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.operation} {self.part} {self.media}"

    @property
    def example(self) -> Any:
        return self.content["example"] if "example" in self.content else compose(self.content["schema"])


@cache
def description() -> dict[str, Any]:
    with TemporaryDirectory() as folder, Registry.open(f"{folder}/registry.db") as registry:
        return create_app(registry).openapi()


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def bodies() -> Iterator[Body]:
    for name, operation in operations():
        for media, content in operation.get("requestBody", {}).get("content", {}).items():
            yield Body(name, "request", media, content)
        for status, response in operation["responses"].items():
            for media, content in response.get("content", {}).items():
                yield Body(name, status, media, content)


def compose(schema: dict[str, Any]) -> Any:
    """Return the example that a documentation viewer composes from the examples of a schema's properties."""
    if "$ref" in schema:
        schema = description()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "examples" in schema:
        return schema["examples"][0]
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None if {"type": "null"} in schema["anyOf"] else compose(schema["anyOf"][0])
    if schema.get("type") == "array":
        return [compose(schema["items"])]
    if "properties" in schema:
        return {name: compose(value) for name, value in schema["properties"].items()}
    return True if schema.get("type") == "boolean" else MISSING


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in an example with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, f"{path}[]")
    elif isinstance(value, str):
        yield path, value


def responses_of(operation: str) -> dict[str, Any]:
    responses: dict[str, Any] = dict(operations())[operation]["responses"]
    return responses


def example_of(operation: str, status: str, media: str = JSON) -> Any:
    return Body(operation, status, media, responses_of(operation)[status]["content"][media]).example


def test_every_body_has_a_complete_example() -> None:
    incomplete = [
        f"{body.name}{path}"
        for body in bodies()
        for path, text in texts(body.example)
        if text in (MISSING, "string", "") and not path.endswith(".type")
    ]

    assert incomplete == []


def test_every_example_matches_its_schema() -> None:
    components = {"components": description()["components"]}
    wrong = {
        body.name: error.message
        for body in bodies()
        for error in jsonschema_rs.iter_errors({**body.content["schema"], **components}, body.example)
    }

    assert wrong == {}


def test_every_body_has_a_schema() -> None:
    assert [body.name for body in bodies() if not body.content.get("schema")] == []


def test_every_operation_has_a_summary_and_a_description() -> None:
    assert [name for name, operation in operations() if not operation.get("description")] == []


def test_error_examples_have_the_shape_of_their_path() -> None:
    model = {"error", "detail", "findings", "request_id"}
    keys = {"/api/v1": model, "/data": model, "/openapi/": model, "": {"detail"}}
    for body in bodies():
        if body.part.startswith(("4", "5")) and body.media == JSON:
            prefix = next((one for one in keys if one and f" {one}" in body.operation), "")
            prefix = "" if " /datasets" in body.operation else prefix
            assert body.example.keys() == keys[prefix], body.name


def test_example_of_a_refused_version_lists_its_issues() -> None:
    assert example_of("POST /contracts", "422") == {"detail": REPORT}


def test_examples_show_the_result_of_their_operation() -> None:
    version = "/contracts/{dataset_id}/versions/{version}"

    assert example_of("GET /contracts/{dataset_id}/latest", "200") == EXAMPLE_CONTRACT
    assert example_of(f"POST {version}/deprecate", "200", YAML)["status"] == "deprecated"
    assert example_of(f"POST {version}/archive", "200")["status"] == "archived"
    assert example_of("GET /api/v1/audit", "200")["items"][0]["action"] == "contract.register"


def test_yaml_responses_are_declared() -> None:
    declared = [body.operation for body in bodies() if (body.part, body.media) == ("200", YAML)]

    assert sorted(declared) == sorted([*NEGOTIATED, "GET /api/v1/contracts/{contract}/versions/{version}/document"])


@pytest.mark.parametrize("operation", NEGOTIATED)
@pytest.mark.parametrize(
    ("accept", "media"),
    [(YAML, YAML), ("application/odcs+yaml", YAML), ("application/odcs+json", JSON), ("*/*", JSON)],
)
def test_contracts_are_returned_as_declared(client: httpx2.Client, operation: str, accept: str, media: str) -> None:
    client.post("/contracts", json=short())
    method, _, path = operation.partition(" ")
    body = {"deprecation_uri": "https://wiki.example.org/plan"} if path.endswith("/deprecate") else None

    response = client.request(
        method, path.format(dataset_id=USERS, version="1.0.0"), json=body, headers={"Accept": accept}
    )

    assert (response.status_code, response.headers["content-type"]) == (200, media)
    schema = responses_of(operation)["200"]["content"][media]["schema"]
    assert jsonschema_rs.is_valid(schema, yaml.safe_load(response.text))


def test_original_document_keeps_its_media_type(client: httpx2.Client) -> None:
    client.post("/contracts", content=yaml.safe_dump(short()), headers={"Content-Type": YAML})

    response = client.get(f"/api/v1/contracts/{USERS}/versions/1.0.0/document")

    assert response.headers["content-type"] == YAML


def test_front_page_for_browsers_is_declared(client: httpx2.Client) -> None:
    declared = responses_of("GET /")
    browser = {"Accept": "text/html"}

    for response in (client.get("/", headers=browser), client.get("/?q=%00", headers=browser)):
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert "text/html" in declared[str(response.status_code)]["content"]
    redirect = client.get("/", headers={**browser, "Authorization": "Bearer unknown"}, follow_redirects=False)
    assert str(redirect.status_code) in declared


def test_dataset_ids_are_returned_as_declared(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())

    assert client.get("/datasets").json().keys() == example_of("GET /datasets", "200").keys()
