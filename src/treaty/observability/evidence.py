"""The details of measures that explain a breach, and the sentence that they give.

A measure `run` of 0 explains itself by `run` (which run), and by `refused` (`refusal_details`) or `error`. A measure
`schema_drift` lists the `fields` that drifted. A volume that is out of its usual range has `expected`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from treaty.observability.amounts import format_amount, format_limit, format_measured
from treaty.observability.measures import LEGACY_READS, RUN, SCHEMA_DRIFT, SECONDS, Bound, Measure, measure_kind

REFUSED, ERROR, EXPECTED, FIELDS, RUN_ID = "refused", "error", "expected", "fields", "run"
"""Keys of details."""

LEGACY_READERS = "readers"
"""Key of the details of a measure `legacy_reads`: the consumers, each with the feed and the day of its retirement."""

SILENCE = "silence"
"""The measure of an incident about a line that nothing was measured of for longer than its promises allow."""

_SIGNS = {Bound.AT_MOST: ">", Bound.AT_LEAST: "<"}
_MAX_NAMES = 3
_MAX_TEXT_LENGTH = 300


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that an audit found broken: the measured value and the limit, in the unit, if they are numbers."""

    rule: str
    value: float | None = None
    limit: float | None = None
    unit: str = "%"
    bound: Bound = Bound.AT_MOST


def refusal_details(step: str, rules: Iterable[BrokenRule]) -> dict[str, Any]:
    """Return the value of `refused` in the details of a run that an audit refused."""
    broken = [
        {"rule": one.rule, "value": one.value, "limit": one.limit, "unit": one.unit, "bound": one.bound.value}
        for one in rules
    ]
    return {"step": step, "rules": broken}


def describe_breach(measure: Measure) -> str:
    """Return why a measure breaks its promise or is out of its usual range, in a few words."""
    if measure.name == RUN:
        return _describe_run(measure)
    if measure.name == LEGACY_READS and (readers := measure.details.get(LEGACY_READERS)):
        return _describe_legacy_reads(readers)
    kind = measure_kind(measure.name, measure.unit)
    measured = f"{kind.title[:1].lower()}{kind.title[1:]} {format_measured(kind, measure.value, measure.unit)}"
    expected = measure.details.get(EXPECTED)
    if isinstance(expected, Mapping) and "low" in expected and "high" in expected:
        low, high = (format_amount(float(expected[end]), "") for end in ("low", "high"))
        return f"{measured}; usual at this time: {low} to {high}"
    fields = _names(measure.details.get(FIELDS))
    where = f" ({fields})" if fields else ""
    if measure.promise is None and measure.name == SCHEMA_DRIFT:
        return (
            f"schema drift: {int(measure.value):,} {'field differs' if measure.value == 1 else 'fields differ'}{where}"
        )
    if measure.promise is None:
        limit = "" if kind.warn_above is None else f" > {format_amount(kind.warn_above, kind.unit)}"
        return f"{measured}{limit}{where}"
    sign = ">" if measure.value > measure.promise else "<" if measure.value < measure.promise else _SIGNS[kind.bound]
    return f"{measured} {sign} {format_limit(measure.promise, measure.value, measure.unit or kind.unit)}{where}"


def describe_margin(measure: Measure) -> str:
    """Return that a measure keeps its promise, and is close to the limit."""
    kind = measure_kind(measure.name, measure.unit)
    measured = f"{kind.title[:1].lower()}{kind.title[1:]} {format_measured(kind, measure.value, measure.unit)}"
    if measure.promise is None:
        return measured
    return (
        f"{measured} is close to the limit of {format_limit(measure.promise, measure.value, measure.unit or kind.unit)}"
    )


def describe_silence(last: datetime, promise: str, allowed: timedelta) -> str:
    """Return the sentence about a line of which nothing was measured for too long."""
    length = format_amount(allowed.total_seconds(), SECONDS)
    return f"nothing was measured since {last:%Y-%m-%d %H:%M} UTC; {promise} of {length} is promised"


def breached_fields(measure: Measure) -> frozenset[str]:
    """Return the fields that a breach is about; empty if it may concern all of them."""
    fields = measure.details.get(FIELDS)
    return frozenset(map(str, fields)) if isinstance(fields, (list, tuple)) else frozenset()


def _describe_run(measure: Measure) -> str:
    run = measure.details.get(RUN_ID)
    name = f"run {run}" if run is not None else "the last run"
    refused = measure.details.get(REFUSED)
    if isinstance(refused, Mapping):
        step, rules = refused.get("step", measure.contract), refused.get("rules") or ()
        broken = [text for rule in rules if (text := _describe_rule(rule))]
        more = f" and {len(broken) - _MAX_NAMES} more" if len(broken) > _MAX_NAMES else ""
        listed = ", ".join(broken[:_MAX_NAMES])
        return f"audit of {step} refused {name}" + (f": {listed}{more}" if listed else "")
    error = str(measure.details.get(ERROR) or "").strip()
    return f"{name} failed" + (f": {error[:_MAX_TEXT_LENGTH]}" if error else "")


def _describe_legacy_reads(readers: object) -> str:
    listed = [reader for reader in readers if isinstance(reader, Mapping)] if isinstance(readers, (list, tuple)) else []
    texts = [
        f"{one.get('consumer')} reads {one.get('feed')}, which has been retired since {one.get('retired')}"
        for one in listed[:_MAX_NAMES]
    ]
    more = f" and {len(listed) - _MAX_NAMES} more" if len(listed) > _MAX_NAMES else ""
    return "; ".join(texts)[:_MAX_TEXT_LENGTH] + more


def _describe_rule(rule: object) -> str:
    if not isinstance(rule, Mapping) or "rule" not in rule:
        return ""
    value, limit, unit = rule.get("value"), rule.get("limit"), str(rule.get("unit", "%"))
    if not isinstance(value, (int, float)) or not isinstance(limit, (int, float)):
        return f"rule {rule['rule']}"
    sign = _SIGNS[Bound.AT_LEAST if rule.get("bound") == Bound.AT_LEAST else Bound.AT_MOST]
    return f"rule {rule['rule']} {format_amount(float(value), unit)} {sign} {format_amount(float(limit), unit)}"


def _names(values: object) -> str:
    if not isinstance(values, (list, tuple)):
        return ""
    names = [str(value) for value in values]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more
