"""Measures in the database: the history, and the newest of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Row,
    ScalarSelect,
    and_,
    case,
    delete,
    func,
    insert,
    select,
    tuple_,
    type_coerce,
)

from treaty.observability.measures import RANKS, DayState, Measure, State, current_since, state_for_rank, summarize_day
from treaty.registry.store.tables import contracts, current_measures, in_batches, measures
from treaty.registry.store.transaction import Transaction

_M = measures.c
_N = current_measures.c
_DAY = 86_400_000_000  # in microseconds, as moments are stored
_FIRST_DAY = date(1970, 1, 1)
RANK = case({state.value: rank for state, rank in RANKS.items() if state}, value=_M.state, else_=0)
Key = tuple[str, str]


class GridRow(NamedTuple):
    """One contract of the health grid, with its state on each day."""

    contract: str
    name: str | None
    domain: str | None
    rank: int
    days: tuple[DayState, ...]


def health_at(now: datetime) -> ScalarSelect[int]:
    """Return the health rank of a contract: its worst current measure; null without a recent one."""
    recent = _N.at > current_since(now)
    return select(func.max(_N.rank)).where(_N.contract == contracts.c.id, recent).scalar_subquery()


def counted_by_rank(connection: Connection, now: datetime) -> dict[int, int]:
    """Count the contracts by their health, as a rank; those without a recent measure are not among them."""
    worst = select(func.max(_N.rank).label("rank")).where(_N.at > current_since(now)).group_by(_N.contract).subquery()
    statement = select(worst.c.rank, func.count().label("contracts")).group_by(worst.c.rank)
    return {row.rank: row.contracts for row in connection.execute(statement)}


def add(transaction: Transaction, new_measures: Sequence[Measure], by: str, keep_since: datetime) -> int:
    """Add measures that are not known yet, and return how many; of each kind the newest becomes the current one."""
    keys = sorted({(measure.contract, measure.name) for measure in new_measures})
    before = _current(transaction.connection, keys)
    known = _known(transaction.connection, new_measures)
    fresh = {(measure.contract, measure.name, measure.at): measure for measure in new_measures}
    fresh = {key: measure for key, measure in fresh.items() if key not in known}
    if not fresh:
        return 0
    transaction.write(insert(measures), [{**_values(measure), "recorded_by": by} for measure in fresh.values()])
    newest: dict[Key, Measure] = {}
    for measure in sorted(fresh.values(), key=lambda measure: measure.at):
        if (measure.contract, measure.name) not in before or before[measure.contract, measure.name] < measure.at:
            newest[measure.contract, measure.name] = measure
    if newest:
        _replace_current(transaction, newest)
        _let_go(
            transaction,
            [key for key, measure in newest.items() if _is_new_day(before.get(key), measure.at)],
            keep_since,
        )
    return len(fresh)


def current(connection: Connection, contract: str | None, name: str | None, after: Key, limit: int) -> list[Measure]:
    """Return the newest measures, by contract and name."""
    statement = select(current_measures).where(tuple_(_N.contract, _N.name) > tuple_(*after))
    if contract is not None:
        statement = statement.where(_N.contract == contract)
    if name is not None:
        statement = statement.where(_N.name == name)
    return [_measure(row) for row in connection.execute(statement.order_by(_N.contract, _N.name).limit(limit))]


def last_measured(connection: Connection) -> dict[str, datetime]:
    """Return when each contract was last measured."""
    query = select(_N.contract, func.max(_N.at).label("at")).group_by(_N.contract)
    return {row.contract: row.at for row in connection.execute(query)}


def history(
    connection: Connection, contract: str, name: str, since: datetime, before: datetime | None, limit: int
) -> list[Measure]:
    """Return measures of one kind, the newest first."""
    statement = select(measures).where(_M.contract == contract, _M.name == name, _M.at >= since)
    if before is not None:
        statement = statement.where(_M.at < before)
    return [_measure(row) for row in connection.execute(statement.order_by(_M.at.desc()).limit(limit))]


def grid(
    connection: Connection, now: datetime, since: date, domain: str | None, after: tuple[int, str] | None, limit: int
) -> list[GridRow]:
    """Return the daily states of all measured contracts, the worst current health first."""
    rank_now = case((_N.at > current_since(now), _N.rank), else_=0)
    worst = select(_N.contract, func.max(rank_now).label("health")).group_by(_N.contract).subquery().c
    health, identity = worst.health, worst.contract
    statement = select(identity, contracts.c.name, contracts.c.domain, health).join(
        contracts, contracts.c.id == identity
    )
    if domain is not None:
        statement = statement.where(contracts.c.domain == domain)
    if after is not None:
        rank, contract = after
        statement = statement.where((health < rank) | and_(health == rank, identity > contract))
    rows = connection.execute(statement.order_by(health.desc(), identity).limit(limit)).all()
    days = _days(connection, [row.contract for row in rows], since)
    return [GridRow(row.contract, row.name, row.domain, row.health, tuple(days.get(row.contract, ()))) for row in rows]


def _days(connection: Connection, ids: Sequence[str], since: date) -> dict[str, list[DayState]]:
    """Aggregate states in the database, to one row per day and kind."""
    number = type_coerce(_M.at, BigInteger) // _DAY
    start = datetime(since.year, since.month, since.day, tzinfo=UTC)
    result: dict[str, dict[date, dict[str, State | None]]] = {}
    for part in in_batches(ids):
        statement = (
            select(_M.contract, number.label("number"), _M.name, func.max(RANK).label("rank"))
            .where(_M.contract.in_(part), _M.at >= start, _M.state.is_not(None))
            .group_by(_M.contract, number, _M.name)
        )
        for row in connection.execute(statement):
            day = _FIRST_DAY + timedelta(days=int(row.number))
            result.setdefault(row.contract, {}).setdefault(day, {})[row.name] = state_for_rank(row.rank)
    return {
        contract: [summarize_day(day, names) for day, names in sorted(days.items())]
        for contract, days in result.items()
    }


def _current(connection: Connection, keys: Sequence[Key]) -> dict[Key, datetime]:
    wanted, moments = set(keys), dict[Key, datetime]()
    for part in in_batches(sorted({contract for contract, _ in keys})):
        statement = select(_N.contract, _N.name, _N.at).where(_N.contract.in_(part))
        moments |= {(row.contract, row.name): row.at for row in connection.execute(statement)}
    return {key: at for key, at in moments.items() if key in wanted}


def _known(connection: Connection, measures: Sequence[Measure]) -> set[tuple[str, str, datetime]]:
    known: set[tuple[str, str, datetime]] = set()
    for part in in_batches([(measure.contract, measure.name, measure.at) for measure in measures]):
        contracts_, names, moments = ({*column} for column in zip(*part, strict=True))
        statement = select(_M.contract, _M.name, _M.at).where(
            _M.contract.in_(contracts_), _M.name.in_(names), _M.at.in_(moments)
        )
        known |= {(row.contract, row.name, row.at) for row in connection.execute(statement)}
    return known


def _replace_current(transaction: Transaction, newest: dict[Key, Measure]) -> None:
    for part in in_batches(sorted(newest)):
        transaction.write(delete(current_measures).where(tuple_(_N.contract, _N.name).in_(part)))
    rows = [{**_values(measure), "rank": RANKS[measure.state]} for measure in newest.values()]
    transaction.write(insert(current_measures), rows)


def _let_go(transaction: Transaction, keys: Iterable[Key], keep_since: datetime) -> None:
    """Delete old measures of the kinds that begin a new day, so that this runs once a day."""
    for contract, name in keys:
        transaction.write(delete(measures).where(_M.contract == contract, _M.name == name, _M.at < keep_since))


def _is_new_day(before: datetime | None, at: datetime) -> bool:
    return before is not None and before.date() < at.date()


def _values(measure: Measure) -> dict[str, Any]:
    return {
        "contract": measure.contract,
        "name": measure.name,
        "at": measure.at,
        "value": measure.value,
        "unit": measure.unit or "",
        "promise": measure.promise,
        "state": measure.state.value if measure.state else None,
        "details": dict(measure.details),
    }


def _measure(row: Row[Any]) -> Measure:
    state = State(row.state) if row.state else None
    return Measure(row.contract, row.name, row.at, row.value, row.unit, row.promise, state, row.details)
