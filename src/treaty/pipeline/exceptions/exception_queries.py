"""Queries on exceptions: a page of them, oldest first, or everything about one key."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import functions as F

from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.exceptions.exception_rows import (
    AcceptanceAnswer,
    ExceptionAnswer,
    KeyAnswer,
    ReconciliationTables,
    acceptance_rows,
    exception_rows,
    find_reconciliations,
    key_columns_of,
    key_text,
    stored_exceptions,
    to_acceptance,
    to_exception,
)
from treaty.pipeline.layers.reconciliation.reconciliation_tables import State
from treaty.pipeline.tables import TableCatalog, Tables
from treaty.registry.model.page import Page


@dataclass(frozen=True)
class ExceptionFilter:
    """Which exceptions to list."""

    reconciliation: str | None = None
    state: str | None = None
    reason_class: str | None = None
    owner: str | None = None
    older_than: timedelta | None = None


def list_exceptions(
    catalog: TableCatalog, filters: ExceptionFilter, now: datetime, *, cursor: str | None = None, limit: int = 100
) -> Page[ExceptionAnswer]:
    """Return a page of exceptions; a cursor continues from the same position, whatever was added since.

    The exceptions are read without Spark.
    """
    position = _parse_cursor(cursor) if cursor is not None else None
    equal = {"state": filters.state, "reason_class": filters.reason_class, "owner": filters.owner}
    where = {name: (value,) for name, value in equal.items() if value is not None}
    rows = [
        row
        for reconciliation in find_reconciliations(catalog, filters.reconciliation)
        for row in stored_exceptions(catalog, reconciliation, where)
        if _is_wanted(row, filters, now) and (position is None or _position(row) > position)
    ]
    rows.sort(key=_position)
    items = [to_exception(row, now) for row in rows[:limit]]
    more = _format_cursor(list(_position(rows[limit - 1]))) if len(rows) > limit else None
    return Page[ExceptionAnswer](items=items, next=more)


def _is_wanted(row: Mapping[str, Any], filters: ExceptionFilter, now: datetime) -> bool:
    if filters.older_than is None:
        return True
    return bool(row["first_seen"] < int((now - filters.older_than).timestamp() * 1_000_000))


def _position(row: Mapping[str, Any]) -> tuple[int, str, str, str]:
    return row["first_seen"], row["reconciliation"], row["key"], row["assertion"]


def _format_cursor(position: list[int | str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def _parse_cursor(cursor: str) -> tuple[int, str, str, str]:
    try:
        seen, name, key, assertion = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, binascii.Error):
        raise InvalidDocument(f"{cursor[:40]!r} is not a valid cursor; use the one of the previous page") from None
    if not isinstance(seen, int) or not all(isinstance(part, str) for part in (name, key, assertion)):
        raise InvalidDocument(f"{cursor[:40]!r} is not a valid cursor; use the one of the previous page")
    return seen, name, key, assertion


def exceptions_of_key(tables: Tables, key: str, now: datetime, reconciliation: str | None = None) -> list[KeyAnswer]:
    """Return what each reconciliation stores about a key; raise `NotFound` if none has it."""
    answers = [_key_answer(tables, source, key, now) for source in find_reconciliations(tables.catalog, reconciliation)]
    known = [answer for answer in answers if answer.outcome is not None or answer.exceptions]
    if not known:
        raise NotFound(f"no reconciliation has the key {key!r}; list open exceptions with: treaty exceptions list")
    return known


def _key_answer(tables: Tables, reconciliation: ReconciliationTables, key: str, now: datetime) -> KeyAnswer:
    stored = tables.read(reconciliation.exceptions)
    columns = key_columns_of(stored).names
    rows = tables.read(reconciliation.rows).where(key_text(columns) == F.lit(key)).select("_outcome").collect()
    collected = (
        exception_rows(reconciliation, stored)
        .where(F.col("key") == F.lit(key))
        .orderBy("first_seen", "assertion")
        .collect()
    )
    exceptions = [to_exception(row, now) for row in collected]
    current_digests = {
        exception.assertion: exception.claims_digest
        for exception in exceptions
        if exception.state != State.RESOLVED.value
    }
    return KeyAnswer(
        reconciliation=reconciliation.name,
        key=key,
        outcome=rows[0]["_outcome"] if rows else None,
        exceptions=exceptions,
        acceptances=_acceptances(tables, reconciliation, columns, key, current_digests),
    )


def _acceptances(
    tables: Tables, reconciliation: ReconciliationTables, columns: list[str], key: str, current_digests: dict[str, str]
) -> list[AcceptanceAnswer]:
    if not tables.exists(reconciliation.acceptances):
        return []
    acceptances = acceptance_rows(tables.read(reconciliation.acceptances), columns).where(F.col("key") == F.lit(key))
    return [
        to_acceptance(row, reconciliation, current_digests)
        for row in acceptances.orderBy("accepted_at", "actor").collect()
    ]
