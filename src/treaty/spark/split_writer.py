"""Write valid and quarantined rows in one pass over the input and with one commit."""

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

VALID = "treaty_valid"
INPUT = "_input"
_CONCURRENT_WRITERS_KEY = "spark.sql.maxConcurrentOutputFileWriters"


@dataclass(frozen=True)
class Split:
    """The written rows, valid ones with the schema of the contract and quarantined ones unchanged, and measures."""

    valid: DataFrame
    quarantined: DataFrame
    measures: Measures


def write_split(enforcement: Enforcement, folder: str, now: datetime | None = None) -> Split:
    """Write both parts as one Parquet dataset, partitioned by validity; the folder must not exist yet."""
    if enforcement.frame.isStreaming:
        raise InvalidDocument("a stream cannot be split; split each batch with each_batch")
    session = enforcement.frame.sparkSession
    counters = Observation()
    judged = enforcement.judged_by_numbers(shared_key_numbers(enforcement))
    rows = judged.observe(counters, *_counters(enforcement)).select(*_columns(enforcement))
    try:
        with _without_sorting(session):
            rows.write.partitionBy(VALID).parquet(folder)
    except PySparkException as error:
        if error.getCondition() == "PATH_ALREADY_EXISTS":
            raise Conflict(f"{folder} already exists; choose another folder") from None
        raise
    written = session.read.schema(rows.schema).parquet(folder)
    valid = written.where(quoted_col(VALID)).select(*map(quoted_col, enforcement.layout.valid_columns))
    quarantined = written.where(~quoted_col(VALID))
    totals = _totals(enforcement, counters.get, quarantined)
    return Split(
        valid, _restore_original(enforcement, quarantined), judge_rules(enforcement, totals, now or datetime.now(UTC))
    )


def _columns(enforcement: Enforcement) -> list[Column]:
    is_quarantined = ~enforcement.is_valid
    originals = [quoted_col(position).alias(name) for name, position in _changed_columns(enforcement)]
    reasons = F.when(is_quarantined, enforcement.violations).alias(VIOLATIONS_COLUMN)
    given = [F.when(is_quarantined, F.struct(*originals)).alias(INPUT)] if originals else []
    return [*map(quoted_col, enforcement.layout.valid_columns), *given, reasons, enforcement.is_valid.alias(VALID)]


def _changed_columns(enforcement: Enforcement) -> list[tuple[str, str]]:
    """Return the original columns that differ from those of valid rows."""
    return [
        (name, position)
        for name, position in enforcement.layout.inputs
        if position not in enforcement.layout.valid_columns
    ]


def _restore_original(enforcement: Enforcement, written: DataFrame) -> DataFrame:
    changed = dict(_changed_columns(enforcement))
    columns = [
        (quoted_col(INPUT).getField(name) if name in changed else quoted_col(position)).alias(name)
        for name, position in enforcement.layout.inputs
    ]
    return written.select(*columns, quoted_col(VIOLATIONS_COLUMN))


def _counters(enforcement: Enforcement) -> list[Column]:
    """Count what the quarantine does not show: all rows, the newest row, and violations that do not quarantine."""
    counted = [
        F.count_if(condition).alias(result_column(position))
        for position, condition in enforcement.violation_conditions()
        if isinstance(rule := enforcement.rule_set.all[position], RowRule) and not rule.definition.quarantines
    ]
    newest = [F.max(column).alias(result_column(position)) for position, column in newest_timestamps(enforcement)]
    return [F.count(F.lit(1)).alias("rows"), *counted, *newest]


def _totals(enforcement: Enforcement, counted: dict[str, Any], quarantined: DataFrame) -> RuleTotals:
    each = quarantined.select(F.explode(F.col(VIOLATIONS_COLUMN)["rule"]).alias("rule")).groupBy("rule").count()
    violations = {row["rule"]: row["count"] for row in each.collect()}
    quarantined_rows = quarantined.count()
    numbers: dict[int | str, Any] = {
        position: counted.get(result_column(position), violations.get(rule.definition.id))
        for position, rule in enumerate(enforcement.rule_set.all)
    }
    numbers |= compute_metrics(enforcement) | count_duplicate_keys(enforcement)
    rows = int(counted["rows"])
    return RuleTotals(rows, rows - quarantined_rows, numbers)


@contextmanager
def _without_sorting(session: SparkSession) -> Iterator[None]:
    """Let each task keep the files of both parts open; otherwise Spark sorts all rows by part."""
    before = session.conf.get(_CONCURRENT_WRITERS_KEY, None)
    session.conf.set(_CONCURRENT_WRITERS_KEY, "2")
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(_CONCURRENT_WRITERS_KEY)
        else:
            session.conf.set(_CONCURRENT_WRITERS_KEY, before)
