"""Keys are told apart by themselves, whatever their hashes say."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.spark import enforce, write_split

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


def test_two_keys_with_one_hash_are_two_keys(spark: SparkSession, tmp_path: Path) -> None:
    twin = _twin(1, 10, 2)
    rows = f"SELECT * FROM VALUES (1L, 10L), (2L, {twin}L), (3L, 30L), (3L, 30L) AS t(shop, number)"  # noqa: S608
    frame = spark.sql(rows)
    assert frame.selectExpr("xxhash64(shop, number)").distinct().count() == 2
    result = enforce(frame, contract(_KEY))

    for measures in (result.measures(), write_split(result, str(tmp_path / "split")).measures):
        assert {item.rule.id: item.broken for item in measures.results if item.broken} == {"unique:shop, number": 2}
        assert (measures.rows, measures.valid) == (4, 2)


def test_rows_without_a_whole_key_share_nothing(spark: SparkSession) -> None:
    rows = "SELECT 1L AS shop, CAST(NULL AS BIGINT) AS number FROM range(1000)"
    measures = enforce(spark.sql(rows), contract(_KEY)).measures()
    broken = {item.rule.id: item.broken for item in measures.results if item.broken}
    assert broken == {"required:number": 1000}
