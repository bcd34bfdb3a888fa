"""What a registry tells a monitoring system: measures, health and incidents of contracts, and the outbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from treaty.contracts.versions import Line
from treaty.observability.health import Health, LineHealth, health_for_rank
from treaty.observability.incidents import ABANDONED_AFTER
from treaty.observability.measures import Measure, State
from treaty.registry.service.context import Context
from treaty.registry.store import Connection, health_records, incidents, measure_records, outbox
from treaty.registry.store.visibility import Visibility

SHOWN_FOR: timedelta = ABANDONED_AFTER
"""How long the newest measure of a kind is shown."""


@dataclass(frozen=True)
class ContractsSnapshot:
    """The state of the contracts that an actor may see, the worst first, and the number of what was left out."""

    contracts: dict[Health, int]
    lines: list[LineHealth]
    measures: list[Measure]
    incidents: list[tuple[Line, State, int]]
    omitted_lines: int
    omitted_measures: int


@dataclass(frozen=True)
class OutboxSnapshot:
    """The notices that wait for their delivery or were given up, and how long the oldest is overdue."""

    pending: int
    dead: int
    overdue: timedelta


def take_contracts_snapshot(context: Context, limit: int) -> ContractsSnapshot:
    """Return the state of the contracts that the actor may see, with a limited number of lines and of measures."""
    now = context.now

    def read(connection: Connection, visibility: Visibility) -> ContractsSnapshot:
        lines = health_records.lines_by_health(connection, visibility, now, limit)
        since = now - SHOWN_FOR
        measures = measure_records.worst_first(connection, visibility, since, limit)
        ranks = health_records.counted_by_rank(connection, visibility, now)
        counted = ((health_for_rank(rank), count) for rank, count in ranks.items())
        return ContractsSnapshot(
            {health: count for health, count in counted if health is not None},
            lines,
            measures,
            incidents.count_open(connection, visibility, limit),
            health_records.count_lines(connection, visibility, now) - len(lines) if len(lines) == limit else 0,
            measure_records.count_current(connection, visibility, since) - len(measures)
            if len(measures) == limit
            else 0,
        )

    return context.read(read)


def take_outbox_snapshot(context: Context) -> OutboxSnapshot:
    """Return the state of the outbox, for all contracts: numbers only."""

    def read(connection: Connection, _: Visibility) -> OutboxSnapshot:
        backlog = outbox.backlog(connection)
        overdue = context.now - backlog.due_since if backlog.due_since else timedelta()
        return OutboxSnapshot(backlog.pending, backlog.dead, max(overdue, timedelta()))

    return context.read(read)
