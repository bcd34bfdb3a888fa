"""Writing valid and quarantined rows in one go: one pass over the input, one commit for both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from treaty.errors import Conflict, InvalidDocument
from treaty.spark.columns import VIOLATIONS_COLUMN, quoted_col
from treaty.spark.enforcement import Enforcement
from treaty.spark.measures import Measures
from treaty.spark.rule_measurement import (
    RuleTotals,
    compute_metrics,
    count_duplicate_keys,
    judge_rules,
    newest_timestamps,
    result_column,
    shared_key_numbers,
)
from treaty.spark.rules import RowRule
from treaty.spark.violations import violations_column

VALID = "treaty_valid"
INPUT = "_input"
_WRITERS = "spark.sql.maxConcurrentOutputFileWriters"


@dataclass(frozen=True)
class Split:
    """What was written: valid rows by the contract's schema, quarantined rows as they came, and the measures."""

    valid: DataFrame
    quarantined: DataFrame
    measures: Measures


def write_split(enforcement: Enforcement, folder: str, now: datetime | None = None) -> Split:
    """Write both parts as one parquet dataset, apart by folder; the folder must not be there yet."""
    if enforcement.frame.isStreaming:
        raise InvalidDocument("an endless stream cannot be written in one go; split each batch with each_batch")
    session = enforcement.frame.sparkSession
    counters = Observation()
    judged = enforcement.judged_by_numbers(shared_key_numbers(enforcement))
    rows = judged.observe(counters, *_counters(enforcement)).select(*_columns(enforcement))
    try:
        with _without_sorting(session):
            rows.write.partitionBy(VALID).parquet(folder)
    except PySparkException as error:
        if error.getCondition() == "PATH_ALREADY_EXISTS":
            raise Conflict(f"{folder} is there already; name a folder that is not") from None
        raise
    written = session.read.schema(rows.schema).parquet(folder)
    valid = written.where(quoted_col(VALID)).select(*map(quoted_col, enforcement.prepared.kept))
    kept_apart = written.where(~quoted_col(VALID))
    totals = _totals(enforcement, counters.get, kept_apart)
    return Split(
        valid, _as_it_came(enforcement, kept_apart), judge_rules(enforcement, totals, now or datetime.now(UTC))
    )


def _columns(enforcement: Enforcement) -> list[Column]:
    bad = ~enforcement.stays
    held_back = [quoted_col(place).alias(name) for name, place in _held_back(enforcement)]
    reasons = F.when(bad, violations_column(list(enforcement.reasons()), enforcement.origin)).alias(VIOLATIONS_COLUMN)
    given = [F.when(bad, F.struct(*held_back)).alias(INPUT)] if held_back else []
    return [*map(quoted_col, enforcement.prepared.kept), *given, reasons, enforcement.stays.alias(VALID)]


def _held_back(enforcement: Enforcement) -> list[tuple[str, str]]:
    """List the input's columns that those of valid rows do not hold."""
    return [(name, place) for name, place in enforcement.prepared.inputs if place not in enforcement.prepared.kept]


def _as_it_came(enforcement: Enforcement, written: DataFrame) -> DataFrame:
    apart = dict(_held_back(enforcement))
    columns = [
        (quoted_col(INPUT).getField(name) if name in apart else quoted_col(place)).alias(name)
        for name, place in enforcement.prepared.inputs
    ]
    return written.select(*columns, quoted_col(VIOLATIONS_COLUMN))


def _counters(enforcement: Enforcement) -> list[Column]:
    """Count what the quarantine cannot tell: all rows, the newest, and rows that break a rule and stay."""
    counted = [
        F.count_if(condition).alias(result_column(place))
        for place, condition in enforcement.broken_conditions()
        if isinstance(item := enforcement.book.all[place], RowRule) and not item.rule.quarantines
    ]
    newest = [F.max(column).alias(result_column(place)) for place, column in newest_timestamps(enforcement)]
    return [F.count(F.lit(1)).alias("rows"), *counted, *newest]


def _totals(enforcement: Enforcement, counted: dict[str, Any], kept_apart: DataFrame) -> RuleTotals:
    each = kept_apart.select(F.explode(F.col(VIOLATIONS_COLUMN)["rule"]).alias("rule")).groupBy("rule").count()
    broken = {row["rule"]: row["count"] for row in each.collect()}
    apart = kept_apart.count()
    numbers = {
        place: counted.get(result_column(place), broken.get(item.rule.id))
        for place, item in enumerate(enforcement.book.all)
    }
    numbers |= compute_metrics(enforcement) | count_duplicate_keys(enforcement)
    rows = int(counted["rows"])
    return RuleTotals(rows, rows - apart, numbers)


@contextmanager
def _without_sorting(session: SparkSession) -> Iterator[None]:
    """Let a task keep the files of both parts open; Spark would sort every row by its part instead."""
    before = session.conf.get(_WRITERS, None)
    session.conf.set(_WRITERS, "2")
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(_WRITERS)
        else:
            session.conf.set(_WRITERS, before)
