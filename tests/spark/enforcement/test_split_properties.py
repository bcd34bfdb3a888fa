"""Properties of every split: no row is lost or added, and valid rows stay valid."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.spark.enforcement.strategies import ROW, Data, data
from tests.spark.property_settings import FEW_EXAMPLES
from treaty.spark import Duplicates, Policy, enforce


def _frame(spark: SparkSession, drawn: Data) -> DataFrame:
    return spark.createDataFrame(drawn.rows, drawn.schema, verifySchema=False)


def _numbers(frame: DataFrame) -> list[int]:
    return [row[ROW] for row in frame.select(ROW).collect()]


@given(drawn=data())
@FEW_EXAMPLES
def test_every_row_is_valid_or_quarantined_exactly_once(spark: SparkSession, drawn: Data) -> None:
    frame = _frame(spark, drawn)
    result = enforce(frame, drawn.contract)

    valid, apart = _numbers(result.valid), result.quarantined.collect()
    came = {row[ROW]: row for row in frame.collect()}
    assert Counter(valid) + Counter(row[ROW] for row in apart) == Counter(came.keys())
    for row in apart:
        assert repr(row[:-1]) == repr(tuple(came[row[ROW]]))

    measures = result.measures()
    broken = Counter(violation["rule"] for row in apart for violation in row["_violations"])
    assert (measures.rows, measures.valid) == (len(came), len(valid))
    assert broken == {result.rule.id: result.violating_rows for result in measures.results if result.violating_rows}


@given(drawn=data())
@FEW_EXAMPLES
def test_enforcing_valid_rows_again_changes_nothing(spark: SparkSession, drawn: Data) -> None:
    valid = enforce(_frame(spark, drawn), drawn.contract).valid
    rows = sorted(valid.collect(), key=lambda row: row[ROW])

    again = enforce(spark.createDataFrame(rows, valid.schema), drawn.contract)

    assert repr(sorted(again.valid.collect(), key=lambda row: row[ROW])) == repr(rows)


@given(drawn=data())
@FEW_EXAMPLES
def test_keep_first_keeps_one_row_of_each_key(spark: SparkSession, drawn: Data) -> None:
    frame = _frame(spark, drawn)
    result = enforce(frame, drawn.contract, policy=Policy(duplicates=Duplicates.KEEP_FIRST))

    kept = [row["key"] for row in result.valid.select("key").collect()]
    sound = enforce(frame.drop("key").withColumn("key", F.col(ROW)), drawn.contract)
    keys = {row[ROW]: row["key"] for row in frame.select(ROW, "key").collect()}

    assert len(kept) == len(set(kept))
    assert set(kept) == {keys[number] for number in _numbers(sound.valid)} - {None}
    assert result.measures().valid == len(kept)
