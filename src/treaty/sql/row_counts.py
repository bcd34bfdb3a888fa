"""Recognize expressions that count rows, such as sum(CASE WHEN … THEN 1 ELSE 0 END)."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

_COALESCING = frozenset({"coalesce", "ifnull", "nvl"})


def count_conditions(node: exp.Expr) -> list[exp.Expr] | None:
    """Return the conditions that a row must meet to be counted by an expression, or None if it is not a count."""
    node = _bare(node)
    if isinstance(node, exp.Filter):
        inner = count_conditions(node.this)
        return None if inner is None else [*inner, node.expression.this]
    if not isinstance(node, exp.Anonymous) or not isinstance(node.this, str):
        return None
    name, arguments = node.this.lower(), node.expressions
    if name in _COALESCING and len(arguments) == 2 and _is_number(arguments[1], "0"):
        return count_conditions(arguments[0])
    if len(arguments) != 1:
        return None
    return _COUNTS[name](_bare(arguments[0])) if name in _COUNTS else None


def is_plain_star(node: Any) -> bool:
    """Tell whether a node is a `*` without EXCEPT."""
    return isinstance(node, exp.Star) and not any(node.args.values())


def _bare(node: Any) -> Any:
    while isinstance(node, (exp.Paren, exp.Alias)):
        node = node.this
    return node


def _is_number(node: Any, *texts: str) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name in texts


def _count(argument: exp.Expr) -> list[exp.Expr] | None:
    if isinstance(argument, exp.Star):
        return [] if is_plain_star(argument) else None
    if isinstance(argument, exp.Literal):
        return []
    if isinstance(argument, exp.Distinct):
        return None
    chosen = _chosen(argument)
    if chosen and isinstance(chosen[1], exp.Literal) and (chosen[2] is None or isinstance(chosen[2], exp.Null)):
        return [chosen[0]]
    return [exp.Not(this=exp.Is(this=exp.Paren(this=argument), expression=exp.Null()))]


def _sum(argument: exp.Expr) -> list[exp.Expr] | None:
    chosen = _chosen(argument)
    if chosen and _is_number(chosen[1], "1") and (chosen[2] is None or _is_number(chosen[2], "0")):
        return [chosen[0]]
    return None


def _count_if(argument: exp.Expr) -> list[exp.Expr] | None:
    return [argument]


def _chosen(node: exp.Expr) -> tuple[exp.Expr, exp.Expr, exp.Expr | None] | None:
    """Return condition, value and default of an IF or of a CASE with one branch."""
    if isinstance(node, exp.Case) and node.this is None and len(node.args["ifs"]) == 1:
        branch, default = node.args["ifs"][0], node.args.get("default")
        return branch.this, _bare(branch.args["true"]), _bare(default)
    is_if = isinstance(node, exp.Anonymous) and isinstance(node.this, str) and node.this.lower() == "if"
    if is_if and len(node.expressions) == 3:
        return node.expressions[0], _bare(node.expressions[1]), _bare(node.expressions[2])
    return None


_COUNTS = {"count": _count, "count_if": _count_if, "sum": _sum, "try_sum": _sum}
