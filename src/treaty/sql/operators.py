"""Operators of a rule's SQL: arithmetic that cannot fail a run, comparisons, and the joining of conditions."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from sqlglot import exp

from treaty.sql.rendering import NodeRenderer, Renderer, node_renderer
from treaty.sql.rule_columns import field_of

_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "try_add",
    exp.Sub: "try_subtract",
    exp.Mul: "try_multiply",
    exp.Div: "try_divide",
    exp.Mod: "try_mod",
}
"""Null instead of an error: one row with a zero or an overflow must not stop the others."""
_COMPARING: dict[type[exp.Expr], str] = {
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
_JOINING: dict[type[exp.Expr], str] = {exp.And: "AND", exp.Or: "OR"}
PREDICATES = (
    *_COMPARING,
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


def operand(w: Renderer, node: exp.Expr | None, *apart: type[exp.Expr]) -> str:
    """Write one side of an operator; where Spark and sqlglot group operators differently, parentheses must say how."""
    if isinstance(node, apart):
        raise w.refuse(node, "mixes operators without parentheses", "add parentheses that show what belongs together")
    return w.sql(node)


def _arithmetic(w: Renderer, node: exp.Binary) -> str:
    return f"{_ARITHMETIC[type(node)]}({w.sql(node.this)}, {w.sql(node.expression)})"


def _whole_division(w: Renderer, node: exp.IntDiv) -> str:
    return f"({w.sql(node.this)} DIV nullif({w.sql(node.expression)}, 0))"


def _comparison(w: Renderer, node: exp.Binary) -> str:
    refuse_unlike(w, node.this, node.expression)
    sides = operand(w, node.this, *PREDICATES), operand(w, node.expression, *PREDICATES)
    return f"({sides[0]} {_COMPARING[type(node)]} {sides[1]})"


def _distinct_from(w: Renderer, node: exp.NullSafeNEQ) -> str:
    refuse_unlike(w, node.this, node.expression)
    sides = operand(w, node.this, *PREDICATES), operand(w, node.expression, *PREDICATES)
    return f"(NOT ({sides[0]} <=> {sides[1]}))"


def _bits(w: Renderer, node: exp.Binary) -> str:
    others = [kind for kind in (*_BITS, exp.DPipe) if kind is not type(node)]
    return f"({operand(w, node.this, *others)} {_BITS[type(node)]} {operand(w, node.expression, *others)})"


def _pipes(w: Renderer, node: exp.DPipe) -> str:
    others = (*_BITS, exp.Add, exp.Sub)
    w.notes.growth += 1
    inner = w.inside(is_growing=True)
    return f"({operand(inner, node.this, *others)} || {operand(inner, node.expression, *others)})"


def _joined(w: Renderer, node: exp.Binary) -> str:
    parts: list[exp.Expr] = []
    left: exp.Expr = node
    while type(left) is type(node):
        parts.append(left.expression)
        left = left.this
    parts.append(left)
    return "(" + f" {_JOINING[type(node)]} ".join(w.sql(part) for part in reversed(parts)) + ")"


def _not(w: Renderer, node: exp.Not) -> str:
    return f"(NOT {w.sql(node.this)})"


def _minus(w: Renderer, node: exp.Neg) -> str:
    inner = node.this
    if isinstance(inner, exp.Cast) and isinstance(inner.this, exp.Literal):
        raise w.refuse(node, "has a sign before a cast", "put parentheses around the number and its sign")
    return f"(- {w.sql(inner)})" if not isinstance(inner, exp.Literal) else f"(-{w.sql(inner)})"


def _bits_turned(w: Renderer, node: exp.BitwiseNot) -> str:
    return f"(~ {w.sql(node.this)})"


def _is(w: Renderer, node: exp.Is) -> str:
    what = node.expression
    if not isinstance(what, (exp.Null, exp.Boolean)):
        raise w.refuse(
            node, "has IS with something other than NULL, TRUE or FALSE", "write IS NULL, IS TRUE or IS FALSE"
        )
    not_ = "NOT " if node.args.get("negate") else ""
    return f"({operand(w, node.this, *PREDICATES)} IS {not_}{w.sql(what)})"


def _in(w: Renderer, node: exp.In) -> str:
    this = operand(w, node.this, *PREDICATES)
    query = node.args.get("query")
    if query is not None:
        return f"({this} IN {w.sql(query)})"
    if not node.expressions:
        raise w.refuse(node, "has IN without values", "write IN (1, 2)")
    refuse_unlike(w, node.this, *node.expressions)
    return f"({this} IN ({w.several(node.expressions)}))"


def _between(w: Renderer, node: exp.Between) -> str:
    refuse_unlike(w, node.this, node.args["low"], node.args["high"])
    low, high = w.sql(node.args["low"]), w.sql(node.args["high"])
    return f"({operand(w, node.this, *PREDICATES)} BETWEEN {low} AND {high})"


def _in_parentheses(w: Renderer, node: exp.Paren) -> str:
    return w.sql(node.this)


def _tuple(w: Renderer, node: exp.Tuple) -> str:
    if not isinstance(node.parent, exp.In) or len(node.expressions) < 2:
        raise w.refuse(node, "has a list of values outside IN", "use it only with IN")
    return f"({w.several(node.expressions)})"


_TWO = "this expression"
OPERATOR_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    **{kind: node_renderer(_arithmetic, f"{_TWO} typed safe") for kind in _ARITHMETIC},
    **{kind: node_renderer(_comparison, _TWO) for kind in _COMPARING},
    **{kind: node_renderer(_bits, _TWO) for kind in _BITS},
    **{kind: node_renderer(_joined, _TWO) for kind in _JOINING},
    exp.NullSafeNEQ: node_renderer(_distinct_from, _TWO),
    exp.IntDiv: node_renderer(_whole_division, _TWO),
    exp.DPipe: node_renderer(_pipes, f"{_TWO} safe"),
    exp.Not: node_renderer(_not, "this"),
    exp.Neg: node_renderer(_minus, "this"),
    exp.BitwiseNot: node_renderer(_bits_turned, "this"),
    exp.Is: node_renderer(_is, f"{_TWO} negate"),
    exp.In: node_renderer(_in, "this expressions query"),
    exp.Between: node_renderer(_between, "this low high"),
    exp.Paren: node_renderer(_in_parentheses, "this"),
    exp.Tuple: node_renderer(_tuple, "expressions"),
}


_EXAMPLES = {"date": "2026-01-31", "timestamp": "2026-01-31 12:30:00"}
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?: ?Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def refuse_unlike(w: Renderer, *sides: Any) -> None:
    """Refuse to compare a field with literals that its type says it can never be like."""
    bare = [side.unnest() for side in sides if isinstance(side, exp.Expr)]
    literals = [side for side in bare if isinstance(side, exp.Literal)]
    for side in bare:
        field = field_of(w, side) if literals else None
        if field is None or field.type is None:
            continue
        for literal in literals:
            if field.type.name == "string" and not literal.is_string:
                then = "quote the number, or CAST the field"
                raise w.refuse(literal, f"compares the string {field.name!r} with a number", then)
            if field.type.name in _EXAMPLES and literal.is_string:
                refuse_no_time(w, literal, field.type.name)


def refuse_no_time(w: Renderer, literal: exp.Literal, kind: str) -> None:
    """Refuse a text that is no date or timestamp."""
    text = literal.name.strip()
    try:
        is_time = _TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text.replace(" Z", "Z")))
    except ValueError:
        is_time = False
    if not is_time:
        raise w.refuse(literal, f"has a string that is not a {kind}", f"write it like '{_EXAMPLES[kind]}'")
