"""Actors in the database: random ids for names, and the erasure of a name."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Table, delete, func, or_, select, update

from treaty.registry.store.tables import (
    ERASED,
    METADATA,
    actor_columns,
    actors,
    audit,
    id_of_actor,
    notices,
    proposals,
    schema_usage,
    sessions,
    tokens,
)

if TYPE_CHECKING:
    from datetime import datetime

    from treaty.registry.store.transaction import Transaction

_ID_BYTES = 6
_SALT_BYTES = 16


class KnownActors:
    """Ids of actors by name, kept by a process until any process erases a name."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self._erased = 0

    def keep_if(self, erased: int) -> None:
        """Drop all ids unless as many names are erased as before."""
        if erased != self._erased:
            self.ids.clear()
            self._erased = erased


def new_actor(name: str) -> dict[str, Any]:
    """Return the row of a new actor."""
    return {
        "id": f"a_{secrets.token_hex(_ID_BYTES)}",
        "name": name,
        "salt": secrets.token_hex(_SALT_BYTES),
        "erased_at": None,
    }


class Traces(NamedTuple):
    """Where the registry refers to an actor."""

    entries: int
    rows: int
    notices: int
    sessions: int


def ids_of(connection: Connection, name: str) -> dict[str, str]:
    """Return the id of a name, and those of the identities that it signed in with, by name."""
    holders = select(tokens.c.holder).where(tokens.c.name == id_of_actor(name))
    proposers = select(proposals.c.proposer_identity).where(proposals.c.proposed_by == id_of_actor(name))
    signed_in = select(sessions.c.identity).where(sessions.c.name == id_of_actor(name))
    found = {name, f"local:{name}", f"oidc:{name}"}
    for query in (holders, proposers, signed_in):
        found.update(identity for identity in connection.execute(query).scalars() if identity is not None)
    query = select(actors.c.name, actors.c.id).where(actors.c.name.in_(found))
    return {row.name: row.id for row in connection.execute(query)}


def token_in_force(connection: Connection, names: Mapping[str, str], now: datetime) -> str | None:
    """Return the id of a token that an actor can still sign in with, if there is one."""
    ids = list(names.values())
    of_actor = or_(tokens.c.name.in_(ids), tokens.c.holder.in_(ids))
    query = select(tokens.c.id).where(of_actor, tokens.c.revoked_at.is_(None), tokens.c.expires_at > now).limit(1)
    return connection.execute(query).scalar_one_or_none()


def open_proposal(connection: Connection, names: Mapping[str, str]) -> int | None:
    """Return the number of a proposal of an actor that waits for a decision, if there is one."""
    ids = list(names.values())
    of_actor = or_(proposals.c.proposed_by.in_(ids), proposals.c.proposer_identity.in_(ids))
    query = select(proposals.c.id).where(of_actor, proposals.c.state == "open").limit(1)
    return connection.execute(query).scalar_one_or_none()


def count_traces(connection: Connection, names: Mapping[str, str]) -> Traces:
    """Count the entries and rows that refer to an actor, and the notices and sessions that contain the name."""
    ids = list(names.values())
    kept = [table for table in METADATA.sorted_tables if table not in (audit, sessions)]
    rows = sum(_count(connection, table, ids) for table in kept) + _count_clients(connection, names)
    named = sum(1 for _ in _notices_with(connection, names))
    return Traces(_count(connection, audit, ids), rows, named, _count(connection, sessions, ids))


def erase(transaction: Transaction, names: Mapping[str, str]) -> None:
    """Erase names: their rows in the table of actors, the texts of notices, clients of schemas, and sessions."""
    connection = transaction.connection
    for row in list(_notices_with(connection, names)):
        values = {"headline": row["headline"], "details": row["details"]}
        transaction.write(update(notices).where(notices.c.seq == row["seq"]).values(values))
    ids = list(names.values())
    transaction.write(delete(sessions).where(or_(sessions.c.name.in_(ids), sessions.c.identity.in_(ids))))
    for name, identity in names.items():
        words = f"{ERASED}{identity}"
        transaction.write(update(schema_usage).where(schema_usage.c.client == name).values(client=words))
        transaction.update(actors, {"id": identity}, {"name": None, "salt": None, "erased_at": transaction.now})
    transaction.forget_actors(names)


def _count(connection: Connection, table: Table, ids: list[str]) -> int:
    columns = [table.c[name] for name in actor_columns(table)]
    if not columns:
        return 0
    refers = or_(*(column.in_(ids) for column in columns))
    return int(connection.execute(select(func.count()).select_from(table).where(refers)).scalar_one())


def _count_clients(connection: Connection, names: Mapping[str, str]) -> int:
    """Count the uses of schemas by clients that signed in with a name."""
    query = select(func.count()).select_from(schema_usage).where(schema_usage.c.client.in_(names))
    return int(connection.execute(query).scalar_one())


def _notices_with(connection: Connection, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the notices that contain a name, as they are without it."""
    query = select(notices.c.seq, notices.c.headline, notices.c.details)
    for row in connection.execute(query.execution_options(yield_per=500)):
        headline, details = _without(row.headline, names), _without(row.details, names)
        if (headline, details) != (row.headline, row.details):
            yield {"seq": row.seq, "headline": headline, "details": details}


def _without(value: Any, names: Mapping[str, str]) -> Any:
    """Return a text, or the texts of a JSON value, with the words for erased names."""
    if isinstance(value, dict):
        return {_without(key, names): _without(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_without(one, names) for one in value]
    if isinstance(value, str):
        for name in sorted(names, key=len, reverse=True):
            if name in value:
                value = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"{ERASED}{names[name]}", value)
    return value
