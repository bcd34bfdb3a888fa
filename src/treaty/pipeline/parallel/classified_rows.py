"""The differences of paired rows, one row each, with class, column, pattern and effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.legacy.differences import DifferenceClass
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed
from treaty.pipeline.parallel.paired_rows import LEGACY, LEGACY_ROWS, MONEY_TYPE, NEW, NEW_ROWS, PairedRows, value_of
from treaty.spark.columns import all_of, any_of
from treaty.spark.violations import MASKED_VALUE

_ONLY_NUMBERS = (spark_types.NumericType,)
_DAY_SECONDS = 86_400
DIFFERENCE_PARTITIONS = 8
_TIMES = (spark_types.TimestampType, spark_types.TimestampNTZType)


def differing_rows(paired: PairedRows, feed: LegacyFeed) -> DataFrame:
    """Return the keys of which anything differs: they are few, and everything else is computed from them.

    Spark keeps them in as few partitions as they need; in those of the comparison, each later job would have hundreds
    of tasks for nothing.
    """
    row_differs = (F.col(LEGACY_ROWS) != 1) | (F.col(NEW_ROWS) != 1)
    cells = [_differs(paired, rule) for rule in paired.columns if rule.legacy not in feed.key]
    return paired.frame.where(any_of([row_differs, *cells])).repartition(DIFFERENCE_PARTITIONS)


def explode_differences(
    rows: DataFrame, paired: PairedRows, feed: LegacyFeed, comparison: Comparison, as_of: date, masked: frozenset[str]
) -> DataFrame:
    """Return one row for each difference: class, column, pattern, period, key, both values, effect and amount.

    A row on one side only is the same fact under another key, if exactly one row on the other side has the same values
    of the identity columns; else it is late as long as the window is open, and missing afterwards. Of a row on both
    sides, each column that differs is a difference of its own, and so are its repetitions in the legacy feed. Values of
    the columns in `masked` are not shown.
    """
    is_legacy_only, is_new_only = F.col(NEW_ROWS) == 0, F.col(LEGACY_ROWS) == 0
    rows = rows.withColumn("period", F.coalesce(_period(NEW, feed), _period(LEGACY, feed)))
    rows = _with_identity(rows.withColumn("key_text", _key_text(paired, feed, masked)), paired, comparison)
    is_open = F.col("period") > F.date_sub(F.lit(as_of), comparison.late_days)
    one_sided = (
        F.when(F.col("same_fact"), F.lit(DifferenceClass.IDENTITY.value))
        .when(is_open, F.lit(DifferenceClass.LATE.value))
        .when(is_legacy_only, F.lit(DifferenceClass.MISSING_IN_NEW.value))
        .otherwise(F.lit(DifferenceClass.MISSING_IN_LEGACY.value))
    )
    pattern_of_row = _row_pattern(comparison, masked)
    one_sided_pattern = (
        F.when(F.col("same_fact"), F.lit("legacy and new name different keys"))
        .when(is_open & is_legacy_only, F.lit("not yet in new"))
        .when(is_open, F.lit("not yet in legacy"))
        .otherwise(pattern_of_row)
    )
    # of a fact under two keys, the row of the new side stands for both
    is_counterpart = F.col("same_fact") & is_legacy_only
    differences = [
        F.when(
            (is_legacy_only | is_new_only) & ~is_counterpart,
            _difference(
                one_sided,
                "",
                one_sided_pattern,
                F.when(F.col("same_fact"), F.col("other_key")).when(is_legacy_only, F.col("key_text")),
                F.when(is_new_only, F.col("key_text")),
                _effects(comparison, F.col("same_fact")),
            ),
        ),
        F.when(
            F.col(LEGACY_ROWS) > 1,
            _difference(
                F.lit(DifferenceClass.DUPLICATE_IN_LEGACY.value),
                "",
                pattern_of_row,
                F.concat(F.col(LEGACY_ROWS).cast("string"), F.lit(" rows")),
                F.concat(F.col(NEW_ROWS).cast("string"), F.lit(" rows")),
                _surplus(comparison),
            ),
        ),
        *_cell_differences(paired, feed, comparison, masked),
    ]
    amounts = [
        F.coalesce(value_of(NEW, name), value_of(LEGACY, name)).try_cast(MONEY_TYPE).alias(f"a{place}")
        for place, name in enumerate(comparison.money)
    ]
    exploded = rows.select(
        "period",
        F.col("key_text").alias("key"),
        *amounts,
        F.explode(F.array_compact(F.array(*differences))).alias("difference"),
    )
    kept = [name for name in exploded.columns if name != "difference"]
    return exploded.select(*kept, "difference.*")


def explode_totals(rows: DataFrame, paired: PairedRows, comparison: Comparison, masked: frozenset[str]) -> DataFrame:
    """Return what the rows of each side add to the group that they have on that side, as new minus legacy.

    A row that is booked on another day moves its amount from one day to the other.
    """
    by_name = {rule.legacy: rule for rule in paired.columns}

    def entry(side: str, amounts: list[Column]) -> Column:
        groups = []
        for name in comparison.totals:
            value = value_of(side, name)
            shown = _mapped(value, by_name[name]) if side == LEGACY else _text(value)
            groups.append(F.coalesce(_shown(shown, name, masked), F.lit("none")))
        named = [
            *[group.alias(f"g{place}") for place, group in enumerate(groups)],
            *[amount.cast(MONEY_TYPE).alias(f"e{place}") for place, amount in enumerate(amounts)],
        ]
        return F.struct(*named)

    removed = [-F.coalesce(F.col(f"m{place}"), F.lit(0)) for place in range(len(comparison.money))]
    added = [_money(NEW, name) for name in comparison.money]
    entries = F.array(
        F.when(F.col(LEGACY_ROWS) > 0, entry(LEGACY, removed)), F.when(F.col(NEW_ROWS) > 0, entry(NEW, added))
    )
    return rows.select(F.explode(F.array_compact(entries)).alias("entry")).select("entry.*")


def _key_text(paired: PairedRows, feed: LegacyFeed, masked: frozenset[str]) -> Column:
    parts = [
        F.lit(MASKED_VALUE) if legacy in masked else F.coalesce(F.col(name).cast("string"), F.lit("null"))
        for name, legacy in zip(paired.key, feed.key, strict=True)
    ]
    return F.concat_ws(" / ", *parts)


def _difference(
    class_: Column, column: str, pattern: Column, legacy: Column, new: Column, effects: Sequence[Column]
) -> Column:
    return F.struct(
        class_.alias("class"),
        F.lit(column).alias("column"),
        pattern.alias("pattern"),
        legacy.cast("string").alias("legacy"),
        new.cast("string").alias("new"),
        *[effect.cast(MONEY_TYPE).alias(f"e{place}") for place, effect in enumerate(effects)],
    )


def _cell_differences(
    paired: PairedRows, feed: LegacyFeed, comparison: Comparison, masked: frozenset[str]
) -> Iterator[Column]:
    is_pair = (F.col(LEGACY_ROWS) > 0) & (F.col(NEW_ROWS) > 0)
    for rule in paired.columns:
        if rule.legacy in feed.key:
            continue
        old, new = value_of(LEGACY, rule.legacy), value_of(NEW, rule.legacy)
        class_: Column = F.lit(DifferenceClass.VALUE.value)
        if rule.codes is not None:
            class_ = F.lit(DifferenceClass.STATUS.value)
        elif rule.legacy == feed.period and comparison.late_days:
            distance = F.abs(F.datediff(_period(LEGACY, feed), _period(NEW, feed)))
            class_ = F.when(distance <= comparison.late_days, F.lit(DifferenceClass.LATE.value)).otherwise(class_)
        effects = [
            _money(NEW, name) - _money(LEGACY, name) if name == rule.legacy else F.lit(0) for name in comparison.money
        ]
        difference = _difference(
            class_,
            rule.legacy,
            F.lit("differs") if rule.legacy in masked else _cell_pattern(paired, rule, feed),
            _shown(old, rule.legacy, masked),
            _shown(new, rule.legacy, masked),
            effects,
        )
        yield F.when(is_pair & _differs(paired, rule), difference)


def _cell_pattern(paired: PairedRows, rule: ColumnRule, feed: LegacyFeed) -> Column:
    old, new = value_of(LEGACY, rule.legacy), value_of(NEW, rule.legacy)
    null_sides = F.when(old.isNull(), F.lit("empty in legacy")).when(new.isNull(), F.lit("empty in new"))
    if rule.codes is not None:
        means = F.coalesce(_mapped(old, rule), F.lit("nothing known"))
        return null_sides.otherwise(F.concat(_text(old), F.lit(" means "), means, F.lit(", new has "), _text(new)))
    if rule.legacy == feed.period:
        return null_sides.when(old > new, F.lit("booked later in legacy")).otherwise(F.lit("booked earlier in legacy"))
    if isinstance(paired.types[rule.legacy], (*_ONLY_NUMBERS, *_TIMES, spark_types.DateType)):
        return null_sides.when(old > new, F.lit("higher in legacy")).otherwise(F.lit("lower in legacy"))
    return null_sides.otherwise(F.lit("differs"))


def _differs(paired: PairedRows, rule: ColumnRule) -> Column:
    """Return whether the values of a pair differ beyond the tolerance; null equals null only."""
    old, new = value_of(LEGACY, rule.legacy), value_of(NEW, rule.legacy)
    if rule.codes is not None:
        return ~_mapped(old, rule).eqNullSafe(_text(new))
    tolerance, type_ = rule.tolerance, paired.types[rule.legacy]
    if isinstance(type_, _ONLY_NUMBERS) and (tolerance.absolute or tolerance.relative):
        allowed = F.greatest(F.lit(tolerance.absolute), F.abs(old.cast("double")) * F.lit(tolerance.relative))
        beyond = F.abs(old.cast("double") - new.cast("double")) > allowed + F.lit(1e-9)
        return F.when(old.isNull() | new.isNull(), ~old.eqNullSafe(new)).otherwise(beyond)
    if isinstance(type_, spark_types.DateType) and tolerance.seconds:
        beyond = F.abs(F.datediff(old, new)) * F.lit(_DAY_SECONDS) > F.lit(tolerance.seconds)
        return F.when(old.isNull() | new.isNull(), ~old.eqNullSafe(new)).otherwise(beyond)
    if isinstance(type_, _TIMES) and tolerance.seconds:
        beyond = F.abs(F.unix_timestamp(old) - F.unix_timestamp(new)) > F.lit(tolerance.seconds)
        return F.when(old.isNull() | new.isNull(), ~old.eqNullSafe(new)).otherwise(beyond)
    return ~old.eqNullSafe(new)


def _mapped(old: Column, rule: ColumnRule) -> Column:
    """Return what a legacy code means; a code without a meaning stands for itself."""
    codes = F.create_map(*[F.lit(part) for part in chain.from_iterable((rule.codes or {}).items())])
    return F.coalesce(codes[_text(old)], _text(old)) if rule.codes else _text(old)


def _row_pattern(comparison: Comparison, masked: frozenset[str]) -> Column:
    """Return the values of the pattern columns, such as `status C`; empty if none are declared."""
    parts = [
        F.concat(
            F.lit(f"{name} "),
            _shown(F.coalesce(_text(value_of(LEGACY, name)), _text(value_of(NEW, name)), F.lit("empty")), name, masked),
        )
        for name in comparison.patterns
    ]
    return F.concat_ws(", ", *parts) if parts else F.lit("")


def _effects(comparison: Comparison, same_fact: Column) -> list[Column]:
    """Return new minus legacy of each money column, of rows on one side; of the same fact under two keys it is their
    difference, which the identity columns usually leave at zero.
    """
    return [
        _money(NEW, name)
        - F.when(same_fact, F.coalesce(F.col(f"other_m{place}"), F.lit(0))).otherwise(_money(LEGACY, name))
        for place, name in enumerate(comparison.money)
    ]


def _surplus(comparison: Comparison) -> list[Column]:
    """Return what the repeated rows add to the legacy feed, as new minus legacy."""
    return [
        _money(LEGACY, name) - F.coalesce(F.col(f"m{place}"), F.lit(0)) for place, name in enumerate(comparison.money)
    ]


def _money(side: str, name: str) -> Column:
    return F.coalesce(value_of(side, name).try_cast(MONEY_TYPE), F.lit(0))


def _with_identity(rows: DataFrame, paired: PairedRows, comparison: Comparison) -> DataFrame:
    """Add whether a row on one side has one counterpart on the other with the same identity, its key and its sums.

    Rows without an identity are spread by their keys.
    """
    money = range(len(comparison.money))
    if not comparison.identity:
        nothing = [F.lit(None).cast(MONEY_TYPE).alias(f"other_m{place}") for place in money]
        no_key = F.lit(None).cast("string").alias("other_key")
        return rows.select("*", F.lit(False).alias("same_fact"), no_key, *nothing)
    is_one_sided = (F.col(NEW_ROWS) == 0) | (F.col(LEGACY_ROWS) == 0)
    parts = [F.coalesce(_text(value_of(NEW, name)), _text(value_of(LEGACY, name))) for name in comparison.identity]
    has_fact = is_one_sided & all_of([part.isNotNull() for part in parts])
    fact = F.when(has_fact, F.concat_ws("\x1f", *parts)).otherwise(F.concat_ws("\x1e", F.lit(""), *paired.key))
    by_fact = Window.partitionBy("fact")
    legacy_only, new_only = F.col(NEW_ROWS) == 0, F.col(LEGACY_ROWS) == 0
    is_unique = (F.count_if(legacy_only).over(by_fact) == 1) & (F.count_if(new_only).over(by_fact) == 1)
    counterpart_key = F.max(F.when(legacy_only, F.col("key_text"))).over(by_fact)
    return (
        rows.withColumn("fact", fact)
        .repartition(DIFFERENCE_PARTITIONS, "fact")
        .select(
            "*",
            (has_fact & is_unique).alias("same_fact"),
            counterpart_key.alias("other_key"),
            *[
                F.max(F.when(legacy_only, _money(LEGACY, name))).over(by_fact).alias(f"other_m{place}")
                for place, name in enumerate(comparison.money)
            ],
        )
    )


def _period(side: str, feed: LegacyFeed) -> Column:
    return value_of(side, feed.period).try_cast("date")


def _shown(value: Column, name: str, masked: frozenset[str]) -> Column:
    return F.when(value.isNotNull(), F.lit(MASKED_VALUE)) if name in masked else value


def _text(column: Column) -> Column:
    return column.cast("string")
