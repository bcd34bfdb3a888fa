"""Rows of the tables as answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import NotFound
from treaty.pipeline.layers.reconciliation.reconciliation_tables import State, key_of_exceptions
from treaty.pipeline.project.table_names import acceptances_table, exceptions_table
from treaty.pipeline.tables import Tables
from treaty.registry.model.page import Answer
from treaty.spark.columns import quoted_col

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
        F.to_json(F.struct(*map(quoted_col, key))).alias("key_fields"),
        *map(quoted_col, _TEXTS),
        _micros("first_seen"),
        _micros("last_seen"),
    )


def told_acceptances(acceptances: DataFrame, key: list[str]) -> DataFrame:
    """Return acceptances in one shape."""
    columns = ("assertion", "reason", "actor", "claims_digest")
    return acceptances.select(key_text(key).alias("key"), *map(quoted_col, columns), _micros("accepted_at"))


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
    return F.unix_micros(quoted_col(name)).alias(name)


def _parsed(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return found


LAYER = "reconciliation"
_EXCEPTIONS = "_exceptions"


@dataclass(frozen=True)
class Kept:
    """The tables of one reconciliation, by its name."""

    name: str

    @property
    def rows(self) -> str:
        """The table of its keys."""
        return f"{LAYER}.{self.name}"

    @property
    def exceptions(self) -> str:
        """The table of its exceptions."""
        return exceptions_table(self.name)

    @property
    def acceptances(self) -> str:
        """The table in which people accept them."""
        return acceptances_table(self.name)


def kept(tables: Tables, name: str | None = None) -> tuple[Kept, ...]:
    """Return the reconciliations that have run, or the one that is named."""
    there = set(tables.listed(LAYER))
    found = [Kept(table.removeprefix(f"{LAYER}.").removesuffix(_EXCEPTIONS)) for table in sorted(there)]
    known = tuple(one for one in dict.fromkeys(found) if {one.rows, one.exceptions} <= there)
    if name is None:
        return known
    chosen = tuple(one for one in known if one.name == name)
    if not chosen:
        listed = ", ".join(one.name for one in known) or "none yet; start with: treaty run"
        raise NotFound(f"no reconciliation {name!r} has run; there are: {listed}")
    return chosen


def key_of(exceptions: DataFrame) -> spark.StructType:
    """Return the columns that hold the key in a table of exceptions."""
    return key_of_exceptions(exceptions.schema)


def key_text(columns: list[str]) -> Column:
    """Write a key as one text."""
    return F.concat_ws(",", *[quoted_col(column).cast("string") for column in columns])


class ExceptionAnswer(Answer):
    """One exception: what about which key is in doubt, why, since when, and whose it is."""

    reconciliation: str
    key: str
    """The values of the key, with commas between them."""
    key_fields: dict[str, Any]
    assertion: str
    reason_class: str
    statement: str
    claims: dict[str, Any]
    """What each claim says; decimals are texts, so that no digit is lost."""
    claims_digest: str
    owner: str | None
    state: str
    first_seen: datetime
    last_seen: datetime
    age_seconds: int
    """How long it has stood, or had when data settled it."""
    accepted_by: str | None
    accepted_reason: str | None


class AcceptanceAnswer(Answer):
    """Somebody's word that a key may resolve although an exception stands."""

    reconciliation: str
    key: str
    assertion: str
    reason: str
    actor: str
    accepted_at: datetime
    claims_digest: str
    lapsed: bool
    """Whether the claims have changed since, so that it holds no longer."""


class KeyAnswer(Answer):
    """All that is known about one key of one reconciliation."""

    reconciliation: str
    key: str
    outcome: str | None
    """Resolved, held or deleted; nothing where no run has settled it."""
    exceptions: list[ExceptionAnswer]
    acceptances: list[AcceptanceAnswer]
