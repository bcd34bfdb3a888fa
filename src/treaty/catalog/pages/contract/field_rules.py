"""Rules and attributes of a field as short texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.catalog.formatting import text_or_none
from treaty.compatibility.terms.annotations import relationships
from treaty.compatibility.terms.comparison import Bounds
from treaty.compatibility.terms.field_values import (
    allowed_values,
    field_rules,
    item_count,
    text_length,
    value_format,
    value_range,
)
from treaty.compatibility.terms.quality_rules import describe_rule, rule_name
from treaty.contracts.model import Field
from treaty.contracts.values import EMPTY, abbreviate, thaw

_OPERATORS = {
    "mustBe": "=",
    "mustNotBe": "≠",
    "mustBeGreaterThan": ">",
    "mustBeGreaterOrEqualTo": "≥",
    "mustBeLessThan": "<",
    "mustBeLessOrEqualTo": "≤",
    "mustBeBetween": "between",
    "mustNotBeBetween": "not between",
}
_UNRESTRICTED = frozenset({"public", "internal"})
"""Classifications that are not highlighted."""
_MAX_PATTERN_LENGTH = 160
_MAX_VALUES = 200
_SHOWN_VALUES = 4


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule or attribute: topic, short text, tooltip."""

    about: str
    text: str
    more: str | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """Allowed values of a field with their meanings."""

    headline: str
    items: tuple[tuple[str, str | None], ...]
    left_off: int = 0

    @property
    def have_meanings(self) -> bool:
        """Whether the list shows more than the headline."""
        return bool(self.left_off) or len(self.items) > _SHOWN_VALUES or any(meaning for _, meaning in self.items)


def rules_of(field: Field, *, is_element: bool = False) -> tuple[Rule, ...]:
    """Return the rules of a field, strictest first. Elements and map entries are never optional."""
    return (*_identity(field, is_element=is_element), *_values(field), *_checks(field))


def field_attributes(field: Field) -> tuple[Rule, ...]:
    """Return unit, time zone, semantic type, default and references of a field."""
    return tuple(_attributes(field))


def allowed_of(field: Field) -> Values | None:
    """Return the allowed values of a field, or None if it has no enum."""
    allowed = allowed_values(field)
    if allowed is None:
        return None
    meanings = {_format_value(value.get("value")): value.get("description") for value in field.enum or ()}
    texts = [_format_value(value) for value in allowed[:_MAX_VALUES]]
    more = len(allowed) - _SHOWN_VALUES
    headline = " · ".join(abbreviate(text, 40) for text in texts[:_SHOWN_VALUES]) + (
        f" and {more} more" if more > 0 else ""
    )
    items = tuple((text, text_or_none(meanings.get(text))) for text in texts)
    return Values(headline or "no values", items, max(len(allowed) - _MAX_VALUES, 0))


def is_sensitive(classification: str | None) -> bool:
    """Return whether a classification is sensitive."""
    return bool(classification) and str(classification).strip().lower() not in _UNRESTRICTED


def _identity(field: Field, *, is_element: bool) -> Iterator[Rule]:
    if field.primary_key:
        place = field.primary_key_position
        yield Rule("key", "key" if place is None or place < 1 else f"key {place}", "part of the primary key")
    if field.is_required:
        yield Rule("required", "required")
    elif not is_element:
        yield Rule("optional", "optional")
    if field.unique:
        yield Rule("unique", "unique")


def _values(field: Field) -> Iterator[Rule]:
    options = field.options or EMPTY
    for about, bounds, noun in (
        ("range", value_range(field), ""),
        ("length", text_length(field), " characters"),
        ("items", item_count(field), " elements"),
    ):
        if text := _format_bounds(bounds):
            yield Rule(about, f"{text}{noun}")
    if options.get("uniqueItems"):
        yield Rule("items", "unique elements")
    if multiple := options.get("multipleOf"):
        yield Rule("range", f"multiple of {_format_value(multiple)}")
    if form := value_format(field):
        yield Rule("format", abbreviate(str(form), 60))
    if pattern := options.get("pattern"):
        yield Rule(
            "pattern", abbreviate(str(pattern), _MAX_PATTERN_LENGTH), "a regular expression that every value matches"
        )


def _format_bounds(bounds: Bounds) -> str | None:
    if bounds.low is None and bounds.high is None:
        return None
    if bounds.low == bounds.high:
        return f"= {bounds.low}"
    if None in (bounds.low, bounds.high) or bounds.low_open or bounds.high_open:
        return str(bounds)
    return f"{bounds.low} … {bounds.high}"


def _checks(field: Field) -> Iterator[Rule]:
    for rule in field_rules(field):
        yield quality_rule(rule)


def quality_rule(rule: Mapping[str, Any]) -> Rule:
    """Return a quality rule with its name and condition."""
    conditions = [f"{sign} {_format_value(rule[key])}" for key, sign in _OPERATORS.items() if key in rule]
    unit = f" {rule['unit']}" if rule.get("unit") else ""
    condition = " ".join([describe_rule(rule), *conditions]) + unit
    description = text_or_none(rule.get("description"))
    name = rule_name(rule)
    return Rule(
        "quality",
        abbreviate(name if rule.get("id") or rule.get("name") else condition, 80),
        abbreviate(description or condition, 400),
    )


def _attributes(field: Field) -> Iterator[Rule]:
    options, own = field.options or EMPTY, field.treaty
    zone = own.get("time_zone") or options.get("defaultTimezone")
    for about, value, template in (
        ("unit", own.get("unit"), "in {}"),
        ("zone", zone, "{}"),
        ("means", own.get("semantic_type"), "{}"),
        ("default", own.get("default"), "default {}"),
    ):
        if value is not None:
            yield Rule(about, template.format(abbreviate(_format_value(value), 80)))
    for target in relationships(field):
        yield Rule("refers", f"refers to {abbreviate(target, 80)}")


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False)
