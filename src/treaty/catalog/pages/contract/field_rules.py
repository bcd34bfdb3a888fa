"""What a field must hold to, in a few words each."""

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
_OPEN = frozenset({"public", "internal"})
"""Classifications that ask for no special care."""
_LONGEST = 160
_MOST_VALUES = 200
_SHOWN_VALUES = 4


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it is about, its words, and more of them for who wants to know."""

    about: str
    text: str
    more: str | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """The values a field may hold, each with its meaning where one is given."""

    headline: str
    items: tuple[tuple[str, str | None], ...]
    left_off: int = 0

    @property
    def have_meanings(self) -> bool:
        """Whether there is more to say than the headline does."""
        return bool(self.left_off) or len(self.items) > _SHOWN_VALUES or any(meaning for _, meaning in self.items)


def rules_of(field: Field, *, is_element: bool = False) -> tuple[Rule, ...]:
    """Return the rules of a field, the strictest first; elements, keys and values are not asked to be there."""
    return (*_identity(field, is_element=is_element), *_values(field), *_checks(field))


def remarks_of(field: Field) -> tuple[Rule, ...]:
    """Return what helps to understand a field: unit, time zone, kind of value, default, where it refers to."""
    return tuple(_remarks(field))


def allowed_of(field: Field) -> Values | None:
    """Return the values a field may hold, if they are listed."""
    allowed = allowed_values(field)
    if allowed is None:
        return None
    meanings = {_written(one.get("value")): one.get("description") for one in field.enum or ()}
    texts = [_written(value) for value in allowed[:_MOST_VALUES]]
    more = len(allowed) - _SHOWN_VALUES
    headline = " · ".join(abbreviate(text, 40) for text in texts[:_SHOWN_VALUES]) + (
        f" and {more} more" if more > 0 else ""
    )
    items = tuple((text, text_or_none(meanings.get(text))) for text in texts)
    return Values(headline or "no value", items, max(len(allowed) - _MOST_VALUES, 0))


def needs_care(classification: str | None) -> bool:
    """Tell whether a classification asks for care with the field."""
    return bool(classification) and str(classification).strip().lower() not in _OPEN


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
        if said := _bounds(bounds):
            yield Rule(about, f"{said}{noun}")
    if options.get("uniqueItems"):
        yield Rule("items", "no element twice")
    if multiple := options.get("multipleOf"):
        yield Rule("range", f"multiple of {_written(multiple)}")
    if form := value_format(field):
        yield Rule("format", abbreviate(str(form), 60))
    if pattern := options.get("pattern"):
        yield Rule("pattern", abbreviate(str(pattern), _LONGEST), "a regular expression that every value matches")


def _bounds(bounds: Bounds) -> str | None:
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
    """Say a quality rule: its name, and what is measured against what."""
    told = [f"{sign} {_written(rule[key])}" for key, sign in _OPERATORS.items() if key in rule]
    unit = f" {rule['unit']}" if rule.get("unit") else ""
    said = " ".join([describe_rule(rule), *told]) + unit
    described = text_or_none(rule.get("description"))
    name = rule_name(rule)
    return Rule(
        "quality",
        abbreviate(name if rule.get("id") or rule.get("name") else said, 80),
        abbreviate(described or said, 400),
    )


def _remarks(field: Field) -> Iterator[Rule]:
    options, own = field.options or EMPTY, field.treaty
    zone = own.get("time_zone") or options.get("defaultTimezone")
    for about, value, words in (
        ("unit", own.get("unit"), "in {}"),
        ("zone", zone, "{}"),
        ("means", own.get("semantic_type"), "{}"),
        ("default", own.get("default"), "default {}"),
    ):
        if value is not None:
            yield Rule(about, words.format(abbreviate(_written(value), 80)))
    for target in relationships(field):
        yield Rule("refers", f"refers to {abbreviate(target, 80)}")


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False)
