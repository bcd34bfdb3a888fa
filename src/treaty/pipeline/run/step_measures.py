"""The measures of the steps of one line: counts, ages, drift and declared measures, each with its details."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from treaty.contracts.findings import Severity
from treaty.observability import State, measures
from treaty.observability.evidence import ERROR, FIELDS, REFUSED, refusal_details
from treaty.pipeline.project.declarations import Layer
from treaty.pipeline.run.observations import DriftedField
from treaty.pipeline.run.summary import Counts, Outcome, StepSummary

_RAW, _EVENTS = Layer.RAW.value, Layer.EVENTS.value
_LAYERS = [layer.value for layer in Layer]
_PERCENT = 100.0
_MAX_LISTED = 20
_MAX_TEXT_LENGTH = 500
MAX_DETAILS_LENGTH = 3_900
"""The number of characters of details; a registry refuses measures with more than 4,000."""


@dataclass(frozen=True)
class StepMeasure:
    """A measured value; the registry judges it by the promises of the contract unless it has a state."""

    name: str
    value: float
    details: Mapping[str, Any] = field(default_factory=dict)
    state: State | None = None


def bounded(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return details that a registry accepts: lists and groups are left out if they are too long together."""
    if len(json.dumps(details)) <= MAX_DETAILS_LENGTH:
        return dict(details)
    return {name: value for name, value in details.items() if not isinstance(value, (dict, list))}


def measure_steps(steps: Sequence[StepSummary], at: datetime) -> Iterator[StepMeasure]:
    """Yield the measures of the steps of one line; the counts of steps that were not published are left out."""
    is_good = all(step.outcome.is_good for step in steps)
    yield StepMeasure(measures.RUN, float(is_good), {} if is_good else _failure(steps))
    yield StepMeasure(measures.DURATION, sum(step.seconds for step in steps))
    set_apart = [step.set_apart for step in steps if step.set_apart is not None]
    if set_apart:
        yield StepMeasure(measures.FILES_SET_APART, float(sum(set_apart)))
    tables = [step for step in steps if step.layer != _RAW]
    ages = [age for step in tables if (age := _age(step, at)) is not None]
    if ages:
        yield StepMeasure(measures.FRESHNESS, max(ages))
    yield from _lag(tables)
    good = [step for step in tables if step.outcome.is_good]
    if good:
        yield from _row_measures(good)
    yield from _drift(steps)
    yield from _exceptions(tables)
    for step in tables:
        yield from (StepMeasure(measured.name, measured.value) for measured in step.observed.semantic)


def _failure(steps: Sequence[StepSummary]) -> dict[str, Any]:
    """Return why a run failed for a line: the rules that an audit found broken, or the error of the first bad step."""
    bad = next(step for step in steps if not step.outcome.is_good)
    if bad.outcome is Outcome.REFUSED and bad.observed.refused:
        return {REFUSED: refusal_details(bad.name, bad.observed.refused), "step": bad.name}
    reason = bad.reasons[0] if bad.reasons else bad.outcome.value
    return {ERROR: f"{bad.outcome.value}: {reason}"[:_MAX_TEXT_LENGTH], "step": bad.name}


def _age(step: StepSummary, at: datetime) -> float | None:
    """Return the age of the published rows in seconds: by the contract's element, else since publication."""
    if step.newest_age is not None:
        return step.newest_age
    if step.published_at is not None:
        return max(0.0, (at - step.published_at).total_seconds())
    return 0.0 if step.outcome is Outcome.DONE else None


def _lag(steps: Sequence[StepSummary]) -> Iterator[StepMeasure]:
    lags = [step.observed.lag for step in steps if step.observed.lag is not None]
    if lags:
        lag = max(lags, key=lambda one: one.seconds)
        details = {"percentile": lag.percentile, "median": round(lag.median, 3), "newest": round(lag.newest, 3)}
        yield StepMeasure(measures.LAG, lag.seconds, details)


