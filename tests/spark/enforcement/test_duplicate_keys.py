"""Duplicate keys: exact although hashes may collide."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.spark import KeyReading, Policy, enforce, write_split
from treaty.spark.rule_measurement import measure_rules
from treaty.spark.uniqueness import find_suspect_numbers

_PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_ALL = (1 << 64) - 1
_KEY = [
    {"name": name, "logicalType": "integer", "physicalType": "bigint", "primaryKey": True, "primaryKeyPosition": place}
    for place, name in enumerate(("shop", "number"), 1)
]


def _turned(number: int, by: int) -> int:
    return ((number << by) | (number >> (64 - by))) & _ALL


def _mixed(number: int) -> int:
    """Mix a number as xxHash does, before it meets what was hashed so far."""
    return _turned(number * _PRIMES[1] & _ALL, 31) * _PRIMES[0] & _ALL


def _unmixed(mixed: int) -> int:
    return _turned(mixed * pow(_PRIMES[0], -1, 1 << 64) & _ALL, 33) * pow(_PRIMES[1], -1, 1 << 64) & _ALL


def _hashed(number: int, so_far: int) -> int:
    found = ((so_far + _PRIMES[4] + 8) & _ALL) ^ _mixed(number)
    found = (_turned(found, 27) * _PRIMES[0] + _PRIMES[3]) & _ALL
    found = (found ^ (found >> 33)) * _PRIMES[1] & _ALL
    found = (found ^ (found >> 29)) * _PRIMES[2] & _ALL
    return found ^ (found >> 32)


def _twin(first: int, second: int, other_first: int) -> int:
    """Return what has to stand behind another first number so that both pairs have one hash."""
    starts = [(_hashed(number, 42) + _PRIMES[4] + 8) & _ALL for number in (first, other_first)]
    found = _unmixed(starts[0] ^ _mixed(second) ^ starts[1])
    return found - (1 << 64) if found >> 63 else found


_READINGS = pytest.mark.parametrize("keys", list(KeyReading))


@_READINGS
def test_keys_with_the_same_hash_are_not_duplicates(spark: SparkSession, tmp_path: Path, keys: KeyReading) -> None:
    twin = _twin(1, 10, 2)
    rows = f"SELECT * FROM VALUES (1L, 10L), (2L, {twin}L), (3L, 30L), (3L, 30L) AS t(shop, number)"  # noqa: S608
    frame = spark.sql(rows)
    assert frame.selectExpr("xxhash64(shop, number)").distinct().count() == 2
    result = enforce(frame, contract(_KEY), policy=Policy(keys=keys))

    for measures in (result.measures(), write_split(result, str(tmp_path / "split")).measures):
        assert {result.rule.id: result.violating_rows for result in measures.results if result.violating_rows} == {
            "unique:shop, number": 2
        }
        assert (measures.rows, measures.valid) == (4, 2)


@_READINGS
def test_rows_with_an_incomplete_key_are_not_duplicates(spark: SparkSession, keys: KeyReading) -> None:
    rows = "SELECT 1L AS shop, CAST(NULL AS BIGINT) AS number FROM range(1000)"
    measures = enforce(spark.sql(rows), contract(_KEY), policy=Policy(keys=keys)).measures()
    broken = {result.rule.id: result.violating_rows for result in measures.results if result.violating_rows}
    assert broken == {"required:number": 1000}


_SPELLINGS = {
    "text": ("string", "string", ["'a'", "'A'", "'a '", "''", "'ä'"]),
    "number": ("integer", "bigint", ["1L", "-1L", "9223372036854775807L"]),
    "amount": ("number", "decimal(38,2)", ["1.10BD", "1.11BD", "-1.10BD"]),
    "share": ("number", "double", ["0.1D", "0.3D", "0.1D + 0.2D", "double('NaN')", "double('Infinity')", "0.0D"]),
    "day": ("date", "date", ["date'0001-01-01'", "date'2024-02-29'", "date'+12024-02-29'"]),
    "moment": (
        "timestamp",
        "timestamp",
        # one time on the clock of New York, twice
        ["timestamp'2024-11-03T05:30:00Z'", "timestamp'2024-11-03T06:30:00Z'", "timestamp'+12024-01-01T00:00:00Z'"],
    ),
    "flag": ("boolean", "boolean", ["true", "false"]),
    "parts": ("array", "array<string>", ["array('a, b')", "array('a', 'b')"]),
}


@_READINGS
@pytest.mark.parametrize("name", _SPELLINGS)
def test_duplicate_keys_of_every_type(spark: SparkSession, name: str, keys: KeyReading) -> None:
    logical, physical, values = _SPELLINGS[name]
    key: dict[str, object] = {"name": name, "logicalType": logical, "physicalType": physical, "primaryKey": True}
    if logical == "array":
        key["items"] = {"logicalType": "string", "physicalType": "string"}
    once = " UNION ALL ".join(f"SELECT {value} AS {name}" for value in values)
    twice = f"{once} UNION ALL SELECT {values[0]} AS {name}"

    for rows, broken in ((once, {}), (twice, {f"unique:{name}": 2})):
        measures = enforce(spark.sql(rows), contract([key]), policy=Policy(keys=keys)).measures()
        assert {result.rule.id: result.violating_rows for result in measures.results if result.violating_rows} == broken


def test_negative_zero_equals_zero(spark: SparkSession) -> None:
    key = {"name": "share", "logicalType": "number", "physicalType": "double", "primaryKey": True}
    measures = enforce(spark.sql("SELECT 0.0D AS share UNION ALL SELECT -0.0D"), contract([key])).measures()
    assert {result.rule.id: result.violating_rows for result in measures.results if result.violating_rows} == {
        "unique:share": 2
    }


@_READINGS
@pytest.mark.parametrize("most_groups", [0, 2, 100])
def test_counts_do_not_depend_on_the_limit_of_collected_groups(
    spark: SparkSession, most_groups: int, keys: KeyReading
) -> None:
    rows = "SELECT * FROM VALUES (1L, 10L), (1L, 10L), (2L, 20L), (2L, 20L), (3L, NULL), (4L, 40L) AS t(shop, number)"
    measures = measure_rules(enforce(spark.sql(rows), contract(_KEY), policy=Policy(keys=keys)), max_groups=most_groups)
    broken = {result.rule.id: result.violating_rows for result in measures.results if result.violating_rows}
    assert (measures.rows, measures.valid, broken) == (6, 1, {"unique:shop, number": 4, "required:number": 1})


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])  # sorted by Spark, in four parts, in two, in one
def test_repeated_key_numbers_are_found_on_the_driver_and_in_spark(spark: SparkSession, at_once: int) -> None:
    frame = spark.sql("SELECT * FROM VALUES ('a'), ('b'), (NULL), ('a'), ('c'), (NULL) AS t(name)")
    shared = find_suspect_numbers(frame, ["name"], 10, KeyReading.ALONE, at_once)
    assert shared == find_suspect_numbers(frame.where("name = 'a'"), ["name"], 10, KeyReading.WITH_ROWS)
    assert shared != []
    assert find_suspect_numbers(frame, ["name"], 0, KeyReading.ALONE, at_once) is None
    assert find_suspect_numbers(frame.where("name < 'a'"), ["name"], 10, KeyReading.ALONE, at_once) == []
