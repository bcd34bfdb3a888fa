"""Who acts: actors, access tokens and sessions. Other tables refer to actors by their ids."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    ScalarSelect,
    String,
    Table,
    Text,
    func,
    literal,
    select,
    type_coerce,
)
from sqlalchemy.types import TypeDecorator

from treaty.registry.store.tables.metadata import METADATA
from treaty.registry.store.types import Moment

actors = Table(
    "actors",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("name", Text, unique=True),  # a name, or the identity of a sign-in; null: erased
    Column("salt", String(32)),  # keeps the digest of the row from confirming a guessed name; erased with it
    Column("erased_at", Moment),
)
"""The names of those who act. All other tables refer to them by random ids, so that a name can be erased."""


ERASED = "erased user "
"""What the registry shows before the id of an actor whose name was erased."""


name_of_actor = func.coalesce(actors.c.name, literal(ERASED, Text, literal_execute=True).concat(actors.c.id))
"""The name of an actor, or words in its place if it was erased."""


class ActorId(TypeDecorator[str]):
    """The id of an actor; a query returns the name instead, see `stored`."""

    impl = Text
    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return the name of the actor, or words in its place if the name was erased."""
        identity = type_coerce(column, Text)
        name = select(name_of_actor).where(actors.c.id == identity).correlate_except(actors).scalar_subquery()
        return func.coalesce(name, identity)


def stored(column: Column[Any]) -> ColumnElement[Any]:
    """Select a column as it is stored: an actor by the id, not by the name."""
    return type_coerce(column, Text).label(column.name) if isinstance(column.type, ActorId) else column


@cache
def actor_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of a table that refer to actors."""
    return tuple(column.name for column in table.columns if isinstance(column.type, ActorId))


def id_of_actor(name: str) -> ScalarSelect[str]:
    """Return the query of the id of an actor, to compare a column with."""
    return select(actors.c.id).where(actors.c.name == name).scalar_subquery()


tokens = Table(
    "tokens",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("name", ActorId, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("team", Text),
    Column("scopes", JSON, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", ActorId, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    Column("holder", ActorId),  # the identity it was created for, if it is not its own
    Column("last_used_at", Moment),  # within minutes; the audit log does not vouch for it
)


SESSION_ID_LENGTH = 16
"""The characters of the digest that name a session in lists."""


sessions = Table(
    "sessions",
    METADATA,
    Column("digest", String(64), primary_key=True),  # of the secret id
    Column("name", ActorId, nullable=False),
    Column("identity", ActorId, nullable=False),
    Column("via", String(16), nullable=False),
    Column("token", String(32), index=True),
    Column("grants", JSON, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("login", String(64), unique=True),  # of the state of an OIDC sign-in
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
)
"""Sessions of browsers; deleted some time after they ended."""
