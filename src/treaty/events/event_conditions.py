"""The conditions on single events and on successive events of a key that generated events have to satisfy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from treaty.compatibility.terms.quality_rules import normalize_rule, rule_name, tolerates_none
from treaty.contracts.findings import Severity
from treaty.contracts.frozen import lazy
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.events.invariants import CURRENT, PREVIOUS, parse_invariant
from treaty.events.streams import Stream
from treaty.sql.checked_sql import RowCondition, RowCount, RuleTarget
from treaty.sql.evaluation import NotEvaluated, RowExpression
from treaty.sql.rules import parse_rule

_WARNINGS = frozenset({"warning", "warn", "info"})
_UPPER_BOUNDS = frozenset({"mustBe", "mustBeLessThan", "mustBeLessOrEqualTo"})
_OPERATORS = _UPPER_BOUNDS | {"mustNotBe", "mustBeGreaterThan", "mustBeGreaterOrEqualTo", "mustBeBetween"}


class Origin(Enum):
    """Where a condition is stated."""

    RULE = "rule"
    INVARIANT = "invariant"


@dataclass(frozen=True)
class Condition:
    """A condition on an event and the one before it, and the value of its expression that violates it."""

    name: str
    origin: Origin
    expression: RowExpression
    broken_by: bool
    severity: Severity = Severity.ERROR

    def is_broken(self, current: Mapping[str, Any], previous: Mapping[str, Any] | None) -> bool:
        """Return whether an event violates the condition; raises NotEvaluated if only Spark can tell."""
        return self.expression.value(self.row(current, previous)) is self.broken_by

    def row(self, current: Mapping[str, Any], previous: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Return the row that the expression is about."""
        return {CURRENT: current, PREVIOUS: previous} if self.origin is Origin.INVARIANT else current

    @lazy
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the fields of the event that are read."""
        return tuple(self.own_path(path) for path in self.expression.columns() if self.is_own(path))

    def own_path(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the path in the event of a column of the expression."""
        return path[1:] if self.origin is Origin.INVARIANT else path

    def is_own(self, path: tuple[str, ...]) -> bool:
        """Return whether a column of the expression belongs to the event, not to the one before it."""
        return self.origin is Origin.RULE or (path[0] == CURRENT and len(path) > 1)


def conditions_of(contract: Contract, schema: SchemaObject, stream: Stream | None) -> tuple[Condition, ...]:
    """Return the quality rules on single events and the invariants of a contract."""
    return (*_rules(contract, schema), *_invariants(contract, stream))


def _rules(contract: Contract, schema: SchemaObject) -> Iterator[Condition]:
    for path, rule in _located_rules(schema):
        terms = normalize_rule(rule)
        if terms.get("type") == "sql" or ("type" not in terms and "query" in terms):
            target = RuleTarget.of(contract, schema, path)
            parsed = parse_rule(str(terms.get("query") or ""), target)
            severity = Severity.WARNING if str(rule.get("severity", "")).lower() in _WARNINGS else Severity.ERROR
            if isinstance(parsed, RowCondition):
                broken_by = rule.get("mustBe") is False or rule.get("mustNotBe") is True
                yield Condition(rule_name(rule), Origin.RULE, RowExpression(parsed.condition), broken_by, severity)
            elif isinstance(parsed, RowCount) and _limits_from_above(rule):
                strict = severity if tolerates_none(rule) else Severity.WARNING
                yield Condition(rule_name(rule), Origin.RULE, RowExpression(parsed.condition), True, strict)


def _limits_from_above(rule: Mapping[str, Any]) -> bool:
    return {key for key in rule if key in _OPERATORS} <= _UPPER_BOUNDS


def _located_rules(schema: SchemaObject) -> Iterator[tuple[FieldPath | None, Mapping[str, Any]]]:
    for rule in schema.quality or ():
        yield None, rule
    yield from _rules_of_fields(schema.fields, FieldPath())


def _rules_of_fields(fields: Sequence[Field], path: FieldPath) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    for field in fields:
        here = path.field(field.name or "")
        yield from ((here, rule) for rule in field.quality or ())
        yield from _rules_of_fields(field.properties or (), here)


def _invariants(contract: Contract, stream: Stream | None) -> Iterator[Condition]:
    lifecycle = contract.treaty.lifecycle
    if stream is None or lifecycle is None:
        return
    for invariant in lifecycle.invariants:
        parsed = parse_invariant(stream, contract, invariant)
        yield Condition(
            invariant.name, Origin.INVARIANT, RowExpression(parsed.condition.condition), False, invariant.severity
        )


@dataclass
class ConditionLog:
    """Conditions that generated events may violate, because only Spark can evaluate them."""

    reasons: dict[str, str]

    def broken(
        self, conditions: Sequence[Condition], current: Mapping[str, Any], previous: Mapping[str, Any] | None
    ) -> list[Condition]:
        """Return the violated conditions; those that cannot be evaluated are recorded."""
        found = []
        for condition in conditions:
            try:
                if condition.is_broken(current, previous):
                    found.append(condition)
            except NotEvaluated as error:
                self.reasons.setdefault(condition.name, str(error))
        return found
