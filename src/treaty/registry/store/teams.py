"""Teams: the contracts they own and the lines their consumers read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import ColumnElement, Connection, Text, and_, cast, distinct, func, not_, select

from treaty.contracts.versions import Line
from treaty.registry.documents import folded
from treaty.registry.model import TeamAnswer
from treaty.registry.store.lineage import NO_LINE
from treaty.registry.store.migration_records import ConsumerState, MigrationState
from treaty.registry.store.tables import (
    contracts,
    in_batches,
    migration_consumers,
    migrations,
    subscriptions,
    upstreams,
    versions,
)
from treaty.registry.store.visibility import Visibility

_C, _V, _S, _U = contracts.c, versions.c, subscriptions.c, upstreams.c
_M, _P = migrations.c, migration_consumers.c
_HIGHEST = contracts.join(versions, and_(_V.contract == _C.id, _V.version == _C.version))
_LIVE = (MigrationState.PROPOSED.value, MigrationState.OPEN.value)
_SPEAKS: ColumnElement[str] = func.coalesce(_S.team, _S.consumer)
"""The team of a consumer, by default its own name."""

_MAX_UPSTREAM_LINES = 5_000


@dataclass(frozen=True, slots=True)
class Realm:
    """The realm of a team: its contracts, its consumers, and the lines that these depend on."""

    owned: frozenset[str]
    consumers: frozenset[str]
    lines: frozenset[Line]
    read: frozenset[str]
    """The contracts of these lines."""


def realm_of(connection: Connection, visibility: Visibility, team: str) -> Realm:
    """Return the realm of a team."""
    named = _C.searched_owners.contains(f"\n{folded(team)}\n", autoescape=True)
    rows = connection.execute(
        select(_C.id, _V.owners).select_from(_HIGHEST).where(named, *visibility.conditions(_C.id))
    )
    owned = frozenset(row.id for row in rows if any(owner["team"] == team for owner in row.owners))
    statement = select(_S.consumer, _S.contract, _S.major).where(_S.active, _SPEAKS.in_([team]))
    read = connection.execute(statement.where(*visibility.subscription_conditions())).all()
    lines = {Line(row.contract, row.major) for row in read}
    lines.update(islice(_upstream_of(connection, owned), _MAX_UPSTREAM_LINES))
    consumers = frozenset(row.consumer for row in read)
    return Realm(owned, consumers, frozenset(lines), frozenset(line.contract for line in lines))


def _upstream_of(connection: Connection, owned: frozenset[str]) -> Iterator[Line]:
    """Return the lines that contracts are derived from, transitively."""
    names = sorted(owned)
    for some_names in in_batches(names):
        some = _U.contract.in_(some_names)
        statement = (
            select(_U.upstream, _U.upstream_major).where(some, _U.active, _U.upstream_major != NO_LINE).distinct()
        )
        for row in connection.execute(statement.order_by(_U.upstream, _U.upstream_major)):
            yield Line(row.upstream, row.upstream_major)


def page(connection: Connection, visibility: Visibility, after: str, limit: int) -> list[TeamAnswer]:
    """Return some teams that own or read something, by name."""
    owns = _owns(connection, visibility)
    counts = select(_SPEAKS, func.count(), func.count(distinct(_S.consumer)))
    statement = counts.where(_S.active, *visibility.subscription_conditions()).group_by(_SPEAKS)
    reads = {team: (lines, consumers) for team, lines, consumers in connection.execute(statement)}
    names = sorted(name for name in owns.keys() | reads.keys() if name > after)[:limit]
    waiting = _waiting(connection, visibility) if names else {}
    return [
        TeamAnswer(
            team=name,
            owns=owns[name],
            reads=reads.get(name, (0, 0))[0],
            consumers=reads.get(name, (0, 0))[1],
            waiting=waiting.get(name, 0),
        )
        for name in names
    ]


def _owns(connection: Connection, visibility: Visibility) -> Counter[str]:
    """Count contracts by owner; the same owners are written the same way, so few lists are read."""
    owners = cast(_V.owners, Text)
    result: Counter[str] = Counter()
    statement = select(owners, func.count()).select_from(_HIGHEST).where(*visibility.conditions(_C.id))
    for text, count in connection.execute(statement.group_by(owners)):
        for team in {owner["team"] for owner in json.loads(text)}:
            result[team] += count
    return result


def _waiting(connection: Connection, visibility: Visibility) -> dict[str, int]:
    """Count the open migrations in which a consumer of a team still reads the old line and has not answered."""
    reads = and_(_S.consumer == _P.consumer, _S.contract == _M.contract, _S.major == _M.major, _S.active)
    joined = migration_consumers.join(migrations, _M.id == _P.migration).join(subscriptions, reads)
    statement = select(_SPEAKS, func.count(distinct(_M.id))).select_from(joined)
    statement = statement.where(_M.state.in_(_LIVE), _P.state == ConsumerState.WAITING.value)
    statement = statement.where(*visibility.subscription_conditions()).group_by(_SPEAKS)
    return {row[0]: row[1] for row in connection.execute(statement)}


def hidden_parties(connection: Connection, visibility: Visibility) -> frozenset[str]:
    """Return the teams and consumers that an actor could know only from contracts that it may not see."""
    owners = select(cast(_V.owners, Text)).distinct()
    of_hidden = connection.execute(owners.where(not_(visibility.conditions(_V.contract)[0]))).scalars()
    hidden = {owner["team"] for text in of_hidden for owner in json.loads(text)} | visibility.hidden
    names = select(_S.consumer, _SPEAKS.label("team")).distinct()
    conditions = visibility.subscription_conditions()
    for row in connection.execute(names.where(not_(and_(*conditions)))):
        hidden |= {row.consumer, row.team}
    for row in connection.execute(names.where(*conditions)):
        hidden -= {row.consumer, row.team}
    for some in in_batches(sorted(hidden)):
        known = select(_C.id).where(_C.id.in_(some), *visibility.conditions(_C.id))
        hidden -= set(connection.execute(known).scalars())
    return frozenset(hidden - _owns(connection, visibility).keys())
