"""How promises are kept: every contract day by day, and where to look first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime

from treaty.catalog import places
from treaty.catalog.pages.behaviour import DAYS
from treaty.catalog.pages.troubles import Tile, look_first, newest_of, tiles_of, waiting
from treaty.catalog.rendering import Page
from treaty.catalog.sources import Source
from treaty.catalog.words import day
from treaty.observability.grids import Day, days_until, laid_out
from treaty.observability.known import kind_of
from treaty.observability.states import RANKS, State
from treaty.registry.answers import DayAnswer, GridRowAnswer

ROWS = 60
"""So many contracts in one heat map: what an eye takes in."""

_LABELLED = 5
_FIRST = 3


@dataclass(frozen=True)
class Wanted:
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


def health_page(source: Source, wanted: Wanted | None = None, now: datetime | None = None, limit: int = ROWS) -> Page:
    """Return how promises are kept, the worst first."""
    wanted, moment = wanted or Wanted(), now or datetime.now(UTC)
    days = days_until(moment.date(), DAYS)
    found = source.measures.grid(since=days[0], domain=wanted.domain, cursor=wanted.cursor, limit=limit)
    overview = source.overview()
    measured = sum(number for health, number in overview.health.items() if health != "none")
    onward = places.health(domain=wanted.domain, cursor=found.next) if found.next else None
    newest = newest_of(source, moment)
    rows = sorted(found.items, key=_worst_first)
    tiles: Sequence[Tile] = tiles_of(overview, newest) if found.items else ()
    return Page(
        places.health(**asdict(wanted)),
        "health/health.html",
        "Health",
        "health",
        {
            "wanted": wanted,
            "overview": overview,
            "measured": measured,
            "is_filled": bool(found.items) or wanted != Wanted(),
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
        Column(one, day(one).rpartition(" ")[0] if (last - number) % _LABELLED == 0 else None)
        for number, one in enumerate(days)
    )


def _row(one: GridRowAnswer, days: Sequence[date]) -> Row:
    cells = laid_out(days, map(_day, one.days))
    return Row(one.contract, one.name or one.contract, one.health or "none", tuple(map(_cell, cells)))


def _day(one: DayAnswer) -> Day:
    return Day(one.day, State(one.state), tuple(one.by))


def _cell(one: Day) -> Cell:
    when = day(one.day).rpartition(" ")[0]
    if one.state is None:
        return Cell("none", f"{when}: no data")
    if one.state is State.HEALTHY:
        return Cell(one.state.value, f"{when}: healthy")
    return Cell(one.state.value, f"{when}: {one.state} by {', '.join(kind_of(name).title.lower() for name in one.by)}")


def _worst_first(row: GridRowAnswer) -> tuple[int, int, int, str]:
    states = [one.state for one in row.days]
    now = RANKS[State(row.health) if row.health else None]
    return -now, -states.count("failing"), -states.count("warning"), row.name or row.contract


def _first(rows: Sequence[GridRowAnswer]) -> list[GridRowAnswer]:
    """Return those that are not well now; where all are, the one that had the worst days."""
    return [one for one in rows if one.health in ("failing", "warning")][:_FIRST] or list(rows[:1])
