"""The lineage events of a run: its start is sent while the run begins, the rest when it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from treaty.errors import TreatyError

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

    from treaty.cli.pipeline_project import OpenedProject
    from treaty.pipeline.plan import Plan
    from treaty.pipeline.run import RunSummary
    from treaty.pipeline.run.event_delivery import EventTargets


@dataclass
class RunLineage:
    """What the events of a run are about; the caller sets the summary when the run has ended."""

    started_at: datetime
    summary: RunSummary | None = None
    problem: str | None = None
    """Why events were not delivered."""


@contextmanager
def lineage_events(opened: OpenedProject, plan: Plan, warehouse: str) -> Iterator[RunLineage]:
    """Send the events of the run that happens in the context. Its start is sent by another thread meanwhile."""
    from treaty.pipeline.run.event_delivery import deliver

    lineage = RunLineage(datetime.now(UTC))
    targets = _targets(opened)
    if not targets:
        yield lineage
        return
    namespace, project = targets.namespace, opened.project.name
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(_send_start, targets, project, lineage.started_at)
        try:
            yield lineage
        except TreatyError as error:
            message, ended_at = str(error), datetime.now(UTC)
            first.result()
            deliver(targets, lambda: _failed(namespace, project, lineage.started_at, ended_at, message))
            raise
        lineage.problem = _send_end(targets, plan, lineage, warehouse, first)


def _send_start(targets: EventTargets, project: str, started_at: datetime) -> str | None:
    from treaty.pipeline.run.event_delivery import deliver
    from treaty.pipeline.run.run_events import run_started

    return deliver(targets, lambda: run_started(targets.namespace, project, started_at))


def _send_end(
    targets: EventTargets, plan: Plan, lineage: RunLineage, warehouse: str, first: Future[str | None]
) -> str | None:
    from treaty.pipeline.run.event_delivery import deliver
    from treaty.pipeline.run.run_events import run_ended, tables_below

    problem, summary = first.result(), lineage.summary
    if summary is None:
        return problem
    return deliver(targets, lambda: run_ended(targets.namespace, plan, summary, tables_below(warehouse))) or problem


def _failed(namespace: str, project: str, started_at: datetime, ended_at: datetime, message: str) -> list[RunEvent]:
    from treaty.pipeline.run.run_events import run_failed

    return run_failed(namespace, project, started_at, ended_at, message)


def _targets(opened: OpenedProject) -> EventTargets:
    """Return where the events go: the configured registry, and the targets of the settings."""
    from treaty.pipeline.run.event_delivery import EventTargets

    part = opened.settings.parts.openlineage
    return EventTargets(
        opened.registry,
        part.url,
        part.endpoint,
        opened.settings.secrets.openlineage_api_key,
        part.file,
        part.namespace,
    )
