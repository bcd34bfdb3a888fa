"""The runner: steps in their order, each whole or not at all; what rests on a step that failed is left alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.errors import PySparkException

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
from treaty.pipeline.tables import Tables

ACTS: Mapping[Layer, Callable[[Work, Any], StepSummary]] = {
    Layer.RAW: take_in,
    Layer.EVENTS: accept,
    Layer.PRODUCTS: build,
    Layer.RECONCILIATION: settle,
    Layer.PUBLICATIONS: publish,
}
"""What a step of each layer does."""


def number_for(tables: Tables, steps: Iterable[Step], milliseconds: int) -> int:
    """Return the number of a new run: its time, but above every number in the tables, whatever the clock says."""
    known = [stamp.run for step in steps if (stamp := tables.stamp(step.table)) is not None]
    return max([milliseconds, *[number + 1 for number in known]])


def run_steps(run: Run, steps: Sequence[Step], chosen: Sequence[Step], *, anew: frozenset[str]) -> RunSummary:
    """Run the chosen steps; those whose tables are in `anew` are built anew, whatever the tables say."""
    began = time.monotonic()
    tables_of = {step.name: step.table for step in steps if step.layer is not Layer.RAW}
    done: dict[str, StepSummary] = {}
    for number, step in enumerate(chosen, 1):
        work = Work(run, step, tables_of, step.table in anew, number, len(chosen))
        work.tell(Moment.STARTED)
        started = time.monotonic()
        summary = _acted(work, step.declared, done)
        done[step.table] = _timed(summary, time.monotonic() - started)
        work.tell(Moment.ENDED, summary.outcome)
    name = run.project.folder.name
    return RunSummary(run.number, name, run.now, time.monotonic() - began, tuple(done.values()))


def _acted(work: Work, declared: Declared, done: Mapping[str, StepSummary]) -> StepSummary:
    failed = [table for table in work.step.reads if table in done and not done[table].outcome.is_good]
    if failed:
        return work.ended(Outcome.SKIPPED, reasons=(f"{', '.join(failed)} did not come through",))
    if closed := _closed(work):
        return work.ended(Outcome.REFUSED, reasons=(_said(closed),))
    try:
        return ACTS[work.step.layer](work, declared)
    except TreatyError as error:
        return work.ended(Outcome.FAILED, reasons=tuple(str(error).splitlines()))
    except PySparkException as error:
        return work.ended(Outcome.FAILED, reasons=(str(error).strip().splitlines()[0],))


def _closed(work: Work) -> Finding | None:
    """Return what keeps the gate shut: nothing is built under a contract that does not allow it."""
    table = PUBLISHED if work.step.layer is Layer.PUBLICATIONS else UPSTREAM
    found = judged(work.contract, table, place_at(work.step.declared.at))
    return found if found and found.severity is Severity.ERROR else None


def _said(finding: Finding) -> str:
    return f"{finding.message}; {finding.hint}" if finding.hint else finding.message


def _timed(summary: StepSummary, seconds: float) -> StepSummary:
    return replace(summary, seconds=seconds)
