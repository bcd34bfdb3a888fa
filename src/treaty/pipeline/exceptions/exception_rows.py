"""Rows of the tables of a reconciliation as answers: exceptions, acceptances and keys."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import NotFound
from treaty.pipeline.layers.reconciliation.reconciliation_tables import State, exception_key_columns
from treaty.pipeline.project.declarations import acceptances_table, exceptions_table
from treaty.pipeline.tables import TableCatalog
from treaty.pipeline.tables.row_texts import record_json, value_text
from treaty.registry.model.page import Answer
from treaty.spark.columns import quoted_col

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
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


def exception_rows(tables: ReconciliationTables, exceptions: DataFrame) -> DataFrame:
    """Return exceptions with the same columns for every reconciliation, whatever its key is."""
    key = key_columns_of(exceptions).names
    return exceptions.select(
        F.lit(tables.name).alias("reconciliation"),
        key_text(key).alias("key"),
        F.to_json(F.struct(*map(quoted_col, key))).alias("key_fields"),
        *map(quoted_col, _TEXTS),
        _micros("first_seen"),
        _micros("last_seen"),
    )


def stored_exceptions(
    catalog: TableCatalog, tables: ReconciliationTables, where: Mapping[str, Collection[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `exception_rows` that have these values, read without Spark."""
    key = exception_key_columns(catalog.columns(tables.exceptions))
    columns = (*key.names, *_TEXTS, "first_seen", "last_seen")
    for row in catalog.read_rows(tables.exceptions, None, columns, where=where):
        texts = [value_text(row[field.name], field.dataType) for field in key]
        yield {
            **{name: row[name] for name in _TEXTS},
            "reconciliation": tables.name,
            "key": ",".join(text for text in texts if text is not None),
            "key_fields": record_json(row, key),
            "first_seen": (row["first_seen"] - _EPOCH) // timedelta(microseconds=1),
            "last_seen": (row["last_seen"] - _EPOCH) // timedelta(microseconds=1),
        }


def acceptance_rows(acceptances: DataFrame, key: list[str]) -> DataFrame:
    """Return acceptances with the same columns for every reconciliation."""
    columns = ("assertion", "reason", "actor", "claims_digest")
    return acceptances.select(key_text(key).alias("key"), *map(quoted_col, columns), _micros("accepted_at"))


def to_exception(row: Row | Mapping[str, Any], now: datetime) -> ExceptionAnswer:
    """Return the answer for a row of `exception_rows`."""
    first, last = timestamp(row["first_seen"]), timestamp(row["last_seen"])
    until = last if row["state"] == State.RESOLVED.value else max(now, first)
    texts = {name: row[name] for name in _TEXTS if name != "claims"}
    return ExceptionAnswer(
        reconciliation=row["reconciliation"],
        key=row["key"],
        key_fields=_parse_json(row["key_fields"]),
        claims=_parse_json(row["claims"]),
        first_seen=first,
        last_seen=last,
        age_seconds=int((until - first).total_seconds()),
        **texts,
    )


def to_acceptance(row: Row, tables: ReconciliationTables, current_digests: dict[str, str]) -> AcceptanceAnswer:
    """Return the answer for a row of `acceptance_rows`; `current_digests` are digests of claims by assertion."""
    return AcceptanceAnswer(
        reconciliation=tables.name,
        key=row["key"],
        assertion=row["assertion"],
        reason=row["reason"],
        actor=row["actor"],
        accepted_at=timestamp(row["accepted_at"]),
        claims_digest=row["claims_digest"],
        lapsed=current_digests.get(row["assertion"]) != row["claims_digest"],
    )


def timestamp(micros: int) -> datetime:
    """Return the time that many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=micros)


def _micros(name: str) -> Column:
    return F.unix_micros(quoted_col(name)).alias(name)


def _parse_json(text: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return data


LAYER = "reconciliation"
_EXCEPTIONS = "_exceptions"


@dataclass(frozen=True)
class ReconciliationTables:
    """The tables of one reconciliation."""

    name: str

    @property
    def rows(self) -> str:
        """The table of reconciled keys."""
        return f"{LAYER}.{self.name}"

    @property
    def exceptions(self) -> str:
        """The table of exceptions."""
        return exceptions_table(self.name)

    @property
    def acceptances(self) -> str:
        """The table of acceptances."""
        return acceptances_table(self.name)


def find_reconciliations(catalog: TableCatalog, name: str | None = None) -> tuple[ReconciliationTables, ...]:
    """Return the reconciliations that have run, or only the named one."""
    existing = set(catalog.list_tables(LAYER))
    candidates = [
        ReconciliationTables(table.removeprefix(f"{LAYER}.").removesuffix(_EXCEPTIONS)) for table in sorted(existing)
    ]
    known = tuple(
        reconciliation
        for reconciliation in dict.fromkeys(candidates)
        if {reconciliation.rows, reconciliation.exceptions} <= existing
    )
    if name is None:
        return known
    chosen = tuple(reconciliation for reconciliation in known if reconciliation.name == name)
    if not chosen:
        listed = ", ".join(reconciliation.name for reconciliation in known) or "none yet; start with: treaty run"
        raise NotFound(f"no reconciliation {name!r} has run; there are: {listed}")
    return chosen


def key_columns_of(exceptions: DataFrame) -> spark.StructType:
    """Return the key columns of a table of exceptions."""
    return exception_key_columns(exceptions.schema)


def key_text(columns: list[str]) -> Column:
    """Return a key as one text, its values separated by commas."""
    return F.concat_ws(",", *[quoted_col(column).cast("string") for column in columns])


class ExceptionAnswer(Answer):
    """An exception of a key: what is in doubt, why, since when, and who owns it."""

    reconciliation: str
    key: str
    """The values of the key, separated by commas."""
    key_fields: dict[str, Any]
    assertion: str
    reason_class: str
    statement: str
    claims: dict[str, Any]
    """The values of each claim; decimals are texts, so that no digit is lost."""
    claims_digest: str
    owner: str | None
    state: str
    first_seen: datetime
    last_seen: datetime
    age_seconds: int
    """Age of an open exception, or the age at which it was resolved."""
    accepted_by: str | None
    accepted_reason: str | None


class AcceptanceAnswer(Answer):
    """The acceptance of an exception, so that its key resolves."""

    reconciliation: str
    key: str
    assertion: str
    reason: str
    actor: str
    accepted_at: datetime
    claims_digest: str
    lapsed: bool
    """Whether the claims have changed since, so that it no longer applies."""


class KeyAnswer(Answer):
    """Everything that one reconciliation stores about a key."""

    reconciliation: str
    key: str
    outcome: str | None
    """Resolved, held or deleted; null if no run has reconciled it."""
    exceptions: list[ExceptionAnswer]
    acceptances: list[AcceptanceAnswer]
