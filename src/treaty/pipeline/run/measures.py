"""What a run measured of each contract, for the registry to keep; no run fails for want of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

from treaty.observability import Measure, measures
from treaty.pipeline.run.summary import Counts, Outcome, RunSummary, StepSummary

if TYPE_CHECKING:
    from treaty.registry.model import RecordedAnswer

_BATCH = 1_000
_RAW = "raw"
_PERCENT = 100.0


class _Measures(Protocol):
    def record(self, measures: Sequence[Measure]) -> RecordedAnswer: ...


class Keeper(Protocol):
    """What keeps measures: a registry, on a database or by its address."""

    @property
    def measures(self) -> _Measures:
        """Its measures."""
        ...


Opening: TypeAlias = Callable[[], AbstractContextManager[Keeper]]


def measures_of(run: RunSummary) -> tuple[Measure, ...]:
    """Return what a run measured; the lines of a contract that run side by side are measured as one."""
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


def keep_measures(run: RunSummary, opening: Opening | None) -> str | None:
    """Let the registry keep what a run measured; say why not, if it could not. The run stands either way."""
    if opening is None:
        return None
    try:
        found = measures_of(run)
        with opening() as keeper:
            for start in range(0, len(found), _BATCH):
                keeper.measures.record(found[start : start + _BATCH])
    except Exception as error:  # whatever it is, the tables are published and the summary is to be shown
        return f"the run is done, but what it measured was not kept: {str(error) or type(error).__name__}"
    return None


def _values(steps: Sequence[StepSummary], at: datetime) -> Iterator[tuple[str, float]]:
    """Yield what is measured of one contract; what a step that did not come through counted was never published."""
    yield measures.RUN, float(all(step.outcome.is_good for step in steps))
    yield measures.DURATION, sum(step.seconds for step in steps)
    tables = [step for step in steps if step.layer != _RAW]
    ages = [age for step in tables if (age := _age(step, at)) is not None]
    if ages:
        yield measures.FRESHNESS, max(ages)
    good = [step.counts for step in tables if step.outcome.is_good]
    if good:
        yield from _counted(sum(good, Counts()))
    waiting = [step.exceptions_open for step in tables if step.exceptions_open is not None]
    if waiting:
        yield measures.EXCEPTIONS, float(sum(waiting))


def _counted(counts: Counts) -> Iterator[tuple[str, float]]:
    through = counts.accepted + counts.valid + counts.resolved + counts.published
    seen = counts.rows_in or through + counts.quarantined + counts.held
    yield measures.ROWS_IN, float(seen)
    yield measures.VOLUME, float(through)
    yield measures.QUARANTINED, float(counts.quarantined)
    if seen:
        yield measures.QUARANTINED_SHARE, _PERCENT * counts.quarantined / seen


def _age(step: StepSummary, at: datetime) -> float | None:
    """Return how old what readers see is: by the element the contract names, else since it was published."""
    if step.newest_age is not None:
        return step.newest_age
    if step.published_at is not None:
        return max(0.0, (at - step.published_at).total_seconds())
    return 0.0 if step.outcome is Outcome.DONE else None
