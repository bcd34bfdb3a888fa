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
from treaty.spark.columns import VIOLATIONS, named
from treaty.spark.enforcement import Enforcement
from treaty.spark.measures import Measures
from treaty.spark.rule_measurement import (
    Totals,
    judged_by,
    newest_moments,
    number_name,
    numbers_of_shared_keys,
    totals_of_keys,
    totals_of_metrics,
)
from treaty.spark.rules import RowRule
from treaty.spark.violations import violations

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
    judged = enforcement.judged_by_numbers(numbers_of_shared_keys(enforcement))
    rows = judged.observe(counters, *_counters(enforcement)).select(*_columns(enforcement))
    try:
        with _without_sorting(session):
            rows.write.partitionBy(VALID).parquet(folder)
    except PySparkException as error:
        if error.getCondition() == "PATH_ALREADY_EXISTS":
            raise Conflict(f"{folder} is there already; name a folder that is not") from None
        raise
    written = session.read.schema(rows.schema).parquet(folder)
    valid = written.where(named(VALID)).select(*map(named, enforcement.prepared.kept))
    kept_apart = written.where(~named(VALID))
    totals = _totals(enforcement, counters.get, kept_apart)
    return Split(valid, _as_it_came(enforcement, kept_apart), judged_by(enforcement, totals, now or datetime.now(UTC)))


def _columns(enforcement: Enforcement) -> list[Column]:
    bad = ~enforcement.stays
    held_back = [named(place).alias(name) for name, place in _held_back(enforcement)]
    reasons = F.when(bad, violations(list(enforcement.reasons()), enforcement.origin)).alias(VIOLATIONS)
    given = [F.when(bad, F.struct(*held_back)).alias(INPUT)] if held_back else []
    return [*map(named, enforcement.prepared.kept), *given, reasons, enforcement.stays.alias(VALID)]


def _held_back(enforcement: Enforcement) -> list[tuple[str, str]]:
    """List the input's columns that those of valid rows do not hold."""
    return [(name, place) for name, place in enforcement.prepared.inputs if place not in enforcement.prepared.kept]


def _as_it_came(enforcement: Enforcement, written: DataFrame) -> DataFrame:
    apart = dict(_held_back(enforcement))
    columns = [
        (named(INPUT).getField(name) if name in apart else named(place)).alias(name)
        for name, place in enforcement.prepared.inputs
    ]
    return written.select(*columns, named(VIOLATIONS))


def _counters(enforcement: Enforcement) -> list[Column]:
    """Count what the quarantine cannot tell: all rows, the newest, and rows that break a rule and stay."""
    counted = [
        F.count_if(condition).alias(number_name(place))
        for place, condition in enforcement.broken_conditions()
        if isinstance(item := enforcement.book.all[place], RowRule) and not item.rule.quarantines
    ]
    newest = [F.max(column).alias(number_name(place)) for place, column in newest_moments(enforcement)]
    return [F.count(F.lit(1)).alias("rows"), *counted, *newest]


def _totals(enforcement: Enforcement, counted: dict[str, Any], kept_apart: DataFrame) -> Totals:
    each = kept_apart.select(F.explode(F.col(VIOLATIONS)["rule"]).alias("rule")).groupBy("rule").count()
    broken = {row["rule"]: row["count"] for row in each.collect()}
    apart = kept_apart.count()
    numbers = {
        place: counted.get(number_name(place), broken.get(item.rule.id))
        for place, item in enumerate(enforcement.book.all)
    }
    numbers |= totals_of_metrics(enforcement) | totals_of_keys(enforcement)
    rows = int(counted["rows"])
    return Totals(rows, rows - apart, numbers)


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
