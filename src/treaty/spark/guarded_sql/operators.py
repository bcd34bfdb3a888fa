"""Operators of a rule's SQL: arithmetic that cannot fail a run, comparisons, and the joining of conditions."""

from __future__ import annotations

from sqlglot import exp

from treaty.spark.guarded_sql.comparing import refuse_unlike
from treaty.spark.guarded_sql.writing import Writer, Writing, writer

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


def operand(w: Writing, node: exp.Expr | None, *apart: type[exp.Expr]) -> str:
    """Write one side of an operator; where Spark and sqlglot group operators differently, parentheses must say how."""
    if isinstance(node, apart):
        raise w.refuse(
            node, "mixes operators that can be read in two ways", "put parentheses around what belongs together"
        )
    return w.sql(node)


def _arithmetic(w: Writing, node: exp.Binary) -> str:
    return f"{_ARITHMETIC[type(node)]}({w.sql(node.this)}, {w.sql(node.expression)})"


def _whole_division(w: Writing, node: exp.IntDiv) -> str:
    return f"({w.sql(node.this)} DIV nullif({w.sql(node.expression)}, 0))"


def _comparison(w: Writing, node: exp.Binary) -> str:
    refuse_unlike(w, node.this, node.expression)
    sides = operand(w, node.this, *PREDICATES), operand(w, node.expression, *PREDICATES)
    return f"({sides[0]} {_COMPARING[type(node)]} {sides[1]})"


def _distinct_from(w: Writing, node: exp.NullSafeNEQ) -> str:
    refuse_unlike(w, node.this, node.expression)
    sides = operand(w, node.this, *PREDICATES), operand(w, node.expression, *PREDICATES)
    return f"(NOT ({sides[0]} <=> {sides[1]}))"


def _bits(w: Writing, node: exp.Binary) -> str:
    others = [kind for kind in (*_BITS, exp.DPipe) if kind is not type(node)]
    return f"({operand(w, node.this, *others)} {_BITS[type(node)]} {operand(w, node.expression, *others)})"


def _pipes(w: Writing, node: exp.DPipe) -> str:
    others = (*_BITS, exp.Add, exp.Sub)
    w.notes.growth += 1
    inner = w.inside(is_growing=True)
    return f"({operand(inner, node.this, *others)} || {operand(inner, node.expression, *others)})"


def _joined(w: Writing, node: exp.Binary) -> str:
    parts: list[exp.Expr] = []
    left: exp.Expr = node
    while type(left) is type(node):
        parts.append(left.expression)
        left = left.this
    parts.append(left)
    return "(" + f" {_JOINING[type(node)]} ".join(w.sql(part) for part in reversed(parts)) + ")"


def _not(w: Writing, node: exp.Not) -> str:
    return f"(NOT {w.sql(node.this)})"


def _minus(w: Writing, node: exp.Neg) -> str:
    inner = node.this
    if isinstance(inner, exp.Cast) and isinstance(inner.this, exp.Literal):
        raise w.refuse(node, "has a sign before a cast", "put parentheses around the number and its sign")
    return f"(- {w.sql(inner)})" if not isinstance(inner, exp.Literal) else f"(-{w.sql(inner)})"


def _bits_turned(w: Writing, node: exp.BitwiseNot) -> str:
    return f"(~ {w.sql(node.this)})"


def _is(w: Writing, node: exp.Is) -> str:
    what = node.expression
    if not isinstance(what, (exp.Null, exp.Boolean)):
        raise w.refuse(node, "has IS before something else", "write IS NULL, IS TRUE or IS FALSE")
    not_ = "NOT " if node.args.get("negate") else ""
    return f"({operand(w, node.this, *PREDICATES)} IS {not_}{w.sql(what)})"


def _in(w: Writing, node: exp.In) -> str:
    this = operand(w, node.this, *PREDICATES)
    query = node.args.get("query")
    if query is not None:
        return f"({this} IN {w.sql(query)})"
    if not node.expressions:
        raise w.refuse(node, "has IN without values", "write IN (1, 2)")
    refuse_unlike(w, node.this, *node.expressions)
    return f"({this} IN ({w.several(node.expressions)}))"


def _between(w: Writing, node: exp.Between) -> str:
    refuse_unlike(w, node.this, node.args["low"], node.args["high"])
    low, high = w.sql(node.args["low"]), w.sql(node.args["high"])
    return f"({operand(w, node.this, *PREDICATES)} BETWEEN {low} AND {high})"


def _in_parentheses(w: Writing, node: exp.Paren) -> str:
    return w.sql(node.this)


def _tuple(w: Writing, node: exp.Tuple) -> str:
    if not isinstance(node.parent, exp.In) or len(node.expressions) < 2:
        raise w.refuse(node, "has a list of values in parentheses", "use it only with IN")
    return f"({w.several(node.expressions)})"


_TWO = "this expression"
WRITERS: dict[type[exp.Expr], Writer] = {
    **{kind: writer(_arithmetic, f"{_TWO} typed safe") for kind in _ARITHMETIC},
    **{kind: writer(_comparison, _TWO) for kind in _COMPARING},
    **{kind: writer(_bits, _TWO) for kind in _BITS},
    **{kind: writer(_joined, _TWO) for kind in _JOINING},
    exp.NullSafeNEQ: writer(_distinct_from, _TWO),
    exp.IntDiv: writer(_whole_division, _TWO),
    exp.DPipe: writer(_pipes, f"{_TWO} safe"),
    exp.Not: writer(_not, "this"),
    exp.Neg: writer(_minus, "this"),
    exp.BitwiseNot: writer(_bits_turned, "this"),
    exp.Is: writer(_is, f"{_TWO} negate"),
    exp.In: writer(_in, "this expressions query"),
    exp.Between: writer(_between, "this low high"),
    exp.Paren: writer(_in_parentheses, "this"),
    exp.Tuple: writer(_tuple, "expressions"),
}
