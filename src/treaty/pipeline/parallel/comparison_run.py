"""One parallel run: both sides read once, every difference classified, grouped into findings and totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame, Observation, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.contracts.model import SchemaObject
from treaty.errors import InvalidDocument
from treaty.legacy.differences import (
    ComparisonResult,
    DifferenceClass,
    Example,
    Finding,
    PeriodCount,
    TotalEffect,
)
from treaty.legacy.feeds import Comparison, LegacyFeed
from treaty.pipeline.parallel.classified_rows import differing_rows, explode_differences, explode_totals
from treaty.pipeline.parallel.paired_rows import (
    LEGACY,
    LEGACY_ROWS,
    MONEY_TYPE,
    NEW,
    NEW_ROWS,
    legacy_value,
    new_value,
    pair_rows,
    value_of,
)
from treaty.spark.columns import any_of
from treaty.spark.schema import column_name, is_classified

MAX_FINDINGS = 1_000
MAX_EXAMPLES = 5
MAX_TOTALS = 2_000
_PATTERN = ("class", "column", "pattern")


def compare(
    legacy: DataFrame, new: DataFrame, feed: LegacyFeed, schema: SchemaObject | None, as_of: date
) -> ComparisonResult:
    """Compare all rows up to a day.

    Both sides are read once, in one shuffle; the keys that differ are kept in memory, and all figures come from them.
    Raises an error if one side has no row of the last days, or if the key of the publication is not unique.
    """
    comparison = feed.comparison
    if comparison is None:
        raise InvalidDocument(f"{feed.name} has no comparison; add parallel: to {feed.at}")
    rules = {rule.legacy: rule for rule in comparison.columns}
    period = rules[feed.period]
    legacy_rows = legacy
    if period.legacy in legacy.columns:
        legacy_rows = legacy.where(_until(legacy_value(period, spark_types.DateType()), as_of))
    new_rows = new
    if period.new in new.columns:
        new_rows = new.where(_until(new_value(period, spark_types.DateType()), as_of))
    paired = pair_rows(legacy_rows, new_rows, feed, comparison)
    sums = Observation()
    observed = paired.frame.observe(
        sums,
        F.sum(LEGACY_ROWS).alias("legacy_rows"),
        F.sum(NEW_ROWS).alias("new_rows"),
        *[F.sum(f"m{place}").alias(f"legacy{place}") for place in range(len(comparison.money))],
        *[
            F.sum(value_of(NEW, name).try_cast(MONEY_TYPE)).alias(f"new{place}")
            for place, name in enumerate(comparison.money)
        ],
        *[
            F.max(value_of(side, feed.period).try_cast("date")).cast("string").alias(f"last_{side}")
            for side in (LEGACY, NEW)
        ],
    )
    masked = _masked_columns(comparison, schema)
    rows = differing_rows(replace(paired, frame=observed), feed).persist()
    differences = explode_differences(rows, paired, feed, comparison, as_of, masked).persist()
    try:
        _check_unique(rows, feed, comparison, paired.key, masked)
        findings = _findings(differences, comparison.money)
        figures = sums.get
        _check_periods(figures, feed, comparison, as_of)
        return ComparisonResult(
            feed=feed.name,
            publication=comparison.publication,
            as_of=as_of,
            legacy_rows=figures["legacy_rows"],
            new_rows=figures["new_rows"],
            legacy_sums=_sums(figures, "legacy", comparison.money),
            new_sums=_sums(figures, "new", comparison.money),
            findings=(*_schema_findings(legacy, new, comparison), *findings),
            periods=_periods(differences),
            totals=_totals(explode_totals(rows, paired, comparison, masked), comparison),
        )
    finally:
        differences.unpersist()
        rows.unpersist()


def _until(day: Column, as_of: date) -> Column:
    return day.isNull() | (day <= F.lit(as_of))


def _masked_columns(comparison: Comparison, schema: SchemaObject | None) -> frozenset[str]:
    """Return the columns of the legacy feed whose counterpart is classified in the contract of the publication."""
    classified = {column_name(field) for field in schema.fields if is_classified(field)} if schema else set()
    return frozenset(rule.legacy for rule in comparison.columns if rule.new in classified)


def _check_unique(
    rows: DataFrame, feed: LegacyFeed, comparison: Comparison, key: Sequence[str], masked: frozenset[str]
) -> None:
    """Raise an error if the publication has several rows of a key: no pairing would be right."""
    repeated = rows.where(F.col(NEW_ROWS) > 1).select(*key, NEW_ROWS).limit(1).collect()
    if repeated:
        shown = " / ".join(
            "***" if name in masked else str(repeated[0][column]) for name, column in zip(feed.key, key, strict=True)
        )
        raise InvalidDocument(
            f"the publication {comparison.publication} has {repeated[0][NEW_ROWS]:,} rows of the key {shown}; "
            f"the key {', '.join(feed.key)} of {feed.at} must be unique there"
        )


def _check_periods(figures: Mapping[str, Any], feed: LegacyFeed, comparison: Comparison, as_of: date) -> None:
    """Raise an error if one side has no row of the day, or of the days by which it may be late."""
    sides = (
        (LEGACY, f"the legacy feed {feed.name}", f"check that it was produced, and {feed.at}"),
        (NEW, f"the publication {comparison.publication}", "publish the day first: treaty run"),
    )
    for side, what, hint in sides:
        if not figures[f"{side}_rows"]:
            raise InvalidDocument(f"{what} has no row up to {as_of}; {hint}")
        text = figures[f"last_{side}"]
        if text is None:
            raise InvalidDocument(f"{what} has no row whose {feed.period} is a day; check the column, and {feed.at}")
        last = date.fromisoformat(text)
        if last < as_of - timedelta(days=comparison.late_days):
            raise InvalidDocument(
                f"{what} has no row of {as_of}, its newest rows are of {last}; {hint}, or use --as-of"
            )


def _findings(differences: DataFrame, money: Sequence[str]) -> tuple[Finding, ...]:
    places = range(len(money))
    grouped = (
        differences.groupBy(*_PATTERN)
        .agg(
            F.count(F.lit(1)).alias("count"),
            *[F.sum(f"e{place}").alias(f"e{place}") for place in places],
            *[F.sum(f"a{place}").alias(f"a{place}") for place in places],
        )
        .orderBy(F.desc("count"), *_PATTERN)
        .limit(MAX_FINDINGS + 1)
        .collect()
    )
    if len(grouped) > MAX_FINDINGS:
        raise InvalidDocument(
            f"the differences have more than {MAX_FINDINGS:,} patterns, the last of them: {grouped[-1]['class']} "
            f"{grouped[-1]['column']} {grouped[-1]['pattern']}; name columns with few values in patterns, "
            "and map the codes"
        )
    examples = _examples(differences, len(money))
    return tuple(
        Finding(
            DifferenceClass(row["class"]),
            row["column"],
            row["pattern"],
            row["count"],
            {name: _decimal(row[f"e{place}"]) for place, name in enumerate(money)},
            {name: _decimal(row[f"a{place}"]) for place, name in enumerate(money)},
            tuple(examples.get((row["class"], row["column"], row["pattern"]), ())),
        )
        for row in grouped
    )


def _examples(differences: DataFrame, money: int) -> dict[tuple[str, str, str], list[Example]]:
    """Return the worst examples of each finding: those with the largest effect, then by key."""
    worst = [F.desc(F.abs(F.col(f"e{place}"))) for place in range(money)]
    ranked = Window.partitionBy(*_PATTERN).orderBy(*worst, "key")
    rows = (
        differences.withColumn("place", F.row_number().over(ranked))
        .where(F.col("place") <= MAX_EXAMPLES)
        .select(*_PATTERN, "place", "key", "period", "legacy", "new")
        .collect()
    )
    found: dict[tuple[str, str, str], list[Example]] = {}
    for row in sorted(rows, key=lambda row: (row["class"], row["column"], row["pattern"], row["place"])):
        period = row["period"].isoformat() if row["period"] else None
        example = Example(row["key"], period, row["legacy"], row["new"])
        found.setdefault((row["class"], row["column"], row["pattern"]), []).append(example)
    return found


def _periods(differences: DataFrame) -> tuple[PeriodCount, ...]:
    rows = differences.groupBy("period", "class").count().orderBy("period", "class").collect()
    return tuple(PeriodCount(row["period"], DifferenceClass(row["class"]), row["count"]) for row in rows)


def _totals(entries: DataFrame, comparison: Comparison) -> tuple[TotalEffect, ...]:
    """Return the largest effects on the declared totals, by group, without those in which differences cancel out."""
    groups, places = [f"g{place}" for place in range(len(comparison.totals))], range(len(comparison.money))
    if not groups or not comparison.money:
        return ()
    effects = [F.sum(f"e{place}").alias(f"e{place}") for place in places]
    is_affected = any_of([F.col(f"e{place}") != 0 for place in places])
    largest = [F.desc(F.abs(F.col(f"e{place}"))) for place in places]
    rows = entries.groupBy(*groups).agg(*effects).where(is_affected).orderBy(*largest, *groups).limit(MAX_TOTALS)
    totals = [
        TotalEffect(
            tuple(row[group] for group in groups),
            {name: _decimal(row[f"e{place}"]) for place, name in enumerate(comparison.money)},
        )
        for row in rows.collect()
    ]
    return tuple(sorted(totals, key=lambda total: total.group))


def _schema_findings(legacy: DataFrame, new: DataFrame, comparison: Comparison) -> tuple[Finding, ...]:
    """Return the columns of the legacy feed without a counterpart, and those of another type."""
    mapped = {rule.legacy: rule for rule in comparison.columns}
    findings = []
    for field in legacy.schema:
        rule = mapped.get(field.name)
        if rule is None:
            findings.append(Finding(DifferenceClass.SCHEMA, field.name, "not in the publication", 1))
        elif (type_ := new.schema[rule.new].dataType) != field.dataType and field.dataType.typeName() != "string":
            pattern = f"{field.dataType.simpleString()} in legacy, {type_.simpleString()} in new"
            findings.append(Finding(DifferenceClass.SCHEMA, field.name, pattern, 1))
    return tuple(findings)


def _sums(figures: Mapping[str, Decimal | None], side: str, money: Sequence[str]) -> dict[str, Decimal]:
    return {name: _decimal(figures[f"{side}{place}"]) for place, name in enumerate(money)}


def _decimal(value: Decimal | None) -> Decimal:
    return (value or Decimal(0)).quantize(Decimal("0.01"))
