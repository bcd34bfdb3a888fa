"""Health of all contracts: summary tiles, daily status, contracts that need attention, quarantine and exceptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime

from treaty.catalog import links
from treaty.catalog.formatting import format_date, pluralize
from treaty.catalog.pages.contract.service_levels import DAYS, Chart, chart_anchor, measure_chart
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source
from treaty.observability import amounts, measures
from treaty.observability.health import HEALTH_RANKS, Health, describe_state
from treaty.observability.measures import (
    RANKS,
    DayState,
    Measure,
    State,
    days_until,
    fill_days,
    is_stale,
    measure_kind,
    worst,
)
from treaty.registry.model import ContractAnswer, DayAnswer, GridRowAnswer, MeasureAnswer, OverviewAnswer
from treaty.registry.model.contract_answers import Query
from treaty.registry.model.incidents import HealthWord

ROWS = 60
"""Contracts per page of the daily status."""

_LABEL_EVERY_DAYS = 5
_MAX_ATTENTION = 3
_MAX_INCIDENTS = 20
_MAX_BLOCKED = 20


@dataclass(frozen=True)
class HealthFilter:
    """Filter of the page, from the query string."""

    domain: str | None = None
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A day in the daily status. Some days have a label."""

    day: date
    label: str | None


@dataclass(frozen=True, slots=True)
class Cell:
    """State of a contract on one day."""

    state: str
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """A contract in the daily status."""

    contract: str
    name: str
    state: HealthWord | None
    cause: str
    cells: tuple[Cell, ...]


def health_page(
    source: Source, health_filter: HealthFilter | None = None, now: datetime | None = None, limit: int = ROWS
) -> Page:
    """Return the health page, worst contracts first."""
    health_filter, moment = health_filter or HealthFilter(), now or datetime.now(UTC)
    days = days_until(moment.date(), DAYS)
    grid = source.measures.grid(since=days[0], domain=health_filter.domain, cursor=health_filter.cursor, limit=limit)
    overview = source.overview()
    measured = sum(number for health, number in overview.health.items() if health != "none")
    next_page = links.health(domain=health_filter.domain, cursor=grid.next) if grid.next else None
    latest = latest_measures(source, moment)
    rows = sorted(grid.items, key=_worst_first)
    tiles: Sequence[Tile] = summary_tiles(overview, latest) if grid.items else ()
    return Page(
        links.health(**asdict(health_filter)),
        "health/health.html",
        "Health",
        "health",
        {
            "filter": health_filter,
            "overview": overview,
            "measured": measured,
            "has_measures": bool(grid.items) or health_filter != HealthFilter(),
            "columns": _columns(days),
            "rows": tuple(_row(row, days) for row in rows),
            "next_page": next_page,
            "tiles": tiles,
            "attention": attention_cards(source, _worst_rows(rows), moment) if not health_filter.cursor else (),
            "backlog": backlog_rows(latest) if not health_filter.cursor else (),
            "incidents": source.incidents.list(state="open", limit=_MAX_INCIDENTS).items,
            "blocked": source.incidents.overview(state=Health.BLOCKED, limit=_MAX_BLOCKED).items,
        },
        ("health.css", "incidents.css"),
    )


def _columns(days: Sequence[date]) -> tuple[Column, ...]:
    last = len(days) - 1
    return tuple(
        Column(day, format_date(day).rpartition(" ")[0] if (last - number) % _LABEL_EVERY_DAYS == 0 else None)
        for number, day in enumerate(days)
    )


def _row(row: GridRowAnswer, days: Sequence[date]) -> Row:
    cells = fill_days(days, map(_day, row.days))
    return Row(row.contract, row.name or row.contract, row.health, row.cause, tuple(map(_cell, cells)))


def _day(day: DayAnswer) -> DayState:
    return DayState(day.day, State(day.state), tuple(day.by))


def _cell(state: DayState) -> Cell:
    when = format_date(state.day).rpartition(" ")[0]
    if state.state is None:
        return Cell("none", f"{when}: no data")
    if state.state is State.HEALTHY:
        return Cell(state.state.value, f"{when}: healthy")
    return Cell(
        state.state.value, f"{when}: {state.state}, {', '.join(measure_kind(name).title.lower() for name in state.by)}"
    )


def _worst_first(row: GridRowAnswer) -> tuple[int, int, int, str]:
    states = [day.state for day in row.days]
    return -_health_rank(row.health), -states.count("failing"), -states.count("warning"), row.name or row.contract


