"""Audit of table rules before publication."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.pipeline.layers.audit import Audit, Keys, Written, audit

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
FIELDS = [
    {"name": "id", "logicalType": "string", "primaryKey": True},
    {"name": "code", "logicalType": "string", "unique": True, "classification": "confidential"},
    {
        "name": "state",
        "logicalType": "string",
        "required": True,
        "quality": [
            {
                "name": "few_open",
                "metric": "invalidValues",
                "arguments": {"validValues": ["done"]},
                "mustBeLessThan": 40,
                "unit": "percent",
            }
        ],
    },
    {"name": "at", "logicalType": "timestamp"},
]
HELD_TO = contract(
    {
        "schema": [
            {
                "name": "orders",
                "properties": FIELDS,
                "quality": [
                    {"name": "some", "metric": "rowCount", "mustBeGreaterThan": 3},
                    {
                        "name": "two_states",
                        "type": "sql",
                        "query": "SELECT COUNT(DISTINCT state) FROM {object}",
                        "mustBe": 2,
                        "severity": "warning",
                    },
                ],
            }
        ],
        "slaProperties": [{"property": "freshness", "value": 4, "unit": "h", "element": "orders.at"}],
    }
)
SOUND = [("a", "1", "done"), ("b", "2", "done"), ("c", "3", "open"), ("d", None, "done"), ("e", None, "done")]
CASES: dict[str, tuple[list[tuple[str, str | None, str]], Keys, dict[str, int | None], set[str]]] = {
    "sound": (SOUND, Keys.CHECKED, {}, set()),
    "a key twice": ([*SOUND, ("a", "9", "done")], Keys.CHECKED, {"unique:id": 2}, set()),
    "a key twice, where keys are replaced": ([*SOUND, ("a", "9", "done")], Keys.REPLACED, {}, set()),
    "a code twice": ([*SOUND, ("f", "3", "done")], Keys.REPLACED, {"unique:code": 2}, set()),
    "too many open": ([*SOUND, ("f", "6", "open")], Keys.CHECKED, {}, set()),
    "far too many open": ([*SOUND[:3], ("f", "6", "open")], Keys.CHECKED, {"invalid_values:state#few_open": 2}, set()),
    "too few, of one state": (SOUND[:2], Keys.CHECKED, {"row_count:some": None}, {"sql:two_states"}),
    "none": ([], Keys.CHECKED, {"row_count:some": None}, {"sql:two_states"}),
}


def table(spark: SparkSession, rows: list[tuple[str, str | None, str]]) -> Any:
    values = ", ".join(f"({', '.join('null' if part is None else repr(part) for part in row)})" for row in rows)
    listed = (
        f"VALUES {values} AS t(id, code, state)" if rows else "(SELECT '' AS id, '' AS code, '' AS state) WHERE false"
    )
    return spark.sql(
        f"SELECT id, code, state, timestamp'2026-03-01 00:00:00' AS at, 7L AS _run, 'valid' AS _outcome FROM {listed}"  # noqa: S608
    )


def broken(found: Audit) -> dict[str, int | None]:
    return {item.rule.id: item.violating_rows for item in found.blocking}


@pytest.mark.parametrize("case", CASES)
def test_only_table_rules_are_audited(spark: SparkSession, case: str) -> None:
    rows, keys, blocking, warned = CASES[case]
    found = audit(table(spark, rows), HELD_TO, NOW, keys=keys)
    assert broken(found) == blocking
    assert found.passed is not bool(blocking)
    assert found.rows == len(rows)
    assert {item.rule.id for item in found.concerns} == warned | ({"freshness:at"} if rows else set())
    assert "required:state" not in {item.rule.id for item in found.results}  # row rules are checked elsewhere
    assert ("unique:id" in {item.rule.id for item in found.results}) is (keys is Keys.CHECKED)
    assert all("'3'" not in reason and "(3" not in reason for reason in found.reasons)  # codes are confidential


def test_duplicate_key_is_reported_with_the_key(spark: SparkSession) -> None:
    found = audit(table(spark, [*SOUND, ("a", "9", "done")]), HELD_TO, NOW)
    assert found.reasons == ('unique:id: 2 rows break it: must be unique ({"id":"a"} in the row of id a)',)
    assert found.remarks[0].startswith(
        "freshness:at: the newest row is 129,600 s old; the newest row must be at most 4 h"
    )


def test_duplicates_are_searched_among_written_rows_where_that_suffices(spark: SparkSession) -> None:
    double = table(spark, [*SOUND, ("a", "9", "done")])
    sound = audit(double, HELD_TO, NOW, written=Written(double.where("id <> 'a'"), ("id",)))
    assert broken(sound) == {}
    assert sound.rows == 6
    assert {item.rule.id for item in sound.results} >= {"unique:id", "unique:code"}
    assert broken(audit(double, HELD_TO, NOW, written=Written(double.where("id = 'a'"), ("id",)))) == {"unique:id": 2}
    # the code is not part of the replaced key, so another row may have the same code
    codes = table(spark, [*SOUND, ("f", "3", "done")])
    assert broken(audit(codes, HELD_TO, NOW, written=Written(codes.where("id = 'f'"), ("id",)))) == {"unique:code": 2}


def test_without_table_rules_nothing_is_measured(spark: SparkSession) -> None:
    found = audit(table(spark, SOUND), contract(FIELDS[:1]), NOW, keys=Keys.REPLACED)
    assert found.results == ()
    assert found.passed
