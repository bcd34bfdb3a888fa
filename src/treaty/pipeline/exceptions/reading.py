"""Rows of the tables as answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from treaty.pipeline.exceptions.answers import AcceptanceAnswer, ExceptionAnswer
from treaty.pipeline.exceptions.tables_of import Kept, key_of, key_text
from treaty.pipeline.layers.reconciliation.columns import State
from treaty.spark.columns import named

_START = datetime(1970, 1, 1, tzinfo=UTC)
_TEXTS = (
    "assertion",
    "reason_class",
    "statement",
    "claims",
    "claims_digest",
    "owner",
    "state",
    "accepted_by",
    "accepted_reason",
)


def told(kept: Kept, exceptions: DataFrame) -> DataFrame:
    """Return exceptions in one shape, whatever their key is."""
    key = key_of(exceptions).names
    return exceptions.select(
        F.lit(kept.name).alias("reconciliation"),
        key_text(key).alias("key"),
        F.to_json(F.struct(*map(named, key))).alias("key_fields"),
        *map(named, _TEXTS),
        _micros("first_seen"),
        _micros("last_seen"),
    )


def told_acceptances(acceptances: DataFrame, key: list[str]) -> DataFrame:
    """Return acceptances in one shape."""
    columns = ("assertion", "reason", "actor", "claims_digest")
    return acceptances.select(key_text(key).alias("key"), *map(named, columns), _micros("accepted_at"))


def as_exception(row: Row, now: datetime) -> ExceptionAnswer:
    """Return an exception as an answer."""
    first, last = moment(row["first_seen"]), moment(row["last_seen"])
    until = last if row["state"] == State.RESOLVED.value else max(now, first)
    told = {name: row[name] for name in _TEXTS if name != "claims"}
    return ExceptionAnswer(
        reconciliation=row["reconciliation"],
        key=row["key"],
        key_fields=_parsed(row["key_fields"]),
        claims=_parsed(row["claims"]),
        first_seen=first,
        last_seen=last,
        age_seconds=int((until - first).total_seconds()),
        **told,
    )


def as_acceptance(row: Row, kept: Kept, standing: dict[str, str]) -> AcceptanceAnswer:
    """Return an acceptance as an answer; `standing` is the digest of what claims say now, by assertion."""
    return AcceptanceAnswer(
        reconciliation=kept.name,
        key=row["key"],
        assertion=row["assertion"],
        reason=row["reason"],
        actor=row["actor"],
        accepted_at=moment(row["accepted_at"]),
        claims_digest=row["claims_digest"],
        lapsed=standing.get(row["assertion"]) != row["claims_digest"],
    )


def moment(micros: int) -> datetime:
    """Return the moment that many microseconds after 1970."""
    return _START + timedelta(microseconds=micros)


def _micros(name: str) -> Column:
    return F.unix_micros(named(name)).alias(name)


def _parsed(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return found
