"""Comparing quality rules: by their thresholds where all else is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.comparing import Difference, came_or_went
from treaty.contracts.values import brief, same


def rule_name(rule: Mapping[str, Any]) -> str:
    """Return what a quality rule is called: its id, its name, or what it measures."""
    named = rule.get("id") or rule.get("name")
    if named:
        return str(named)
    measures = (
        rule.get("metric")
        or rule.get("rule")
        or rule.get("query")
        or rule.get("implementation")
        or rule.get("description")
    )
    return brief(measures if measures is not None else rule.get("type", "rule"), 80)


_LOWER = {"mustBeGreaterThan": True, "mustBeGreaterOrEqualTo": False}
_UPPER = {"mustBeLessThan": True, "mustBeLessOrEqualTo": False}
_OPERATORS = ("mustBe", "mustNotBe", *_LOWER, *_UPPER, "mustBeBetween", "mustNotBeBetween")
WORDS_OF_A_RULE = frozenset(
    {
        "id",
        "name",
        "description",
        "tags",
        "businessImpact",
        "authoritativeDefinitions",
        "dimension",
        "customProperties",
        "schedule",
        "scheduler",
        "method",
    }
)
"""What a rule says besides what it checks."""


def quality_rule(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[Difference]:
    """Compare one quality rule: by its thresholds where all else is the same."""
    if before is None or after is None:
        if before is not after:
            yield Difference(came_or_went(before, after), _rule_text(before), _rule_text(after))
        return
    one, other = _essence(before), _essence(after)
    if same(one, other):
        return
    direction = Direction.REPLACED
    if same(_without_operators(one), _without_operators(other)):
        direction = _threshold_direction(_interval(one), _interval(other))
    yield Difference(direction, _rule_text(before), _rule_text(after))


def _essence(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key not in WORDS_OF_A_RULE}


def _without_operators(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key not in _OPERATORS}


def _interval(rule: Mapping[str, Any]) -> tuple[float, bool, float, bool] | None:
    """Return the interval a rule's operator allows, or None where it is not one."""
    given = [key for key in _OPERATORS if key in rule]
    if len(given) != 1:
        return None
    operator, value = given[0], rule[given[0]]
    if operator == "mustBeBetween":
        return (value[0], False, value[1], False)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or operator in ("mustNotBe", "mustNotBeBetween"):
        return None
    if operator == "mustBe":
        return (value, False, value, False)
    if operator in _LOWER:
        return (value, _LOWER[operator], float("inf"), False)
    return (float("-inf"), False, value, _UPPER[operator])


def _threshold_direction(before: Any, after: Any) -> Direction:
    if before is None or after is None:
        return Direction.REPLACED
    if _inside(after, before):
        return Direction.TIGHTENED
    return Direction.LOOSENED if _inside(before, after) else Direction.REPLACED


def _inside(inner: Any, outer: Any) -> bool:
    low = inner[0] > outer[0] or (inner[0] == outer[0] and (inner[1] or not outer[1]))
    high = inner[2] < outer[2] or (inner[2] == outer[2] and (inner[3] or not outer[3]))
    return low and high


def _rule_text(rule: Mapping[str, Any] | None) -> str | None:
    if rule is None:
        return None
    operators = [f"{key} {brief(rule[key])}" for key in _OPERATORS if key in rule]
    unit = [str(rule["unit"])] if rule.get("unit") else []
    measured = rule.get("metric") or rule.get("rule") or rule.get("query") or rule.get("type")
    return brief(" ".join([brief(measured, 80) if measured else "rule", *operators, *unit]), 120)
