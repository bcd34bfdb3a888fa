"""Render the expressions of rules: literals, casts and CASE, arithmetic that cannot fail a run, and comparisons."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from sqlglot import exp

from treaty.contracts.sql_quoting import quote_string
from treaty.sql.rule_columns import find_field
from treaty.sql.rule_renderer import NodeRenderer, Renderer, node_renderer

_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "try_add",
    exp.Sub: "try_subtract",
    exp.Mul: "try_multiply",
    exp.Div: "try_divide",
    exp.Mod: "try_mod",
}
"""Functions that return null instead of failing: one zero or overflow must not stop the run."""
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.NullSafeEQ: "<=>",
}
_BITS: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}
_LOGICAL: dict[type[exp.Expr], str] = {exp.And: "AND", exp.Or: "OR"}
PREDICATES = (
    *_COMPARISONS,
    exp.NullSafeNEQ,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Like,
    exp.ILike,
    exp.RegexpLike,
    exp.Escape,
    exp.Not,
)


def render_operand(r: Renderer, node: exp.Expr | None, *apart: type[exp.Expr]) -> str:
    """Render one operand; refuse operators that Spark and sqlglot group differently without parentheses."""
    if isinstance(node, apart):
        raise r.refuse(node, "mixes operators without parentheses", "add parentheses that show what belongs together")
    return r.sql(node)


def _arithmetic(r: Renderer, node: exp.Binary) -> str:
    return f"{_ARITHMETIC[type(node)]}({r.sql(node.this)}, {r.sql(node.expression)})"


def _integer_division(r: Renderer, node: exp.IntDiv) -> str:
    return f"({r.sql(node.this)} DIV nullif({r.sql(node.expression)}, 0))"


def _comparison(r: Renderer, node: exp.Binary) -> str:
    refuse_mismatched_literals(r, node.this, node.expression)
    sides = render_operand(r, node.this, *PREDICATES), render_operand(r, node.expression, *PREDICATES)
    return f"({sides[0]} {_COMPARISONS[type(node)]} {sides[1]})"


def _distinct_from(r: Renderer, node: exp.NullSafeNEQ) -> str:
    refuse_mismatched_literals(r, node.this, node.expression)
    sides = render_operand(r, node.this, *PREDICATES), render_operand(r, node.expression, *PREDICATES)
    return f"(NOT ({sides[0]} <=> {sides[1]}))"


def _bits(r: Renderer, node: exp.Binary) -> str:
    others = [kind for kind in (*_BITS, exp.DPipe) if kind is not type(node)]
    return (
        f"({render_operand(r, node.this, *others)} {_BITS[type(node)]} {render_operand(r, node.expression, *others)})"
    )


def _pipes(r: Renderer, node: exp.DPipe) -> str:
    others = (*_BITS, exp.Add, exp.Sub)
    r.facts.growth += 1
    inner = r.inside(is_growing=True)
    return f"({render_operand(inner, node.this, *others)} || {render_operand(inner, node.expression, *others)})"


def _joined(r: Renderer, node: exp.Binary) -> str:
    parts: list[exp.Expr] = []
    left: exp.Expr = node
    while type(left) is type(node):
        parts.append(left.expression)
        left = left.this
    parts.append(left)
    return "(" + f" {_LOGICAL[type(node)]} ".join(r.sql(part) for part in reversed(parts)) + ")"


def _not(r: Renderer, node: exp.Not) -> str:
    return f"(NOT {r.sql(node.this)})"


def _minus(r: Renderer, node: exp.Neg) -> str:
    inner = node.this
    if isinstance(inner, exp.Cast) and isinstance(inner.this, exp.Literal):
        raise r.refuse(node, "has a sign before a cast", "put parentheses around the number and its sign")
    return f"(- {r.sql(inner)})" if not isinstance(inner, exp.Literal) else f"(-{r.sql(inner)})"


def _bitwise_not(r: Renderer, node: exp.BitwiseNot) -> str:
    return f"(~ {r.sql(node.this)})"


def _is(r: Renderer, node: exp.Is) -> str:
    what = node.expression
    if not isinstance(what, (exp.Null, exp.Boolean)):
        raise r.refuse(
            node, "has IS with something other than NULL, TRUE or FALSE", "write IS NULL, IS TRUE or IS FALSE"
        )
    not_ = "NOT " if node.args.get("negate") else ""
    return f"({render_operand(r, node.this, *PREDICATES)} IS {not_}{r.sql(what)})"


def _in(r: Renderer, node: exp.In) -> str:
    this = render_operand(r, node.this, *PREDICATES)
    query = node.args.get("query")
    if query is not None:
        return f"({this} IN {r.sql(query)})"
    if not node.expressions:
        raise r.refuse(node, "has IN without values", "write IN (1, 2)")
    refuse_mismatched_literals(r, node.this, *node.expressions)
    return f"({this} IN ({r.several(node.expressions)}))"


def _between(r: Renderer, node: exp.Between) -> str:
    refuse_mismatched_literals(r, node.this, node.args["low"], node.args["high"])
    low, high = r.sql(node.args["low"]), r.sql(node.args["high"])
    return f"({render_operand(r, node.this, *PREDICATES)} BETWEEN {low} AND {high})"


def _parentheses(r: Renderer, node: exp.Paren) -> str:
    return r.sql(node.this)


def _tuple(r: Renderer, node: exp.Tuple) -> str:
    if not isinstance(node.parent, exp.In) or len(node.expressions) < 2:
        raise r.refuse(node, "has a list of values outside IN", "use it only with IN")
    return f"({r.several(node.expressions)})"


_TWO = "this expression"
OPERATOR_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    **{kind: node_renderer(_arithmetic, f"{_TWO} typed safe") for kind in _ARITHMETIC},
    **{kind: node_renderer(_comparison, _TWO) for kind in _COMPARISONS},
    **{kind: node_renderer(_bits, _TWO) for kind in _BITS},
    **{kind: node_renderer(_joined, _TWO) for kind in _LOGICAL},
    exp.NullSafeNEQ: node_renderer(_distinct_from, _TWO),
    exp.IntDiv: node_renderer(_integer_division, _TWO),
    exp.DPipe: node_renderer(_pipes, f"{_TWO} safe"),
    exp.Not: node_renderer(_not, "this"),
    exp.Neg: node_renderer(_minus, "this"),
    exp.BitwiseNot: node_renderer(_bitwise_not, "this"),
    exp.Is: node_renderer(_is, f"{_TWO} negate"),
    exp.In: node_renderer(_in, "this expressions query"),
    exp.Between: node_renderer(_between, "this low high"),
    exp.Paren: node_renderer(_parentheses, "this"),
    exp.Tuple: node_renderer(_tuple, "expressions"),
}


_EXAMPLES = {"date": "2026-01-31", "timestamp": "2026-01-31 12:30:00"}
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?: ?Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def refuse_mismatched_literals(r: Renderer, *sides: Any) -> None:
    """Refuse to compare a field with literals that its type cannot equal."""
    bare = [side.unnest() for side in sides if isinstance(side, exp.Expr)]
    literals = [side for side in bare if isinstance(side, exp.Literal)]
    for side in bare:
        field = find_field(r, side) if literals else None
        if field is None or field.type is None:
            continue
        for literal in literals:
            if field.type.name == "string" and not literal.is_string:
                then = "quote the number, or CAST the field"
                raise r.refuse(literal, f"compares the string {field.name!r} with a number", then)
            if field.type.name in _EXAMPLES and literal.is_string:
                refuse_invalid_time(r, literal, field.type.name)


def refuse_invalid_time(r: Renderer, literal: exp.Literal, kind: str) -> None:
    """Refuse a string that is not a date or timestamp."""
    text = literal.name.strip()
    try:
        is_time = _TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text.replace(" Z", "Z")))
    except ValueError:
        is_time = False
    if not is_time:
        raise r.refuse(literal, f"has a string that is not a {kind}", f"write it like '{_EXAMPLES[kind]}'")


_TYPES = {
    exp.DType.BOOLEAN: "BOOLEAN",
    exp.DType.TINYINT: "TINYINT",
    exp.DType.SMALLINT: "SMALLINT",
    exp.DType.INT: "INT",
    exp.DType.BIGINT: "BIGINT",
    exp.DType.FLOAT: "FLOAT",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.DECIMAL: "DECIMAL",
    exp.DType.TEXT: "STRING",
    exp.DType.BINARY: "BINARY",
    exp.DType.DATE: "DATE",
    exp.DType.TIMESTAMPTZ: "TIMESTAMP",
    exp.DType.TIMESTAMPLTZ: "TIMESTAMP_LTZ",
    exp.DType.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
}
_TIMES = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP_LTZ": "timestamp", "TIMESTAMP_NTZ": "timestamp"}
_MAX_DIGITS = 38
UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_INTERVAL_UNITS = {spelt: unit for unit in UNITS if unit != "QUARTER" for spelt in (unit, f"{unit}S")}
_AMOUNT = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,6})?")
_EXTRACTABLE_PARTS = frozenset({*UNITS, "YEAROFWEEK", "DAYOFWEEK", "DOW", "DAYOFWEEK_ISO", "DOW_ISO", "DOY"})


def render_type(r: Renderer, node: exp.DataType) -> str:
    """Render the target type of a cast."""
    name = _TYPES.get(node.this) if isinstance(node.this, exp.DType) else None
    sizes = [size.this.name for size in node.expressions if isinstance(size, exp.DataTypeParam)]
    if name == "DECIMAL" and sizes:
        is_fit = len(sizes) <= 2 and all(size.isdigit() and len(size) <= 2 for size in sizes)
        digits = [int(size) for size in sizes] if is_fit else []
        if is_fit and 0 < digits[0] <= _MAX_DIGITS and digits[-1] <= digits[0]:
            return f"DECIMAL({', '.join(map(str, digits))})"
    elif name is not None and not node.expressions:
        return name
    known = ", ".join(sorted(set(_TYPES.values())))
    raise r.refuse(node.parent or node, "casts to an unsupported type", f"use one of: {known}")


def _cast(r: Renderer, node: exp.Cast) -> str:
    """Render a cast that returns null for values that do not fit; a literal must fit."""
    name = render_type(r, node.args["to"])
    inner = node.this
    if isinstance(inner, exp.Literal) and inner.is_string and name in _TIMES:
        refuse_invalid_time(r, inner, _TIMES[name])
    is_certain = isinstance(inner, (exp.Literal, exp.HexString))
    return f"{'CAST' if is_certain else 'TRY_CAST'}({r.sql(inner)} AS {name})"


def _literal(r: Renderer, node: exp.Literal) -> str:
    return quote_string(node.name) if node.is_string else node.name


def _bytes(r: Renderer, node: exp.HexString) -> str:
    return f"X'{node.name}'"


def _boolean(r: Renderer, node: exp.Boolean) -> str:
    return "true" if node.this else "false"


def _null(r: Renderer, node: exp.Null) -> str:
    return "NULL"


def _interval(r: Renderer, node: exp.Interval) -> str:
    amount, unit = node.this, node.args.get("unit")
    sign = "-" if isinstance(amount, exp.Neg) else ""
    amount = amount.this if isinstance(amount, exp.Neg) else amount
    number = sign + amount.name if isinstance(amount, exp.Literal) else ""
    name = _INTERVAL_UNITS.get(unit.name.upper()) if isinstance(unit, exp.Var) else None
    if name is None or not _AMOUNT.fullmatch(number):
        raise r.refuse(node, "has an unsupported interval", "write it like INTERVAL 2 DAYS")
    return f"INTERVAL '{number}' {name}"


def _extract(r: Renderer, node: exp.Extract) -> str:
    part = node.this.name.upper() if isinstance(node.this, exp.Var) else ""
    if part not in _EXTRACTABLE_PARTS:
        raise r.refuse(
            node, "extracts an unknown part of a timestamp", f"use one of: {', '.join(sorted(_EXTRACTABLE_PARTS))}"
        )
    return f"extract({part} FROM {r.sql(node.expression)})"


def _case(r: Renderer, node: exp.Case) -> str:
    start = f"CASE {r.sql(node.this)}" if node.this is not None else "CASE"
    branches = [f"WHEN {r.sql(branch.this)} THEN {r.sql(branch.args['true'])}" for branch in node.args["ifs"]]
    default = node.args.get("default")
    last = [f"ELSE {r.sql(default)}"] if default is not None else []
    return " ".join([start, *branches, *last, "END"])


VALUE_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Literal: node_renderer(_literal, "this is_string"),
    exp.HexString: node_renderer(_bytes, "this"),
    exp.Boolean: node_renderer(_boolean, "this"),
    exp.Null: node_renderer(_null),
    exp.Cast: node_renderer(_cast, "this to safe"),
    exp.TryCast: node_renderer(_cast, "this to safe"),
    exp.Interval: node_renderer(_interval, "this unit"),
    exp.Extract: node_renderer(_extract, "this expression"),
    exp.Case: node_renderer(_case, "this ifs default"),
}
