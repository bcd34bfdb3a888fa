"""Measures in the database: the history, and the newest of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    and_,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    type_coerce,
)

from treaty.contracts.versions import Line, try_parse_line
from treaty.observability.health import LineHealth
from treaty.observability.measures import RANKS, DayState, Measure, State, state_for_rank, summarize_day
from treaty.registry.store.health_records import rank_at, shown_cause, worst_lines
from treaty.registry.store.tables import contracts, current_measures, in_batches, line_health, measures
from treaty.registry.store.transaction import Transaction
from treaty.registry.store.visibility import Visibility

_M = measures.c
_N = current_measures.c
_H = line_health.c
_DAY = 86_400_000_000  # in microseconds, as moments are stored
_FIRST_DAY = date(1970, 1, 1)
RANK = case({state.value: rank for state, rank in RANKS.items() if state}, value=_M.state, else_=0)
Key = tuple[str, int, str]
"""Contract, line and name of a kind of measure."""


class GridRow(NamedTuple):
    """One contract of the health grid, with its state on each day."""

    contract: str
    name: str | None
    domain: str | None
    health: LineHealth
    cause: str
    days: tuple[DayState, ...]


def unknown_among(connection: Connection, new_measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that are not stored yet, each once."""
    known = _known(connection, new_measures)
    fresh = {(*key_of(measure), measure.at): measure for measure in new_measures}
    return [measure for key, measure in fresh.items() if key not in known]


def add(
    transaction: Transaction, fresh: Sequence[Measure], before: Mapping[Key, datetime], by: str, keep_since: datetime
) -> None:
    """Add measures that are not stored yet; of each kind the newest becomes the current one.

    `before` has the times of the current measures, as `current_times` returns them.
    """
    recorded_by = transaction.actor_id(by)
    transaction.write(insert(measures), [{**_values(one), "recorded_by": recorded_by} for one in fresh])
    newest: dict[Key, Measure] = {}
    for measure in sorted(fresh, key=lambda measure: measure.at):
        key = key_of(measure)
        if key not in before or before[key] < measure.at:
            newest[key] = measure
    if newest:
        _replace_current(transaction, newest)
        _let_go(
            transaction,
            [key for key, measure in newest.items() if _is_new_day(before.get(key), measure.at)],
            keep_since,
        )


def key_of(measure: Measure) -> Key:
    """Return the contract, line and name of a measure."""
    return measure.contract, measure.major or 0, measure.name


def _belongs_to(columns: Any, contract: str) -> ColumnElement[bool]:
    """Return the condition that a measure is of a contract, or of a line."""
    line = try_parse_line(contract)
    of_contract: ColumnElement[bool] = columns.contract == contract
    return of_contract if line is None else or_(of_contract, _in_line(columns, line))


def _in_line(columns: Any, line: Line) -> ColumnElement[bool]:
    return and_(columns.contract == line.contract, columns.major == line.major)


def current(
    connection: Connection, visibility: Visibility, contract: str | None, name: str | None, after: Key, limit: int
) -> list[Measure]:
    """Return the newest measures, by contract, line and name; a line selects its own."""
    conditions = visibility.conditions(_N.contract)
    statement = select(current_measures).where(tuple_(_N.contract, _N.major, _N.name) > tuple_(*after), *conditions)
    if contract is not None:
        statement = statement.where(_belongs_to(_N, contract))
    if name is not None:
        statement = statement.where(_N.name == name)
    return [
        read_measure(row) for row in connection.execute(statement.order_by(_N.contract, _N.major, _N.name).limit(limit))
    ]


def worst_first(connection: Connection, visibility: Visibility, since: datetime, limit: int) -> list[Measure]:
    """Return the newest measure of each kind that was measured after a time, the worst first, then by name."""
    statement = select(current_measures).where(_N.at > since, *visibility.conditions(_N.contract))
    statement = statement.order_by(_N.rank.desc(), _N.contract, _N.major, _N.name).limit(limit)
    return [read_measure(row) for row in connection.execute(statement)]


def count_current(connection: Connection, visibility: Visibility, since: datetime) -> int:
    """Count the kinds of measures that were measured after a time."""
    conditions = visibility.conditions(_N.contract)
    return connection.execute(select(func.count()).where(_N.at > since, *conditions)).scalar_one()


def last_measured(connection: Connection, visibility: Visibility) -> dict[str, datetime]:
    """Return when each contract was last measured."""
    query = select(_N.contract, func.max(_N.at).label("at")).where(*visibility.conditions(_N.contract))
    query = query.group_by(_N.contract)
    return {row.contract: row.at for row in connection.execute(query)}


def history(
    connection: Connection,
    visibility: Visibility,
    contract: str,
    name: str,
    since: datetime,
    before: datetime | None,
    limit: int,
) -> list[Measure]:
    """Return measures of one kind and line, the newest first; a contract means its highest line that was measured."""
    measured = select(_N.contract, _N.major).where(_belongs_to(_N, contract), _N.name == name)
    latest = connection.execute(measured.order_by(_N.major.desc()).limit(1)).one_or_none()
    if latest is None:
        return []
    statement = select(measures).where(_in_line(_M, Line(latest.contract, latest.major)))
    statement = statement.where(_M.name == name, _M.at >= since)
    statement = statement.where(*visibility.conditions(_M.contract))
    if before is not None:
        statement = statement.where(_M.at < before)
    return [read_measure(row) for row in connection.execute(statement.order_by(_M.at.desc()).limit(limit))]


