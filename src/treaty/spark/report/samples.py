"""Samples of violations: the most frequent offending values of each rule, with the key of one row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from treaty.contracts.model import Field, SchemaObject
from treaty.spark.columns import VIOLATIONS_COLUMN, any_of, quoted_col
from treaty.spark.schema import column_name, find_struct_field, is_classified
from treaty.spark.violations import MASKED_VALUE

_MAX_KEY_LENGTH = 200


@dataclass(frozen=True)
class Sample:
    """A value that violates a rule, the number of rows, and the key of one of them."""

    rule: str
    value: str | None
    rows: int
    key: tuple[tuple[str, str | None], ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return the sample as JSON data."""
        return {"rule": self.rule, "value": self.value, "rows": self.rows, "key": dict(self.key)}


def collect_samples(quarantined: DataFrame, schema: SchemaObject, limit: int) -> tuple[Sample, ...]:
    """Collect up to `limit` samples in one job: one of every rule before a second of any."""
    key = list(_key(quarantined, schema))
    names = [name for name, _ in key]
    # the smallest key is shown; complete keys come before keys with missing parts
    missing = any_of(column.isNull() for _, column in key)
    keyed = F.struct(missing.alias("missing"), *[column.alias(f"k{place}") for place, (_, column) in enumerate(key)])
    broken = quarantined.select(keyed.alias("key"), F.explode(VIOLATIONS_COLUMN).alias("violation"))
    values = broken.groupBy(F.col("violation.rule").alias("rule"), F.col("violation.value").alias("value")).agg(
        F.count(F.lit(1)).alias("rows"), F.min("key").alias("key")
    )
    commonest = Window.partitionBy("rule").orderBy(F.desc("rows"), F.asc_nulls_first("value"))
    ranked = values.select("*", F.row_number().over(commonest).alias("place"))
    few = ranked.where(F.col("place") <= limit)  # so that Spark sorts fewer rows
    top = few.orderBy("place", F.desc("rows"), "rule").limit(limit).collect()
    worst = {row["rule"]: place for place, row in enumerate(top) if row["place"] == 1}
    samples = [
        Sample(row["rule"], row["value"], row["rows"], tuple(zip(names, row["key"][1:], strict=True))) for row in top
    ]
    return tuple(sorted(samples, key=lambda sample: worst[sample.rule]))


def _key(quarantined: DataFrame, schema: SchemaObject) -> Iterator[tuple[str, Column]]:
    """Yield the parts of the primary key as text; classified and nested values are masked."""
    by_name = {field.name: field for field in schema.fields}
    for name in schema.primary_key:
        field = by_name[name]
        column = find_struct_field(quarantined.schema, column_name(field))
        if column is not None:
            yield name, _key_text(quoted_col(column.name), field)


def _key_text(value: Column, field: Field) -> Column:
    if is_classified(field) or field.properties or field.children:
        return F.when(value.isNotNull(), F.lit(MASKED_VALUE))
    return F.substring(value.cast("string"), 1, _MAX_KEY_LENGTH)
