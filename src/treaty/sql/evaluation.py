"""Evaluates checked conditions on values in Python, for data that is generated without Spark.

It knows the operators and functions that conditions on rows usually have, with the nulls of SQL. Anything else is
refused with `NotEvaluated`: a caller says so, and does not guess.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import sqlglot
from sqlglot import exp

from treaty.compatibility.terms.comparison import parse_instant
from treaty.sql.dialect import RuleDialect

Row: TypeAlias = Mapping[str, Any]
"""Values by column; objects are mappings, lists are sequences."""


class NotEvaluated(Exception):
    """Raised for SQL that only Spark can evaluate."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column that a condition compares, the other side, and whether they have to be equal."""

    path: tuple[str, ...]
    other: exp.Expr


class RowExpression:
    """An expression over one row, in the SQL that the rule renderer writes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = sqlglot.parse_one(text, dialect=RuleDialect)

    def value(self, row: Row) -> Any:
        """Return the value for a row; None is null."""
        try:
            return _evaluate(self.tree, row)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise NotEvaluated(str(error)) from None

    def columns(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of the columns that are read."""
        outermost = (node for node in self.tree.find_all(exp.Column, exp.Dot) if not isinstance(node.parent, exp.Dot))
        return tuple(dict.fromkeys(_path(node) for node in outermost))

    def compared(self, row: Row) -> dict[tuple[str, ...], list[Any]]:
        """Return, for the columns that are compared with something, the values of the other side."""
        found: dict[tuple[str, ...], list[Any]] = {}
        for node in self.tree.find_all(*_COMPARISONS):
            for side, other in ((node.this, node.expression), (node.expression, node.this)):
                if isinstance(side, (exp.Column, exp.Dot)):
                    try:
                        value = _evaluate(other, row)
                    except (NotEvaluated, TypeError, ValueError, ArithmeticError):
                        continue
                    if value is not None:
                        found.setdefault(_path(side), []).append(value)
        return found


def _evaluate(node: Any, row: Row) -> Any:
    kind = type(node)
    if kind in _LOGIC:
        return _LOGIC[kind](node, row)
    if kind in _OPERATORS:
        return _with_nulls(_OPERATORS[kind], [_evaluate(node.this, row), _evaluate(node.expression, row)])
    if kind is exp.Anonymous:
        return _call(str(node.this).lower(), [_evaluate(one, row) for one in node.expressions])
    raise NotEvaluated(f"{node.sql(dialect='spark')} can only be evaluated by Spark")


def _call(name: str, values: Sequence[Any]) -> Any:
    if name in _NULL_FUNCTIONS:
        return _NULL_FUNCTIONS[name](*values)
    if name not in _FUNCTIONS:
        raise NotEvaluated(f"{name} can only be evaluated by Spark")
    return _with_nulls(_FUNCTIONS[name], values)