def grid(
    connection: Connection,
    visibility: Visibility,
    now: datetime,
    since: date,
    domain: str | None,
    after: tuple[int, str] | None,
    limit: int,
) -> list[GridRow]:
    """Return the daily states of all measured contracts, the worst current health first."""
    ranks = select(_H.contract, func.max(rank_at(now)).label("health"))
    worst = ranks.group_by(_H.contract).subquery().c
    health, identity = worst.health, worst.contract
    statement = select(identity, contracts.c.name, contracts.c.domain, health).join(
        contracts, contracts.c.id == identity
    )
    statement = statement.where(*visibility.conditions(contracts.c.id))
    if domain is not None:
        statement = statement.where(contracts.c.domain == domain)
    if after is not None:
        rank, contract = after
        statement = statement.where((health < rank) | and_(health == rank, identity > contract))
    rows = connection.execute(statement.order_by(health.desc(), identity).limit(limit)).all()
    names = [row.contract for row in rows]
    days, lines = _days(connection, names, since), worst_lines(connection, now, names)
    return [
        GridRow(
            row.contract,
            row.name,
            row.domain,
            lines[row.contract],
            shown_cause(lines[row.contract], visibility),
            tuple(days.get(row.contract, ())),
        )
        for row in rows
    ]


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


def current_times(connection: Connection, keys: Sequence[Key]) -> dict[Key, datetime]:
    """Return the time of the current measure of each kind."""
    wanted, moments = set(keys), dict[Key, datetime]()
    for part in in_batches(sorted({contract for contract, _, _ in keys})):
        statement = select(_N.contract, _N.major, _N.name, _N.at).where(_N.contract.in_(part))
        moments |= {(row.contract, row.major, row.name): row.at for row in connection.execute(statement)}
    return {key: at for key, at in moments.items() if key in wanted}


def _known(connection: Connection, measures: Sequence[Measure]) -> set[tuple[str, int, str, datetime]]:
    known: set[tuple[str, int, str, datetime]] = set()
    for part in in_batches([(measure.contract, measure.name, measure.at) for measure in measures]):
        contracts_, names, moments = ({*column} for column in zip(*part, strict=True))
        statement = select(_M.contract, _M.major, _M.name, _M.at).where(
            _M.contract.in_(contracts_), _M.name.in_(names), _M.at.in_(moments)
        )
        known |= {(row.contract, row.major, row.name, row.at) for row in connection.execute(statement)}
    return known


def _replace_current(transaction: Transaction, newest: dict[Key, Measure]) -> None:
    for part in in_batches(sorted(newest)):
        transaction.write(delete(current_measures).where(tuple_(_N.contract, _N.major, _N.name).in_(part)))
    rows = [{**_values(measure), "rank": RANKS[measure.state]} for measure in newest.values()]
    transaction.write(insert(current_measures), rows)


def _let_go(transaction: Transaction, keys: Iterable[Key], keep_since: datetime) -> None:
    """Delete old measures of the kinds that begin a new day, so that this runs once a day."""
    for contract, major, name in keys:
        old = and_(_in_line(_M, Line(contract, major)), _M.name == name, _M.at < keep_since)
        transaction.write(delete(measures).where(old))


def _is_new_day(before: datetime | None, at: datetime) -> bool:
    return before is not None and before.date() < at.date()


def _values(measure: Measure) -> dict[str, Any]:
    return {
        "contract": measure.contract,
        "major": measure.major or 0,
        "name": measure.name,
        "at": measure.at,
        "value": measure.value,
        "unit": measure.unit or "",
        "promise": measure.promise,
        "state": measure.state.value if measure.state else None,
        "details": dict(measure.details),
    }


def read_measure(row: Row[Any]) -> Measure:
    """Return the measure of a row."""
    state = State(row.state) if row.state else None
    return Measure(row.contract, row.name, row.at, row.value, row.unit, row.promise, state, row.details, row.major)


def current_of(connection: Connection, lines: Iterable[Line]) -> dict[Line, list[Measure]]:
    """Return the newest measures of some lines."""
    wanted, found = set(lines), dict[Line, list[Measure]]()
    for part in in_batches(sorted({line.contract for line in wanted})):
        for row in connection.execute(select(current_measures).where(_N.contract.in_(part))):
            line = Line(row.contract, row.major)
            if line in wanted:
                found.setdefault(line, []).append(read_measure(row))
    return found


def volumes(connection: Connection, line: Line, name: str, since: datetime, limit: int) -> list[tuple[datetime, float]]:
    """Return times and values of a measure of a line since a time, the newest first."""
    query = select(_M.at, _M.value).where(_in_line(_M, line), _M.name == name, _M.at >= since)
    return [(row.at, row.value) for row in connection.execute(query.order_by(_M.at.desc()).limit(limit))]


def history_since(connection: Connection, line: Line, since: datetime, limit: int) -> dict[str, list[Measure]]:
    """Return the measures of a line since a time by name, each in the order of time; of many, the newest."""
    query = select(measures).where(_in_line(_M, line), _M.at >= since).order_by(_M.at.desc()).limit(limit)
    found: dict[str, list[Measure]] = {}
    for row in connection.execute(query):
        found.setdefault(row.name, []).append(read_measure(row))
    return {name: list(reversed(values)) for name, values in found.items()}
