"""The run history of a contract: when runs ended, how they ended, how long they took and how many rows they moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from treaty.catalog.source import Source
from treaty.observability import amounts, measures
from treaty.observability.evidence import RUN_ID
from treaty.observability.health import describe_state
from treaty.observability.measures import Measure, State, measure_kind
from treaty.registry.model import MeasureAnswer

MAX_RUNS = 20
_MAX_MEASURES = 1_000
_COLUMNS = (measures.DURATION, measures.ROWS_IN, measures.VOLUME, measures.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the pipeline that makes the contract's data."""

    number: str | None
    line: str
    at: datetime
    state: str
    """healthy or failing."""
    outcome: str
    """`succeeded`, or why it failed."""
    duration: str | None
    rows_in: str | None
    volume: str | None
    quarantined: str | None


@dataclass(frozen=True, slots=True)
class RunHistory:
    """The newest runs, and how many of the last 30 days succeeded."""

    runs: tuple[Run, ...]
    total: int
    succeeded: int


_Key = tuple[str, datetime]


def run_history(source: Source, contract: str, since: date | None = None) -> RunHistory:
    """Return the runs of the last 30 days, the newest first."""
    found = source.measures.history(contract, measures.RUN, since=since, limit=_MAX_MEASURES).items
    if not found:
        return RunHistory((), 0, 0)
    others = {name: _by_time(source, contract, name, since) for name in _COLUMNS}
    return RunHistory(
        tuple(_run(measure, others) for measure in found[:MAX_RUNS]),
        len(found),
        sum(measure.value >= 1 for measure in found),
    )


def _by_time(source: Source, contract: str, name: str, since: date | None) -> Mapping[_Key, str]:
    found = source.measures.history(contract, name, since=since, limit=_MAX_MEASURES).items
    kind = measure_kind(name)
    return {(one.line, one.at): amounts.format_measured(kind, one.value, one.unit) for one in found}


def _run(measure: MeasureAnswer, others: Mapping[str, Mapping[_Key, str]]) -> Run:
    key = measure.line, measure.at
    number = measure.details.get(RUN_ID)
    succeeded = measure.value >= 1
    return Run(
        None if number is None else str(number),
        measure.line,
        measure.at,
        "healthy" if succeeded else "failing",
        "succeeded" if succeeded else _failure(measure),
        *(others[name].get(key) for name in _COLUMNS),
    )


def _failure(measure: MeasureAnswer) -> str:
    value = Measure(
        measure.contract,
        measure.name,
        measure.at,
        measure.value,
        measure.unit,
        measure.promise,
        State.FAILING,
        measure.details,
    )
    return describe_state(value)
