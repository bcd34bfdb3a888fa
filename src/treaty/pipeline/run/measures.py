"""Measures of a run, by contract, sent to the registry. A run never fails because they could not be recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

from treaty.observability import Measure, measures
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary

if TYPE_CHECKING:
    from treaty.registry.model import RecordedAnswer

MAX_MEASURES_PER_REQUEST = 1_000
_RAW = "raw"
_PERCENT = 100.0


class _Measures(Protocol):
    def record(self, measures: Sequence[Measure]) -> RecordedAnswer: ...


class MeasureStore(Protocol):
    """A registry that records measures, local or over HTTP."""

    @property
    def measures(self) -> _Measures:
        """The measures of the registry."""
        ...


StoreOpener: TypeAlias = Callable[[], AbstractContextManager[MeasureStore]]


def measure_run(run: RunSummary) -> tuple[Measure, ...]:
    """Return the measures of a run; all lines of a contract are measured together."""
    at = run.started_at + timedelta(seconds=run.seconds)
    by_contract: dict[str, list[StepSummary]] = {}
    for step in run.steps:
        if step.contract:
            by_contract.setdefault(step.contract, []).append(step)
    details = {"project": run.project, "run": run.run}
    return tuple(
        Measure(contract, name, at, value, details=details)
        for contract, steps in by_contract.items()
        for name, value in _values(steps, at)
    )


def record_measures(run: RunSummary, open_store: StoreOpener | None) -> str | None:
    """Record the measures of a run in the registry; return a warning if that failed."""
    if open_store is None:
        return None
    try:
        measures = measure_run(run)
        with open_store() as store:
            for start in range(0, len(measures), MAX_MEASURES_PER_REQUEST):
                store.measures.record(measures[start : start + MAX_MEASURES_PER_REQUEST])
    except Exception as error:  # the tables are published: the summary must be shown whatever happened here
        return f"the run ended, but its measures were not recorded: {str(error) or type(error).__name__}"
    return None


def _values(steps: Sequence[StepSummary], at: datetime) -> Iterator[tuple[str, float]]:
    """Yield the measures of one contract; the counts of steps that were not published are left out."""
    yield measures.RUN, float(all(step.outcome.is_good for step in steps))
    yield measures.DURATION, sum(step.seconds for step in steps)
    tables = [step for step in steps if step.layer != _RAW]
    ages = [age for step in tables if (age := _age(step, at)) is not None]
    if ages:
        yield measures.FRESHNESS, max(ages)
    good = [step.counts for step in tables if step.outcome.is_good]
    if good:
        yield from _row_measures(sum(good, Counts()))
    open_exceptions = [step.exceptions_open for step in tables if step.exceptions_open is not None]
    if open_exceptions:
        yield measures.EXCEPTIONS, float(sum(open_exceptions))


def _row_measures(counts: Counts) -> Iterator[tuple[str, float]]:
    passed = counts.accepted + counts.valid + counts.resolved + counts.published
    total = counts.rows_in or passed + counts.quarantined + counts.held
    yield measures.ROWS_IN, float(total)
    yield measures.VOLUME, float(passed)
    yield measures.QUARANTINED, float(counts.quarantined)
    if total:
        yield measures.QUARANTINED_SHARE, _PERCENT * counts.quarantined / total


def _age(step: StepSummary, at: datetime) -> float | None:
    """Return the age of the published rows in seconds: by the contract's element, else since publication."""
    if step.newest_age is not None:
        return step.newest_age
    if step.published_at is not None:
        return max(0.0, (at - step.published_at).total_seconds())
    return 0.0 if step.outcome is Outcome.DONE else None
