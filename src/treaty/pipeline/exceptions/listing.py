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

from treaty.errors import InvalidDocument
from treaty.pipeline.exceptions.answers import ExceptionAnswer
from treaty.pipeline.exceptions.reading import as_exception, told
from treaty.pipeline.exceptions.tables_of import kept
from treaty.pipeline.tables import Tables
from treaty.registry.answers.answer import Page

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
