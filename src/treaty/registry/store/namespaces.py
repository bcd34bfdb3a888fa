"""Owners of namespaces, and look-alike ids, in the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, Row, and_, bindparam, select

from treaty.contracts.lookalikes import prefixes, skeleton
from treaty.registry.store.tables import contracts, in_batches, namespaces, versions
from treaty.registry.store.transaction import NAMESPACES, Transaction

_N, _C, _V = namespaces.c, contracts.c, versions.c
_ASSIGNED = _N.released_at.is_(None)
_LOOKALIKE = (
    select(_C.id, _C.readers)
    .where(_C.skeleton == bindparam("skeleton"), _C.id != bindparam("contract"))
    .order_by(_C.id)
    .limit(1)
)
"""Built once, because every new contract needs it."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """A prefix of ids, and the team that it belongs to."""

    prefix: str
    team: str
    assigned_at: datetime
    assigned_by: str


@dataclass(frozen=True, slots=True)
class OwnedContract:
    """A contract, and the teams that its highest version names as owners."""

    id: str
    teams: frozenset[str]


class Lookalike(NamedTuple):
    """A contract with an id that is easily mistaken for another."""

    id: str
    is_private: bool


def namespace_of(connection: Connection, contract: str) -> Namespace | None:
    """Return the namespace of an id: the longest prefix that belongs to a team; look-alikes of a prefix count."""
    names = prefixes(contract)
    assigned: dict[str, Namespace] = {}
    for some in in_batches(names):
        rows = connection.execute(select(namespaces).where(_N.skeleton.in_(some), _ASSIGNED))
        assigned |= {row.skeleton: _namespace(row) for row in rows}
    return next((assigned[name] for name in names if name in assigned), None)


def find_assigned(connection: Connection, prefix: str) -> Namespace | None:
    """Return the namespace with a prefix or a look-alike of it."""
    row = connection.execute(select(namespaces).where(_N.skeleton == skeleton(prefix), _ASSIGNED)).one_or_none()
    return None if row is None else _namespace(row)


def list_namespaces(connection: Connection, after: str, limit: int) -> list[Namespace]:
    """Return namespaces after a prefix, by prefix."""
    query = select(namespaces).where(_N.prefix > after, _ASSIGNED).order_by(_N.prefix).limit(limit)
    return [_namespace(row) for row in connection.execute(query)]


def put_namespace(transaction: Transaction, namespace: Namespace) -> None:
    """Store the owner of a namespace."""
    values = {
        "skeleton": skeleton(namespace.prefix),
        "team": namespace.team,
        "assigned_at": namespace.assigned_at,
        "assigned_by": namespace.assigned_by,
        "released_at": None,
    }
    key = {"prefix": namespace.prefix}
    if not transaction.update(namespaces, key, values):
        transaction.insert(namespaces, {**key, **values})
    transaction.forget(NAMESPACES)


def release_namespace(transaction: Transaction, prefix: str) -> None:
    """Mark a namespace as released."""
    transaction.update(namespaces, {"prefix": prefix}, {"released_at": transaction.now})
    transaction.forget(NAMESPACES)


def contracts_in(connection: Connection, prefix: str) -> Iterator[OwnedContract]:
    """Yield the contracts whose ids begin with a prefix or a look-alike of it, by id."""
    highest = contracts.join(versions, and_(_V.contract == _C.id, _V.version == _C.version))
    query = select(_C.id, _V.owners).select_from(highest)
    query = query.where(_C.skeleton.startswith(skeleton(prefix), autoescape=True)).order_by(_C.id)
    for row in connection.execute(query):
        yield OwnedContract(row.id, frozenset(owner["team"] for owner in row.owners))


def find_lookalike(connection: Connection, contract: str) -> Lookalike | None:
    """Return another contract whose id people read as the same."""
    row = connection.execute(_LOOKALIKE, {"skeleton": skeleton(contract), "contract": contract}).one_or_none()
    return None if row is None else Lookalike(row.id, row.readers is not None)


def _namespace(row: Row[tuple[object, ...]]) -> Namespace:
    return Namespace(row.prefix, row.team, row.assigned_at, row.assigned_by)
