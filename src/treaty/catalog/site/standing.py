"""What a site is drawn from: the registry as of its newest change, the day, and everything that draws."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from sqlalchemy import func, select

import treaty
from treaty.catalog.site.manifest import Stand
from treaty.catalog.sources import Source, everything
from treaty.registry.answers import ContractAnswer
from treaty.registry.local import Registry
from treaty.registry.store.tables import audit, current_measures, subscriptions

_DRAWING = (".py", ".html", ".css", ".js", ".svg")


@dataclass(frozen=True, slots=True)
class Head:
    """The newest change of a registry."""

    seq: int
    hash: str
    at: datetime


def head_of(source: Source) -> Head | None:
    """Return the newest change; a server tells only those who may read its audit log, so that it is not asked."""
    if not isinstance(source, Registry):
        return None
    newest = select(audit.c.seq, audit.c.hash, audit.c.at).order_by(audit.c.seq.desc()).limit(1)
    with source.desk.database.read() as connection:
        row = connection.execute(newest).one_or_none()
    return Head(*row) if row else Head(0, "", source.desk.database.clock())


def measured(source: Source) -> dict[str, str]:
    """Return when each contract was last measured, as far as that is known without asking for each."""
    if not isinstance(source, Registry):
        return {}
    newest = select(current_measures.c.contract, func.max(current_measures.c.at)).group_by(current_measures.c.contract)
    with source.desk.database.read() as connection:
        return {contract: at.isoformat() for contract, at in connection.execute(newest)}


def readers_of(source: Source) -> frozenset[str]:
    """Return the names of all who read something; a list of subscriptions would look up much that is not needed."""
    if not isinstance(source, Registry):
        listed = everything(lambda cursor, limit: source.consumers.subscriptions(cursor=cursor, limit=limit))
        return frozenset(one.consumer for one in listed)
    with source.desk.database.read() as connection:
        return frozenset(connection.execute(select(subscriptions.c.consumer).distinct()).scalars())


def newest_of(head: Head | None, found: list[ContractAnswer]) -> datetime | None:
    """Return when the newest change that is shown was made: any, or where that is not told, a registration."""
    if head is not None:
        return head.at if head.seq else None
    return max((one.updated_at for one in found), default=None)


def today(source: Source) -> datetime:
    """Return the day it is, at its last moment: pages count days, are the same all day, and show all of it."""
    now = source.desk.database.clock() if isinstance(source, Registry) else datetime.now(UTC)
    return now.astimezone(UTC).replace(hour=23, minute=59, second=59, microsecond=0)


def stand_of(source: Source, day: datetime, name: str, head: Head | None) -> Stand:
    """Return what a site is drawn from."""
    seq, known = (head.seq, hash_of(head.hash)) if head else (None, None)
    return Stand(drawn_with(), day.date().isoformat(), name, seq, known, measured(source))


def hash_of(entry: str) -> str:
    """Return what is remembered of an entry's hash: a folder that is published does not tell the hash itself."""
    return sha256(entry.encode()).hexdigest()


@cache
def drawn_with() -> str:
    """Return a digest of everything that draws, so that a newer Treaty draws everything anew."""
    found = sha256(treaty.__version__.encode())
    root = Path(str(files("treaty.catalog")))
    for file in sorted(one for one in root.rglob("*") if one.suffix in _DRAWING):
        found.update(file.relative_to(root).as_posix().encode())
        found.update(file.read_bytes())
    return found.hexdigest()
