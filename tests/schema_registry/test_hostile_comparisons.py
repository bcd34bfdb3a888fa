"""Schemas that are made to be slow or endless to compare are answered or refused, within a time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.running import client_of
from treaty.errors import InvalidDocument
from treaty.schema_registry.compatibility import check_compatibility
from treaty.schema_registry.model import CompatibilityLevel, SchemaType
from treaty.schema_registry.schemas import parse_schema

CPU_LIMIT_S = 10.0
JSON, AVRO, PROTOBUF = SchemaType.JSON, SchemaType.AVRO, SchemaType.PROTOBUF
TOO_COMPLEX, TOO_DEEP = "too complex to compare", "nested too deeply to compare"


def _nested_one_of(leaf: str) -> str:
    schema: dict[str, Any] = {"type": leaf}
    for index in range(90):
        schema = {"oneOf": [schema, {"type": "null", "title": str(index)}]}
    return json.dumps(schema)


def _definitions(count: int, part: Callable[[str], dict[str, Any]]) -> Callable[[str], str]:
    def build(leaf: str) -> str:
        definitions = {f"d{index}": part(f"#/definitions/d{index + 1}") for index in range(count)}
        return json.dumps({"$ref": "#/definitions/d0", "definitions": {**definitions, f"d{count}": {"type": leaf}}})

    return build


_references_that_double = _definitions(60, lambda inner: {"oneOf": [{"$ref": inner}, {"items": {"$ref": inner}}]})
_chain_of_references = _definitions(5_000, lambda inner: {"$ref": inner})
_chain_of_properties = _definitions(3_000, lambda inner: {"properties": {"x": {"$ref": inner}}})


def _wide_one_of(leaf: str) -> str:
    return json.dumps({"oneOf": [{"properties": {f"p{index}": {"type": leaf}}} for index in range(2_000)]})


def _many_patterns(leaf: str) -> str:
    properties = {f"{leaf}{index}": {"type": leaf} for index in range(2_000)}
    patterns = {f"^(a+)+{index}$": {"type": leaf} for index in range(1_000)}
    return json.dumps({"properties": properties, "patternProperties": patterns, "additionalProperties": False})


def _large(leaf: str) -> str:
    properties = {
        f"property_{index}": {"type": leaf, "description": "a text of some length"} for index in range(12_000)
    }
    return json.dumps({"type": "object", "properties": properties, "additionalProperties": False})


def _wide_union(leaf: str) -> str:
    fields = [{"name": "value", "type": "string" if leaf == "string" else "int"}]
    return json.dumps([{"type": "record", "name": f"R{index}", "fields": fields} for index in range(700)])


def _ring_of_messages(leaf: str) -> str:
    kind = "string" if leaf == "string" else "int32"
    messages = (f"message M{index} {{ {kind} v = 1; M{(index + 1) % 300} next = 2; }}" for index in range(300))
    return 'syntax = "proto3";\n' + "\n".join(messages)


@pytest.mark.parametrize(
    ("kind", "build", "outcome"),
    [
        (JSON, _nested_one_of, "COMBINED_TYPE_SUBSCHEMAS_CHANGED"),
        (JSON, _references_that_double, "COMBINED_TYPE_SUBSCHEMAS_CHANGED"),
        (JSON, _chain_of_references, "TYPE_CHANGED"),
        (JSON, _chain_of_properties, TOO_DEEP),
        (JSON, _wide_one_of, TOO_COMPLEX),
        (JSON, _many_patterns, TOO_COMPLEX),
        (JSON, _large, "TYPE_CHANGED"),
        (AVRO, _wide_union, TOO_COMPLEX),
        (PROTOBUF, _ring_of_messages, "FIELD_SCALAR_KIND_CHANGED"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_comparison_ends(kind: SchemaType, build: Callable[[str], str], outcome: str) -> None:
    old, new = parse_schema(kind, build("string")), parse_schema(kind, build("integer"))
    started = time.process_time()

    try:
        answer = check_compatibility(new, [old], CompatibilityLevel.FULL)[0]
    except InvalidDocument as error:
        answer = str(error)

    assert outcome in answer
    assert time.process_time() - started < CPU_LIMIT_S


@pytest.mark.parametrize(
    "text", ['{"$ref":"#"}', '{"allOf":[{"$ref":"#"}]}', '{"not":{"$ref":"#"}}', '{"properties":{"a":{"$ref":"#"}}}']
)
def test_schema_that_contains_itself_fits_itself(text: str) -> None:
    schema = parse_schema(JSON, text)

    assert check_compatibility(parse_schema(JSON, text), [schema], CompatibilityLevel.FULL) == []


def test_numbers_of_any_size_are_compared() -> None:
    old, new = (parse_schema(JSON, f'{{"multipleOf":{value}}}') for value in ("1e300", "1e-300"))

    assert check_compatibility(new, [old], CompatibilityLevel.BACKWARD) == []
    assert "MULTIPLE_OF_EXPANDED" in check_compatibility(old, [new], CompatibilityLevel.BACKWARD)[0]


def test_draft_that_is_not_a_text_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="unknown draft 5 in"):
        parse_schema(JSON, '{"$schema":5}')


@pytest.mark.parametrize(("build", "reason"), [(_wide_one_of, TOO_COMPLEX), (_chain_of_properties, TOO_DEEP)])
def test_server_refuses_what_it_cannot_compare(address: str, build: Callable[[str], str], reason: str) -> None:
    with client_of(address) as client:
        versions = "/subjects/orders-value/versions"
        first = client.post(versions, json={"schema": build("string"), "schemaType": "JSON"})
        second = client.post(versions, json={"schema": build("integer"), "schemaType": "JSON"})
        check = client.post(f"/compatibility{versions}/latest", json={"schema": build("integer"), "schemaType": "JSON"})

    assert first.status_code == 200
    for answer in (second, check):
        assert (answer.status_code, answer.json()["error_code"]) == (422, 42201)
        assert reason in answer.json()["message"]
