"""Compares quality rules: pairs them by name or by what they check, and compares their thresholds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms.comparison import Bounds, Difference, bounds, presence_direction
from treaty.contracts.values import abbreviate, canonical_json, json_equal

Rule: TypeAlias = Mapping[str, Any]

RULE_ANNOTATIONS = frozenset(
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
"""Keys that do not affect what a rule checks."""

_LOWER = {"mustBeGreaterThan": True, "mustBeGreaterOrEqualTo": False}
_UPPER = {"mustBeLessThan": True, "mustBeLessOrEqualTo": False}
_OPERATORS = ("mustBe", "mustNotBe", *_LOWER, *_UPPER, "mustBeBetween", "mustNotBeBetween")


def quality_rules(before: Sequence[Rule], after: Sequence[Rule]) -> Iterator[Difference]:
    """Compare the rules of a field or object."""
    for one, other in _pairs(before, after):
        name = rule_name(one if one is not None else other or {})
        for difference in _one_rule(one, other):
            yield Difference(difference.direction, difference.before, difference.after, name)


def rule_name(rule: Rule) -> str:
    """Return the id, the name or the description of a rule."""
    return str(rule.get("id") or rule.get("name") or describe_rule(rule))


def describe_rule(rule: Rule) -> str:
    """Return a short description of what a rule measures."""
    for key in ("metric", "rule", "query", "implementation", "description"):
        if rule.get(key) is not None:
            return abbreviate(rule[key], 80)
    return str(rule.get("type", "rule"))


def normalize_rule(rule: Rule) -> dict[str, Any]:
    """Return a rule in one notation, without annotations."""
    checked = {key: value for key, value in rule.items() if key not in RULE_ANNOTATIONS}
    if "metric" not in checked and "rule" in checked:
        checked["metric"] = checked.pop("rule")
    if "metric" in checked and checked.get("type") == "library":
        del checked["type"]
    if checked.get("type") == "text":
        checked["description"] = rule.get("description")
    return checked


def tolerates_none(rule: Rule) -> bool:
    """Return whether a rule about invalid values allows none; in ODCS 3.0 the operator is optional."""
    if not any(key in rule for key in _OPERATORS):
        return "arguments" not in rule
    allowed = _interval(rule)
    if allowed is None or allowed.high is None:
        return False
    return bool(allowed.high < 1 or (allowed.high == 1 and allowed.high_open))


def _pairs(before: Sequence[Rule], after: Sequence[Rule]) -> Iterator[tuple[Rule | None, Rule | None]]:
    """Pair rules by id, by name, by what they check, and finally by the kind of check."""
    old: list[Rule | None] = list(before)
    new: list[Rule | None] = list(after)
    keys: tuple[Callable[[Rule], str | None], ...] = (
        lambda rule: rule.get("id"),
        lambda rule: rule.get("name"),
        lambda rule: canonical_json(normalize_rule(rule)),
        lambda rule: canonical_json(_without_operators(normalize_rule(rule))),
        lambda rule: str(rule.get("metric") or rule.get("rule") or rule.get("type")) if _is_nameless(rule) else None,
    )
    for key in keys:
        waiting: dict[str, deque[int]] = {}
        for place, rule in enumerate(new):
            if rule is not None and (found := key(rule)) is not None:
                waiting.setdefault(found, deque()).append(place)
        for place, rule in enumerate(old):
            partners = waiting.get(key(rule) or "") if rule is not None else None
            if partners:
                partner = partners.popleft()
                yield rule, new[partner]
                old[place] = new[partner] = None
    yield from ((rule, None) for rule in old if rule is not None)
    yield from ((None, rule) for rule in new if rule is not None)


def _is_nameless(rule: Rule) -> bool:
    return not rule.get("id") and not rule.get("name")


def _one_rule(before: Rule | None, after: Rule | None) -> Iterator[Difference]:
    texts = (_text(before), _text(after))
    if before is None or after is None:
        yield Difference(presence_direction(before, after), *texts)
        return
    one, other = normalize_rule(before), normalize_rule(after)
    if json_equal(one, other):
        return
    low, high = _interval(one), _interval(other)
    if low is None or high is None or not json_equal(_without_operators(one), _without_operators(other)):
        yield Difference(Direction.REPLACED, *texts)
        return
    for difference in bounds(low, high):
        yield Difference(difference.direction, *texts)


def _without_operators(rule: Rule) -> dict[str, Any]:
    return {key: value for key, value in rule.items() if key not in _OPERATORS}


def _interval(rule: Rule) -> Bounds | None:
    """Return the interval that the operator of a rule allows, or None if it is not an interval."""
    given = [key for key in _OPERATORS if key in rule]
    if len(given) != 1:
        return None
    operator, value = given[0], rule[given[0]]
    if operator == "mustBeBetween":
        is_span = isinstance(value, tuple) and len(value) == 2 and all(map(_is_number, value))
        return Bounds(value[0], False, value[1], False) if is_span else None
    if not _is_number(value):
        return None
    if operator == "mustBe":
        return Bounds(value, False, value, False)
    if operator in _LOWER:
        return Bounds(low=value, low_open=_LOWER[operator])
    return Bounds(high=value, high_open=_UPPER[operator]) if operator in _UPPER else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(rule: Rule | None) -> str | None:
    if rule is None:
        return None
    operators = [f"{key} {abbreviate(rule[key])}" for key in _OPERATORS if key in rule]
    unit = [str(rule["unit"])] if rule.get("unit") else []
    return abbreviate(" ".join([describe_rule(rule), *operators, *unit]), 120)
