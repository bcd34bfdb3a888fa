"""Running a project: one run at a time, each step once its inputs are done, as the plan says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from treaty.contracts import Contract, Finding, Severity
from treaty.contracts.versions import Line
from treaty.errors import Refused, TreatyError
from treaty.pipeline.maintenance import Retention
from treaty.pipeline.plan import Layer, Plan, plan, select
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Project, place_at
from treaty.pipeline.project.promotion import NOT_ACTIVE, PUBLISHED, UPSTREAM, check_status
from treaty.pipeline.run.event_step import EventStep
from treaty.pipeline.run.lease import hold_project
from treaty.pipeline.run.product_step import ProductStep
from treaty.pipeline.run.publication_step import publication_step
from treaty.pipeline.run.raw_step import RawStep
from treaty.pipeline.run.reconciliation_step import ReconciliationStep
from treaty.pipeline.run.run_lock import LockHolder
from treaty.pipeline.run.step_context import Phase, ProgressListener, Run, StepContext, ignore_progress
from treaty.pipeline.run.summary import Outcome, RunSummary, StepSummary
from treaty.pipeline.run.template import LayerStep
from treaty.pipeline.run.upkeep import maintain_after_run
from treaty.pipeline.sinks import SinkEnvironment
from treaty.pipeline.sources import Ledger
from treaty.pipeline.tables import ARRIVALS, ARRIVALS_LEDGER, Stamp, Tables
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.tracing import current_span, span

if TYPE_CHECKING:
    from treaty.pipeline.run.writer_schemas import SchemaResolver

MAX_LISTED_PROBLEMS = 10

STEPS: Mapping[Layer, Callable[[StepContext, Any], LayerStep[Any, Any, Any, Any]]] = {
    Layer.RAW: RawStep,
    Layer.EVENTS: EventStep,
    Layer.PRODUCTS: ProductStep,
    Layer.RECONCILIATION: ReconciliationStep,
    Layer.PUBLICATIONS: publication_step,
}
"""The step implementation of each layer."""


@dataclass(frozen=True)
class RunOptions:
    """What the user asks of a run."""

    select: tuple[str, ...] = ()
    """Steps by name, as `select` takes them; empty: all steps."""
    rebuild: bool = False
    """Rebuild the selected steps in full, whatever changed."""
    rejudge: bool = False
    """Judge all raw rows of the selected events again; later steps recompute what that changes."""
    from_raw: bool = False
    """Leave the sources alone and rebuild from the raw tables."""
    wait: float = 0.0
    """Seconds to wait for another run of the project to end."""
    max_parallel_steps: int = 3
    """Number of steps that run at the same time; while Spark plans one, it can execute another."""
    retention: Retention | None = None
    """How much history is kept; None: the run does no housekeeping."""


@dataclass(frozen=True)
class RunEnvironment:
    """Listeners and secrets of a run."""

    on_progress: ProgressListener = ignore_progress
    on_wait: Callable[[LockHolder | None], None] | None = None
    """Called once if the run has to wait for another one."""
    jdbc_password: str | None = field(default=None, repr=False)
    hash_secret: str | None = field(default=None, repr=False)
    sinks: SinkEnvironment = field(default_factory=SinkEnvironment)
    schema_resolver: SchemaResolver | None = field(default=None, repr=False)
    """Resolves the schema ids of topics; it keeps the answers for the next run of the process."""


def run_project(
    tables: Tables,
    project: Project,
    contracts: dict[Line, Contract],
    options: RunOptions | None = None,
    environment: RunEnvironment | None = None,
    now: datetime | None = None,
) -> RunSummary:
    """Run a project, or the selected part of it.

    A plan with errors is refused before anything runs. Contracts that are not active stop only their own steps.
    """
    options, environment, now = options or RunOptions(), environment or RunEnvironment(), now or datetime.now(UTC)
    steps = executable_plan(project, contracts).steps
    chosen = [step for step in select(steps, options.select) if not (options.from_raw and step.layer is Layer.RAW)]
    with open_run(tables, project, contracts, steps, environment, now, options.wait) as run:
        summary = run_steps(
            run, steps, chosen, rebuilt=_rebuilt_tables(chosen, options), max_parallel_steps=options.max_parallel_steps
        )
        summary = _save_ledger(run, summary)
        if options.retention is None:
            return summary
        return replace(summary, maintenance=maintain_after_run(run, steps, summary, options.retention))


@contextmanager
def open_run(
    tables: Tables,
    project: Project,
    contracts: Mapping[Line, Contract],
    steps: Sequence[Step],
    environment: RunEnvironment,
    now: datetime,
    wait: float = 0.0,
) -> Iterator[Run]:
    """Take the lock and the lease of a project, and open a run; wait up to `wait` seconds for another one."""
    with hold_project(project.folder, tables.catalog, now, wait, environment.on_wait) as lease:
        current_span().add_event("lock acquired")
        tables = tables.guarded_by(lease.check)
        tables.create_namespaces((ARRIVALS, *Layer))
        stamps = {step.table: tables.stamp(step.table) for step in steps}
        lease.raise_to(next_run_number(stamps.values(), lease.number))
        yield Run(
            lease.number,
            now,
            project,
            contracts,
            tables,
            Ledger(tables, project.folder),
            environment.on_progress,
            environment.jdbc_password,
            environment.hash_secret,
            environment.sinks,
            stamps,
            schema_resolver=environment.schema_resolver,
        )


def _save_ledger(run: Run, summary: RunSummary) -> RunSummary:
    """Write the ledger of arrivals. If that fails, the next run inspects the files again, and this run has failed."""
    try:
        run.ledger.save(run.number, run.now)
    except TreatyError as error:
        reasons = tuple(str(error).splitlines())
        failed = StepSummary(ARRIVALS, Layer.RAW, Outcome.FAILED, table=ARRIVALS_LEDGER, reasons=reasons)
        return replace(summary, steps=(*summary.steps, failed))
    return summary


def _rebuilt_tables(chosen: Iterable[Step], options: RunOptions) -> frozenset[str]:
    if options.rebuild:
        return frozenset(step.table for step in chosen if step.layer is not Layer.RAW)
    return frozenset(step.table for step in chosen if options.rejudge and step.layer is Layer.EVENTS)


def executable_plan(project: Project, contracts: dict[Line, Contract]) -> Plan:
    """Return the plan of a project; refuse it if it has errors other than the status of a contract."""
    made = plan(project, contracts)
    errors = tuple(finding for finding in made.errors if finding.id != NOT_ACTIVE)
    if errors:
        raise Refused(f"the project cannot run:\n{_list_problems(errors)}", errors)
    return made


def _list_problems(errors: Sequence[Finding]) -> str:
    lines = [
        f"  {finding.place}: {finding.message}" + (f"; {finding.hint}" if finding.hint else "")
        for finding in errors[:MAX_LISTED_PROBLEMS]
    ]
    if more := len(errors) - len(lines):
        lines.append(f"  and {more} more: treaty plan lists them")
    return "\n".join(lines)


def next_run_number(stamps: Iterable[Stamp | None], number: int) -> int:
    """Return the number of a new run: that of its lease, but higher than every run in the tables."""
    return max([number, *[stamp.run + 1 for stamp in stamps if stamp is not None]])


def run_steps(
    run: Run, steps: Sequence[Step], chosen: Sequence[Step], *, rebuilt: frozenset[str], max_parallel_steps: int = 1
) -> RunSummary:
    """Run the chosen steps, in parallel where none reads another; the tables in `rebuilt` are rebuilt in full."""
    started = time.monotonic()
    tables = {step.name: step.table for step in steps if step.layer is not Layer.RAW}
    contexts = [
        StepContext(run, step, tables, step.table in rebuilt, number, len(chosen))
        for number, step in enumerate(chosen, 1)
    ]
    done = _run_in_order(contexts, max_parallel_steps)
    summaries = tuple(done[step.table] for step in chosen)
    return RunSummary(run.number, run.project.name, run.now, time.monotonic() - started, summaries)


def _run_in_order(contexts: Sequence[StepContext], max_parallel_steps: int) -> dict[str, StepSummary]:
    """Start each step as soon as all steps that it reads have ended."""
    done: dict[str, StepSummary] = {}
    waiting, running = list(contexts), dict[Future[StepSummary], StepContext]()
    with ThreadPoolExecutor(max_parallel_steps) as pool:
        while waiting or running:
            unfinished = {step.table for step in waiting} | {step.table for step in running.values()}
            ready = [step for step in waiting if not unfinished & set(step.step.reads)]
            for step in ready[: max_parallel_steps - len(running)]:
                waiting.remove(step)
                running[pool.submit(copy_context().run, _run_timed, step, done)] = step
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done[running.pop(future).table] = future.result()
    return done


def _run_timed(step: StepContext, done: Mapping[str, StepSummary]) -> StepSummary:
    started, started_at = time.monotonic(), datetime.now(UTC)
    with span("treaty.step", table=step.table, layer=step.step.layer, line=step.contract.line or "") as current:
        step.report(Phase.STARTED)
        summary = _run_or_skip(step, done)
        step.report(Phase.ENDED, summary.outcome)
        current.set(outcome=summary.outcome, rows_in=summary.counts.rows_in)
        if not summary.outcome.is_good:
            current.fail(summary.outcome)
    stamp = step.run.stamps.get(step.table)  # only if it is known already: reading it would cost a query
    published_at = stamp.committed_at if stamp else None
    return replace(summary, seconds=time.monotonic() - started, started_at=started_at, published_at=published_at)


def _run_or_skip(step: StepContext, done: Mapping[str, StepSummary]) -> StepSummary:
    failed = [table for table in step.step.reads if table in done and not done[table].outcome.is_good]
    if failed:
        return step.summary(Outcome.SKIPPED, reasons=(f"{', '.join(failed)} was not published",))
    if finding := _status_error(step):
        reason = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
        return step.summary(Outcome.REFUSED, reasons=(reason,))
    if foreign := step.run.tables.foreign_writes.get(step.table):  # also if there is nothing new
        return step.summary(Outcome.FAILED, reasons=(foreign,))
    try:
        with translate_errors(step.table):  # counting and auditing can fail as writing can, for example on a full disk
            return STEPS[step.step.layer](step, step.step.declared).run()
    except TreatyError as error:
        return step.summary(Outcome.FAILED, reasons=tuple(str(error).splitlines()))


def _status_error(step: StepContext) -> Finding | None:
    """Return the reason why the status of the contract forbids running the step."""
    table = PUBLISHED if step.step.layer is Layer.PUBLICATIONS else UPSTREAM
    finding = check_status(step.contract, table, place_at(step.step.declared.at))
    return finding if finding and finding.severity is Severity.ERROR else None
