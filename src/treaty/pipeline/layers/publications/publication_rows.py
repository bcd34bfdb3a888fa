"""The rows of a publication: selected, delayed, redacted, and checked against the contract while they are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field
from treaty.errors import InvalidDocument
from treaty.pipeline.layers.audit import MAX_SAMPLES, Audit, is_row_rule
from treaty.pipeline.layers.publications.redaction import redact
from treaty.pipeline.layers.sql_queries import run_sql
from treaty.pipeline.project.declarations import Delay, Publication
from treaty.policy import KeyRing
from treaty.spark.columns import quoted_col
from treaty.spark.enforcement import Enforcement, enforce
from treaty.spark.measures import RuleMeasure
from treaty.spark.report.samples import collect_samples
from treaty.spark.rules import RuleSet
from treaty.spark.schema import column_name, find_struct_field, select_object, spark_type


def build_publication(
    inputs: Mapping[str, DataFrame],
    publication: Publication,
    contract: Contract,
    now: datetime,
    *,
    key: KeyRing | None = None,
) -> DataFrame:
    """Return the rows that readers may see now, with exactly the columns of the contract, in its order.

    Values keep the types of the query; `check_for_publication` converts them to the types of the contract, and refuses
    values that would lose something. The key is for hashes.
    """
    rows = select_rows(inputs, publication)
    if publication.delay is not None:
        rows = visible_rows(rows, publication.delay, now, publication.at)
    return _contract_columns(redact(rows, publication, key), publication, contract)


def select_rows(inputs: Mapping[str, DataFrame], publication: Publication) -> DataFrame:
    """Return the rows of the query or of the only input, before delay and redaction."""
    missing = [name for name in publication.inputs if name not in inputs]
    if missing:
        raise InvalidDocument(
            f"{publication.at}: publication {publication.name} reads {missing[0]!r}, which is missing"
        )
    frames = {name: inputs[name] for name in publication.inputs}
    first = next(iter(frames.values()))
    if publication.sql is not None:
        return run_sql(first.sparkSession, publication.sql, frames)
    if len(frames) > 1:
        raise InvalidDocument(
            f"{publication.at}: publication {publication.name} reads {', '.join(frames)}; add sql: to combine them"
        )
    return first


def _contract_columns(rows: DataFrame, publication: Publication, contract: Contract) -> DataFrame:
    have = rows.schema
    return rows.select(*[_column(field, have, publication) for field in select_object(contract).fields])


def _column(field: Field, have: spark.StructType, publication: Publication) -> Column:
    """Return the column of a field; an optional field without a column is null."""
    name = column_name(field)
    column = find_struct_field(have, name)
    if column is not None:
        return quoted_col(column.name).alias(name)
    if field.is_required:
        raise missing_column(name, have.names, publication)
    return F.lit(None).cast(spark_type(field) or spark.StringType()).alias(name)


def missing_column(name: str, given: Sequence[str], publication: Publication) -> InvalidDocument:
    """Return the error for a required field without a column."""
    where = publication.sql.path if publication.sql else f"its input {publication.inputs[0]}"
    return InvalidDocument(
        f"{publication.at}: {publication.line} requires {name!r}, but {where} has no such column; "
        f"it has: {', '.join(given)}"
    )


_TIME_TYPES = (spark.TimestampType, spark.TimestampNTZType, spark.DateType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible_rows(rows: DataFrame, delay: Delay, now: datetime, at: str = "") -> DataFrame:
    """Return the rows whose time is past by at least the delay; rows without a time are never visible."""
    return rows.where(_moment(rows, delay, at) <= _at(now - delay.duration))


def next_visible(rows: DataFrame, delay: Delay, now: datetime, at: str = "") -> DataFrame:
    """Return one row with the time, in microseconds since 1970, when the next hidden row becomes visible, or null."""
    moment = _moment(rows, delay, at)
    hidden = rows.where(moment > _at(now - delay.duration))
    return hidden.select(F.min(F.unix_micros(moment) + F.lit(delay.duration // timedelta(microseconds=1))))


def delay_column(have: spark.StructType, delay: Delay, at: str = "") -> str:
    """Return the column that a delay is counted from, which must be a date or timestamp."""
    column = find_struct_field(have, delay.by)
    if column is None or not isinstance(column.dataType, _TIME_TYPES):
        problem = "which does not exist" if column is None else f"which is {column.dataType.simpleString()}"
        where = f"{at}: " if at else ""
        raise InvalidDocument(f"{where}delay counts by {delay.by!r}, {problem}; name a date or timestamp column")
    return column.name


def _moment(rows: DataFrame, delay: Delay, at: str) -> Column:
    return quoted_col(delay_column(rows.schema, delay, at)).cast("timestamp")


def _at(moment: datetime) -> Column:
    """Return a time as a column that does not depend on the time zone of the process or session."""
    return F.timestamp_micros(F.lit((moment - _EPOCH) // timedelta(microseconds=1)).cast("long"))


_ROWS, _BAD = "rows", "bad"


def check_for_publication(rows: DataFrame, contract: Contract) -> Enforcement:
    """Check the rules on single rows; rules on the table are left to `audit`."""
    enforcement = enforce(rows, contract)
    row_rules = tuple(checked_rule for checked_rule in enforcement.rule_set.all if is_row_rule(checked_rule))
    return enforcement.with_rules(RuleSet(row_rules, enforcement.rule_set.unchecked))


@dataclass(frozen=True)
class Outgoing:
    """Rows to write once; while they are written, those that break a rule are counted."""

    judged: Enforcement
    rows: DataFrame
    """The rows that conform, with the schema of the contract; call `audit` after writing them."""
    counted: Observation

    def audit(self) -> Audit:
        """Return the audit of the rows after they were written; only broken rules cost another Spark job."""
        counts: dict[str, Any] = self.counted.get
        # over Spark Connect, some writes do not return their counts
        return self._audit_without_errors(counts) if counts.get(_BAD) == 0 else self._audit_with_errors()

    def _audit_without_errors(self, counts: dict[str, Any]) -> Audit:
        results = []
        for position, checked_rule in enumerate(self.judged.rule_set.all):
            broken = int(counts.get(_counter(position)) or 0)
            results.append(
                RuleMeasure(
                    checked_rule.definition,
                    checked_rule.definition.threshold.holds(broken, counts[_ROWS]),
                    violating_rows=broken,
                )
            )
        return self._audit(counts[_ROWS], results)

    def _audit_with_errors(self) -> Audit:
        measured = self.judged.measures()
        bad = measured.quarantined
        samples = collect_samples(self.judged.quarantined, self.judged.schema, MAX_SAMPLES) if bad else ()
        audit = self._audit(measured.rows, measured.results)
        return replace(audit, bad_rows=bad, samples=samples)

    def _audit(self, rows: int, results: Sequence[RuleMeasure]) -> Audit:
        held = self.judged
        return Audit(held.contract.id, held.contract.version, rows, tuple(results), held.unchecked)


def prepare_outgoing(judged: Enforcement) -> Outgoing:
    """Prepare checked rows for writing: one job writes them and counts broken rules."""
    counted = Observation()
    warnings = [
        F.count_if(condition).alias(_counter(position))
        for position, condition in judged.violation_conditions()
        if judged.rule_set.all[position].definition.severity is not Severity.ERROR
    ]
    counters = [F.count(F.lit(1)).alias(_ROWS), F.count_if(~judged.is_valid).alias(_BAD), *warnings]
    rows = (
        judged.judged.observe(counted, *counters).where(judged.is_valid).select(*map(quoted_col, judged.layout.typed))
    )
    return Outgoing(judged, rows, counted)


def _counter(position: int) -> str:
    return f"broken_{position}"
