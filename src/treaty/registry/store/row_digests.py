"""Digests of rows. The audit log keeps them, so that a row that was changed without the registry is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, select, tuple_

from treaty.registry.documents import digest_of
from treaty.registry.store import tables
from treaty.registry.store.tables import in_batches, stored

RowDigests = Mapping[str, Mapping[str, str]]
"""Digests of rows by the name of a part and the key of a row."""

_LIFECYCLE = (
    "status",
    "deprecation_uri",
    "announced_on",
    "sunset_on",
    "retire_on",
    "replacement",
    "deprecation_reason",
)

_NEWEST_EVIDENCE = ("cause", "evidence", "last_seen", "blocked")
"""Columns of incidents that change with every measure; they follow from measures and lineage."""


@dataclass(frozen=True)
class CoveredPart:
    """Columns of a table that are digested together. The log contains the name of a part, so it never changes."""

    name: str
    noun: str
    table: Table
    columns: tuple[str, ...]
    has_rows: bool = True
    """Whether a missing or additional row is reported for this part, if a table has several."""
    is_kept: bool = True
    """Whether rows are kept for ever, so that a missing one is reported."""

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the columns of the primary key."""
        return tuple(column.name for column in self.table.primary_key)

    def key_of(self, row: Mapping[str, Any]) -> str:
        """Return the key of a row as text."""
        return json.dumps([row[name] for name in self.key_names], ensure_ascii=False, separators=(",", ":"))

    def digest(self, row: Mapping[str, Any]) -> str:
        """Return the digest of a row. Null columns are left out, so that a new nullable column changes no digest."""
        values = {name: _plain(row[name]) for name in self.columns if row.get(name) is not None}
        return digest_of(values)

    def query(self) -> Select[Any]:
        """Select the key and the digested columns."""
        return select(*(stored(self.table.c[name]) for name in dict.fromkeys((*self.key_names, *self.columns))))


def _part(table: Table, noun: str) -> CoveredPart:
    return CoveredPart(table.name, noun, table, tuple(column.name for column in table.columns))


COVERED = (
    _part(tables.actors, "actor"),
    CoveredPart(
        "contracts",
        "contract",
        tables.contracts,
        tuple(column.name for column in tables.contracts.columns if column.name != "skeleton"),
    ),
    CoveredPart(
        "versions",
        "version",
        tables.versions,
        tuple(column.name for column in tables.versions.columns if column.name not in _LIFECYCLE),
    ),
    CoveredPart("lifecycle", "status of version", tables.versions, _LIFECYCLE, has_rows=False),
    _part(tables.namespaces, "namespace"),
    _part(tables.upstreams, "upstream"),
    _part(tables.line_layers, "layer of line"),
    _part(tables.subscriptions, "subscription"),
    _part(tables.proposals, "proposal"),
    _part(tables.migrations, "migration"),
    _part(tables.migration_consumers, "consumer of migration"),
    _part(tables.waivers, "waiver"),
    CoveredPart(
        "incidents",
        "incident",
        tables.incidents,
        tuple(column.name for column in tables.incidents.columns if column.name not in _NEWEST_EVIDENCE),
    ),
    _part(tables.consumer_profiles, "profile of consumer"),
    _part(tables.certificates, "certificate"),
    _part(tables.finding_dispositions, "disposition of finding"),
    _part(tables.legacy_feeds, "legacy feed"),
    _part(tables.cutover_steps, "step of cut-over"),
    _part(tables.drift_decisions, "answer to drift finding"),
    _part(tables.channels, "channel"),
    _part(tables.schemas, "schema"),
    _part(tables.subjects, "subject"),
    _part(tables.subject_versions, "version of subject"),
    CoveredPart(
        "tokens",
        "token",
        tables.tokens,
        tuple(column.name for column in tables.tokens.columns if column.name != "last_used_at"),
    ),
    CoveredPart(
        "sessions",
        "session",
        tables.sessions,
        tuple(column.name for column in tables.sessions.columns if column.name != "seen_at"),
        is_kept=False,
    ),
)
"""What the audit log vouches for."""

NOT_COVERED = (
    "notices",
    "deliveries",
    "measures",
    "current_measures",
    "line_health",
    "datasets",
    "lineage_events",
    "observed_usage",
    "scanned_reads",
    "parallel_runs",
    "legacy_reads",
    "event_profiles",
    "drift_findings",
    "data_accesses",
    "schema_references",
    "schema_usage",
)
"""Tables without digests: messages that follow from entries, their delivery, measurements, the names of
datasets, and what lineage events and scans observed.

What schemas refer to follows from the schemas; how often clients use them is a measurement. The log of accesses to
rows is guarded by the database."""


@cache
def parts_of(table: Table) -> tuple[CoveredPart, ...]:
    """Return the covered parts of a table."""
    return tuple(part for part in COVERED if part.table is table)


class ChangedRows:
    """The rows that a transaction wrote, and their digests."""

    def __init__(self) -> None:
        self._digests: dict[tuple[CoveredPart, str], str | None] = {}

    def inserted(self, table: Table, row: Mapping[str, Any]) -> None:
        """Note a new row."""
        for part in parts_of(table):
            self._digests[part, part.key_of(row)] = part.digest(row)

    def updated(self, table: Table, key: Mapping[str, Any], columns: Iterable[str]) -> None:
        """Note that columns of a row changed; the row is read when the transaction ends."""
        changed = set(columns)
        for part in parts_of(table):
            if not changed.isdisjoint(part.columns):
                self._digests[part, part.key_of(key)] = None

    def digests(self, connection: Connection) -> RowDigests:
        """Return the digests of the rows as they are now."""
        result: dict[str, dict[str, str]] = {}
        for (part, key), digest in self._digests.items():
            if digest is not None:
                result.setdefault(part.name, {})[key] = digest
        for part in COVERED:
            keys = [key for (other, key), digest in self._digests.items() if other is part and digest is None]
            for row in _rows_at(connection, part, keys):
                result.setdefault(part.name, {})[part.key_of(row)] = part.digest(row)
        return result


def read_rows(connection: Connection, part: CoveredPart) -> Iterator[Mapping[str, Any]]:
    """Yield every row of a part."""
    for row in connection.execute(part.query().execution_options(yield_per=500)):
        yield row._asdict()


def _rows_at(connection: Connection, part: CoveredPart, keys: list[str]) -> Iterator[Mapping[str, Any]]:
    columns = [part.table.c[name] for name in part.key_names]
    for some in in_batches([tuple(json.loads(key)) for key in keys]):
        matches: ColumnElement[bool]
        matches = columns[0].in_([key[0] for key in some]) if len(columns) == 1 else tuple_(*columns).in_(some)
        for row in connection.execute(part.query().where(matches)):
            yield row._asdict()


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (bytes, memoryview)):
        return hashlib.sha256(value).hexdigest()
    return value
