"""Running a project: one run at a time, each step once its inputs are done, as the plan says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from treaty.contracts import Contract, Finding, Severity
from treaty.contracts.versions import Line
from treaty.errors import Refused, TreatyError
from treaty.pipeline.plan import Layer, Plan, plan, select
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Project, place_at
from treaty.pipeline.project.promotion import NOT_ACTIVE, PUBLISHED, UPSTREAM, check_status
from treaty.pipeline.run.event_step import EventStep
from treaty.pipeline.run.product_step import ProductStep
from treaty.pipeline.run.publication_step import publication_step
from treaty.pipeline.run.raw_step import RawStep
from treaty.pipeline.run.reconciliation_step import ReconciliationStep
from treaty.pipeline.run.run_lock import LockHolder, current_holder, hold_run_lock
from treaty.pipeline.run.step_context import Phase, ProgressListener, Run, StepContext, ignore_progress
from treaty.pipeline.run.summary import Outcome, RunSummary, StepSummary
from treaty.pipeline.run.template import LayerStep
from treaty.pipeline.sources.known_files import ARRIVALS
from treaty.pipeline.tables import Stamp, Tables
from treaty.pipeline.tables.spark_errors import translate_errors

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
    from_raw: bool = False
    """Leave the sources alone and rebuild from the raw tables."""
    wait: float = 0.0
    """Seconds to wait for another run of the project to end."""
    max_parallel_steps: int = 3
    """Number of steps that run at the same time; while Spark plans one, it can execute another."""


@dataclass(frozen=True)
class RunEnvironment:
    """Listeners and secrets of a run."""

    on_progress: ProgressListener = ignore_progress
    on_wait: Callable[[LockHolder | None], None] | None = None
    """Called once if the run has to wait for another one."""
    jdbc_password: str | None = field(default=None, repr=False)
    hash_secret: str | None = field(default=None, repr=False)


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
    milliseconds = int(now.timestamp() * 1000)
    with hold_run_lock(project.folder, current_holder(milliseconds, now), options.wait, environment.on_wait):
        tables.create_namespaces((ARRIVALS, *Layer))
        stamps = {step.table: tables.stamp(step.table) for step in steps}
        run = Run(
            next_run_number(stamps.values(), milliseconds),
            now,
            project,
            contracts,
            tables,
            environment.on_progress,
            environment.jdbc_password,
            environment.hash_secret,
            stamps,
        )
        derived = (step.table for step in chosen if step.layer is not Layer.RAW)
        rebuilt = frozenset(derived) if options.rebuild else frozenset()
        return run_steps(run, steps, chosen, rebuilt=rebuilt, max_parallel_steps=options.max_parallel_steps)


def executable_plan(project: Project, contracts: dict[Line, Contract]) -> Plan:
    """Return the plan of a project; refuse it if it has errors other than the status of a contract."""
    made = plan(project, contracts)
    errors = tuple(finding for finding in made.errors if finding.id != NOT_ACTIVE)
    if errors:
        count = f"{len(errors)} problem{'s' * (len(errors) > 1)}"
        raise Refused(f"the project cannot run: {count}; see treaty plan", errors)
    return made


def next_run_number(stamps: Iterable[Stamp | None], milliseconds: int) -> int:
    """Return the number of a new run: the current time, but higher than every run in the tables."""
    return max([milliseconds, *[stamp.run + 1 for stamp in stamps if stamp is not None]])


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
    return RunSummary(run.number, run.project.folder.name, run.now, time.monotonic() - started, summaries)


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
                running[pool.submit(_run_timed, step, done)] = step
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done[running.pop(future).table] = future.result()
    return done


def _run_timed(step: StepContext, done: Mapping[str, StepSummary]) -> StepSummary:
    step.report(Phase.STARTED)
    started = time.monotonic()
    summary = _run_or_skip(step, done)
    step.report(Phase.ENDED, summary.outcome)
    stamp = step.run.stamps.get(step.table)  # only if it is known already: reading it would cost a query
    published_at = stamp.committed_at if stamp else None
    return replace(summary, seconds=time.monotonic() - started, published_at=published_at)


def _run_or_skip(step: StepContext, done: Mapping[str, StepSummary]) -> StepSummary:
    failed = [table for table in step.step.reads if table in done and not done[table].outcome.is_good]
    if failed:
        return step.summary(Outcome.SKIPPED, reasons=(f"{', '.join(failed)} was not published",))
    if finding := _status_error(step):
        reason = f"{finding.message}; {finding.hint}" if finding.hint else finding.message
        return step.summary(Outcome.REFUSED, reasons=(reason,))
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
