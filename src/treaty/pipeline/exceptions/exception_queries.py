"""Listing exceptions, the oldest first, in pages."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.errors import InvalidDocument, NotFound
from treaty.pipeline.exceptions.exception_rows import (
    AcceptanceAnswer,
    ExceptionAnswer,
    Kept,
    KeyAnswer,
    as_acceptance,
    as_exception,
    kept,
    key_of,
    key_text,
    told,
    told_acceptances,
)
from treaty.pipeline.layers.reconciliation.reconciliation_tables import State
from treaty.pipeline.tables import Tables
from treaty.registry.model.page import Page

_ORDER = ("first_seen", "reconciliation", "key", "assertion")


@dataclass(frozen=True)
class Wanted:
    """Which exceptions somebody asks for."""

    reconciliation: str | None = None
    state: str | None = None
    reason_class: str | None = None
    owner: str | None = None
    older_than: timedelta | None = None


def listed(
    tables: Tables, wanted: Wanted, now: datetime, *, cursor: str | None = None, limit: int = 100
) -> Page[ExceptionAnswer]:
    """Return a page of exceptions; the same cursor goes on from the same place, whatever came meanwhile."""
    after = _place(cursor) if cursor is not None else None
    frames = [told(one, tables.read(one.exceptions)) for one in kept(tables, wanted.reconciliation)]
    if not frames:
        return Page[ExceptionAnswer](items=[])
    every = reduce(DataFrame.unionByName, frames)
    for condition in _conditions(wanted, now):
        every = every.where(condition)
    if after is not None:
        every = every.where(F.struct(*_ORDER) > F.struct(*map(F.lit, after)))
    rows = every.orderBy(*_ORDER).limit(limit + 1).collect()
    items = [as_exception(row, now) for row in rows[:limit]]
    more = _cursor([rows[limit - 1][name] for name in _ORDER]) if len(rows) > limit else None
    return Page[ExceptionAnswer](items=items, next=more)


def _conditions(wanted: Wanted, now: datetime) -> list[Column]:
    equal = {"state": wanted.state, "reason_class": wanted.reason_class, "owner": wanted.owner}
    found = [F.col(name) == F.lit(value) for name, value in equal.items() if value is not None]
    if wanted.older_than is not None:
        latest = int((now - wanted.older_than).timestamp() * 1_000_000)
        found.append(F.col("first_seen") < F.lit(latest))
    return found


def _cursor(place: list[int | str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def _place(cursor: str) -> tuple[int, str, str, str]:
    try:
        seen, name, key, assertion = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, binascii.Error):
        raise InvalidDocument(f"{cursor[:40]!r} is no cursor; take it from the page before") from None
    if not isinstance(seen, int) or not all(isinstance(part, str) for part in (name, key, assertion)):
        raise InvalidDocument(f"{cursor[:40]!r} is no cursor; take it from the page before")
    return seen, name, key, assertion


def of_key(tables: Tables, key: str, now: datetime, reconciliation: str | None = None) -> list[KeyAnswer]:
    """Return what each reconciliation knows about a key; where none does, that is an error."""
    found = [_known(tables, one, key, now) for one in kept(tables, reconciliation)]
    known = [one for one in found if one.outcome is not None or one.exceptions]
    if not known:
        raise NotFound(f"no reconciliation knows {key!r}; list what is in doubt with: treaty exceptions list")
    return known


def _known(tables: Tables, one: Kept, key: str, now: datetime) -> KeyAnswer:
    exceptions = tables.read(one.exceptions)
    columns = key_of(exceptions).names
    rows = tables.read(one.rows).where(key_text(columns) == F.lit(key)).select("_outcome").collect()
    each = told(one, exceptions).where(F.col("key") == F.lit(key)).orderBy("first_seen", "assertion").collect()
    answers = [as_exception(row, now) for row in each]
    standing = {item.assertion: item.claims_digest for item in answers if item.state != State.RESOLVED.value}
    return KeyAnswer(
        reconciliation=one.name,
        key=key,
        outcome=rows[0]["_outcome"] if rows else None,
        exceptions=answers,
        acceptances=_acceptances(tables, one, columns, key, standing),
    )


def _acceptances(
    tables: Tables, one: Kept, columns: list[str], key: str, standing: dict[str, str]
) -> list[AcceptanceAnswer]:
    if not tables.exists(one.acceptances):
        return []
    given = told_acceptances(tables.read(one.acceptances), columns).where(F.col("key") == F.lit(key))
    return [as_acceptance(row, one, standing) for row in given.orderBy("accepted_at", "actor").collect()]
