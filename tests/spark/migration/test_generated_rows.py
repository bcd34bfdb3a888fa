"""Generated rows satisfy their contract: types, keys, allowed values, patterns, ranges, lengths and formats."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from tests.documents import contract
from tests.spark.property_settings import FEW_EXAMPLES
from tests.strategies import contracts
from treaty.compatibility.migration.sql_types import type_sql
from treaty.contracts import Contract, Field
from treaty.errors import InvalidDocument
from treaty.spark import enforce
from treaty.spark.migration.generated_rows import generate_rows, row_schema
from treaty.spark.schema import spark_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ITEM = {"logicalType": "object", "properties": [{"name": "sku", "logicalType": "string", "required": True}]}
EVERYTHING: list[dict[str, Any]] = [
    {"name": "id", "logicalType": "integer", "primaryKey": True, "logicalTypeOptions": {"minimum": 5, "multipleOf": 5}},
    {
        "name": "code",
        "logicalType": "string",
        "unique": True,
        "logicalTypeOptions": {"pattern": "^[A-Z]{2}-[0-9]{3,5}$"},
    },
    {"name": "word", "logicalType": "string", "required": True, "logicalTypeOptions": {"minLength": 2, "maxLength": 7}},
    {"name": "mail", "logicalType": "string", "required": True, "logicalTypeOptions": {"format": "email"}},
    {"name": "uuid", "logicalType": "string", "logicalTypeOptions": {"format": "uuid"}},
    {"name": "where", "logicalType": "string", "logicalTypeOptions": {"format": "uri"}},
    {"name": "net", "logicalType": "string", "logicalTypeOptions": {"format": "ipv6"}},
    {"name": "time", "logicalType": "time"},
    {"name": "small", "logicalType": "integer", "logicalTypeOptions": {"format": "u8"}},
    {"name": "huge", "logicalType": "integer", "logicalTypeOptions": {"format": "u64"}},
    {"name": "price", "logicalType": "number", "physicalType": "decimal(8,2)", "logicalTypeOptions": {"minimum": 0}},
    {"name": "share", "logicalType": "number", "logicalTypeOptions": {"minimum": 0, "exclusiveMaximum": 1}},
    {"name": "thin", "logicalType": "number", "logicalTypeOptions": {"format": "f32"}},
    {"name": "day", "logicalType": "date", "logicalTypeOptions": {"minimum": "2020-01-01"}},
    {"name": "at", "logicalType": "timestamp"},
    {"name": "local", "logicalType": "timestamp", "physicalType": "timestamp_ntz"},
    {"name": "flag", "logicalType": "boolean"},
    {"name": "state", "logicalType": "string", "required": True, "enum": [{"value": "a"}, {"value": "b"}]},
    {"name": "grade", "logicalType": "integer", "enum": [{"value": 1}, {"value": 2}]},
    {"name": "lines", "logicalType": "array", "items": ITEM, "logicalTypeOptions": {"minItems": 1, "maxItems": 3}},
    {
        "name": "tags",
        "logicalType": "array",
        "items": {"logicalType": "string"},
        "logicalTypeOptions": {"uniqueItems": True},
    },
    {
        "name": "sizes",
        "logicalType": "map",
        "map": {"key": {"logicalType": "string"}, "value": {"logicalType": "integer"}},
    },
]


def test_the_same_contract_gives_the_same_rows() -> None:
    item = contract(EVERYTHING).schema[0]

    assert repr(generate_rows(item, 20, "seed")) == repr(generate_rows(item, 20, "seed"))
    assert repr(generate_rows(item, 20, "seed")) != repr(generate_rows(item, 20, "another"))


def test_rows_include_nulls_and_edge_cases() -> None:
    item = contract(EVERYTHING).schema[0]
    rows = generate_rows(item, 100)

    columns = {field.name: [row[place] for row in rows] for place, field in enumerate(item.fields)}
    assert None in columns["flag"]
    assert {5, 2_147_483_645} <= set(columns["id"])
    assert {Decimal("0.00"), Decimal("999999.99")} <= set(columns["price"])
    assert {2, 7} <= {len(one) for one in columns["word"]}
    assert {"a", "b"} == set(columns["state"])
    assert len(set(columns["id"])) == 100


def test_the_number_of_rows_is_limited_by_the_keys() -> None:
    item = contract(
        [{"name": "k", "logicalType": "string", "primaryKey": True, "enum": [{"value": "a"}, {"value": "b"}]}]
    ).schema[0]

    assert sorted(generate_rows(item, 50)) == [("a",), ("b",)]


def test_terms_without_any_valid_value_are_refused() -> None:
    impossible = {"name": "x", "logicalType": "string", "required": True}
    item = contract([{**impossible, "logicalTypeOptions": {"pattern": "^aaaa$", "maxLength": 2}}]).schema[0]

    with pytest.raises(InvalidDocument, match=r"no value found for x that satisfies its terms; give rows with --data"):
        generate_rows(item, 1)


@pytest.mark.parametrize("field", contract(EVERYTHING).schema[0].fields, ids=lambda field: field.name)
def test_the_declared_type_is_the_spark_type(field: Field) -> None:
    kind = spark_type(field)

    assert kind is not None
    assert type_sql(field).lower().replace("`", "").replace(": ", ":").replace(", ", ",") == kind.simpleString()


def test_generated_rows_satisfy_their_contract(spark: SparkSession) -> None:
    made = contract(EVERYTHING)
    item = made.schema[0]

    frame = spark.createDataFrame(generate_rows(item, 150), row_schema(item))
    measures = enforce(frame, made).measures()

    assert [(result.rule.id, result.violating_rows) for result in measures.breaches] == []
    assert (measures.rows, measures.valid) == (150, 150)


@FEW_EXAMPLES
@given(contracts())
def test_generated_rows_have_the_schema_of_any_contract(spark: SparkSession, contract: Contract) -> None:
    for item in contract.schema:
        try:
            rows = generate_rows(item, 10)
        except InvalidDocument:
            continue
        if item.fields and len({field.name for field in item.fields}) == len(item.fields):
            assert spark.createDataFrame(rows, row_schema(item)).count() == len(rows)
