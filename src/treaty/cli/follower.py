"""`treaty run --follow`: when the next run starts, and which steps it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.kafka.arrivals import ArrivalWatch, Position
    from treaty.pipeline.plan import Step
    from treaty.pipeline.plan.pace import Pace
    from treaty.pipeline.project.declarations import Kafka, Project
    from treaty.pipeline.tables import TableCatalog


@dataclass
class Follower:
    """Decides what runs next: steps on the fast path as soon as records arrive, other steps on their schedule.

    A project without topics runs as a whole after each pause. Only the times of the runs are kept here: what was read
    and published is in the tables, so that a new process continues where this one ended.
    """

    project: Project
    steps: Sequence[Step]
    catalog: TableCatalog
    interval_s: float
    topics: dict[str, Kafka] = field(init=False)
    """By source on the fast path: its topics."""
    paces: dict[str, Pace] = field(init=False)
    last_run: dict[str, float] = field(default_factory=dict, init=False)
    _watch: ArrivalWatch | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        from treaty.pipeline.plan.pace import follow_paces
        from treaty.pipeline.project.declarations import Kafka, raw_table

        self.paces = follow_paces(self.project, self.steps, self.interval_s)
        origins = {source.name: source.origin for source in self.project.sources}
        self.topics = {
            name: origin
            for name, origin in origins.items()
            if isinstance(origin, Kafka) and origin.topic and self.paces[raw_table(name)].is_fast
        }

    def note_run(self, tables: Sequence[str], started: float) -> None:
        """Note which steps a run that started at a time has run; no tables stand for all steps."""
        for table in tables or [step.table for step in self.steps]:
            self.last_run[table] = started

    def wait(self) -> tuple[str, ...]:
        """Wait until steps are due, and return their tables."""
        while True:
            if due := self.due_at(time.monotonic()):
                return due
            seconds = max(0.0, self._next_due() - time.monotonic())
            if not self.topics:
                time.sleep(seconds)
            elif arrived := self._open_watch().wait(self._positions(), seconds):
                return self._fast_from(arrived)

    def due_at(self, now: float) -> tuple[str, ...]:
        """Return the tables of the steps that are due at a time, whether records have arrived or not."""
        polled = frozenset(step.name for step in self._polled() if self._time_of(step) <= now)
        slow = {step.table for step in self._scheduled() if self._time_of(step) <= now}
        fast = self._fast_from(polled)
        return tuple(step.table for step in self.steps if step.table in slow or step.table in fast)

    def close(self) -> None:
        """Close the connections to brokers."""
        if self._watch is not None:
            self._watch.close()

    def _next_due(self) -> float:
        times = [self._time_of(step) for step in (*self._polled(), *self._scheduled())]
        return min(times, default=time.monotonic() + self.interval_s)

    def _time_of(self, step: Step) -> float:
        every = self.paces[step.table].every or self.interval_s
        return self.last_run.get(step.table, float("-inf")) + every

    def _polled(self) -> Iterator[Step]:
        """Yield the steps of sources on the fast path that nobody can wait for, such as files."""
        from treaty.pipeline.plan import Layer

        for step in self.steps:
            if step.layer is Layer.RAW and self.paces[step.table].is_fast and step.name not in self.topics:
                yield step

    def _scheduled(self) -> Iterator[Step]:
        return (step for step in self.steps if not self.paces[step.table].is_fast)

    def _fast_from(self, sources: frozenset[str]) -> tuple[str, ...]:
        from treaty.pipeline.plan.pace import reached_from

        reached = reached_from(self.steps, sources)
        return tuple(step.table for step in self.steps if step.table in reached and self.paces[step.table].is_fast)

    def _open_watch(self) -> ArrivalWatch:
        from treaty.kafka.arrivals import ArrivalWatch
        from treaty.kafka.connection import connect_with

        if self._watch is None:
            at = {source.name: source.at for source in self.project.sources}
            self._watch = ArrivalWatch(
                [connect_with(one.bootstrap, one.security, at[name], os.environ) for name, one in self.topics.items()]
            )
        return self._watch

    def _positions(self) -> dict[str, list[Position]]:
        """Return where each source continues, by the brokers: from the stamps of the raw tables."""
        from treaty.kafka.arrivals import Position
        from treaty.pipeline.project.declarations import raw_table
        from treaty.pipeline.sources.kafka import parse_progress

        positions: dict[str, list[Position]] = {}
        for name, origin in self.topics.items():
            stamp = next(iter(self.catalog.stamps(raw_table(name))), None)
            for topic, progress in (parse_progress(stamp) or {}).items():
                positions.setdefault(origin.bootstrap, []).extend(
                    Position(name, topic, partition, offset) for partition, offset in progress.next.items()
                )
        return positions