def _row_measures(steps: Sequence[StepSummary]) -> Iterator[StepMeasure]:
    counts = sum((step.counts for step in steps), Counts())
    passed = _passed(steps)
    total = counts.rows_in or passed + counts.quarantined + counts.held
    yield StepMeasure(measures.ROWS_IN, float(total), _arrivals(steps))
    yield StepMeasure(measures.VOLUME, float(passed))
    by_rule = Counter[str]()
    for step in steps:
        by_rule.update(step.observed.violations)
    rules = {"rules": dict(by_rule.most_common(_MAX_LISTED))} if by_rule else {}
    yield StepMeasure(measures.QUARANTINED, float(counts.quarantined), rules)
    if total:
        shares = {rule: round(_PERCENT * count / total, 4) for rule, count in by_rule.most_common(_MAX_LISTED)}
        share = _PERCENT * counts.quarantined / total
        yield StepMeasure(measures.QUARANTINED_SHARE, share, {"rules": shares} if shares else {})
    if any(step.layer == _EVENTS for step in steps):
        yield StepMeasure(measures.DUPLICATES, float(counts.duplicate), _nonzero(conflicting=counts.conflicting))
    if any(step.layer == "products" for step in steps):
        yield StepMeasure(measures.OUT_OF_ORDER, float(counts.out_of_order))
        yield StepMeasure(measures.GAPS, float(counts.gaps))


def _passed(steps: Sequence[StepSummary]) -> int:
    """Return the rows that passed in the last layer: the same rows go through all layers of a small project."""
    last = max(_LAYERS.index(step.layer) for step in steps)
    counts = sum((step.counts for step in steps if _LAYERS.index(step.layer) == last), Counts())
    return counts.accepted + counts.valid + counts.resolved + counts.published


def _arrivals(steps: Sequence[StepSummary]) -> dict[str, Any]:
    """Return the rows that arrived by source, and by the fields that sources count by."""
    sources = {step.name: step.counts.rows_in for step in steps if step.counts.rows_in}
    by: dict[str, Counter[str]] = {}
    for step in steps:
        for name, groups in step.observed.rows_by.items():
            by.setdefault(name, Counter()).update(groups)
    listed = {name: dict(groups.most_common(_MAX_LISTED)) for name, groups in by.items()}
    return _nonzero(sources=sources, by=listed)


def _drift(steps: Sequence[StepSummary]) -> Iterator[StepMeasure]:
    observed = [step.observed.drift for step in steps if step.observed.drift is not None]
    if not observed:
        return
    yield measure_drift([one for listed in observed for one in listed])


def measure_drift(listed: Sequence[DriftedField]) -> StepMeasure:
    """Return the number of drifted fields, with the changes; a breaking one fails whatever the contract promises."""
    drifted = {(one.field, one.kind): one for one in listed}.values()
    fields = sorted({one.field for one in drifted})
    is_breaking = any(one.severity is Severity.ERROR for one in drifted)
    details = {FIELDS: fields[:_MAX_LISTED], "changes": [one.as_data() for one in drifted][:_MAX_LISTED]}
    state = State.FAILING if is_breaking else None
    return StepMeasure(measures.SCHEMA_DRIFT, float(len(fields)), details if fields else {}, state)


def _exceptions(steps: Sequence[StepSummary]) -> Iterator[StepMeasure]:
    reconciled = [step for step in steps if step.exceptions_open is not None]
    if not reconciled:
        return
    yield StepMeasure(measures.EXCEPTIONS, float(sum(step.exceptions_open or 0 for step in reconciled)))
    yield StepMeasure(measures.EXCEPTIONS_OPENED, float(sum(step.counts.exceptions_opened for step in reconciled)))
    yield StepMeasure(measures.EXCEPTIONS_CLOSED, float(sum(step.counts.exceptions_closed for step in reconciled)))
    ages = [step.oldest_exception_age for step in reconciled if step.oldest_exception_age is not None]
    yield StepMeasure(measures.EXCEPTIONS_OLDEST_AGE, max(ages, default=0.0))


def _nonzero(**details: Any) -> dict[str, Any]:
    return {name: value for name, value in details.items() if value}
