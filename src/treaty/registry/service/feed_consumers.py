"""The consumers of legacy feeds: how far each has moved, judged by its steps, its reads and the parallel runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from treaty.consumers.subscriptions import ConsumerClass
from treaty.legacy.consumer_guess import guess_class
from treaty.legacy.cutover import (
    ConsumerFacts,
    Cutover,
    RunFigures,
    StepTaken,
    judge_cutover,
    reasons_against_retiring,
)
from treaty.legacy.dependency_map import build_map
from treaty.legacy.differences import Disposition
from treaty.registry.model import CutoverAnswer, LegacyFeedAnswer
from treaty.registry.model.cutover_answers import GateAnswer
from treaty.registry.service.context import Context
from treaty.registry.service.observed_usage import first_moment
from treaty.registry.store import Connection, dependency_map, subscriptions
from treaty.registry.store import legacy_feeds as store
from treaty.registry.store import parallel_runs as run_records
from treaty.registry.store.legacy_feeds import LegacyRead, StoredFeed
from treaty.registry.store.visibility import Sight, Visibility


@dataclass(frozen=True, slots=True)
class FeedConsumer:
    """A consumer of a legacy feed: how far it has moved, what it is, and how it is known."""

    cutover: Cutover
    consumer_class: ConsumerClass
    team: str | None
    evidence: tuple[str, ...]
    last_read: datetime | None


class FeedConsumers:
    """Judges the consumers of feeds; what the map says of consumers is read once."""

    def __init__(self, context: Context, connection: Connection, sight: Sight) -> None:
        self._context = context
        self._connection = connection
        self._sight = sight
        self._classes: dict[str, tuple[ConsumerClass, str | None]] | None = None

    def cutovers(self, feed: StoredFeed) -> dict[str, FeedConsumer]:
        """Return the consumers of a feed that the actor may see: declared, scanned, observed, or with steps."""
        connection = self._connection
        steps = store.steps_of(connection, feed.feed)
        reads: dict[str, list[LegacyRead]] = {}
        for read in store.reads_of(connection, feed):
            reads.setdefault(read.consumer, []).append(read)
        figures = _run_figures(connection, feed)
        names = dict.fromkeys((*feed.consumers, *sorted({*reads, *steps} - set(feed.consumers))))
        return {
            name: self._judge(feed, name, steps.get(name, ()), reads.get(name, []), figures)
            for name in names
            if self._sight.sees(name)
        }

    def newest_run(self, feed: StoredFeed) -> run_records.StoredRun | None:
        """Return the newest parallel run."""
        return run_records.find_run(self._connection, Visibility(), feed.feed, None)

    def _judge(
        self,
        feed: StoredFeed,
        name: str,
        steps: tuple[StepTaken, ...],
        reads: Sequence[LegacyRead],
        figures: Sequence[RunFigures],
    ) -> FeedConsumer:
        consumer_class, team = self._class_of(name)
        subscribed = subscriptions.find_subscription(self._connection, name, feed.line)
        last_read = max((read.at for read in reads), default=None)
        facts = ConsumerFacts(
            name,
            consumer_class.is_critical,
            subscribed is not None and subscribed.active,
            steps,
            last_read,
        )
        seen = {read.evidence for read in reads} | ({"declared"} if name in feed.consumers else set())
        return FeedConsumer(
            judge_cutover(facts, figures, feed.gate, str(feed.line)),
            consumer_class,
            team or next((read.team for read in reads if read.team), None),
            tuple(kind for kind in ("declared", "scanned", "observed") if kind in seen),
            last_read,
        )

    def _class_of(self, name: str) -> tuple[ConsumerClass, str | None]:
        """Return the class and team of a consumer as the map has them, else what its name suggests."""
        if self._classes is None:
            since = first_moment(self._context.today, self._context.rules.usage_window)
            self._classes = {}
            for entry in build_map(dependency_map.map_inputs(self._connection, Visibility(), since)):
                self._classes.setdefault(entry.consumer, (entry.consumer_class, entry.team))
        return self._classes.get(name) or (guess_class(name, "legacy feed").consumer_class, None)


def _run_figures(connection: Connection, feed: StoredFeed) -> list[RunFigures]:
    """Return what the gate needs to know of the newest runs of a feed, with what is decided about findings by now."""
    decided = run_records.dispositions_of(connection, feed.feed)
    limit = feed.gate.clean_runs + 1
    runs = run_records.page_of_runs(connection, Visibility(), feed.feed, None, limit)
    return [
        _figures(run, decided, run_records.first_seen(connection, feed.feed, run.as_of, run.fingerprints))
        for run in runs
    ]


def _figures(
    run: run_records.StoredRun, decided: Mapping[str, run_records.StoredDisposition], first: Mapping[str, date]
) -> RunFigures:
    explained: dict[str, Decimal] = {}
    undisposed = defects = 0
    for finding in run.result["findings"]:
        disposition = decided.get(finding["fingerprint"])
        if disposition is None or not disposition.holds(first.get(finding["fingerprint"], run.as_of)):
            undisposed += 1
        elif disposition.disposition == Disposition.DEFECT_IN_NEW.value:
            defects += 1
        else:
            for name, effect in finding["effects"].items():
                explained[name] = explained.get(name, Decimal(0)) + Decimal(effect)
    return RunFigures(
        run.as_of,
        run.recorded_at,
        undisposed,
        defects,
        {name: Decimal(value) for name, value in run.result["legacy_sums"].items()},
        {name: Decimal(value) for name, value in run.result["new_sums"].items()},
        explained,
        len(run.result["findings"]),
    )


def feed_answer(feeds: FeedConsumers, stored: StoredFeed) -> LegacyFeedAnswer:
    """Return the API model of a legacy feed with its consumers."""
    cutovers = feeds.cutovers(stored)
    newest = feeds.newest_run(stored)
    is_retired = stored.retired_at is not None
    return LegacyFeedAnswer(
        feed=stored.feed,
        line=str(stored.line),
        owner=stored.owner,
        names=list(stored.names),
        produced=stored.produced,
        gate=GateAnswer(
            clean_runs=stored.gate.clean_runs, absolute=stored.gate.absolute, relative=stored.gate.relative
        ),
        consumers=[cutover_answer(stored, name, one) for name, one in cutovers.items()],
        reasons=[] if is_retired else list(reasons_against_retiring({n: one.cutover for n, one in cutovers.items()})),
        newest_run=newest.as_of if newest else None,
        declared_at=stored.declared_at,
        declared_by=stored.declared_by,
        retired_at=stored.retired_at,
        retired_by=stored.retired_by,
    )


def cutover_answer(stored: StoredFeed, name: str, consumer: FeedConsumer) -> CutoverAnswer:
    """Return the API model of a consumer of a feed."""
    cutover = consumer.cutover
    return CutoverAnswer(
        feed=stored.feed,
        consumer=name,
        team=consumer.team,
        consumer_class=consumer.consumer_class,
        critical=consumer.consumer_class.is_critical,
        state=cutover.state,
        reasons=list(cutover.reasons),
        clean_runs=min(cutover.clean_runs, stored.gate.clean_runs),
        clean_runs_needed=stored.gate.clean_runs,
        acknowledged_at=cutover.acknowledged.at if cutover.acknowledged else None,
        acknowledged_by=cutover.acknowledged.by if cutover.acknowledged else None,
        approved_at=cutover.approved.at if cutover.approved else None,
        approved_by=cutover.approved.by if cutover.approved else None,
        since=cutover.since,
        evidence=list(consumer.evidence),
        last_read=consumer.last_read.date() if consumer.last_read else None,
    )
