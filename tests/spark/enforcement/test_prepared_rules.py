"""Rules are prepared once for a contract and the columns of its input, and judge every frame with these columns."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.pipeline.layers.arrivals import contract
from treaty.spark.enforcement import enforce
from treaty.spark.prepared_rules import RuleCache, RuleKey
from treaty.spark.rules import Policy, Scope

ORDERS = contract("orders", {"id": {"required": True}, "amount": {"logicalType": "number"}})


def _frame(spark: SparkSession, *rows: tuple[Any, ...], columns: str = "id string, amount double") -> DataFrame:
    return spark.createDataFrame(list(rows), columns)


def test_a_later_frame_with_the_same_columns_is_judged_by_its_own_rows(any_spark: SparkSession) -> None:
    first = enforce(_frame(any_spark, ("a", 1.0)), ORDERS)
    later = enforce(_frame(any_spark, ("b", 2.0), (None, 3.0)), ORDERS)

    assert later.compiled is first.compiled
    assert [row["id"] for row in first.valid.collect()] == ["a"]
    assert first.quarantined.count() == 0
    assert [row["id"] for row in later.valid.collect()] == ["b"]
    assert [[reason["rule"] for reason in row["_violations"]] for row in later.quarantined.collect()] == [
        ["required:id"]
    ]


@pytest.mark.parametrize(
    ("columns", "row", "options"),
    [
        ("id string, amount string", ("a", "1"), {}),
        ("id string, amount double, note string", ("a", 1.0, "x"), {}),
        ("id string, amount double, note string", ("a", 1.0, "x"), {"carry": ("note",)}),
        ("id string, amount double", ("a", 1.0), {"policy": Policy(scope=Scope.ROWS)}),
    ],
    ids=["another type", "another column", "a carried column", "another policy"],
)
def test_other_columns_and_options_have_rules_of_their_own(
    spark: SparkSession, columns: str, row: tuple[Any, ...], options: dict[str, Any]
) -> None:
    first = enforce(_frame(spark, ("a", 1.0)), ORDERS)
    other = enforce(_frame(spark, row, columns=columns), ORDERS, **options)

    assert other.compiled is not first.compiled
    assert enforce(_frame(spark, row, columns=columns), ORDERS, **options).compiled is other.compiled


def test_an_equal_contract_that_was_loaded_again_has_rules_of_its_own(spark: SparkSession) -> None:
    again = contract("orders", {"id": {"required": True}, "amount": {"logicalType": "number"}})
    frame = _frame(spark, ("a", 1.0))

    assert enforce(frame, again).compiled is not enforce(frame, ORDERS).compiled


def test_the_oldest_rules_are_dropped(spark: SparkSession) -> None:
    frame = _frame(spark, ("a", 1.0))
    enforced = enforce(frame, ORDERS)
    keys = [RuleKey(spark, ORDERS, name, Policy(), frame.schema, (), frozenset(), is_streaming=False) for name in "abc"]
    cache = RuleCache(size=2)
    for key in keys:
        cache.keep(key, enforced.layout, enforced.compiled)

    assert [cache.find(key) is not None for key in keys] == [False, True, True]
