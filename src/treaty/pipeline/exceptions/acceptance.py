"""Accepting an exception: one row in the table of acceptances; the next run resolves the key."""

from __future__ import annotations

import uuid
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.errors import Conflict, InvalidDocument, NotFound, Refused
from treaty.pipeline.exceptions.exception_queries import exceptions_of_key
from treaty.pipeline.exceptions.exception_rows import (
    AcceptanceAnswer,
    ExceptionAnswer,
    ReconciliationTables,
    key_columns_of,
    key_text,
)
from treaty.pipeline.layers.reconciliation.reconciliation_tables import CONTRACT, State, acceptance_columns_for_key
from treaty.pipeline.project.declarations import ReasonClass
from treaty.pipeline.tables import NewStamp, Tables
from treaty.spark.columns import quoted_col

MAX_APPEND_ATTEMPTS = 5


def accept_exception(
    tables: Tables,
    key: str,
    assertion: str,
    *,
    reason: str,
    actor: str,
    now: datetime,
    reconciliation: str | None = None,
) -> AcceptanceAnswer:
    """Accept an open exception, so that its key resolves for as long as the claims do not change."""
    if not reason.strip():
        raise InvalidDocument("a reason is required; it is stored with the acceptance")
    exception = _find_exception(tables, key, assertion, now, reconciliation)
    reconciliation_tables = ReconciliationTables(exception.reconciliation)
    _refuse_unless_open(tables, reconciliation_tables, exception)
    exceptions = tables.read(reconciliation_tables.exceptions)
    columns = key_columns_of(exceptions)
    same = (key_text(columns.names) == F.lit(key)) & (F.col("assertion") == F.lit(assertion))
    row = exceptions.where(same & (F.col("claims_digest") == F.lit(exception.claims_digest)))
    values = {"reason": F.lit(reason), "actor": F.lit(actor), "accepted_at": F.timestamp_micros(F.lit(_micros(now)))}
    acceptance_columns = acceptance_columns_for_key(columns)
    tables.ensure(reconciliation_tables.acceptances, acceptance_columns, {})
    rows = row.select(
        *[values.get(name, quoted_col(name)).alias(name) for name in acceptance_columns.names if name != "_run"]
    )
    if rows.isEmpty():
        raise Conflict(f"a run has changed the exceptions of {key} in the meantime; see: treaty exceptions show {key}")
    _append(tables, reconciliation_tables, rows, now)
    return AcceptanceAnswer(
        reconciliation=reconciliation_tables.name,
        key=key,
        assertion=assertion,
        reason=reason,
        actor=actor,
        accepted_at=now,
        claims_digest=exception.claims_digest,
        lapsed=False,
    )


def _find_exception(tables: Tables, key: str, assertion: str, now: datetime, name: str | None) -> ExceptionAnswer:
    answers = exceptions_of_key(tables, key, now, name)
    exceptions = [exception for answer in answers for exception in answer.exceptions]
    matching = [exception for exception in exceptions if exception.assertion == assertion]
    if not matching:
        listed = ", ".join(exception.assertion for exception in exceptions) or "none"
        raise NotFound(f"{key} has no exception {assertion!r}; its exceptions are: {listed}")
    if len(matching) > 1:
        names = ", ".join(exception.reconciliation for exception in matching)
        raise Conflict(f"several reconciliations have an exception {assertion!r} for {key}: {names}; name one of them")
    return matching[0]


def _refuse_unless_open(
    tables: Tables, reconciliation_tables: ReconciliationTables, exception: ExceptionAnswer
) -> None:
    if exception.state == State.RESOLVED.value:
        raise Conflict(f"{exception.assertion!r} of {exception.key} is already resolved; there is nothing to accept")
    if exception.state == State.ACCEPTED.value:
        raise Conflict(
            f"{exception.accepted_by} has already accepted {exception.assertion!r} of {exception.key}: "
            f"{exception.accepted_reason}"
        )
    if exception.assertion == CONTRACT:
        raise Refused(
            f"a row that violates its contract cannot be accepted: {exception.statement}; correct the data instead"
        )
    is_attribute = exception.assertion in tables.read(reconciliation_tables.rows).columns
    if exception.reason_class == ReasonClass.MISSING.value and is_attribute:
        raise Refused(
            f"a missing required value cannot be accepted: {exception.statement}; wait for the data, "
            "or give the attribute a default"
        )


def _append(tables: Tables, reconciliation_tables: ReconciliationTables, rows: DataFrame, now: datetime) -> None:
    """Append the acceptance under a run number of its own; retry if another acceptance took the number."""
    last = tables.stamp(reconciliation_tables.exceptions)
    marker = uuid.uuid4().hex
    for _ in range(MAX_APPEND_ATTEMPTS):
        before = tables.stamp(reconciliation_tables.acceptances)
        run = max(_micros(now) // 1000, before.run + 1 if before else 0)
        stamp = NewStamp(run, {}, last.contract if last else "", marker, {"accepted": 1})
        if (
            tables.append(
                reconciliation_tables.acceptances, rows.withColumn("_run", F.lit(run).cast("long")), stamp
            ).digest
            == marker
        ):
            return
    raise Conflict(f"many exceptions of {reconciliation_tables.name} are being accepted at the same time; try again")


def _micros(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)