def _health_rank(word: HealthWord | None) -> int:
    return HEALTH_RANKS[Health(word) if word else None]


def _worst_rows(rows: Sequence[GridRowAnswer]) -> list[GridRowAnswer]:
    """Return the contracts that fail or warn now, or else the one with the worst days.

    A contract that is blocked needs no attention of its own: the one that blocks it does.
    """
    return [row for row in rows if row.health in ("failing", "warning")][:_MAX_ATTENTION] or list(rows[:1])


_MAX_MEASURES = 1_000
_MAX_BACKLOG = 20
_DEFAULT_CHARTS = (measures.FRESHNESS, measures.VOLUME)


@dataclass(frozen=True, slots=True)
class Tile:
    """A summary of all contracts, with the worst contract."""

    name: str
    value: str
    note: str
    state: str = "none"
    contract: str | None = None


@dataclass(frozen=True, slots=True)
class BacklogRow:
    """A contract with rows in quarantine or open exceptions."""

    contract: str
    quarantined: int
    share: str | None
    state: str
    exceptions: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class AttentionCard:
    """A contract that needs attention, with its problems, owners and charts."""

    contract: str
    name: str
    state: HealthWord | None
    cause: str
    """Why it needs attention, as every page says it."""
    problems: tuple[str, ...]
    """What else breaks a promise or is close to its limit."""
    contract_info: ContractAnswer | None
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class LatestMeasures:
    """Latest measures of all contracts. `is_all` is false if there are more than one page."""

    freshness: tuple[MeasureAnswer, ...]
    quarantined: tuple[MeasureAnswer, ...]
    shares: tuple[MeasureAnswer, ...]
    exceptions: tuple[MeasureAnswer, ...]
    is_all: bool


def latest_measures(source: Source, now: datetime) -> LatestMeasures:
    """Load the latest measures. Drop old freshness values; old quarantine and exception counts are still valid."""
    kinds = (measures.FRESHNESS, measures.QUARANTINED, measures.QUARANTINED_SHARE, measures.EXCEPTIONS)
    pages = [source.measures.current(name=name, limit=_MAX_MEASURES) for name in kinds]
    fresh, quarantined, shares, exceptions = (tuple(page.items) for page in pages)
    fresh = tuple(measure for measure in fresh if not is_stale(measure.at, now))
    return LatestMeasures(fresh, quarantined, shares, exceptions, all(page.next is None for page in pages))


def summary_tiles(overview: OverviewAnswer, latest: LatestMeasures) -> tuple[Tile, ...]:
    """Return the summary tiles."""
    tiles = (
        _freshness_tile(latest.freshness),
        _quarantine_tile(latest.quarantined, latest.shares),
        _count_tile(latest.exceptions, "Exceptions", "open exception", "all keys are resolved"),
    )
    return (
        _promise_tile(overview),
        *(tile if latest.is_all or not tile.contract else _at_least(tile) for tile in tiles),
    )


def backlog_rows(latest: LatestMeasures) -> tuple[BacklogRow, ...]:
    """Return the contracts with quarantined rows or open exceptions, most first."""
    shares = {share.contract: share for share in sorted(latest.shares, key=_value)}  # the worst of its lines
    rows = {measure.contract: measure for measure in sorted(latest.quarantined, key=_value) if measure.value}
    exceptions = {exception.contract: exception for exception in sorted(latest.exceptions, key=_value)}
    exceptions = {contract: exception for contract, exception in exceptions.items() if exception.value}
    backlog = [
        _backlog_row(name, rows.get(name), shares.get(name), exceptions.get(name))
        for name in sorted(rows.keys() | exceptions.keys())
    ]
    return tuple(
        sorted(backlog, key=lambda one: (-(one.exceptions or 0) - one.quarantined, one.contract))[:_MAX_BACKLOG]
    )


def _value(measure: MeasureAnswer) -> float:
    return measure.value


def attention_cards(source: Source, rows: Iterable[GridRowAnswer], now: datetime) -> tuple[AttentionCard, ...]:
    """Return contracts with their problems and charts."""
    return tuple(_attention_card(source, number, row, now) for number, row in enumerate(rows, 1))


