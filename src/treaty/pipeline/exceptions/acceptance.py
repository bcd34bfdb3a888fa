"""Accepting an exception: one row in a table that only people write; the next run settles the key."""

from __future__ import annotations

import uuid
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.errors import Conflict, InvalidDocument, NotFound, Refused
from treaty.pipeline.exceptions.exception_queries import of_key
from treaty.pipeline.exceptions.exception_rows import AcceptanceAnswer, ExceptionAnswer, Kept, key_of, key_text
from treaty.pipeline.layers.reconciliation.reconciliation_tables import CONTRACT, State, acceptances_of
from treaty.pipeline.project.declarations import ReasonClass
from treaty.pipeline.tables import NewStamp, Tables
from treaty.spark.columns import quoted_col

_TRIES = 5


def accept(
    tables: Tables,
    key: str,
    assertion: str,
    *,
    reason: str,
    actor: str,
    now: datetime,
    reconciliation: str | None = None,
) -> AcceptanceAnswer:
    """Let a key resolve although an exception stands, for as long as the claims stay as they are."""
    if not reason.strip():
        raise InvalidDocument("say why it may stand; the reason is kept with the exception")
    found = _the_one(tables, key, assertion, now, reconciliation)
    one = Kept(found.reconciliation)
    _refuse_unless_open(tables, one, found)
    exceptions = tables.read(one.exceptions)
    columns = key_of(exceptions)
    same = (key_text(columns.names) == F.lit(key)) & (F.col("assertion") == F.lit(assertion))
    row = exceptions.where(same & (F.col("claims_digest") == F.lit(found.claims_digest)))
    said = {"reason": F.lit(reason), "actor": F.lit(actor), "accepted_at": F.timestamp_micros(F.lit(_micros(now)))}
    wanted = acceptances_of(columns)
    tables.ensure(one.acceptances, wanted, {})
    rows = row.select(*[said.get(name, quoted_col(name)).alias(name) for name in wanted.names if name != "_run"])
    if rows.isEmpty():
        raise Conflict(f"a run has looked at {key} again meanwhile; see what it says now: treaty exceptions show {key}")
    _append(tables, one, rows, now)
    return AcceptanceAnswer(
        reconciliation=one.name,
        key=key,
        assertion=assertion,
        reason=reason,
        actor=actor,
        accepted_at=now,
        claims_digest=found.claims_digest,
        lapsed=False,
    )


def _the_one(tables: Tables, key: str, assertion: str, now: datetime, name: str | None) -> ExceptionAnswer:
    known = [one for answer in of_key(tables, key, now, name) for one in answer.exceptions]
    found = [one for one in known if one.assertion == assertion]
    if not found:
        listed = ", ".join(one.assertion for one in known) or "nothing"
        raise NotFound(f"{assertion!r} is not in doubt for {key}; in doubt is or was: {listed}")
    if len(found) > 1:
        names = ", ".join(one.reconciliation for one in found)
        raise Conflict(f"several reconciliations are in doubt about {assertion!r} of {key}: {names}; name one of them")
    return found[0]


def _refuse_unless_open(tables: Tables, one: Kept, found: ExceptionAnswer) -> None:
    if found.state == State.RESOLVED.value:
        raise Conflict(f"data have settled {found.assertion!r} of {found.key} already; there is nothing to accept")
    if found.state == State.ACCEPTED.value:
        raise Conflict(f"{found.accepted_by} has accepted {found.assertion!r} of {found.key}: {found.accepted_reason}")
    if found.assertion == CONTRACT:
        raise Refused(f"nobody can accept a row that breaks its contract: {found.statement}; settle the data instead")
    is_attribute = found.assertion in tables.read(one.rows).columns
    if found.reason_class == ReasonClass.MISSING.value and is_attribute:
        raise Refused(
            f"nobody can accept that a required field is missing: {found.statement}; wait for the data, "
            "or give the attribute a default"
        )


def _append(tables: Tables, one: Kept, rows: DataFrame, now: datetime) -> None:
    """Append the acceptance under a run of its own, also where somebody accepts at the same moment."""
    last = tables.stamp(one.exceptions)
    mark = uuid.uuid4().hex
    for _ in range(_TRIES):
        before = tables.stamp(one.acceptances)
        run = max(_micros(now) // 1000, before.run + 1 if before else 0)
        stamp = NewStamp(run, {}, last.contract if last else "", mark, {"accepted": 1})
        if tables.append(one.acceptances, rows.withColumn("_run", F.lit(run).cast("long")), stamp).digest == mark:
            return
    raise Conflict(f"many people accept exceptions of {one.name} at this moment; try again")


def _micros(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)
