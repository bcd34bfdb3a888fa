"""The health of lines in the database, which follows from measures, incidents and lineage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    ScalarSelect,
    and_,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
)

from treaty.contracts.versions import Line, parse_line
from treaty.observability.health import HEALTH_RANKS, Health, LineHealth, format_blocked, health_for_rank
from treaty.registry.store.tables import contracts, in_batches, line_health
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Sight, Visibility

_H = line_health.c


@dataclass(frozen=True, slots=True)
class StoredHealth:
    """The health of a line, and when its next measure is overdue."""

    health: LineHealth
    silent_at: datetime | None = None


def healths(connection: Connection, lines: Iterable[Line]) -> dict[Line, StoredHealth]:
    """Return the health of some lines as it was stored last."""
    wanted, found = set(lines), dict[Line, StoredHealth]()
    for part in in_batches(sorted({line.contract for line in wanted})):
        for row in connection.execute(select(line_health).where(_H.contract.in_(part))):
            found[Line(row.contract, row.major)] = _health(row)
    return {line: health for line, health in found.items() if line in wanted}


def put_healths(transaction: Transaction, healths_: Sequence[StoredHealth]) -> None:
    """Store the health of some lines."""
    delete_healths(transaction, [one.health.line for one in healths_])
    rows = [_health_values(one) for one in healths_]
    if rows:
        transaction.write(insert(line_health), rows)


def delete_healths(transaction: Transaction, lines: Iterable[Line]) -> None:
    """Delete the health of some lines."""
    for part in in_batches(sorted((line.contract, line.major) for line in lines)):
        transaction.write(delete(line_health).where(tuple_(_H.contract, _H.major).in_(part)))


def _health_values(stored: StoredHealth) -> dict[str, Any]:
    health = stored.health
    return {
        "contract": health.line.contract,
        "major": health.line.major,
        "rank": health.rank,
        "cause": health.cause,
        "blocked_by": str(health.blocked_by) if health.blocked_by else None,
        "incident": health.incident,
        "since": health.since,
        "valid_until": health.valid_until,
        "silent_at": stored.silent_at,
    }


def overdue(connection: Connection, now: datetime, limit: int) -> list[Line]:
    """Return lines of which the next measure is overdue."""
    query = select(_H.contract, _H.major).where(_H.silent_at.is_not(None), _H.silent_at <= now)
    rows = connection.execute(query.order_by(_H.silent_at, _H.contract, _H.major).limit(limit))
    return [Line(row.contract, row.major) for row in rows]


def rank_at(now: datetime) -> ColumnElement[int]:
    """Return the rank of the health of a line at a time; 0 if it has lapsed."""
    return case((or_(_H.valid_until.is_(None), _H.valid_until > now), _H.rank), else_=0)


def worst_rank_at(now: datetime) -> ScalarSelect[int]:
    """Return the rank of the health of a contract: that of its worst line; null if no line was measured."""
    return select(func.max(rank_at(now))).where(_H.contract == contracts.c.id).scalar_subquery()


def counted_by_rank(connection: Connection, visibility: Visibility, now: datetime) -> dict[int, int]:
    """Count the contracts by the rank of their health; those without a measured line are not among them."""
    worst = select(func.max(rank_at(now)).label("rank")).where(*visibility.conditions(_H.contract))
    ranks = worst.group_by(_H.contract).subquery()
    statement = select(ranks.c.rank, func.count().label("contracts")).group_by(ranks.c.rank)
    return {row.rank: row.contracts for row in connection.execute(statement)}


def worst_lines(connection: Connection, now: datetime, names: Iterable[str]) -> dict[str, LineHealth]:
    """Return the health of the worst line of each contract; of equals, the highest line."""
    worst: dict[str, LineHealth] = {}
    for part in in_batches(sorted(set(names))):
        query = select(line_health).where(_H.contract.in_(part)).order_by(_H.contract, _H.major)
        for row in connection.execute(query):
            health = lapsed(_health(row).health, now)
            if row.contract not in worst or health.rank >= worst[row.contract].rank:
                worst[row.contract] = health
    return worst


def health_of_lines(connection: Connection, now: datetime, names: Iterable[str]) -> dict[Line, LineHealth]:
    """Return the health of all measured lines of some contracts."""
    found: dict[Line, LineHealth] = {}
    for part in in_batches(sorted(set(names))):
        for row in connection.execute(select(line_health).where(_H.contract.in_(part))):
            health = lapsed(_health(row).health, now)
            found[health.line] = health
    return found


def lines_by_health(connection: Connection, visibility: Visibility, now: datetime, limit: int) -> list[LineHealth]:
    """Return the health of lines that have one, the worst first, then by name."""
    rank = rank_at(now)
    query = select(line_health).where(rank > 0, *visibility.conditions(_H.contract))
    rows = connection.execute(query.order_by(rank.desc(), _H.contract, _H.major).limit(limit))
    return [_health(row).health for row in rows]


def count_lines(connection: Connection, visibility: Visibility, now: datetime) -> int:
    """Count the lines that have a health."""
    query = select(func.count()).where(rank_at(now) > 0, *visibility.conditions(_H.contract))
    return connection.execute(query.select_from(line_health)).scalar_one()


def contracts_by_health(
    connection: Connection,
    visibility: Visibility,
    now: datetime,
    health: Health | None,
    after: tuple[int, str] | None,
    limit: int,
) -> list[tuple[str, str | None, int]]:
    """Return id, title and rank of measured contracts, the worst first."""
    worst = select(_H.contract, func.max(rank_at(now)).label("rank")).group_by(_H.contract).subquery().c
    query = select(worst.contract, contracts.c.name, worst.rank).join(contracts, contracts.c.id == worst.contract)
    query = query.where(*visibility.conditions(worst.contract))
    if health is not None:
        query = query.where(worst.rank == HEALTH_RANKS[health])
    if after is not None:
        rank, name = after
        query = query.where(or_(worst.rank < rank, and_(worst.rank == rank, worst.contract > name)))
    rows = connection.execute(query.order_by(worst.rank.desc(), worst.contract).limit(limit))
    return [(row.contract, row.name, row.rank) for row in rows]


def title_of(connection: Connection, contract: str) -> str | None:
    """Return what a contract calls itself."""
    return connection.execute(select(contracts.c.name).where(contracts.c.id == contract)).scalar_one_or_none()


def shown_cause(health: LineHealth, visibility: Sight) -> str:
    """Return the cause of a health state as an actor may see it: a line that it may not see is not named."""
    if health.blocked_by is None:
        return health.cause
    contract = health.blocked_by.contract
    return format_blocked(contract if visibility.sees(contract) else None)


def lapsed(health: LineHealth, now: datetime) -> LineHealth:
    """Return the health at a time: nothing is known once it is no longer valid."""
    is_valid = health.valid_until is None or health.valid_until > now
    return health if is_valid else LineHealth(health.line)


def _health(row: Row[Any]) -> StoredHealth:
    health = LineHealth(
        Line(row.contract, row.major),
        health_for_rank(row.rank),
        row.cause,
        parse_line(row.blocked_by) if row.blocked_by else None,
        row.incident,
        row.since,
        row.valid_until,
    )
    return StoredHealth(health, row.silent_at)
