"""What a step observes besides its counts: lag, violated rules, drift, declared measures, and why an audit refused it.

Most of it is counted while rows are written; a further Spark job runs only where rows were quarantined, fields drifted,
or a source counts its rows by a field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.events.drift import Profile
from treaty.events.event_times import promised_percentile
from treaty.observability.evidence import BrokenRule
from treaty.observability.measures import PERCENT, Bound
from treaty.pipeline.layers.audit import Audit
from treaty.pipeline.layers.event_time import read_event_times
from treaty.spark.columns import VIOLATIONS_COLUMN, quoted_col
from treaty.spark.drift import columns_drift
from treaty.spark.measures import RuleMeasure
from treaty.spark.rules import Kind
from treaty.spark.schema import column_name, select_object
from treaty.spark.semantic_measures import MeasuredValue, as_number, is_named, violation_values

MAX_GROUPS = 20
"""The number of values, rules or fields that are listed."""
SYSTEMATIC_SHARE = 0.5
"""The share of rows that must lack a field or have another type for it to count as drift."""


@dataclass(frozen=True)
class Lag:
    """Seconds from the event until readers see it: at a percentile of the new rows, the median, and the newest row."""

    seconds: float
    percentile: float
    median: float
    newest: float


@dataclass(frozen=True)
class DriftedField:
    """A field of the data that differs from the contract, as the kind of change that it would be."""

    field: str
    kind: str
    severity: Severity

    def as_data(self) -> dict[str, str]:
        """Return the field as JSON data."""
        return {"field": self.field, "kind": self.kind, "severity": self.severity.value}


@dataclass(frozen=True)
class Observations:
    """What was observed of one step; what was not observed is None or empty."""

    lag: Lag | None = None
    violations: Mapping[str, int] = field(default_factory=dict)
    """Quarantined rows by the id of the rule that they violate."""
    semantic: tuple[MeasuredValue, ...] = ()
    drift: tuple[DriftedField, ...] | None = None
    rows_by: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Rows that arrived, by field and value."""
    profile: Profile | None = None
    """What the accepted events looked like, from which drift of meaning is detected."""
    refused: tuple[BrokenRule, ...] = ()
    """The rules that made the audit refuse the rows."""


def measure_lag(event_times: Any, published_at: datetime, contract: Contract) -> Lag | None:
    """Return the lag of the rows that were written, from the total of their event times."""
    times = read_event_times(event_times)
    if times is None:
        return None
    late, median, newest = (max(0.0, (published_at - time).total_seconds()) for time in times)
    return Lag(late, promised_percentile(contract), median, newest)


def count_violations(rows: DataFrame) -> dict[str, int]:
    """Count the quarantined rows by the rules that they violate, the most violated first."""
    rules = rows.select(F.explode(F.array_distinct(F.col(VIOLATIONS_COLUMN)["rule"])).alias("rule"))
    groups = rules.groupBy("rule").count().orderBy(F.desc("count"), "rule").limit(MAX_GROUPS)
    return {row["rule"]: row["count"] for row in groups.collect()}


def count_by(rows: DataFrame, column: str) -> dict[str, int]:
    """Count rows by the value of a column, the most frequent values first; rows without a value are left out."""
    value = quoted_col(column).cast("string").alias("value")
    groups = rows.select(value).where(F.col("value").isNotNull()).groupBy("value").count()
    listed = groups.orderBy(F.desc("count"), "value").limit(MAX_GROUPS).collect()
    return {row["value"]: row["count"] for row in listed}


def table_drift(columns: spark.StructType, contract: Contract) -> tuple[DriftedField, ...]:
    """Compare the columns of a table with its contract; columns that the pipeline adds are left out."""
    declared = {column_name(field).lower() for field in select_object(contract).fields}
    own = [column for column in columns if not column.name.startswith("_") or column.name.lower() in declared]
    drift = columns_drift(spark.StructType(own), contract)
    return tuple(
        DriftedField(judged.change.field or judged.change.path, judged.change.kind, judged.severity)
        for judged in drift.judged
        if judged.severity is not Severity.INFO or judged.change.kind == "field_added"
    )


def payload_drift(violations: Mapping[str, int], rows: int) -> tuple[DriftedField, ...]:
    """Return the fields that most rows lack or have in another type, from the rules that they violate."""
    kinds = {Kind.REQUIRED: "field_removed", Kind.TYPE: "field_type_changed"}
    drifted = []
    for rule, count in violations.items():
        kind, _, place = rule.partition(":")
        if kind in kinds and rows and count >= SYSTEMATIC_SHARE * rows:
            drifted.append(DriftedField(place.partition("#")[0], kinds[Kind(kind)], Severity.ERROR))
    return tuple(drifted)


def unknown_fields(names: Sequence[str], contract: Contract) -> tuple[DriftedField, ...]:
    """Return names in payloads that the contract does not have; a closed contract refuses them."""
    severity = Severity.ERROR if contract.treaty.content == "closed" else Severity.INFO
    return tuple(DriftedField(name, "field_added", severity) for name in names)


def semantic_values(
    contract: Contract, audit: Audit | None, violations: Mapping[str, int], rows: int
) -> tuple[MeasuredValue, ...]:
    """Return the declared measures: those that the audit took, and those of rules that quarantine rows."""
    taken = {measured.name: measured for measured in reversed(audit.measured if audit else ())}
    schema = select_object(contract)
    results = audit.results if audit else ()
    rules = {measure.name: measure.rule for measure in contract.treaty.measures if measure.rule}
    declared = {str(rule.get(key)) for rule in _quality(contract) for key in ("id", "name")}
    for measured in violation_values(contract, schema, violations, rows):
        rule = rules[measured.name]
        is_audited = any(is_named(result.rule.id, rule) for result in results)
        if measured.name not in taken and rule in declared and not is_audited:
            taken[measured.name] = measured
    return tuple(sorted(taken.values(), key=lambda measured: measured.name))


def _quality(contract: Contract) -> list[Mapping[str, Any]]:
    schema = select_object(contract)
    of_fields = (rule for field in schema.fields for rule in field.quality or ())
    return [*(schema.quality or ()), *of_fields]


def broken_rules(audit: Audit) -> tuple[BrokenRule, ...]:
    """Return the rules that prevented publication, with their values and limits where these are numbers."""
    return tuple(_broken_rule(measure, audit.rows) for measure in audit.blocking[:MAX_GROUPS])


def _broken_rule(measure: RuleMeasure, rows: int) -> BrokenRule:
    threshold, count = measure.rule.threshold, measure.violating_rows
    name = measure.rule.id.partition(":")[2].rpartition("#")[2] or measure.rule.id
    is_lower = "Greater" in threshold.operator
    bounds = threshold.value if isinstance(threshold.value, tuple) else (threshold.value,)
    limit = as_number(bounds[-1])
    value = as_number(measure.value) if count is None else float(count)
    if count is not None and threshold.percent:
        value = 100.0 * count / rows if rows else 0.0
    if value is None or limit is None:
        return BrokenRule(name)
    if len(bounds) > 1 and (low := as_number(bounds[0])) is not None and value < low:
        is_lower, limit = True, low
    unit = PERCENT if threshold.percent else "rows" if count is not None else ""
    return BrokenRule(name, value, limit, unit, Bound.AT_LEAST if is_lower else Bound.AT_MOST)
