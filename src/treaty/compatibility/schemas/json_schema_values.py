"""Differences between JSON schemas of strings, numbers and listed values, and between limits of size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from treaty.compatibility.schemas.json_schema_comparison import (
    ADDED,
    CHANGED,
    DECREASED,
    FEWER,
    INCREASED,
    TYPE,
    Comparison,
    Found,
)
from treaty.compatibility.schemas.json_schema_nodes import Node

_UPPER = {"maxLength": "MAX_LENGTH", "maxItems": "MAX_ITEMS", "maxProperties": "MAX_PROPERTIES"}
_LOWER = {"minLength": "MIN_LENGTH", "minItems": "MIN_ITEMS", "minProperties": "MIN_PROPERTIES"}


def compare_strings(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """Compare lengths and patterns."""
    yield from compare_limits(old, new, "Length")
    before, after = old.data.get("pattern"), new.data.get("pattern")
    if after is not None and before is None:
        yield "PATTERN_ADDED", "/pattern", ADDED
    elif after is not None and before != after:
        yield "PATTERN_CHANGED", "/pattern", CHANGED


def compare_numbers(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """Compare bounds, multiples and the narrowing to integers."""
    for keyword, name, is_upper in (
        ("maximum", "MAXIMUM", True),
        ("minimum", "MINIMUM", False),
        ("exclusiveMaximum", "EXCLUSIVE_MAXIMUM", True),
        ("exclusiveMinimum", "EXCLUSIVE_MINIMUM", False),
    ):
        yield from _compare_limit(_bound(old.data, keyword), _bound(new.data, keyword), keyword, name, is_upper)
    yield from _compare_multiples(old.data.get("multipleOf"), new.data.get("multipleOf"))
    if new.type == "integer" and old.type != "integer":
        yield "TYPE_NARROWED", "", TYPE


def compare_enums(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """Compare listed values, which may be added."""
    before, after = _values(old.data), _values(new.data)
    if not before <= after:
        keyword = "/enum" if "enum" in new.data else "/const"
        kind = "ENUM_ARRAY_NARROWED" if after <= before else "ENUM_ARRAY_CHANGED"
        yield kind, keyword, FEWER if after <= before else CHANGED


def compare_same_type(comparison: Comparison, old: Node, new: Node) -> Iterator[Found]:
    """Schemas of these types have nothing that could differ."""
    yield from ()


def compare_limits(old: Node, new: Node, what: str) -> Iterator[Found]:
    """Compare the limits of `Length`, `Items` or `Properties`."""
    for names, is_upper in ((_UPPER, True), (_LOWER, False)):
        for keyword, name in names.items():
            if keyword.endswith(what):
                yield from _compare_limit(old.data.get(keyword), new.data.get(keyword), keyword, name, is_upper)


def _compare_limit(old: Any, new: Any, keyword: str, name: str, is_upper: bool) -> Iterator[Found]:
    """Compare a limit, which may be raised if it is an upper one and lowered if it is a lower one."""
    if new is None:
        return
    if old is None:
        yield f"{name}_ADDED", f"/{keyword}", ADDED
    elif is_upper and new < old:
        yield f"{name}_DECREASED", f"/{keyword}", DECREASED
    elif not is_upper and new > old:
        yield f"{name}_INCREASED", f"/{keyword}", INCREASED


def _bound(data: Mapping[str, Any], keyword: str) -> Any:
    """Return a limit of numbers; in draft-04, `exclusiveMaximum` says whether `maximum` itself is excluded."""
    exclusive = keyword if keyword.startswith("exclusive") else f"exclusive{keyword.capitalize()}"
    stated = data.get(exclusive)
    if keyword != exclusive:
        return None if stated is True else data.get(keyword)
    if isinstance(stated, bool):
        return data.get(keyword.removeprefix("exclusive").lower()) if stated else None
    return stated


def _compare_multiples(old: Any, new: Any) -> Iterator[Found]:
    if new is None or old == new:
        return
    if old is None:
        yield "MULTIPLE_OF_ADDED", "/multipleOf", ADDED
        return
    if not _divides(new, old):
        kind = "MULTIPLE_OF_EXPANDED" if _divides(old, new) else "MULTIPLE_OF_CHANGED"
        yield kind, "/multipleOf", CHANGED


def _divides(part: Any, whole: Any) -> bool:
    """Whether one number is a multiple of the other, as they are written: 0.1 divides 0.3."""
    try:
        one, other = (Fraction(value if isinstance(value, int) else str(value)) for value in (part, whole))
    except ValueError:  # too large for a number
        return False
    return other % one == 0


def _values(data: Mapping[str, Any]) -> set[str]:
    values = data["enum"] if "enum" in data else [data["const"]]
    return {_value_text(one) for one in values}


def _value_text(value: Any) -> str:
    """Return a text that equal values have in common: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return f"[{','.join(map(_value_text, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{key!r}:{_value_text(value[key])}' for key in sorted(value))}}}"
    return repr(value)
