"""The library metrics of ODCS that look at single values: null, missing and invalid ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import Column
from pyspark.sql import types as spark

from treaty.compatibility.quality import essence, rule_name
from treaty.contracts.findings import Severity
from treaty.contracts.model import Field
from treaty.contracts.values import EMPTY, brief
from treaty.spark.checks import Kind
from treaty.spark.folding import any_of
from treaty.spark.patterns import violates
from treaty.spark.reading_values import OfColumn
from treaty.spark.thresholds import NONE_AT_ALL, Threshold, threshold_of
from treaty.spark.value_checks import listed

_Rule: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class QualityAsked:
    """What a quality rule asks of each value, and how many may be otherwise; no `broken`: the field's own terms."""

    kind: Kind
    says: str
    broken: OfColumn | None
    name: str
    severity: Severity
    allows: Threshold
    of_input: bool = False


def quality_asked_of(field: Field, kind: spark.DataType) -> Iterator[QualityAsked]:
    """Yield what the quality rules of a field ask of each value."""
    for rule in field.quality or ():
        checked = essence(rule)
        reader = METRICS.get(str(checked.get("metric")))
        if reader is None:
            continue
        sort, says, broken = reader(checked, kind)
        allows = threshold_of(rule) or NONE_AT_ALL
        of_input = sort is not Kind.INVALID_VALUES
        yield QualityAsked(sort, says, broken, rule_name(rule), severity_of(rule), allows, of_input)


def severity_of(rule: _Rule) -> Severity:
    """Read how much a rule weighs: an error unless it says otherwise."""
    said = str(rule.get("severity", "error")).strip().lower()
    return {"warning": Severity.WARNING, "warn": Severity.WARNING, "info": Severity.INFO}.get(said, Severity.ERROR)


_Asked: TypeAlias = tuple[Kind, str, OfColumn | None]


def _nulls(rule: _Rule, kind: spark.DataType) -> _Asked:
    return Kind.NULL_VALUES, "must not be null", lambda value: value.isNull()


def _missing(rule: _Rule, kind: spark.DataType) -> _Asked:
    marks = tuple(mark for mark in _arguments(rule).get("missingValues") or () if mark is not None)
    says = "must not be missing" + (f" (null, {brief(', '.join(map(str, marks)))})" if marks else "")
    if not marks:
        return Kind.MISSING_VALUES, says, lambda value: value.isNull()
    texts = [str(mark) for mark in marks]
    return Kind.MISSING_VALUES, says, lambda value: value.isNull() | value.cast("string").isin(*texts)


def _invalid(rule: _Rule, kind: spark.DataType) -> _Asked:
    arguments = _arguments(rule)
    parts: list[OfColumn] = []
    words = []
    allowed = arguments.get("validValues", rule.get("validValues"))
    if isinstance(allowed, tuple):
        words.append("one of " + brief(", ".join(map(str, allowed)), 200))
        parts.append(lambda value: ~listed(value, allowed, kind))
    pattern = arguments.get("pattern")
    if isinstance(pattern, str):
        words.append(f"match {pattern}")
        parts.append(lambda value: violates(value.cast("string"), pattern))

    def broken(value: Column) -> Column:
        return any_of(part(value) for part in parts)

    if not parts:
        return Kind.INVALID_VALUES, "must be valid by the other terms of the field", None
    return Kind.INVALID_VALUES, "must be " + " and ".join(words), broken


def _arguments(rule: _Rule) -> Mapping[str, Any]:
    found = rule.get("arguments")
    return found if isinstance(found, Mapping) else EMPTY


METRICS: dict[str, Callable[[_Rule, spark.DataType], _Asked]] = {
    "nullValues": _nulls,
    "nullCheck": _nulls,
    "missingValues": _missing,
    "invalidValues": _invalid,
    "validValues": _invalid,
}
