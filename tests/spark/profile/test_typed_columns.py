"""Drafts of typed data: stored types at any depth."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark.profile.drafts import ROWS, drafted, fields_of, guessed, terms_of
from treaty.spark.profile import TypeOrigin

COLUMNS: dict[str, tuple[str, dict[str, Any]]] = {
    "tiny": ("cast(id as tinyint)", {"logicalType": "integer", "physicalType": "tinyint"}),
    "whole": ("cast(id - 5 as int)", {"logicalType": "integer", "physicalType": "int"}),
    "order_id": ("id", {"logicalType": "integer", "physicalType": "bigint", "primaryKey": True}),
    "exact": ("cast(-id as decimal(20,0))", {"logicalType": "integer", "physicalType": "decimal(20,0)"}),
    "price": ("cast(-id as decimal(10,2))", {"logicalType": "number", "physicalType": "decimal(10,2)"}),
    "ratio_seen": ("cast(-id as float)", {"logicalType": "number", "physicalType": "float"}),
    "no_number": ("if(id = 3, double('NaN'), id)", {"logicalType": "number", "physicalType": "double"}),
    "flag": ("id % 2 = 0", {"logicalType": "boolean", "physicalType": "boolean"}),
    "day": ("date'2026-01-01' + cast(id as int)", {"logicalType": "date", "physicalType": "date"}),
    "sent": ("timestamp'2026-01-01 00:00:00'", {"logicalType": "timestamp", "physicalType": "timestamp"}),
    "wall": ("timestamp_ntz'2026-01-01 00:00:00'", {"logicalType": "timestamp", "physicalType": "timestamp_ntz"}),
    "raw": ("cast('x' as binary)", {"physicalType": "binary"}),
    "took": ("interval '1' day", {"physicalType": "interval day"}),
    "nothing": ("null", {"physicalType": "void", "required": None}),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "tiny": {"format": "i8", "minimum": 0},
    "whole": {"format": "i32"},
    "order_id": {"format": "i64"},
    "ratio_seen": {"format": "f32"},
    "no_number": {"format": "f64"},
    "sent": {"timezone": True},
    "wall": {"timezone": False},
}


@pytest.fixture(scope="module")
def fields(spark: SparkSession) -> dict[str, dict[str, Any]]:
    """Draft all the columns at once."""
    columns = [f"{expression} AS {name}" for name, (expression, _) in COLUMNS.items()]
    return fields_of(drafted(spark.range(ROWS).selectExpr(*columns)).contract)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_drafted_with_its_stored_type(fields: dict[str, dict[str, Any]], name: str) -> None:
    expected = {"required": True, **COLUMNS[name][1], "logicalTypeOptions": OPTIONS.get(name)}

    assert terms_of(fields[name]) == {key: value for key, value in expected.items() if value is not None}


def _nested(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).selectExpr(
        "if(id % 4 = 0, null, named_struct('city', concat('c', id), 'zip', if(id % 5 = 1, null, '01234'))) AS address",
        "transform(sequence(0, id % 3), i -> named_struct('sku', concat('SKU', 100 + id), 'n', i)) AS lines",
        "array(array(cast(null as int), 1)) AS grid",
        "map('a', id, 'b', if(id = 7, null, id)) AS counts",
        "cast(array() AS array<string>) AS empty",
    )


def test_nested_fields_are_drafted_at_any_depth(any_spark: SparkSession) -> None:
    fields = fields_of(drafted(_nested(any_spark)).contract)

    city, postal = fields["address"]["properties"]
    sku, number = fields["lines"]["items"]["properties"]
    assert "required" not in fields["address"]
    assert terms_of(city)["logicalTypeOptions"] == {"pattern": "^c[0-9]+$"}
    assert guessed(city)["required"] == "medium: 0 nulls in 90 values"
    assert "required" not in postal
    assert terms_of(sku)["logicalTypeOptions"] == {"pattern": "^SKU[0-9]{3}$"}
    assert terms_of(number)["logicalTypeOptions"] == {"format": "i64", "minimum": 0}
    assert "required" not in fields["grid"]["items"]["items"]
    assert fields["counts"]["map"]["key"]["logicalType"] == "string"
    assert "required" not in fields["counts"]["map"]["value"]
    assert fields["empty"]["items"]["logicalType"] == "string"


def test_derived_decimal_types_leave_room_for_larger_numbers(spark: SparkSession) -> None:
    frame = spark.range(ROWS).selectExpr("cast(id % 9 + 0.25 AS decimal(3,2)) AS price")

    assert fields_of(drafted(frame).contract)["price"]["physicalType"] == "decimal(3,2)"
    assert fields_of(drafted(frame, typing=TypeOrigin.SEEN).contract)["price"]["physicalType"] == "decimal(9,2)"


def test_unusual_column_names_are_drafted(spark: SparkSession) -> None:
    frame = spark.range(ROWS).selectExpr("id AS `a.b`", "named_struct('c d', id, '`', 1) AS `e``f`")

    fields = fields_of(drafted(frame).contract)

    assert list(fields) == ["a.b", "e`f"]
    assert [part["name"] for part in fields["e`f"]["properties"]] == ["c d", "`"]


def test_partition_folders_are_drafted_as_partitions(spark: SparkSession, tmp_path: Any) -> None:
    spark.range(ROWS).selectExpr("id", "id % 2 AS shop").write.partitionBy("shop").parquet(str(tmp_path / "sales"))

    shop = fields_of(drafted(spark.read.parquet(str(tmp_path / "sales"))).contract)["shop"]

    assert (shop["partitioned"], shop["partitionKeyPosition"]) == (True, 1)
