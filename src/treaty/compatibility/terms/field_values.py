"""Reads and compares the values that a field may hold: type, range, length, enum."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from treaty.compatibility.changes import Direction
from treaty.compatibility.terms.comparison import Bounds, Difference, distinct, presence_direction, replaced
from treaty.compatibility.terms.quality_rules import normalize_rule, tolerates_none
from treaty.contracts.model import Field, MissingAs
from treaty.contracts.types import DataType, capacity, widens, without_capacity
from treaty.contracts.values import EMPTY


def types(before: DataType | None, after: DataType | None) -> Iterator[Difference]:
    """Compare types: a wider type of the same family loosens, a narrower one tightens."""
    if before == after:
        return
    direction = presence_direction(before, after)
    if before is not None and after is not None:
        if widens(before, after):
            direction = Direction.LOOSENED
        elif widens(after, before):
            direction = Direction.TIGHTENED
    yield Difference(direction, before and str(before), after and str(after))


def stored(field: Field) -> tuple[DataType | None, str | None]:
    """Return the type and the normalized physical type, without its maximum length, which is another term."""
    return field.type, without_capacity(field.physical_type) if field.physical_type else None


def storage(before: tuple[Any, str | None], after: tuple[Any, str | None]) -> Iterator[Difference]:
    """Compare physical types, unless the types differ as well."""
    if before[0] == after[0]:
        yield from replaced(before[1], after[1])


def value_range(field: Field) -> Bounds:
    """Return the minimum and maximum, in either ODCS notation."""
    options = field.options or EMPTY
    low, low_open = _bound(options, "minimum", "exclusiveMinimum", max)
    high, high_open = _bound(options, "maximum", "exclusiveMaximum", min)
    if field.logical_type == "integer":  # for integers, > 0 and >= 1 are the same
        low, low_open = _whole(low, low_open, math.floor, 1), False
        high, high_open = _whole(high, high_open, math.ceil, -1), False
    return Bounds(low, low_open, high, high_open)


def _whole(bound: Any, is_open: bool, outwards: Callable[[float], int], inwards: int) -> Any:
    """Return the outermost integer that a bound allows."""
    if isinstance(bound, bool) or not isinstance(bound, (int, float)):
        return bound
    whole = outwards(bound)
    return whole + inwards if is_open or whole != bound else whole


def _bound(options: Mapping[str, Any], closed: str, opened: str, stricter: Any) -> tuple[Any, bool]:
    """Return a bound and whether it is open; the open bound is a value or a flag for the closed bound."""
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


_MISSING_VALUES: dict[Any, frozenset[str]] = {True: frozenset(), False: frozenset(MissingAs)} | {
    way: frozenset({way}) for way in MissingAs
}


def requirement(field: Field) -> bool | MissingAs:
    """Return whether a field is required, or the only way in which a missing value may be written."""
    return True if field.is_required else field.missing_as or False


def requirements(before: bool | MissingAs, after: bool | MissingAs) -> Iterator[Difference]:
    """Compare requirements: a way to write a missing value that is refused now tightens, a new one loosens."""
    old, new = _MISSING_VALUES[before], _MISSING_VALUES[after]
    if old - new:
        yield Difference(Direction.TIGHTENED, before, after)
    if new - old:
        yield Difference(Direction.LOOSENED, before, after)


def text_length(field: Field) -> Bounds:
    """Return the minimum and maximum length of a text, from the options or the physical type."""
    options = field.options or EMPTY
    limits = [limit for limit in (options.get("maxLength"), capacity(field.physical_type)) if limit is not None]
    return Bounds(low=options.get("minLength") or None, high=min(limits, default=None))


def item_count(field: Field) -> Bounds:
    """Return the minimum and maximum number of array elements."""
    options = field.options or EMPTY
    return Bounds(low=options.get("minItems") or None, high=options.get("maxItems"))


def option(name: str) -> Callable[[Field], Any]:
    """Return a function that reads one type option."""
    return lambda field: (field.options or EMPTY).get(name)


def value_format(field: Field) -> Any:
    """Return the format, unless it is the width of a number."""
    return None if field.logical_type in ("integer", "number") else option("format")(field)


def allowed_values(field: Field) -> tuple[Any, ...] | None:
    """Return the allowed values: those in the enum and in every rule that lists values."""
    listings = [listed for listed in map(listed_values, field.quality or ()) if listed is not None]
    if field.enum is not None:
        listings.insert(0, tuple(item["value"] for item in field.enum))
    if not listings:
        return None
    allowed = [distinct(listed) for listed in listings[1:]]
    return tuple(value for value in listings[0] if all((isinstance(value, bool), value) in one for one in allowed))


def listed_values(rule: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the values of a rule that lists them without exceptions, as in documents before ODCS 3.2."""
    checked = normalize_rule(rule)
    if checked.get("metric") not in ("invalidValues", "validValues") or not tolerates_none(checked):
        return None
    arguments = checked.get("arguments")
    listed = arguments.get("validValues") if isinstance(arguments, Mapping) else checked.get("validValues")
    return listed if isinstance(listed, tuple) else None


def field_rules(field: Field) -> tuple[Any, ...]:
    """Return the quality rules of a field, without those that only list its values."""
    return tuple(rule for rule in field.quality or () if listed_values(rule) is None or _says_more(rule))


def _says_more(rule: Mapping[str, Any]) -> bool:
    arguments = rule.get("arguments")
    return isinstance(arguments, Mapping) and bool(arguments.keys() - {"validValues"})
