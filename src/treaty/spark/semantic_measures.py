"""The semantic measures of a contract on a dataset: SQL of their own, or the result of a quality rule.

A measure observes: one that cannot be taken is listed with the reason, and never prevents a publication.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.blocks import SemanticMeasure
from treaty.contracts.model import Contract, SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.input_layout import InputLayout
from treaty.spark.rules import MeasureSql, Unchecked
from treaty.sql.checked_sql import RowCount, RuleQuery, RuleTarget
from treaty.sql.rules import parse_measure

if TYPE_CHECKING:
    from treaty.spark.measures import RuleMeasure

MAX_VALUE = 1e15
"""Larger numbers are not measured, since floats are no longer exact there."""
_PERCENT = 100.0
_COUNTED_UNITS = frozenset({"row", "rows", "count", "record", "records"})


@dataclass(frozen=True)
class MeasuredValue:
    """The value of a semantic measure."""

    name: str
    value: float


def measures_of(contract: Contract, schema: SchemaObject) -> tuple[SemanticMeasure, ...]:
    """Return the measures about an object; without a name, a measure is about the first one."""
    first = contract.schema[0].name if contract.schema else schema.name
    return tuple(measure for measure in contract.treaty.measures if (measure.object or first) == schema.name)


def measured_rules(contract: Contract, schema: SchemaObject) -> frozenset[str]:
    """Return the names of the quality rules whose results are measures."""
    return frozenset(measure.rule for measure in measures_of(contract, schema) if measure.rule)


def collect_measures(contract: Contract, schema: SchemaObject, layout: InputLayout) -> Iterator[MeasureSql | Unchecked]:
    """Yield the measures with SQL of their own, checked by the allow-list and against the columns of the data."""
    for measure in measures_of(contract, schema):
        if measure.expression is not None:
            try:
                yield _compile(measure, measure.expression, RuleTarget.of(contract, schema), layout)
            except InvalidDocument as error:
                yield Unchecked(f"measure {measure.name}", str(error).replace("the SQL of the rule", "its SQL"))


def _compile(measure: SemanticMeasure, text: str, target: RuleTarget, layout: InputLayout) -> MeasureSql:
    parsed = parse_measure(text, target)
    if isinstance(parsed, RuleQuery):
        return MeasureSql(measure.name, query=parsed)
    aggregate = f"count_if({parsed.condition})" if isinstance(parsed, RowCount) else parsed.expression
    try:
        kind = layout.frame.select(F.expr(aggregate).alias("answer")).schema["answer"].dataType
    except PySparkException as error:
        raise InvalidDocument(f"it cannot be evaluated: {str(error).splitlines()[0]}") from None
    if not isinstance(kind, spark.NumericType):
        raise InvalidDocument(f"it is a {kind.simpleString()}, not a number")
    return MeasureSql(measure.name, aggregate=aggregate)


def measured_values(measures: Iterable[MeasureSql], values: Mapping[int | str, Any]) -> Iterator[MeasuredValue]:
    """Yield the values of measures; a measure without a value, such as a share of no rows, is left out."""
    for measure in measures:
        value = as_number(values.get(measure.name))
        if value is not None:
            yield MeasuredValue(measure.name, value)


def rule_values(
    contract: Contract, schema: SchemaObject, results: Sequence[RuleMeasure], rows: int
) -> Iterator[MeasuredValue]:
    """Yield the measures that quality rules give: the value of a rule, or the share of rows that violate it."""
    for measure in measures_of(contract, schema):
        result = next((one for one in results if measure.rule and is_named(one.rule.id, measure.rule)), None)
        value = None if result is None else _rule_value(measure, result, rows)
        if value is not None:
            yield MeasuredValue(measure.name, value)


def violation_values(
    contract: Contract, schema: SchemaObject, violations: Mapping[str, int], rows: int
) -> Iterator[MeasuredValue]:
    """Yield the measures of rules that quarantine rows, from the number of rows that each rule id quarantined."""
    for measure in measures_of(contract, schema) if rows else ():
        if measure.rule:
            counts = [count for rule, count in violations.items() if is_named(rule, measure.rule)]
            yield MeasuredValue(measure.name, _share(measure, sum(counts), rows))


def is_named(rule_id: str, name: str) -> bool:
    """Tell whether a rule has an id or name in the contract; rule ids have their kind and field in front of it."""
    place = rule_id.partition(":")[2]
    return name in (place, place.rpartition("#")[2])


def as_number(value: Any) -> float | None:
    """Return a measured value as a number; None if it is none, not finite or too large to be exact."""
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError):
        return None
    return number if number is not None and abs(number) <= MAX_VALUE else None


def _rule_value(measure: SemanticMeasure, result: RuleMeasure, rows: int) -> float | None:
    if result.violating_rows is None:
        return as_number(result.value)
    return _share(measure, result.violating_rows, rows)


def _share(measure: SemanticMeasure, count: int, rows: int) -> float:
    if (measure.unit or "").strip().lower() in _COUNTED_UNITS:
        return float(count)
    return _PERCENT * count / rows if rows else 0.0
