"""Conversion of a database that contains names of actors where there are ids now. It is done once, by an upgrade."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, bindparam, insert, select, text, type_coerce, update
from sqlalchemy.types import Text

from treaty.registry.store.actors import new_actor
from treaty.registry.store.audit_check import CONVERTED, ROWS_PER_ENTRY, SYSTEM
from treaty.registry.store.audit_log import NAMED_IN_DETAILS, NOTHING_BEFORE, Entry, chained, read_entries
from treaty.registry.store.row_digests import COVERED, CoveredPart, read_rows
from treaty.registry.store.tables import METADATA, actor_columns, actors, audit, in_batches, stored

_GUARDED = ("audit", "versions")
_AT_ONCE = 1_000


def convert(connection: Connection, now: datetime) -> None:
    """Replace the names of actors by ids, in all rows and in the log, which is chained again.

    Every entry keeps the hash that it had, so that heads and checkpoints from before can still be checked. A row that
    does not match the log keeps its digest there, and is found as it was found before.
    """
    recorded = {
        (part, key): digest
        for entry in read_entries(connection)
        for part, digests in (entry.row_digests or {}).items()
        for key, digest in digests.items()
    }
    intact = [
        (part, part.key_of(row))
        for part in COVERED
        if actor_columns(part.table)
        for row in read_rows(connection, part)
        if recorded.get((part.name, part.key_of(row))) == part.digest(row)
    ]
    names = _names(connection)
    if not names:
        return
    ids = _add_actors(connection, names | {SYSTEM})
    with _guards_off(connection):
        for table in METADATA.sorted_tables:
            if table is not audit:
                _convert_rows(connection, table)
        old_head, newest = _chain_again(connection, ids)
    digests = [*_digests_now(connection, intact)] if recorded else []
    _record_conversion(connection, now, ids[SYSTEM], old_head, newest, digests)


def _names(connection: Connection) -> set[str]:
    """Return all names of actors that there are."""
    names: set[str] = set()
    for table in METADATA.sorted_tables:
        for column in actor_columns(table):
            query = select(stored(table.c[column])).distinct()
            names.update(name for name in connection.execute(query).scalars() if name is not None)
    for entry in read_entries(connection):
        if (key := NAMED_IN_DETAILS.get(entry.action)) in entry.details:
            names.add(entry.details[str(key)])
    return names


def _add_actors(connection: Connection, names: set[str]) -> dict[str, str]:
    """Add names to the table of actors, and return their ids."""
    rows = [new_actor(name) for name in sorted(names)]
    connection.execute(insert(actors), rows)
    return {row["name"]: row["id"] for row in rows}


def _convert_rows(connection: Connection, table: Table) -> None:
    for column in actor_columns(table):
        name = type_coerce(table.c[column], Text)
        identity = select(actors.c.id).where(actors.c.name == name).correlate(table).scalar_subquery()
        connection.execute(update(table).where(table.c[column].is_not(None)).values({column: identity}))


def _chain_again(connection: Connection, ids: Mapping[str, str]) -> tuple[str, Entry | None]:
    """Write the entries with ids, and return the hash of the newest before and the newest entry now."""
    statement = (
        update(audit)
        .where(audit.c.seq == bindparam("key"))
        .values({name: bindparam(f"new_{name}") for name in ("actor", "details", "previous", "hash", "converted_from")})
    )
    old_head, head, newest = NOTHING_BEFORE, NOTHING_BEFORE, None
    some: list[dict[str, Any]] = []
    for entry in [*read_entries(connection)]:
        newest = _converted(entry, entry.previous if entry.previous != old_head else head, ids)
        old_head, head = entry.hash, newest.hash
        some.append(
            {
                "key": newest.seq,
                "new_actor": newest.actor,
                "new_details": newest.details,
                "new_previous": newest.previous,
                "new_hash": newest.hash,
                "new_converted_from": newest.converted_from,
            }
        )
    for batch in in_batches(some, _AT_ONCE):
        connection.execute(statement, list(batch))
    return old_head, newest


def _converted(entry: Entry, previous: str, ids: Mapping[str, str]) -> Entry:
    """Return an entry with ids. One that was changed outside the registry keeps its hash, and is still found."""
    details = dict(entry.details)
    if (key := NAMED_IN_DETAILS.get(entry.action)) is not None and key in details:
        details[key] = ids[details[key]]
    converted = chained(
        previous,
        entry.seq,
        entry.at,
        ids[entry.actor],
        entry.action,
        entry.subject,
        entry.before,
        entry.after,
        details,
        entry.row_digests,
        entry.hash,
    )
    is_intact = entry.with_digests(entry.row_digests).hash == entry.hash
    return converted if is_intact else converted._replace(hash=entry.hash)


def _digests_now(connection: Connection, intact: list[tuple[CoveredPart, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield part, key and digest of the converted rows that matched the log, and of all actors."""
    wanted = set(intact)
    for part in COVERED:
        if part.table is actors or any(part is one for one, _ in wanted):
            for row in read_rows(connection, part):
                key = part.key_of(row)
                if part.table is actors or (part, key) in wanted:
                    yield part.name, key, part.digest(row)


def _record_conversion(
    connection: Connection,
    now: datetime,
    actor: str,
    old_head: str,
    newest: Entry | None,
    digests: list[tuple[str, str, str]],
) -> None:
    """Add the entries that name the head of the log before, with the digests of the converted rows."""
    seq, head = (newest.seq, newest.hash) if newest else (0, NOTHING_BEFORE)
    details = {"head": f"{seq}:{old_head}"}
    for start in range(0, max(1, len(digests)), ROWS_PER_ENTRY):
        some: dict[str, dict[str, str]] = {}
        for name, key, digest in digests[start : start + ROWS_PER_ENTRY]:
            some.setdefault(name, {})[key] = digest
        entry = chained(head, seq + 1, now, actor, CONVERTED, "*", None, None, details, some or None)
        connection.execute(insert(audit), entry.as_row())
        seq, head = entry.seq, entry.hash


@contextmanager
def _guards_off(connection: Connection) -> Iterator[None]:
    """Switch off the triggers that refuse changes to history."""
    if connection.dialect.name == "postgresql":
        for table in _GUARDED:
            connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        yield
        for table in _GUARDED:
            connection.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER USER"))
        return
    query = text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('audit', 'versions')")
    triggers = connection.execute(query).all()
    for trigger in triggers:
        connection.exec_driver_sql(f"DROP TRIGGER {trigger.name}")
    yield
    for trigger in triggers:
        connection.exec_driver_sql(trigger.sql)
