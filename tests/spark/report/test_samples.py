"""Samples: the most frequent offending values per rule; classified values are masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.spark import enforce
from treaty.spark.report.samples import Sample, collect_samples

FIELDS: list[dict[str, Any]] = [
    {"name": "id", "logicalType": "string", "primaryKey": True, "primaryKeyPosition": 1},
    {"name": "day", "logicalType": "date", "primaryKey": True, "primaryKeyPosition": 2},
    {"name": "status", "logicalType": "string", "enum": [{"value": "new"}]},
    {"name": "quantity", "logicalType": "integer"},
]
ROWS = [
    ("1", "2026-01-01", "old", "1"),
    ("2", "2026-01-01", "old", "x"),
    ("3", "2026-01-01", "gone", "2"),
    ("4", "2026-01-01", "lost", "y"),
    ("5", "2026-01-01", "new", "3"),
]


def samples(
    spark: SparkSession, fields: list[dict[str, Any]], most: int, rows: Sequence[tuple[str | None, ...]] = ROWS
) -> list[Sample]:
    """Sample the rows that break the contract."""
    held_to = contract(fields)
    frame = spark.createDataFrame(list(rows), "ID string, day string, status string, quantity string")
    return list(collect_samples(enforce(frame, held_to).quarantined, held_to.schema[0], most))


def key(number: str) -> tuple[tuple[str, str | None], ...]:
    """Return the key of a row."""
    return (("id", number), ("day", "2026-01-01"))


def test_the_most_frequent_values_come_first_with_an_example_key(any_spark: SparkSession) -> None:
    assert samples(any_spark, FIELDS, 10) == [
        Sample("enum:status", "old", 2, key("1")),
        Sample("enum:status", "gone", 1, key("3")),
        Sample("enum:status", "lost", 1, key("4")),
        Sample("type:quantity", "x", 1, key("2")),
        Sample("type:quantity", "y", 1, key("4")),
    ]


@pytest.mark.parametrize(("most", "rules"), [(1, ["enum:status"]), (2, ["enum:status", "type:quantity"])])
def test_every_rule_is_sampled_before_any_second_sample(spark: SparkSession, most: int, rules: list[str]) -> None:
    assert [one.rule for one in samples(spark, FIELDS, most)] == rules


def test_rows_with_a_complete_key_are_preferred(spark: SparkSession) -> None:
    rows = [(None, "2026-01-01", "old", "1"), ("0", None, "old", "1"), ROWS[0]]
    found = {one.rule: one.key for one in samples(spark, FIELDS, 10, rows)}
    assert found["enum:status"] == key("1")
    assert found["required:id"] == (("id", None), ("day", "2026-01-01"))


def test_a_classified_key_is_masked(spark: SparkSession) -> None:
    secret = [{**FIELDS[0], "classification": "restricted"}, *FIELDS[1:]]

    shown = samples(spark, secret, 10)

    assert {one.key[0] for one in shown} == {("id", "***")}


def test_samples_without_a_primary_key(spark: SparkSession) -> None:
    plain = [{**field, "primaryKey": False} for field in FIELDS]

    assert {one.key for one in samples(spark, plain, 10)} == {()}
