"""Reading which values a field may hold: its type, range, length and list of values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.comparing import Bounds, Difference, came_or_went, replaced
from treaty.contracts.model import Field
from treaty.contracts.types import DataType, widens
from treaty.contracts.values import EMPTY


def types(before: DataType | None, after: DataType | None) -> Iterator[Difference]:
    """Compare types: a wider one of the same family loosens, a narrower one tightens."""
    if before == after:
        return
    direction = came_or_went(before, after)
    if before is not None and after is not None:
        if widens(before, after):
            direction = Direction.LOOSENED
        elif widens(after, before):
            direction = Direction.TIGHTENED
    yield Difference(direction, before and str(before), after and str(after))


_AROUND_SIGNS = re.compile(r" ?([(),<>:]) ?")
_TEXT_LENGTH = re.compile(r"^((?:n?var)?char2?|character varying|character)\(([0-9]{1,9})\)$")


def stored(field: Field) -> tuple[DataType | None, str | None]:
    """Read the stored type, spelt one way, beside the type it amounts to; the length of a text is a term of its own."""
    if not field.physical_type:
        return field.type, None
    spelt = _AROUND_SIGNS.sub(r"\1", " ".join(field.physical_type.lower().split()))
    return field.type, _TEXT_LENGTH.sub(r"\1", spelt)


def storage(before: tuple[Any, str | None], after: tuple[Any, str | None]) -> Iterator[Difference]:
    """Compare stored types, where the difference is not one of types already."""
    if before[0] == after[0]:
        yield from replaced(before[1], after[1])


def value_range(field: Field) -> Bounds:
    """Read the smallest and the largest value, in either notation of ODCS."""
    options = field.options or EMPTY
    low, low_open = _bound(options, "minimum", "exclusiveMinimum", max)
    high, high_open = _bound(options, "maximum", "exclusiveMaximum", min)
    if field.logical_type == "integer":  # above 0 and from 1 on are the same whole numbers
        low, low_open = (low + 1, False) if low_open and isinstance(low, int) else (low, low_open)
        high, high_open = (high - 1, False) if high_open and isinstance(high, int) else (high, high_open)
    return Bounds(low, low_open, high, high_open)


def _bound(options: Mapping[str, Any], closed: str, opened: str, stricter: Any) -> tuple[Any, bool]:
    """Read a bound in either notation: a value of its own, or a flag beside the closed bound."""
    value, extra = options.get(closed), options.get(opened)
    if isinstance(extra, bool):
        return value, extra and value is not None
    if value is None or extra is None:
        return (extra, True) if extra is not None else (value, False)
    try:
        tighter = stricter(value, extra)
    except TypeError:
        return value, False
    return tighter, tighter == extra


def text_length(field: Field) -> Bounds:
    """Read how short and how long a text may be, from the options or the stored type."""
    options = field.options or EMPTY
    stored = _TEXT_LENGTH.match("".join((field.physical_type or "").lower().split()))
    longest = options.get("maxLength")
    return Bounds(low=options.get("minLength") or None, high=int(stored[2]) if longest is None and stored else longest)


def item_count(field: Field) -> Bounds:
    """Read how many elements an array may have."""
    options = field.options or EMPTY
    return Bounds(low=options.get("minItems") or None, high=options.get("maxItems"))


def option(name: str) -> Callable[[Field], Any]:
    """Return a reader of one option of the type."""
    return lambda field: (field.options or EMPTY).get(name)


def value_format(field: Field) -> Any:
    """Read the format, where it is not the width of a number."""
    return None if field.logical_type in ("integer", "number") else option("format")(field)


def allowed_values(field: Field) -> tuple[Any, ...] | None:
    """Return the values a field may hold: its enum, or a rule that no other value may occur."""
    if field.enum is not None:
        return tuple(item["value"] for item in field.enum)
    return next(filter(None, map(listed_values, field.quality or ())), None)


def listed_values(rule: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the values that a rule lists, as documents before 3.2 do."""
    arguments = rule.get("arguments")
    if rule.get("metric") != "invalidValues" or not isinstance(arguments, Mapping) or len(arguments) != 1:
        return None
    none_may_be_bad = (rule.get("mustBe"), rule.get("mustBeLessThan")) in ((0, None), (None, 1))
    listed = arguments.get("validValues")
    is_strict = none_may_be_bad and rule.get("mustBe") is not False
    return listed if is_strict and isinstance(listed, tuple) else None


def field_rules(field: Field) -> tuple[Any, ...]:
    """Return the quality rules of a field, without one that only lists its values."""
    allowed = allowed_values(field)
    return tuple(rule for rule in field.quality or () if allowed is None or listed_values(rule) != allowed)
