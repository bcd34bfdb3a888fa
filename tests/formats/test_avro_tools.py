"""Avro as its own libraries see it: what we write is read by them, and what they call incompatible is a change."""

from __future__ import annotations

import io
import json
import warnings
from typing import Any

import fastavro
import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from fastavro.utils import generate_one
from fastavro.validation import validate
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents import CASES, contract
from tests.strategies import contracts
from treaty.compatibility import Mode, Semantics, diff, judge
from treaty.contracts import Contract
from treaty.contracts.text import read_document
from treaty.formats import ReadResult, get_format

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import avro.schema

AVRO = get_format("avro")
Schema = Any


def _cases() -> list[Any]:
    file = CASES / "incompatible" / "avro.yaml"
    return [pytest.param(case, id=case["name"]) for case in read_document(file.read_bytes(), file.name).data["cases"]]


def _record(side: dict[str, Any]) -> Schema:
    if "record" in side:
        return side["record"]
    return {"type": "record", "name": "Row", "fields": [{"name": "a", "type": side["type"]}]}


def _can_read(reader: Schema, writer: Schema) -> bool:
    parsed: list[Any] = [avro.schema.parse(json.dumps(one)) for one in (reader, writer)]
    checker: Any = ReaderWriterCompatibilityChecker  # its methods are partly typed
    result = checker().get_compatibility(*parsed)
    return bool(result.compatibility is SchemaCompatibilityType.compatible)


def _read(schema: Schema) -> ReadResult:
    return AVRO.read(json.dumps(schema), name="row.avsc")


def _required_bump(before: Schema, after: Schema) -> str:
    verdict = judge(diff(_read(before).contracts[0], _read(after).contracts[0]), Mode.FULL)
    return verdict.required_bump.name


@pytest.mark.parametrize("case", _cases())
def test_incompatible_schemas_are_never_without_a_change(case: dict[str, Any]) -> None:
    before, after = _record(case["before"]), _record(case["after"])

    assert (_can_read(after, before), _can_read(before, after)) == (case["reads"], case["is_read"])
    assert _required_bump(before, after) == case["bump"]


_SCALARS = st.sampled_from(["int", "long", "float", "double", "string", "bytes", "boolean"])
_FIXED = st.builds(
    lambda name, size: {"type": "fixed", "name": name, "size": size}, st.sampled_from("FG"), st.integers(1, 3)
)
_ENUMS = st.builds(
    lambda name, symbols: {"type": "enum", "name": name, "symbols": symbols},
    st.sampled_from("ST"),
    st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True),
)
_LOGICAL = st.sampled_from(
    [
        {"type": "int", "logicalType": "date"},
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1},
        {"type": "string", "logicalType": "uuid"},
    ]
)
_LEAVES = _SCALARS | _FIXED | _ENUMS | _LOGICAL
_RECORDS = st.builds(
    lambda name, kind: {"type": "record", "name": name, "fields": [{"name": "x", "type": kind}]},
    st.sampled_from("PQ"),
    _LEAVES,
)
_UNIONS = st.lists(_SCALARS | st.just("null"), min_size=1, max_size=3, unique=True)
_TYPES = (
    _LEAVES
    | _RECORDS
    | _UNIONS
    | st.builds(lambda items: {"type": "array", "items": items}, _SCALARS | _UNIONS | _ENUMS)
    | st.builds(lambda values: {"type": "map", "values": values}, _SCALARS | _FIXED)
)


def _row(kind: Schema) -> Schema:
    return {"type": "record", "name": "Row", "fields": [{"name": "a", "type": kind}]}