def _attention_card(source: Source, number: int, row: GridRowAnswer, now: datetime) -> AttentionCard:
    measures = source.measures.current(contract=row.contract, limit=_MAX_MEASURES).items
    current = [measure for measure in measures if not is_stale(measure.at, now)]
    problems = sorted(
        (measure for measure in current if measure.state in ("failing", "warning")), key=_severity, reverse=True
    )
    names = dict.fromkeys([*_DEFAULT_CHARTS, *(problem.name for problem in problems)])
    candidates = (measure_chart(source, row.contract, name, now, f"{chart_anchor(name)}-{number}") for name in names)
    charts = tuple(candidate for candidate in candidates if candidate)[:3]
    contract = next(
        (one for one in source.search(Query(name=row.contract), limit=50).items if one.id == row.contract), None
    )
    return AttentionCard(
        row.contract,
        row.name or row.contract,
        row.health,
        row.cause,
        tuple(text for text in map(_describe_problem, problems) if text != row.cause),
        contract,
        charts,
    )


def _describe_problem(measure: MeasureAnswer) -> str:
    """Describe a violated or nearly violated promise, as the health of a contract does."""
    value = Measure(
        measure.contract,
        measure.name,
        measure.at,
        measure.value,
        measure.unit,
        measure.promise,
        State(measure.state) if measure.state else None,
        measure.details,
    )
    return describe_state(value)


def _severity(measure: MeasureAnswer) -> int:
    return RANKS[State(measure.state) if measure.state else None]


def _promise_tile(overview: OverviewAnswer) -> Tile:
    counts = {health: number for health, number in overview.health.items() if health != "none"}
    worst_health = max((Health(health) for health in counts), key=HEALTH_RANKS.__getitem__, default=None)
    met = sum(number for health, number in counts.items() if health not in (Health.FAILING, Health.BLOCKED))
    unmeasured = overview.health.get("none", 0)
    note = "contracts meet their service levels" + (f"; {unmeasured:,} not measured" if unmeasured else "")
    return Tile("Service levels", f"{met:,} of {sum(counts.values()):,}", note, worst_health or "none")


def _freshness_tile(measures: Sequence[MeasureAnswer]) -> Tile:
    late = [measure for measure in measures if measure.state == "failing"]
    state = worst(State(measure.state) for measure in measures if measure.state)
    if not late:
        note = "all data is as fresh as promised" if state else "no recent measures"
        return Tile("Freshness", "on time" if state else "—", note, state or "none")
    worst_late = max(late, key=lambda one: one.value / one.promise if one.promise else 0.0)
    kind = measure_kind(worst_late.name, worst_late.unit)
    promise = worst_late.promise
    promised = f", promised {amounts.format_promise(kind, promise, worst_late.unit)}" if promise is not None else ""
    note = f"oldest: {amounts.format_measured(kind, worst_late.value, worst_late.unit)}{promised}"
    return Tile("Freshness", pluralize(len(late), "contract") + " late", note, "failing", worst_late.contract)


def _quarantine_tile(rows: Sequence[MeasureAnswer], shares: Sequence[MeasureAnswer]) -> Tile:
    """Return the number of quarantined rows. The state depends on their share of the input."""
    tile = _count_tile(rows, "Quarantine", "row", "no rows in the latest runs")
    there = {row.contract for row in rows if row.value}
    state = worst(State(share.state) for share in shares if share.state and share.contract in there)
    return replace(tile, state=state or tile.state)


def _count_tile(measures: Sequence[MeasureAnswer], name: str, noun: str, none_note: str) -> Tile:
    most = max(measures, key=lambda measure: measure.value, default=None)
    if most is None:
        return Tile(name, "—", "no measures yet")
    total = round(sum(one.value for one in measures))
    if not total:
        return Tile(name, "none", none_note, "healthy")
    where = sum(measure.value > 0 for measure in measures)
    return Tile(name, pluralize(total, noun), f"in {pluralize(where, 'contract')}", "warning", most.contract)


def _backlog_row(
    name: str, rows: MeasureAnswer | None, share: MeasureAnswer | None, exceptions: MeasureAnswer | None
) -> BacklogRow:
    return BacklogRow(
        name,
        round(rows.value) if rows else 0,
        amounts.format_amount(share.value, share.unit) if share and rows else None,
        (share.state or "none") if share and rows else "none",
        round(exceptions.value) if exceptions else None,
        max(one.at for one in (rows, exceptions) if one),
    )


def _at_least(tile: Tile) -> Tile:
    return replace(tile, value=f"at least {tile.value}")
