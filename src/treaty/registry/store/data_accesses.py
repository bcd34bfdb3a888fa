"""The log of accesses to published rows in the database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from treaty.contracts.versions import Line
from treaty.registry.store.tables import data_accesses
from treaty.registry.store.transaction import Transaction, insert_into
from treaty.registry.store.visibility import Visibility

_A = data_accesses.c
_UNKNOWN = -1
"""How an unknown number of rows is stored."""


@dataclass(frozen=True, slots=True)
class DataAccess:
    """One request for rows of a line: who, what, for what purpose, and what was decided."""

    at: datetime
    actor: str
    consumer: str | None
    line: Line
    decision: str
    version: str | None = None
    fields: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    """The columns that the request filters on."""
    rows: int | None = 0
    """None if it is not known how many rows were read, as on Spark."""
    purpose: str | None = None
    run: int | None = None
    seq: int = 0


def add_accesses(transaction: Transaction, accesses: Sequence[DataAccess]) -> None:
    """Append accesses to the log."""
    rows = [
        {
            "at": access.at,
            "actor": transaction.actor_id(access.actor),
            "consumer": access.consumer,
            "contract": access.line.contract,
            "major": access.line.major,
            "version": access.version,
            "fields": list(access.fields),
            "filters": list(access.filters),
            "rows": _UNKNOWN if access.rows is None else access.rows,
            "purpose": access.purpose,
            "run": access.run,
            "decision": access.decision,
        }
        for access in accesses
    ]
    transaction.write(insert_into(data_accesses), rows)


def page_of_accesses(
    connection: Connection,
    visibility: Visibility,
    contract: str | None,
    consumer: str | None,
    decisions: Collection[str],
    before: int | None,
    limit: int,
) -> list[DataAccess]:
    """Return a page of the log, the newest first."""
    query = select(data_accesses).where(*visibility.conditions(_A.contract))
    if contract is not None:
        query = query.where(_A.contract == contract)
    if consumer is not None:
        query = query.where(_A.consumer == consumer)
    if decisions:
        query = query.where(_A.decision.in_(sorted(decisions)))
    if before is not None:
        query = query.where(_A.seq < before)
    return list(map(_access, connection.execute(query.order_by(_A.seq.desc()).limit(limit))))


def _access(row: Row[Any]) -> DataAccess:
    return DataAccess(
        row.at,
        row.actor,
        row.consumer,
        Line(row.contract, row.major),
        row.decision,
        row.version,
        tuple(row.fields),
        tuple(row.filters),
        None if row.rows == _UNKNOWN else row.rows,
        row.purpose,
        row.run,
        row.seq,
    )
