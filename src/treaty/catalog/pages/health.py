"""How promises are kept: every contract day by day, and where to look first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime

from treaty.catalog import links
from treaty.catalog.formatting import format_date, pluralize
from treaty.catalog.pages.contract.service_levels import DAYS, Chart, anchor_of, chart_of
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.observability import formatting, measures
from treaty.observability.daily_states import DayState, days_until, fill_days
from treaty.observability.measures import RANKS, State, is_stale, measure_kind, worst
from treaty.registry.model import ContractAnswer, DayAnswer, GridRowAnswer, MeasureAnswer, OverviewAnswer
from treaty.registry.model.contract_answers import Query

ROWS = 60
"""So many contracts in one heat map: what an eye takes in."""

_LABELLED = 5
_FIRST = 3


@dataclass(frozen=True)
class HealthFilter:
    """Which contracts the heat map shows, as the address says it."""

    domain: str | None = None
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One day of the heat map; every few days it is written above."""

    day: date
    label: str | None


@dataclass(frozen=True, slots=True)
class Cell:
    """How one day went for one contract."""

    state: str
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """One contract of the heat map."""

    contract: str
    name: str
    state: str
    cells: tuple[Cell, ...]


def health_page(
    source: Source, wanted: HealthFilter | None = None, now: datetime | None = None, limit: int = ROWS
) -> Page:
    """Return how promises are kept, the worst first."""
    wanted, moment = wanted or HealthFilter(), now or datetime.now(UTC)
    days = days_until(moment.date(), DAYS)
    found = source.measures.grid(since=days[0], domain=wanted.domain, cursor=wanted.cursor, limit=limit)
    overview = source.overview()
    measured = sum(number for health, number in overview.health.items() if health != "none")
    onward = links.health(domain=wanted.domain, cursor=found.next) if found.next else None
    newest = newest_of(source, moment)
    rows = sorted(found.items, key=_worst_first)
    tiles: Sequence[Tile] = tiles_of(overview, newest) if found.items else ()
    return Page(
        links.health(**asdict(wanted)),
        "health/health.html",
        "Health",
        "health",
        {
            "wanted": wanted,
            "overview": overview,
            "measured": measured,
            "is_filled": bool(found.items) or wanted != HealthFilter(),
            "columns": _columns(days),
            "rows": tuple(_row(one, days) for one in rows),
            "onward": onward,
            "tiles": tiles,
            "first": look_first(source, _first(rows), moment) if not wanted.cursor else (),
            "waiting": waiting(newest) if not wanted.cursor else (),
        },
        ("health.css",),
    )


def _columns(days: Sequence[date]) -> tuple[Column, ...]:
    last = len(days) - 1
    return tuple(
        Column(one, format_date(one).rpartition(" ")[0] if (last - number) % _LABELLED == 0 else None)
        for number, one in enumerate(days)
    )


def _row(one: GridRowAnswer, days: Sequence[date]) -> Row:
    cells = fill_days(days, map(_day, one.days))
    return Row(one.contract, one.name or one.contract, one.health or "none", tuple(map(_cell, cells)))


def _day(one: DayAnswer) -> DayState:
    return DayState(one.day, State(one.state), tuple(one.by))


def _cell(one: DayState) -> Cell:
    when = format_date(one.day).rpartition(" ")[0]
    if one.state is None:
        return Cell("none", f"{when}: no data")
    if one.state is State.HEALTHY:
        return Cell(one.state.value, f"{when}: healthy")
    return Cell(
        one.state.value, f"{when}: {one.state} by {', '.join(measure_kind(name).title.lower() for name in one.by)}"
    )


def _worst_first(row: GridRowAnswer) -> tuple[int, int, int, str]:
    states = [one.state for one in row.days]
    now = RANKS[State(row.health) if row.health else None]
    return -now, -states.count("failing"), -states.count("warning"), row.name or row.contract


def _first(rows: Sequence[GridRowAnswer]) -> list[GridRowAnswer]:
    """Return those that are not well now; where all are, the one that had the worst days."""
    return [one for one in rows if one.health in ("failing", "warning")][:_FIRST] or list(rows[:1])


_MOST = 1_000
_LISTED = 20
_DRAWN = (measures.FRESHNESS, measures.VOLUME)


