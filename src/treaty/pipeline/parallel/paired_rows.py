"""Rows of a legacy feed and of its publication, joined by key in one shuffle of each."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.errors import InvalidDocument
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed
from treaty.spark.columns import quoted_col

LEGACY, NEW = "legacy", "new"
LEGACY_ROWS, NEW_ROWS = "legacy_rows", "new_rows"
MONEY_TYPE = spark_types.DecimalType(38, 6)


@dataclass(frozen=True)
class PairedRows:
    """One row for each key: the values of both sides under the names of the legacy feed, as the new side types them."""

    frame: DataFrame
    key: tuple[str, ...]
    columns: tuple[ColumnRule, ...]
    """All compared columns, with those of the key."""
    types: dict[str, spark_types.DataType]


def pair_rows(legacy: DataFrame, new: DataFrame, feed: LegacyFeed, comparison: Comparison) -> PairedRows:
    """Join both sides by key. Of rows that the legacy feed repeats, the greatest stands for all.

    Legacy values are cast to the types of the publication: one that does not fit becomes null. Counts and sums of the
    rows of a key are computed on the sorted rows that the join needs anyway.
    """
    rules = comparison.columns
    _check_columns(legacy, [rule.legacy for rule in rules], f"the legacy feed {feed.name}")
    _check_columns(new, [rule.new for rule in rules], f"the publication {comparison.publication}")
    types = {rule.legacy: _compared_type(rule, new.schema[rule.new].dataType) for rule in rules}
    by_name = {rule.legacy: rule for rule in rules}
    key_of_legacy = [legacy_value(by_name[name], types[name]).alias(f"k{place}") for place, name in enumerate(feed.key)]
    key_of_new = [new_value(by_name[name], types[name]).alias(f"k{place}") for place, name in enumerate(feed.key)]
    legacy_values = F.struct(*[legacy_value(rule, types[rule.legacy]).alias(rule.legacy) for rule in rules])
    new_values = F.struct(*[new_value(rule, types[rule.legacy]).alias(rule.legacy) for rule in rules])
    names = [f"k{place}" for place in range(len(feed.key))]
    by_key = Window.partitionBy(*names)
    greatest_first = by_key.orderBy(F.desc(LEGACY))
    all_of_key = greatest_first.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    sums = [  # of all rows of a key: those that are repeated count
        F.sum(value_of(LEGACY, name).try_cast(MONEY_TYPE)).over(all_of_key).alias(f"m{place}")
        for place, name in enumerate(comparison.money)
    ]
    left = legacy.select(*key_of_legacy, legacy_values.alias(LEGACY)).select(
        *(*map(F.col, names), F.col(LEGACY), F.count(F.lit(1)).over(all_of_key).alias(LEGACY_ROWS), *sums),
        F.row_number().over(greatest_first).alias("place"),
    )
    right = new.select(*key_of_new, new_values.alias(NEW)).select(
        *(*map(F.col, names), F.col(NEW), F.count(F.lit(1)).over(by_key).alias(NEW_ROWS))
    )
    joined = left.where("place = 1").drop("place").join(right, names, "full_outer")
    counts = {name: F.coalesce(F.col(name), F.lit(0)) for name in (LEGACY_ROWS, NEW_ROWS)}
    return PairedRows(joined.withColumns(counts), tuple(names), rules, types)


def legacy_value(rule: ColumnRule, type_: spark_types.DataType) -> Column:
    """Return a column of the legacy feed as the publication types it; a value that does not fit becomes null."""
    return _parsed(quoted_col(rule.legacy), rule.format).try_cast(type_)


def new_value(rule: ColumnRule, type_: spark_types.DataType) -> Column:
    """Return a column of the publication as both sides are compared."""
    return _parsed(quoted_col(rule.new), rule.new_format).try_cast(type_)


def _parsed(column: Column, pattern: str | None) -> Column:
    return column if pattern is None else F.try_to_timestamp(column.cast("string"), F.lit(pattern))


def value_of(side: str, name: str) -> Column:
    """Return a value of one side by the name that the legacy feed gives it."""
    return F.col(side).getField(name)


def _check_columns(frame: DataFrame, names: list[str], what: str) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InvalidDocument(
            f"{what} has no column {', '.join(map(repr, missing))}; it has: {', '.join(frame.columns[:40])}"
        )


def _compared_type(rule: ColumnRule, type_: spark_types.DataType) -> spark_types.DataType:
    """Return the type in which a column is compared; nested values are compared as text."""
    if rule.new_format is not None:
        return spark_types.TimestampType()
    return (
        spark_types.StringType()
        if isinstance(type_, (spark_types.StructType, spark_types.ArrayType, spark_types.MapType))
        else type_
    )
