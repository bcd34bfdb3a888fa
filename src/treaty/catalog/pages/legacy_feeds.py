"""Legacy feeds: the list, and one feed with its variance report and the cut-over of its consumers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from treaty.catalog import links
from treaty.catalog.links import Link
from treaty.catalog.pages.contract.schema_tree import field_anchor
from treaty.catalog.pages.contract.service_levels import Chart, Reading
from treaty.catalog.rendering import Page
from treaty.catalog.source import Source, iterate_pages
from treaty.catalog.svg.charts import Point, Window, render_chart
from treaty.contracts.versions import parse_line
from treaty.errors import NotFound
from treaty.legacy.cutover import CutoverState
from treaty.legacy.differences import DifferenceClass
from treaty.observability.measures import MeasureKind, State
from treaty.registry.model import CutoverAnswer, FindingAnswer, LegacyFeedAnswer, ParallelRunAnswer
from treaty.registry.variance_report import format_amounts

ASSETS = ("health.css", "incidents.css", "legacy.css")
PAGE_SIZE = 50
MAX_RUNS = 60
_UNIT = ""
_DIFFERENCES = MeasureKind("differences", "Differences", _UNIT, "Rows and values that differ.")
_UNDECIDED = MeasureKind("undecided", "Undecided findings", _UNIT, "Findings about which nothing is decided.")
STATES = {
    CutoverState.LEGACY: "none",
    CutoverState.PARALLEL: "warning",
    CutoverState.READY: "healthy",
    CutoverState.CUT_OVER: "healthy",
    CutoverState.RETIRED: "none",
}
"""The icon of each state."""

_ACTIONS = {
    CutoverState.LEGACY: ("acknowledge-cutover", "approve-cutover"),
    CutoverState.PARALLEL: ("acknowledge-cutover", "approve-cutover"),
    CutoverState.READY: ("cut-over", "approve-cutover"),
    CutoverState.CUT_OVER: ("roll-back",),
    CutoverState.RETIRED: (),
}


_ACTION_WORDS = {
    "acknowledge-cutover": "Acknowledge",
    "approve-cutover": "Approve",
    "cut-over": "Cut over",
    "roll-back": "Roll back",
}


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A feed in the list."""

    feed: LegacyFeedAnswer
    contract: str
    states: tuple[tuple[str, int], ...]
    """The number of consumers in each state."""
    run: ParallelRunAnswer | None


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding in the report."""

    finding: FindingAnswer
    class_words: str
    effects: str
    involved: str
    term: Link | None
    """The field of the contract that settles it."""


@dataclass(frozen=True, slots=True)
class ConsumerRow:
    """A consumer of the feed, and what people can do next."""

    cutover: CutoverAnswer
    words: str
    icon: str
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SumRow:
    """The sums of a money column."""

    name: str
    legacy: str
    new: str
    difference: str


def legacy_feeds_page(source: Source, cursor: str | None = None, limit: int = PAGE_SIZE) -> Page:
    """Return the list of legacy feeds."""
    page = source.cutovers.list(cursor=cursor, limit=limit)
    return Page(
        links.legacy_feeds(cursor),
        "legacy/feeds.html",
        "Legacy feeds",
        "graph",
        {
            "feeds": tuple(_feed_row(source, feed) for feed in page.items),
            "next_page": links.legacy_feeds(page.next) if page.next else None,
            "is_first_page": cursor is None,
            "icons": STATES,
        },
        ASSETS,
    )


def legacy_feed_page(source: Source, feed: str, as_of: date | None = None) -> Page:
    """Return a feed: what its newest parallel run found, or that of a day, the trend, and its consumers."""
    answer = source.cutovers.get(feed)
    run = _find_run(source, feed, as_of)
    runs = _newest_runs(source, feed)
    contract = parse_line(answer.line).contract
    return Page(
        links.legacy_feed(feed, as_of.isoformat() if as_of else None),
        "legacy/feed.html",
        f"Legacy feed {feed}",
        "graph",
        {
            "feed": answer,
            "contract": contract,
            "run": run,
            "is_newest": not runs or run is None or run.as_of == runs[0].as_of,
            "runs": runs,
            "sums": _sums(run) if run else (),
            "findings": tuple(_finding_row(finding, contract) for finding in run.findings) if run else (),
            "classes": _classes(run) if run else (),
            "totals": [(one.group, format_amounts(one.effects)) for one in run.totals[:20]] if run else (),
            "more_totals": max(len(run.totals) - 20, 0) if run else 0,
            "consumers": tuple(
                ConsumerRow(one, one.state.replace("_", " "), STATES[one.state], _ACTIONS[one.state])
                for one in answer.consumers
            ),
            "charts": trend_charts(runs),
            "action_words": _ACTION_WORDS,
        },
        ASSETS,
    )


def feed_names(source: Source) -> Iterator[str]:
    """Return the feeds that have a page."""
    feeds = iterate_pages(lambda cursor, limit: source.cutovers.list(cursor=cursor, limit=limit))
    return (feed.feed for feed in feeds)


def trend_charts(runs: Sequence[ParallelRunAnswer]) -> tuple[Chart, ...]:
    """Return how the number of differences and of undecided findings developed; runs come the newest first."""
    if not runs:
        return ()
    ordered = list(reversed(runs))
    first, last = _at(ordered[0].as_of), _at(ordered[-1].as_of)
    window = Window(first - timedelta(hours=12), last + timedelta(hours=12))
    days = f"{len(ordered)} {'run' if len(ordered) == 1 else 'runs'}"
    differences = [Point(_at(run.as_of), run.differences) for run in ordered]
    undecided = [
        Point(_at(run.as_of), run.undisposed, state=State.HEALTHY if run.clean else State.WARNING) for run in ordered
    ]
    return (
        _chart("differences", _DIFFERENCES, differences, window, days),
        _chart("undecided", _UNDECIDED, undecided, window, days),
    )


def _chart(anchor: str, kind: MeasureKind, points: Sequence[Point], window: Window, note: str) -> Chart:
    readings = tuple(
        Reading(point.at, f"{point.value:,.0f}", point.state.value if point.state else "none")
        for point in reversed(points)
    )
    label = f"{kind.title} over the parallel period: {note}. A table of values follows."
    return Chart(anchor, kind.title, note, render_chart(points, kind, _UNIT, window, label), readings)


def _at(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _find_run(source: Source, feed: str, as_of: date | None) -> ParallelRunAnswer | None:
    """Return the run to show; a feed that was never compared has none."""
    try:
        return source.parallel_runs.get(feed, as_of=as_of)
    except NotFound:
        if as_of is not None:
            raise
        return None


def _newest_runs(source: Source, feed: str) -> tuple[ParallelRunAnswer, ...]:
    runs = iterate_pages(lambda cursor, _: source.parallel_runs.list(feed=feed, cursor=cursor, limit=MAX_RUNS))
    return tuple(islice(runs, MAX_RUNS))


def _feed_row(source: Source, feed: LegacyFeedAnswer) -> FeedRow:
    counts = Counter(one.state for one in feed.consumers)
    run = source.parallel_runs.list(feed=feed.feed, limit=1).items if feed.newest_run else []
    return FeedRow(
        feed,
        parse_line(feed.line).contract,
        tuple((state.value, counts[state]) for state in CutoverState if counts[state]),
        run[0] if run else None,
    )


def _finding_row(finding: FindingAnswer, contract: str) -> FindingRow:
    decided = finding.disposition
    return FindingRow(
        finding,
        finding.difference_class.value.replace("_", " "),
        format_amounts(finding.effects),
        format_amounts(finding.involved),
        links.contract(contract, field_anchor(decided.term)) if decided and decided.term else None,
    )


def _classes(run: ParallelRunAnswer) -> tuple[tuple[str, int, int], ...]:
    """Return the number of findings and differences of each class that was found."""
    findings = Counter(one.difference_class for one in run.findings)
    counts = Counter[DifferenceClass]()
    for one in run.findings:
        counts[one.difference_class] += one.count
    return tuple((one.value.replace("_", " "), findings[one], counts[one]) for one in DifferenceClass if findings[one])


def _sums(run: ParallelRunAnswer) -> tuple[SumRow, ...]:
    return tuple(
        SumRow(name, f"{legacy:,}", f"{run.new_sums[name]:,}", f"{run.new_sums[name] - legacy:+,}")
        for name, legacy in run.legacy_sums.items()
        if name in run.new_sums
    )
