"""Written schemas as other tools read them: the metaschema of JSON Schema, the types of Spark; missing packages."""

from __future__ import annotations

import json
import sys
from typing import Any

import jsonschema_rs
import pytest
from pyspark.sql.types import StructType

from tests.documents import contract
from treaty.errors import Unavailable
from treaty.formats import get_format
from treaty.spark.schema import fields_from_struct, struct_type

FIELDS = [
    {"name": "id", "logicalType": "string", "required": True, "logicalTypeOptions": {"maxLength": 3}},
    {"name": "small", "logicalType": "integer", "logicalTypeOptions": {"format": "i16"}},
    {"name": "count", "logicalType": "integer", "logicalTypeOptions": {"format": "i64", "minimum": 0}},
    {"name": "huge", "logicalType": "integer", "logicalTypeOptions": {"format": "u64"}},
    {"name": "total", "logicalType": "number", "physicalType": "decimal(10,2)"},
    {"name": "rate", "logicalType": "number", "logicalTypeOptions": {"format": "f32"}},
    {"name": "day", "logicalType": "date"},
    {"name": "clock", "logicalType": "time"},
    {"name": "at", "logicalType": "timestamp"},
    {"name": "local", "logicalType": "timestamp", "logicalTypeOptions": {"timezone": False}},
    {"name": "raw", "physicalType": "binary"},
    {"name": "state", "logicalType": "string", "enum": [{"value": "a"}, {"value": "b"}]},
    {"name": "lines", "logicalType": "array", "items": {"logicalType": "object", "properties": [
        {"name": "sku", "logicalType": "string", "required": True}]}},
    {"name": "labels", "logicalType": "map", "map": {
        "key": {"logicalType": "string"}, "value": {"logicalType": "number"}}},
]  # fmt: skip


@pytest.mark.parametrize("dialect", ["2020-12", "draft-07"])
def test_a_written_json_schema_is_one_and_judges_rows(dialect: str) -> None:
    schema = json.loads(get_format("json-schema").write(contract(FIELDS), dialect=dialect).text)

    assert jsonschema_rs.meta.is_valid(schema)
    judge = jsonschema_rs.validator_for(schema)
    good = {"id": "abc", "count": 3, "state": None, "lines": [{"sku": "x"}], "labels": {"a": 1.5}}
    assert judge.is_valid(good)
    breaches: list[dict[str, Any]] = [
        {"id": "abcd"},
        {"id": None},
        {"count": -1},
        {"state": "c"},
        {"lines": [{}]},
        {"labels": {"a": "x"}},
    ]
    for broken in breaches:
        assert not judge.is_valid(good | broken)


def test_a_written_struct_is_the_one_that_rows_are_read_with() -> None:
    orders = contract(FIELDS)
    written = json.loads(get_format("spark").write(orders).text)

    ours, enforced = StructType.fromJson(written), struct_type(orders.schema[0])

    assert [(field.name, field.dataType, field.nullable) for field in ours] == [
        (field.name, field.dataType, field.nullable) for field in enforced
    ]


def test_a_struct_is_read_as_the_one_of_a_table_is() -> None:
    struct = struct_type(contract(FIELDS).schema[0])

    read = get_format("spark").read(struct.json(), name="orders.struct.json").contracts[0].schema[0].fields

    for ours, profiled in zip(read, fields_from_struct(struct), strict=True):
        assert (ours.name, ours.is_required) == (profiled.name, profiled.is_required)
        assert ours.logical_type == profiled.logical_type


@pytest.mark.parametrize(
    ("name", "package"), [("sql", "sqlglot"), ("dbt", "sqlglot"), ("protobuf", "proto_schema_parser")]
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    for module in [
        one
        for one in sys.modules
        if one.split(".")[0] == package or one.startswith(("treaty.formats.sql", f"treaty.formats.{name}"))
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(Unavailable, match=rf"{package}.*pip install 'treaty\[formats\]'"):
        get_format(name).read("message A {}", name="x")
