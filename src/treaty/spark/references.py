"""Rows that point at something that is not there."""

from __future__ import annotations

from pyspark.sql import DataFrame

from treaty.errors import InvalidDocument
from treaty.spark.folding import all_of
from treaty.spark.key_numbers import is_whole
from treaty.spark.preparing import PRIVATE, named
from treaty.spark.rules import ReferenceRule


def mark_missing(frame: DataFrame, rule: ReferenceRule, other: DataFrame, flag: str) -> DataFrame:
    """Mark the rows whose values do not stand in other data; a reference with a part missing points nowhere."""
    absent = [name for name in rule.target_columns if name not in other.columns]
    if absent:
        raise InvalidDocument(
            f"the data given for {rule.target!r} have no column {absent[0]!r}, which {rule.rule.field} refers to; "
            f"they have: {', '.join(other.columns)}"
        )
    names = [f"{PRIVATE}to_{place}" for place in range(len(rule.columns))]
    there = other.select(*[named(column).alias(name) for column, name in zip(rule.target_columns, names, strict=True)])
    same = [named(column) == named(name) for column, name in zip(rule.columns, names, strict=True)]
    joined = frame.join(there.distinct(), all_of(same), "left")
    return joined.withColumn(flag, is_whole(rule.columns) & named(names[0]).isNull()).drop(*names)