def _with_nulls(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    return None if any(value is None for value in values) else function(*map(_comparable, values))


def _comparable(value: Any) -> Any:
    """Return times in UTC and fractions as decimals, so that they can be compared and added."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return Decimal(str(value)) if isinstance(value, float) else value


def _and(node: exp.And, row: Row) -> bool | None:
    sides = (_evaluate(node.this, row), _evaluate(node.expression, row))
    return False if False in sides else None if None in sides else True


def _or(node: exp.Or, row: Row) -> bool | None:
    sides = (_evaluate(node.this, row), _evaluate(node.expression, row))
    return True if True in sides else None if None in sides else False


def _not(node: exp.Not, row: Row) -> bool | None:
    value = _evaluate(node.this, row)
    return None if value is None else not value


def _literal(node: exp.Literal, row: Row) -> Any:
    if node.is_string:
        return node.this
    return Decimal(node.this) if not node.this.isdigit() else int(node.this)


def _column(node: exp.Expr, row: Row) -> Any:
    value: Any = row
    for name in _path(node):
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise NotEvaluated(f"{node.sql(dialect='spark')} is not a field of an object")
        value = value.get(name)
    return value


def _path(node: Any) -> tuple[str, ...]:
    if isinstance(node, exp.Dot):
        return (*_path(node.this), node.expression.name)
    if isinstance(node, exp.Column):
        return tuple(part.name for part in node.parts)
    raise NotEvaluated(f"{node.sql(dialect='spark')} is not a column")


def _in(node: exp.In, row: Row) -> bool | None:
    value, listed = _evaluate(node.this, row), [_evaluate(one, row) for one in node.expressions]
    if value is None or not listed:
        return None
    return True if _comparable(value) in map(_comparable, listed) else None if None in listed else False


def _between(node: exp.Between, row: Row) -> bool | None:
    values = [_evaluate(one, row) for one in (node.this, node.args["low"], node.args["high"])]
    result: bool | None = _with_nulls(lambda value, low, high: low <= value <= high, values)
    return result


def _case(node: exp.Case, row: Row) -> Any:
    for branch in node.args["ifs"]:
        condition = _evaluate(branch.this, row)
        if node.this is not None:
            condition = _with_nulls(operator.eq, [_evaluate(node.this, row), condition])
        if condition:
            return _evaluate(branch.args["true"], row)
    return _evaluate(node.args["default"], row) if node.args.get("default") is not None else None


def _cast(node: exp.Cast, row: Row) -> Any:
    value, kind = _evaluate(node.this, row), node.to.this
    if value is None or kind not in _CASTS:
        if value is not None:
            raise NotEvaluated(f"a cast to {node.to.sql(dialect='spark')} can only be evaluated by Spark")
        return None
    return _CASTS[kind](_comparable(value))


def _instant(value: Any) -> datetime | None:
    return value if isinstance(value, datetime) else parse_instant(str(value))


def _interval(node: exp.Interval, row: Row) -> timedelta:
    unit, amount = str(node.args["unit"]).lower().rstrip("s") + "s", _evaluate(node.this, row)
    if unit not in ("weeks", "days", "hours", "minutes", "seconds"):
        raise NotEvaluated(f"an interval of {unit} can only be evaluated by Spark")
    return timedelta(**{unit: float(amount)})


def _seconds(value: datetime) -> int:
    return int(value.timestamp() // 1)


def _divide(left: Any, right: Any) -> Any:
    return None if right == 0 else Decimal(left) / Decimal(right)


def _modulo(left: Any, right: Any) -> Any:
    return None if right == 0 else left - right * int(Decimal(left) / Decimal(right))


_LOGIC: Mapping[type[Any], Callable[[Any, Row], Any]] = {
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Paren: lambda node, row: _evaluate(node.this, row),
    exp.Literal: _literal,
    exp.Boolean: lambda node, row: bool(node.this),
    exp.Null: lambda node, row: None,
    exp.Column: _column,
    exp.Dot: _column,
    exp.Is: lambda node, row: _evaluate(node.this, row) is _evaluate(node.expression, row),
    exp.NullSafeEQ: lambda node, row: (
        _comparable(_evaluate(node.this, row)) == _comparable(_evaluate(node.expression, row))
    ),
    exp.In: _in,
    exp.Between: _between,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Interval: _interval,
    exp.Neg: lambda node, row: _with_nulls(operator.neg, [_evaluate(node.this, row)]),
}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
_OPERATORS: Mapping[type[Any], Callable[[Any, Any], Any]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
    exp.Div: _divide,
    exp.Mod: _modulo,
    exp.DPipe: lambda left, right: f"{left}{right}",
}
_CASTS: Mapping[Any, Callable[[Any], Any]] = {
    exp.DType.TIMESTAMP: _instant,
    exp.DType.TIMESTAMPLTZ: _instant,
    exp.DType.TIMESTAMPTZ: _instant,
    exp.DType.TIMESTAMPNTZ: _instant,
    exp.DType.TEXT: lambda value: value if isinstance(value, str) else str(value),
    exp.DType.INT: int,
    exp.DType.BIGINT: int,
    exp.DType.DOUBLE: lambda value: Decimal(str(value)),
    exp.DType.DECIMAL: lambda value: Decimal(str(value)),
}
_NULL_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
    "if": lambda condition, yes, no: yes if condition else no,
    "isnull": lambda value: value is None,
    "isnotnull": lambda value: value is not None,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "try_add": operator.add,
    "try_subtract": operator.sub,
    "try_multiply": operator.mul,
    "try_divide": _divide,
    "try_mod": _modulo,
    "abs": abs,
    "greatest": max,
    "least": min,
    "length": len,
    "char_length": len,
    "size": len,
    "cardinality": len,
    "trim": lambda text: text.strip(" "),
    "lower": lambda text: text.lower(),
    "upper": lambda text: text.upper(),
    "startswith": lambda text, start: text.startswith(start),
    "endswith": lambda text, end: text.endswith(end),
    "contains": lambda text, part: part in text,
    "array_contains": lambda items, value: value in map(_comparable, items),
    "unix_seconds": _seconds,
}
