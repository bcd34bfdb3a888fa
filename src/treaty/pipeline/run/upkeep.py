"""Housekeeping of a project: after a run in the tables that it changed, or on demand in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from treaty.contracts import Contract
from treaty.contracts.versions import Line
from treaty.pipeline.maintenance import Retention, Upkeep, maintain_all, maintain_changed
from treaty.pipeline.plan import plan
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import (
    Form,
    Layer,
    Project,
    Publication,
    acceptances_table,
    exceptions_table,
)
from treaty.pipeline.run.lease import hold_project
from treaty.pipeline.run.step_context import Run
from treaty.pipeline.run.summary import Outcome, RunSummary
from treaty.pipeline.tables import ARRIVALS_LEDGER, Tables
from treaty.pipeline.tables.ddl import view_stamp


def maintain_after_run(run: Run, steps: Sequence[Step], summary: RunSummary, retention: Retention) -> Upkeep:
    """Keep house in the tables that a run changed."""
    done = {step.table for step in summary.steps if step.outcome is Outcome.DONE}
    changed = list(dict.fromkeys(table for step in steps if step.table in done for table in tables_of_step(step)))
    return maintain_changed(run.tables, changed, retention, run.now, lambda: runs_in_views(run.tables, steps))


def maintain_project(
    tables: Tables,
    project: Project,
    contracts: Mapping[Line, Contract],
    retention: Retention,
    *,
    now: datetime | None = None,
    dry_run: bool = False,
    wait: float = 0.0,
) -> Upkeep:
    """Keep house in all tables of a project while no run is active."""
    now = now or datetime.now(UTC)
    steps = plan(project, contracts).steps
    names = list(dict.fromkeys(table for step in steps for table in tables_of_step(step)))
    with hold_project(project.folder, tables.catalog, now, wait):
        return maintain_all(tables, names, retention, now, runs_in_views(tables, steps), dry_run=dry_run)


def is_view(step: Step) -> bool:
    """Tell whether a step publishes a view, which has no files of its own."""
    return isinstance(step.declared, Publication) and step.declared.form is Form.VIEW


def tables_of_step(step: Step) -> tuple[str, ...]:
    """Return the tables that a step writes, its own one first; a view has none."""
    if is_view(step):
        return ()
    if step.layer is Layer.RAW:
        return (step.table, ARRIVALS_LEDGER)
    if step.layer is Layer.RECONCILIATION:
        return (step.table, exceptions_table(step.name), acceptances_table(step.name))
    if isinstance(step.declared, Publication):
        return (step.table, *step.declared.generated_tables)
    return (step.table,)


def runs_in_views(tables: Tables, steps: Iterable[Step]) -> dict[str, set[int]]:
    """Return the runs of tables that views read: a view is pinned to the snapshots of its inputs."""
    runs: dict[str, set[int]] = {}
    for step in filter(is_view, steps):
        stamp = view_stamp(tables.spark, tables.namespace, step.table)
        for table, run in (stamp.reflects if stamp else {}).items():
            runs.setdefault(table, set()).add(run)
    return runs