@dataclass(frozen=True, slots=True)
class Tile:
    """One number about all contracts, and the contract that it is mostly about."""

    name: str
    value: str
    note: str
    state: str = "none"
    contract: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A contract with rows in quarantine or exceptions that are open."""

    contract: str
    quarantined: int
    share: str | None
    state: str
    exceptions: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Look:
    """A contract to look at: what is wrong, who answers for it, how many read it, and how it went."""

    contract: str
    name: str
    state: str
    broken: tuple[str, ...]
    about: ContractAnswer | None
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Newest:
    """What was last measured of all contracts, as far as one page can speak of it."""

    freshness: tuple[MeasureAnswer, ...]
    quarantined: tuple[MeasureAnswer, ...]
    shares: tuple[MeasureAnswer, ...]
    exceptions: tuple[MeasureAnswer, ...]
    is_all: bool


def newest_of(source: Source, now: datetime) -> Newest:
    """Ask what was last measured; how old data was days ago says nothing, but what waited then waits still."""
    kinds = (measures.FRESHNESS, measures.QUARANTINED, measures.QUARANTINED_SHARE, measures.EXCEPTIONS)
    pages = [source.measures.current(name=name, limit=_MOST) for name in kinds]
    fresh, quarantined, shares, exceptions = (tuple(page.items) for page in pages)
    fresh = tuple(one for one in fresh if not is_stale(one.at, now))
    return Newest(fresh, quarantined, shares, exceptions, all(page.next is None for page in pages))


def tiles_of(overview: OverviewAnswer, newest: Newest) -> tuple[Tile, ...]:
    """Return how all contracts are, in a few numbers."""
    found = (
        _late(newest.freshness),
        _quarantine(newest.quarantined, newest.shares),
        _total(newest.exceptions, "Exceptions", "open exception", "every key is settled"),
    )
    return (_kept(overview), *(one if newest.is_all or not one.contract else _at_least(one) for one in found))


def waiting(newest: Newest) -> tuple[Waiting, ...]:
    """Return the contracts where rows or keys wait for somebody, the most first."""
    shares = {one.contract: one for one in newest.shares}
    rows = {one.contract: one for one in newest.quarantined if one.value}
    exceptions = {one.contract: one for one in newest.exceptions if one.value}
    found = [
        _waiting(name, rows.get(name), shares.get(name), exceptions.get(name))
        for name in sorted(rows.keys() | exceptions.keys())
    ]
    return tuple(sorted(found, key=lambda one: (-(one.exceptions or 0) - one.quarantined, one.contract))[:_LISTED])


def look_first(source: Source, rows: Iterable[GridRowAnswer], now: datetime) -> tuple[Look, ...]:
    """Return contracts with what is wrong about them, drawn over time."""
    return tuple(_look(source, number, row, now) for number, row in enumerate(rows, 1))


def _look(source: Source, number: int, row: GridRowAnswer, now: datetime) -> Look:
    newest = source.measures.current(contract=row.contract, limit=_MOST).items
    current = [one for one in newest if not is_stale(one.at, now)]
    wrong = sorted((one for one in current if one.state in ("failing", "warning")), key=_badness, reverse=True)
    names = dict.fromkeys([*_DRAWN, *(one.name for one in wrong)])
    drawn = (chart_of(source, row.contract, name, now, f"{anchor_of(name)}-{number}") for name in names)
    charts = tuple(one for one in drawn if one)[:3]
    about = next(
        (one for one in source.search(Query(name=row.contract), limit=50).items if one.id == row.contract), None
    )
    return Look(row.contract, row.name or row.contract, row.health or "none", tuple(map(_said, wrong)), about, charts)


def _said(one: MeasureAnswer) -> str:
    """Say how a promise is broken, or nearly."""
    kind = measure_kind(one.name, one.unit)
    if one.name == measures.RUN:
        return "the last run did not come through"
    promised = f", promised {formatting.format_promise(kind, one.promise, one.unit)}" if one.promise is not None else ""
    return f"{kind.title.lower()} {formatting.format_measured(kind, one.value, one.unit)}{promised}"


def _badness(one: MeasureAnswer) -> int:
    return RANKS[State(one.state) if one.state else None]


def _kept(overview: OverviewAnswer) -> Tile:
    counts = {health: number for health, number in overview.health.items() if health != "none"}
    state = worst(State(health) for health in counts)
    kept = sum(number for health, number in counts.items() if health != State.FAILING)
    unmeasured = overview.health.get("none", 0)
    note = "contracts keep what they promise" + (f"; {unmeasured:,} not measured" if unmeasured else "")
    return Tile("Promises", f"{kept:,} of {sum(counts.values()):,}", note, state or "none")


def _late(found: Sequence[MeasureAnswer]) -> Tile:
    late = [one for one in found if one.state == "failing"]
    state = worst(State(one.state) for one in found if one.state)
    if not late:
        note = "nothing is older than promised" if state else "no promise was measured lately"
        return Tile("Freshness", "in time" if state else "—", note, state or "none")
    most = max(late, key=lambda one: one.value / one.promise if one.promise else 0.0)
    kind = measure_kind(most.name, most.unit)
    promised = (
        f", promised {formatting.format_promise(kind, most.promise, most.unit)}" if most.promise is not None else ""
    )
    note = f"the worst is {formatting.format_measured(kind, most.value, most.unit)} old{promised}"
    return Tile("Freshness", pluralize(len(late), "contract") + " late", note, "failing", most.contract)


def _quarantine(rows: Sequence[MeasureAnswer], shares: Sequence[MeasureAnswer]) -> Tile:
    """Count the rows; whether they are too many is judged by their share of what arrived."""
    tile = _total(rows, "Quarantine", "row", "the last runs put nothing there")
    there = {one.contract for one in rows if one.value}
    state = worst(State(one.state) for one in shares if one.state and one.contract in there)
    return replace(tile, state=state or tile.state)


def _total(found: Sequence[MeasureAnswer], name: str, noun: str, nothing: str) -> Tile:
    most = max(found, key=lambda one: one.value, default=None)
    if most is None:
        return Tile(name, "—", "not measured yet")
    total = round(sum(one.value for one in found))
    if not total:
        return Tile(name, "none", nothing, "healthy")
    where = sum(one.value > 0 for one in found)
    return Tile(name, pluralize(total, noun), f"in {pluralize(where, 'contract')}", "warning", most.contract)


def _waiting(
    name: str, rows: MeasureAnswer | None, share: MeasureAnswer | None, exceptions: MeasureAnswer | None
) -> Waiting:
    return Waiting(
        name,
        round(rows.value) if rows else 0,
        formatting.format_amount(share.value, share.unit) if share and rows else None,
        (share.state or "none") if share and rows else "none",
        round(exceptions.value) if exceptions else None,
        max(one.at for one in (rows, exceptions) if one),
    )


def _at_least(tile: Tile) -> Tile:
    return replace(tile, value=f"at least {tile.value}")
