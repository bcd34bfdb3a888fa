"""Running a project: one run at a time, from the plan of what it declares."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from treaty.contracts import Contract, Finding, Severity
from treaty.errors import Refused, TreatyError
from treaty.pipeline.plan import Layer, Plan, plan, select
from treaty.pipeline.plan.steps import Step
from treaty.pipeline.project.declarations import Declared, Line, Project
from treaty.pipeline.project.document import place_at
from treaty.pipeline.project.promotion import NOT_ACTIVE, PUBLISHED, UPSTREAM, judged
from treaty.pipeline.run.event_step import accept
from treaty.pipeline.run.product_step import build
from treaty.pipeline.run.publication_step import publish
from treaty.pipeline.run.raw_step import take_in
from treaty.pipeline.run.reconciliation_step import settle
from treaty.pipeline.run.run_lock import Holder, here, locked
from treaty.pipeline.run.step_context import Moment, Run, Teller, Work, nobody
from treaty.pipeline.run.summary import Outcome, RunSummary, StepSummary
from treaty.pipeline.sources.file_tracking import ARRIVALS
from treaty.pipeline.tables import Stamp, Tables
from treaty.pipeline.tables.spark_errors import told_of


@dataclass(frozen=True)
class Wish:
    """What somebody wants of a run."""

    select: tuple[str, ...] = ()
    anew: bool = False
    """Build everything that is chosen anew, whatever the tables say."""
    from_raw: bool = False
    """Leave the sources alone, and build from what has arrived."""
    wait: float = 0.0
    """Seconds to wait for another run to end."""
    at_once: int = 3
    """So many steps work at a time: while one is planned, another computes."""


@dataclass(frozen=True)
class Means:
    """What a run works with beside the tables."""

    tell: Teller = nobody
    waiting: Callable[[Holder | None], None] | None = None
    jdbc_password: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)


def run_project(
    tables: Tables,
    project: Project,
    contracts: dict[Line, Contract],
    wish: Wish | None = None,
    means: Means | None = None,
    now: datetime | None = None,
) -> RunSummary:
    """Run what a project declares, or what is chosen of it; a plan that cannot work is refused before anything runs."""
    wish, means, moment = wish or Wish(), means or Means(), now or datetime.now(UTC)
    made = sound_plan(project, contracts)
    chosen = [step for step in select(made.steps, wish.select) if not (wish.from_raw and step.layer is Layer.RAW)]
    milliseconds = int(moment.timestamp() * 1000)
    with locked(project.folder, here(milliseconds, moment), wish.wait, means.waiting):
        tables.make_room((ARRIVALS, *Layer))
        stamps = {step.table: tables.stamp(step.table) for step in made.steps}
        number = number_for(stamps.values(), milliseconds)
        anew = frozenset(step.table for step in chosen if step.layer is not Layer.RAW) if wish.anew else frozenset()
        run = Run(number, moment, project, contracts, tables, means.tell, means.jdbc_password, means.secret, stamps)
        return run_steps(run, made.steps, chosen, anew=anew, at_once=wish.at_once)


def sound_plan(project: Project, contracts: dict[Line, Contract]) -> Plan:
    """Return the plan of a project, unless something about it cannot work; the gate is kept step by step."""
    made = plan(project, contracts)
    wrong = tuple(one for one in made.errors if one.id != NOT_ACTIVE)
    if wrong:
        raise Refused(f"the project cannot run: {len(wrong)} problem{'s' * (len(wrong) > 1)}; see treaty plan", wrong)
    return made


ACTS: Mapping[Layer, Callable[[Work, Any], StepSummary]] = {
    Layer.RAW: take_in,
    Layer.EVENTS: accept,
    Layer.PRODUCTS: build,
    Layer.RECONCILIATION: settle,
    Layer.PUBLICATIONS: publish,
}
"""What a step of each layer does."""


def number_for(stamps: Iterable[Stamp | None], milliseconds: int) -> int:
    """Return the number of a new run: its time, but above every number in the tables, whatever the clock says."""
    return max([milliseconds, *[stamp.run + 1 for stamp in stamps if stamp is not None]])


def run_steps(
    run: Run, steps: Sequence[Step], chosen: Sequence[Step], *, anew: frozenset[str], at_once: int = 1
) -> RunSummary:
    """Run the chosen steps, several at once where none reads another; tables in `anew` are built anew in any case."""
    began = time.monotonic()
    tables_of = {step.name: step.table for step in steps if step.layer is not Layer.RAW}
    works = [Work(run, step, tables_of, step.table in anew, place, len(chosen)) for place, step in enumerate(chosen, 1)]
    done = _worked_off(works, at_once)
    found = tuple(done[step.table] for step in chosen)
    return RunSummary(run.number, run.project.folder.name, run.now, time.monotonic() - began, found)


def _worked_off(works: Sequence[Work], at_once: int) -> dict[str, StepSummary]:
    """Do each piece of work once all that it reads is done."""
    done: dict[str, StepSummary] = {}
    waiting, running = list(works), dict[Future[StepSummary], Work]()
    with ThreadPoolExecutor(at_once) as pool:
        while waiting or running:
            undone = {work.table for work in waiting} | {work.table for work in running.values()}
            ready = [work for work in waiting if not undone & set(work.step.reads)]
            for work in ready[: at_once - len(running)]:
                waiting.remove(work)
                running[pool.submit(_timed, work, done)] = work
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done[running.pop(future).table] = future.result()
    return done


def _timed(work: Work, done: Mapping[str, StepSummary]) -> StepSummary:
    work.tell(Moment.STARTED)
    started = time.monotonic()
    summary = _acted(work, work.step.declared, done)
    work.tell(Moment.ENDED, summary.outcome)
    stamp = work.run.stamps.get(work.table)  # as far as it is known: no more is asked of the tables for this
    published_at = stamp.committed_at if stamp else None
    return replace(summary, seconds=time.monotonic() - started, published_at=published_at)


def _acted(work: Work, declared: Declared, done: Mapping[str, StepSummary]) -> StepSummary:
    failed = [table for table in work.step.reads if table in done and not done[table].outcome.is_good]
    if failed:
        return work.ended(Outcome.SKIPPED, reasons=(f"{', '.join(failed)} did not come through",))
    if closed := _closed(work):
        return work.ended(Outcome.REFUSED, reasons=(_said(closed),))
    try:
        with told_of(work.table):  # counting and auditing can fail as writing can, on a full disk for one
            return ACTS[work.step.layer](work, declared)
    except TreatyError as error:
        return work.ended(Outcome.FAILED, reasons=tuple(str(error).splitlines()))


def _closed(work: Work) -> Finding | None:
    """Return what keeps the gate shut: nothing is built under a contract that does not allow it."""
    table = PUBLISHED if work.step.layer is Layer.PUBLICATIONS else UPSTREAM
    found = judged(work.contract, table, place_at(work.step.declared.at))
    return found if found and found.severity is Severity.ERROR else None


def _said(finding: Finding) -> str:
    return f"{finding.message}; {finding.hint}" if finding.hint else finding.message
