"""OpenAPI: written documents are valid, and a change breaks what existing clients send or read, or it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from openapi_spec_validator import validate

from tests.documents import CASES, contract
from tests.strategies import contracts
from treaty.compatibility import Mode, Verdict, diff, judge
from treaty.contracts import Contract
from treaty.contracts.model import locate_fields
from treaty.contracts.text import read_document
from treaty.contracts.versions import Bump
from treaty.errors import InvalidDocument
from treaty.formats import api_bodies, get_format

OPENAPI = get_format("openapi")
INCOMPATIBLE = read_document((CASES / "incompatible" / "openapi.yaml").read_bytes()).data["cases"]
OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}


def _document(side: dict[str, Any]) -> dict[str, Any]:
    """Return a document with GET and POST /orders; a case states what differs."""
    responses = {
        status: {"description": "x", "content": {"application/json": {"schema": side.get("response", OBJECT)}}}
        for status in side.get("statuses", ["200", "404"])
    }
    if "404" in responses:
        responses["404"] = {"description": "Not found"}
    operations: dict[str, Any] = {
        "get": {
            "parameters": side.get("parameters", []),
            "security": side.get("security", []),
            "responses": responses,
        },
        "post": {"responses": {"201": {"description": "Created"}}},
    }
    if side.get("request", OBJECT) is not None:
        operations["post"]["requestBody"] = {
            "required": side.get("bodyRequired", True),
            "content": {"application/json": {"schema": side.get("request", OBJECT)}},
        }
    paths = {"/orders": {key: value for key, value in operations.items() if key not in side.get("remove", [])}}
    return {
        "openapi": "3.1.0",
        "info": {"title": side.get("title", "Orders"), "version": "x"},
        "paths": paths,
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    }


def _read(document: dict[str, Any]) -> Contract:
    (read,) = OPENAPI.read(json.dumps(document), name="orders.openapi.json").contracts
    return read


def _verdict(case: dict[str, Any]) -> Verdict:
    before, after = (_document(case[side]) for side in ("before", "after"))
    validate(before)  # so that no verdict is about a document that nobody may write
    validate(after)
    return judge(diff(_read(before), _read(after)), Mode.BACKWARD)


def _place(field: str | None, subject: str | None) -> str:
    return (field.partition("`:")[2] or field) if field else subject or ""


@pytest.mark.parametrize("case", INCOMPATIBLE, ids=lambda case: case["name"])
def test_a_change_breaks_existing_clients_or_not(case: dict[str, Any]) -> None:
    verdict = _verdict(case)

    kinds = [f"{one.change.kind} {_place(one.change.field, one.change.subject)}" for one in verdict.judged]
    assert kinds == case["kinds"]
    assert (verdict.required_bump is Bump.MAJOR) == case["broken"]
    assert bool({one.id for one in verdict.errors} & {one.change.kind for one in verdict.judged}) == case["broken"]


def test_a_message_says_what_happens_to_clients() -> None:
    cases = {case["name"]: case for case in INCOMPATIBLE}

    messages = [
        _verdict(cases[name]).judged[0].message
        for name in ("a response field is removed", "a request field becomes required", "an operation is removed")
    ]

    assert messages == [
        "field '`GET /orders 200`:b' was removed; existing clients may not be able to read the response",
        "field '`POST /orders request`:a' was optional, now required; requests of existing clients may be refused",
        "GET /orders 200 was removed with its operation; existing clients call it",
    ]


def test_mode_none_reports_and_refuses_nothing() -> None:
    before, after = (_read(_document(one)) for one in ({}, {"remove": ["get"]}))

    assert judge(diff(before, after), Mode.NONE).compatible


def test_the_operation_survives_odcs_and_still_decides() -> None:
    operation = {"property": "openapi.operation", "value": {"method": "post", "path": "/r", "part": "request"}}
    optional, required = (
        contract({"schema": [{"name": "r", "properties": [field], "customProperties": [operation]}]})
        for field in ({"name": "a", "logicalType": "string"}, {"name": "a", "logicalType": "string", "required": True})
    )

    assert judge(diff(optional, required), Mode.FORWARD).required_bump is Bump.MAJOR
    assert judge(diff(required, optional), Mode.FORWARD).required_bump is Bump.MINOR


def _without_defaults(node: Any) -> Any:
    """Return a document without defaults, which the validator checks and a made-up contract does not."""
    if isinstance(node, dict):
        return {key: _without_defaults(value) for key, value in node.items() if key != "default"}
    return [_without_defaults(one) for one in node] if isinstance(node, list) else node


@settings(max_examples=15)
@given(contracts())
def test_written_documents_are_valid(one: Contract) -> None:
    validate(_without_defaults(yaml.safe_load(OPENAPI.write(one).text)))


def test_a_document_that_was_read_is_written_as_a_valid_one_without_loss() -> None:
    case = read_document((CASES / "formats" / "openapi.yaml").read_bytes()).data["reads"][0]
    read = OPENAPI.read(case["text"], name=case["file"]).contracts[0]

    written = OPENAPI.write(read)

    document = yaml.safe_load(written.text)
    validate(document)
    assert [loss for loss in written.losses if not loss.is_carried] == []
    assert sorted((path, method) for path, item in document["paths"].items() for method in item) == [
        *(("/orders", "get"), ("/orders", "post"), ("/orders/{id}", "delete")),
    ]
    assert OPENAPI.read(written.text, name="x").contracts == (read,)


def test_alternatives_of_a_body_are_objects_and_come_back() -> None:
    pets = {name: {"type": "object", "properties": {name: {"type": "string"}}} for name in ("Cat", "Dog")}
    body = {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in pets]}
    document = _document({"response": body, "statuses": ["200"]})
    document["components"]["schemas"] = pets

    read = _read(document)
    written = OPENAPI.write(read)

    assert [item.name for item in read.schema][:2] == ["GET /orders 200 Cat", "GET /orders 200 Dog"]
    assert "oneOf" in written.text
    assert OPENAPI.read(written.text, name="x").contracts == (read,)


def test_references_lead_to_files_beside_and_never_to_the_network() -> None:
    from treaty.formats.nearby_files import NearbyFiles

    asked: list[str] = []

    def beside(path: str) -> str | None:
        asked.append(path)
        return (
            "type: object\nnullable: true\nproperties: {a: {type: string, nullable: true}}"
            if path == "o.yaml"
            else None
        )

    body = {
        "schema": {
            "type": "object",
            "properties": {"near": {"$ref": "o.yaml"}, "far": {"$ref": "https://x.test/o.json"}},
        }
    }
    document = _document({"statuses": ["200"]})
    document["openapi"] = "3.0.3"
    document["paths"]["/orders"]["get"]["responses"]["200"]["content"] = {"application/json": body}
    files = NearbyFiles("api.yaml", lambda path: None, lambda folder: [], beside)

    result = OPENAPI.read(json.dumps(document), name="api.json", files=files)

    near, far = result.contracts[0].schema[0].fields
    assert near.properties is not None
    assert near.properties[0].required is None
    assert far.physical_type == "$ref https://x.test/o.json"
    assert set(asked) == {"o.yaml", "o.json"}  # the second one is a file of that name, not an address
    assert [loss.what for loss in result.losses] == [
        "version x",
        "the schema https://x.test/o.json",
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"openapi": "3.1.0", "paths": {"/a": {"$ref": "#/paths/~1a"}}}, "/a: its references lead in a circle"),
        ({"openapi": "3.1.0", "paths": {}}, "the document has no operations"),
        ({"openapi": "2.0", "paths": {}}, "OpenAPI '2.0' is not read, only 3.0 and 3.1"),
        (
            {"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {"OK": {}}}}}},
            "GET /a: 'OK' is not a status code",
        ),
        (
            {"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"name": "x"}]}}}},
            """GET /a parameters: '{"name": "x"}' is not a parameter""",
        ),
    ],
)
def test_a_document_that_cannot_be_read_says_why(document: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidDocument) as refused:
        OPENAPI.read(json.dumps(document), name="x.yaml")

    assert message in str(refused.value)


def test_a_large_document_of_schemas_that_use_each_other_is_read_in_seconds() -> None:
    names = [f"S{number}" for number in range(120)]
    schemas = {
        name: {"type": "object", "properties": {f"p{n}": {"$ref": f"#/components/schemas/{other}"}
               for n, other in enumerate(names) if n % 40 != 0}}
        for name in names
    }  # fmt: skip
    responses = {
        "200": {"description": "x", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S1"}}}}
    }
    paths = {f"/p{number}": {"get": {"responses": responses}} for number in range(12)}
    text = json.dumps({"openapi": "3.1.0", "info": {"title": "x", "version": "1.0.0"}, "paths": paths,
                       "components": {"schemas": schemas}})  # fmt: skip
    assert len(text) > 500_000

    (read,) = OPENAPI.read(text, name="x.json").contracts

    assert len(read.schema) == 12


def test_a_shared_schema_is_read_alike_wherever_it_is_used() -> None:
    """Recursion is cut where it occurs, although definitions without recursion are read only once."""
    schemas = {
        "Leaf": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "string", "readOnly": True}}},
        "Pair": {"type": "object", "properties": {side: {"$ref": "#/components/schemas/Leaf"} for side in "ab"}},
        "Node": {
            "type": "object",
            "properties": {
                "leaf": {"$ref": "#/components/schemas/Leaf", "description": "Ours."},
                "next": {"$ref": "#/components/schemas/Node"},
                "pairs": {"type": "array", "items": {"$ref": "#/components/schemas/Pair"}},
            },
        },
    }
    document = _document({"request": {"$ref": "#/components/schemas/Node"}, "statuses": ["200"]})
    document["components"]["schemas"] = schemas
    body = {"type": "object", "properties": {"node": {"$ref": "#/components/schemas/Node"}}}
    document["paths"]["/orders"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] = body

    response, request = (item for item in _read(document).schema if item.fields)

    (node,) = response.fields
    assert [_shape(field) for field in node.properties or ()] == ["leaf: x y", "next: ", "pairs: "]
    assert [_shape(field) for field in request.fields] == ["leaf: x", "next: ", "pairs: "]
    pairs = request.fields[2].items
    assert pairs is not None
    assert [_shape(field) for field in pairs.properties or ()] == ["a: x", "b: x"]
    assert (node.properties or ())[1].physical_type == "$ref #/components/schemas/Node"
    assert request.fields[0].description == "Ours."


def _shape(field: Any) -> str:
    return f"{field.name}: {' '.join(one.name for one in field.properties or ())}"


def test_definitions_that_multiply_and_bodies_that_repeat_are_kept_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small document must not become millions of fields."""
    monkeypatch.setattr(api_bodies, "MAX_TOTAL_FIELDS", 8_000)
    schemas: dict[str, Any] = {"S12": {"type": "object", "properties": {"x": {"type": "string"}}}}
    for level in range(12):
        inner = {"$ref": f"#/components/schemas/S{level + 1}"}
        schemas[f"S{level}"] = {"type": "object", "properties": {f"p{number}": inner for number in range(8)}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    operation = {"get": {"responses": {"200": {"description": "x", "content": content}}}}
    document = _document({})
    document["components"]["schemas"] = schemas
    document["paths"] = {f"/p{number}": operation for number in range(200)}

    read = _read(document)

    size = sum(1 for _ in locate_fields(read))
    assert len(read.schema) == 200
    assert 3_000 < size < 20_000
    assert any(one.name.startswith("definition #/components/schemas/S") for one in read.foreign)


def test_an_api_of_a_megabyte_is_read() -> None:
    fields = {f"field_{number}": {"type": "string", "description": "x" * 60} for number in range(20)}
    schemas = {f"S{number}": {"type": "object", "properties": fields} for number in range(480)}
    responses = {
        "200": {"description": "x", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S7"}}}}
    }
    paths = {f"/p{number}": {"get": {"responses": responses}} for number in range(100)}
    info = {"title": "x", "version": "1.0.0"}
    text = json.dumps({"openapi": "3.1.0", "info": info, "paths": paths, "components": {"schemas": schemas}})
    assert len(text) > 1_000_000

    (read,) = OPENAPI.read(text, name="x.json").contracts

    assert len(read.schema) == 100