@pytest.mark.parametrize("semantics", [Semantics.CONTRACT, Semantics.AVRO])
def test_types_that_do_not_resolve_are_never_compatible(semantics: Semantics) -> None:
    @settings(max_examples=150)
    @given(_TYPES, _TYPES)
    def law(one: Schema, other: Schema) -> None:
        before, after = _row(one), _row(other)
        changes = diff(_read(before).contracts[0], _read(after).contracts[0])
        if not _can_read(after, before):
            assert not judge(changes, Mode.BACKWARD, semantics=semantics).compatible
        if not _can_read(before, after):
            assert not judge(changes, Mode.FORWARD, semantics=semantics).compatible

    law()


@settings(max_examples=100)
@given(_TYPES, _TYPES)
def test_a_value_that_only_one_schema_accepts_means_a_change(one: Schema, other: Schema) -> None:
    before, after = fastavro.parse_schema(_row(one)), fastavro.parse_schema(_row(other))
    value = generate_one(before)
    assert validate(value, before, raise_errors=False)
    if not _accepts(after, value):
        assert _required_bump(_row(one), _row(other)) != "NONE"


def _accepts(schema: Schema, value: Any) -> bool:
    try:
        return validate(value, schema, raise_errors=False)
    except (ValueError, TypeError, AttributeError):  # the value cannot even be prepared for a logical type
        return False


@settings(max_examples=25)
@given(contracts())
def test_both_libraries_read_what_we_write(any_contract: Contract) -> None:
    if not any_contract.schema:
        return
    written = json.loads(AVRO.write(any_contract).text)
    for record in written if isinstance(written, list) else [written]:
        named: dict[str, Any] = {}
        parsed = fastavro.parse_schema(record, named_schemas=named)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library warns of logical types it does not know
            avro.schema.parse(json.dumps(record))
        value = generate_one(parsed)
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, parsed, value)
        stream.seek(0)
        fastavro.schemaless_reader(stream, parsed, None)


@pytest.mark.parametrize(
    ("field", "bad", "named"),
    [
        ({"logicalType": "integer", "logicalTypeOptions": {"minimum": 0}}, -1, "a: minimum 0"),
        ({"logicalType": "integer", "logicalTypeOptions": {"format": "i16"}}, 70_000, "a: type integer(i16) becomes"),
        ({"logicalType": "string", "logicalTypeOptions": {"pattern": "^[A-Z]+$"}}, "x", "a: pattern ^[A-Z]+$"),
        ({"logicalType": "string", "logicalTypeOptions": {"format": "email"}}, "x", "a: format email"),
        ({"logicalType": "string", "enum": [{"value": "a b"}]}, "x", 'a: enum [{"value": "a b"}]'),
        ({"logicalType": "string", "logicalTypeOptions": {"maxLength": 2}}, "xyz", "a: maxLength 2"),
        (
            {"logicalType": "array", "items": {"logicalType": "string"}, "logicalTypeOptions": {"maxItems": 1}},
            ["x", "y"],
            "a: maxItems 1",
        ),
    ],
)
def test_a_rule_that_avro_does_not_check_is_named(field: Any, bad: Any, named: str) -> None:
    written = AVRO.write(contract([{"name": "a", **field}]))

    assert _accepts(fastavro.parse_schema(json.loads(written.text)), {"a": bad})
    assert [str(loss).startswith(named) for loss in written.losses] == [True]


def test_a_schema_is_the_same_after_its_way_through_a_contract() -> None:
    schema = {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "status", "type": {"type": "enum", "name": "S", "symbols": ["A", "B"], "default": "A"}},
            {"name": "digest", "type": {"type": "fixed", "name": "Md5", "size": 16}, "order": "ignore"},
            {"name": "value", "type": ["null", "string", {"type": "record", "name": "R", "fields": []}]},
            {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}, "aliases": ["a", "b"]},
            {"name": "next", "type": ["null", "shop.Order"], "default": None},
            {"name": "old", "type": ["long", "null"]},
            {"name": "again", "type": "shop.S"},
        ],
    }

    read = _read(schema)
    written = AVRO.write(read.contracts[0])

    assert read.losses == written.losses == ()
    assert json.loads(written.text) == schema
