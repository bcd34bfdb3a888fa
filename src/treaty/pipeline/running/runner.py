"""The runner: steps in their order, each whole or not at all; what rests on a step that failed is left alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from treaty.contracts import Finding, Severity
from treaty.errors import TreatyError
from treaty.pipeline.declarations import Declared
from treaty.pipeline.planning.steps import Layer, Step
from treaty.pipeline.promotion import PUBLISHED, UPSTREAM, judged
from treaty.pipeline.reading.places import place_at
from treaty.pipeline.running.accepting import accept
from treaty.pipeline.running.arriving import take_in
from treaty.pipeline.running.building import build
from treaty.pipeline.running.happenings import Moment
from treaty.pipeline.running.publishing import publish
from treaty.pipeline.running.settling import settle
from treaty.pipeline.running.summary import Outcome, RunSummary, StepSummary
from treaty.pipeline.running.work import Run, Work
from treaty.pipeline.tables import Stamp
from treaty.pipeline.tables.failures import told_of

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
