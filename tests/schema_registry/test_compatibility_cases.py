"""Compatibility of schemas by the rules of their format: cases as data, levels, and Avro's own library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from hypothesis import given, settings
from hypothesis import strategies as st

from treaty.schema_registry.compatibility import check_compatibility
from treaty.schema_registry.model import CompatibilityLevel, ParsedSchema, Reference, ReferencedSchema, SchemaType
from treaty.schema_registry.schemas import parse_schema

FOLDER = Path(__file__).parents[1] / "cases" / "schema_registry"
FILES = {"avro": SchemaType.AVRO, "json_schema": SchemaType.JSON, "protobuf": SchemaType.PROTOBUF}
CASES = [
    pytest.param(kind, case, id=f"{name}: {case['case']}")
    for name, kind in FILES.items()
    for case in yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
]
INTEGER, NUMBER, TEXT = '{"type":"integer"}', '{"type":"number"}', '{"type":"string"}'


def _expected(case: dict[str, Any], direction: str) -> list[str]:
    differences = [] if case[direction] == "compatible" else case[direction]
    return [
        f"{{errorType:'{name}', description:'{description}'}}"
        for one in differences
        for name, description in one.items()
    ]


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_schemas_are_judged_by_the_rules_of_their_format(kind: SchemaType, case: dict[str, Any]) -> None:
    old, new = parse_schema(kind, case["old"]), parse_schema(kind, case["new"])
    backward, forward = _expected(case, "backward"), _expected(case, "forward")

    for level, expected in (
        (CompatibilityLevel.BACKWARD, backward),
        (CompatibilityLevel.FORWARD, forward),
        (CompatibilityLevel.FULL, backward + forward),
    ):
        messages = check_compatibility(new, [old], level)
        trailer = [f"{{oldSchema: '{old.text}'}}", f"{{compatibility: '{level}'}}"]
        assert messages == ([*expected, *trailer] if expected else [])
    assert check_compatibility(new, [old], CompatibilityLevel.NONE) == []
    assert check_compatibility(new, [], CompatibilityLevel.FULL_TRANSITIVE) == []


def _json(text: str) -> ParsedSchema:
    return parse_schema(SchemaType.JSON, text)


@pytest.mark.parametrize(
    ("level", "versions", "compatible"),
    [
        ("BACKWARD", [TEXT, INTEGER, NUMBER], True),
        ("BACKWARD_TRANSITIVE", [TEXT, INTEGER, NUMBER], False),
        ("BACKWARD_TRANSITIVE", [INTEGER, NUMBER, NUMBER], True),
        ("FORWARD", [TEXT, NUMBER, INTEGER], True),
        ("FORWARD_TRANSITIVE", [TEXT, NUMBER, INTEGER], False),
        ("FORWARD_TRANSITIVE", [NUMBER, INTEGER, INTEGER], True),
        ("FULL", [INTEGER, NUMBER, NUMBER], True),
        ("FULL_TRANSITIVE", [INTEGER, NUMBER, NUMBER], False),
        ("NONE", [TEXT, TEXT, NUMBER], True),
    ],
)
def test_transitive_levels_compare_with_every_version(level: str, versions: list[str], compatible: bool) -> None:
    *old, new = map(_json, versions)

    assert (check_compatibility(new, old, CompatibilityLevel(level)) == []) is compatible


def test_another_type_of_schema_never_fits() -> None:
    avro, other = parse_schema(SchemaType.AVRO, '"string"'), _json(TEXT)

    assert check_compatibility(other, [avro], CompatibilityLevel.BACKWARD) == [
        "{errorType:'TYPE_CHANGED', description:'the type is JSON in the new schema and AVRO in the old schema'}",
        "{oldSchema: '\"string\"'}",
        "{compatibility: 'BACKWARD'}",
    ]


def _referenced(kind: SchemaType, name: str, version: int, text: str) -> ReferencedSchema:
    return ReferencedSchema(Reference(name, "shared", version), parse_schema(kind, text))


@pytest.mark.parametrize(
    ("kind", "name", "shared", "changed", "text", "difference"),
    [
        (
            SchemaType.AVRO,
            "shop.Item",
            '{"type":"record","name":"Item","namespace":"shop","fields":[]}',
            '{"type":"record","name":"Item","namespace":"shop","fields":[{"name":"sku","type":"string"}]}',
            '{"type":"record","name":"Order","fields":[{"name":"item","type":"shop.Item"}]}',
            "READER_FIELD_MISSING_DEFAULT_VALUE",
        ),
        (
            SchemaType.JSON,
            "item.json",
            '{"type":"object","additionalProperties":false}',
            '{"type":"object","properties":{"sku":{}},"required":["sku"],"additionalProperties":false}',
            '{"type":"object","properties":{"item":{"$ref":"item.json"}}}',
            "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        ),
        (
            SchemaType.PROTOBUF,
            "item.proto",
            'syntax = "proto3"; package shop; message Item { int32 sku = 1; }',
            'syntax = "proto3"; package shop; message Item { string sku = 1; }',
            'syntax = "proto3"; import "item.proto"; message Order { shop.Item item = 1; }',
            "FIELD_SCALAR_KIND_CHANGED",
        ),
    ],
)
def test_what_a_reference_points_to_is_compared(
    kind: SchemaType, name: str, shared: str, changed: str, text: str, difference: str
) -> None:
    old = parse_schema(kind, text, [_referenced(kind, name, 1, shared)])
    new = parse_schema(kind, text, [_referenced(kind, name, 2, changed)])
    same = parse_schema(kind, text, [_referenced(kind, name, 1, shared)])

    assert check_compatibility(same, [old], CompatibilityLevel.FULL) == []
    assert check_compatibility(new, [old], CompatibilityLevel.BACKWARD)[0].startswith(f"{{errorType:'{difference}'")


_SCALARS = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
_NAMED = st.builds(
    lambda symbols, default: {
        "type": "enum",
        "name": "E",
        "symbols": symbols,
        **({"default": symbols[0]} if default else {}),
    },
    st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True),
    st.booleans(),
) | st.builds(lambda size: {"type": "fixed", "name": "F", "size": size}, st.integers(1, 2))
_LEAVES = _SCALARS | st.lists(_SCALARS, min_size=1, max_size=3, unique=True) | _NAMED
_FIELDS = st.builds(
    lambda name, kind, aliases: {"name": name, "type": kind, "aliases": aliases},
    st.sampled_from(["a", "b"]),
    _LEAVES
    | _SCALARS.map(lambda one: {"type": "array", "items": one})
    | _SCALARS.map(lambda one: {"type": "map", "values": one}),
    st.lists(st.just("a"), max_size=1),
)
_RECORDS = st.builds(
    lambda name, fields: {"type": "record", "name": name, "fields": fields},
    st.sampled_from("RS"),
    st.lists(_FIELDS, max_size=2, unique_by=lambda one: str(one["name"])),
)


def _without_repeated_names(record: dict[str, Any]) -> bool:
    text = json.dumps(record)
    return text.count('"name": "E"') < 2 and text.count('"name": "F"') < 2


@settings(max_examples=200, deadline=None)
@given(_RECORDS.filter(_without_repeated_names), _RECORDS.filter(_without_repeated_names))
def test_avro_is_judged_as_the_library_of_avro_does(reader: dict[str, Any], writer: dict[str, Any]) -> None:
    new, old = (parse_schema(SchemaType.AVRO, json.dumps(one)) for one in (reader, writer))
    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]
    result = checker.get_compatibility(new.model, old.model)

    messages = check_compatibility(new, [old], CompatibilityLevel.BACKWARD)

    assert (messages == []) is (result.compatibility is SchemaCompatibilityType.compatible)
