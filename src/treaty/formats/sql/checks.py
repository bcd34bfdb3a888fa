"""CHECK conditions on one column, as terms of a contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from treaty.contracts.model import Field
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.values import EMPTY, FrozenMap
from treaty.formats.sql.literals import literal

_BOUNDS: dict[type[exp.Expression], tuple[str, str]] = {
    exp.GTE: ("minimum", "minLength"),
    exp.GT: ("exclusiveMinimum", ""),
    exp.LTE: ("maximum", "maxLength"),
    exp.LT: ("exclusiveMaximum", ""),
}
"""What a comparison bounds: the value, or its length."""


def checked_by(field: Field, condition: Any) -> Field | None:
    """Return the field under a condition, or None where a contract cannot say it."""
    match condition:
        case exp.Paren():
            return checked_by(field, condition.this)
        case exp.And():
            left = checked_by(field, condition.left)
            return checked_by(left, condition.right) if left else None
        case exp.In() if _is_column(condition.this):
            values = [literal(one) for one in condition.expressions]
            if not values or not all(known for known, _ in values):
                return None
            return replace(field, enum=tuple(FrozenMap({"value": value}) for _, value in values))
        case exp.Between() if _is_column(condition.this):
            low = _bounded(field, "minimum", condition.args["low"])
            return _bounded(low, "maximum", condition.args["high"]) if low else None
        case exp.RegexpLike() if _is_column(condition.this):
            known, pattern = literal(condition.expression)
            usable = known and isinstance(pattern, str) and PatternCheck().problem(pattern) is None
            return _with(field, "pattern", pattern) if usable and field.logical_type == "string" else None
        case exp.Not() if isinstance(condition.this, exp.Is) and isinstance(condition.this.expression, exp.Null):
            return replace(field, required=True)
        case _ if type(condition) in _BOUNDS:
            bound, length = _BOUNDS[type(condition)]
            if isinstance(condition.this, exp.Length) and _is_column(condition.this.this) and length:
                return _bounded(field, length, condition.expression)
            return _bounded(field, bound, condition.expression) if _is_column(condition.this) else None
        case _:
            return None


def columns_in(condition: exp.Expression) -> set[str]:
    """Name the columns that a condition speaks of."""
    return {one.name for one in condition.find_all(exp.Column)}


def _is_column(node: Any) -> bool:
    return isinstance(node, exp.Column)


def _bounded(field: Field, option: str, node: Any) -> Field | None:
    known, value = literal(node)
    numeric = field.logical_type in ("integer", "number") or option.endswith("Length")
    dated = field.logical_type in ("date", "timestamp", "time") and not option.endswith("Length")
    wanted: tuple[type, ...] = (int, float) if numeric else (str,) if dated else ()
    if option.endswith("Length") and field.logical_type != "string":
        return None
    if not known or type(value) not in wanted:
        return None
    before = (field.options or EMPTY).get(option)
    if type(before) in wanted:  # of two bounds, the stricter holds
        value = (max if "min" in option.lower() else min)(before, value)
    return _with(field, option, value)


def _with(field: Field, option: str, value: Any) -> Field:
    return replace(field, options=FrozenMap({**(field.options or EMPTY), option: value}))
