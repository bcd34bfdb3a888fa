"""Render function calls of rules: row functions, aggregates, window functions and lambdas."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from treaty.sql.allowed_functions import (
    CALL_TEMPLATES,
    FOLDS,
    LAMBDAS,
    LITERAL_ARGUMENTS,
    NULL_SAFE_NAMES,
    REFUSED_FUNCTIONS,
    RULE_FUNCTIONS,
    UNIT_BETWEEN,
    UNIT_FIRST,
    Function,
    Role,
    is_amount,
)
from treaty.sql.rule_expressions import UNITS
from treaty.sql.rule_renderer import Allowed, NodeRenderer, Renderer, node_renderer
from treaty.sql.text_patterns import render_like, render_regex_match
from treaty.suggestions import similar_names

_MAX_LAMBDA_DEPTH = 2
_PATTERNS = {"like": False, "ilike": True}
_EXPRESSIONS = frozenset({"regexp", "regexp_like", "rlike"})


def function_of(node: Any) -> tuple[str, Function] | None:
    """Return the name and function that a node calls, if a rule may call it."""
    name = node.this.lower() if isinstance(node, exp.Anonymous) and isinstance(node.this, str) else ""
    return (name, RULE_FUNCTIONS[name]) if name in RULE_FUNCTIONS else None


def is_aggregate(node: Any) -> bool:
    """Return whether a node computes one value from many rows."""
    called = function_of(node.this if isinstance(node, exp.Filter) else node)
    return called is not None and called[1].role is Role.AGGREGATE


def is_plain_star(node: Any) -> bool:
    """Return whether a node is a `*` without EXCEPT."""
    return isinstance(node, exp.Star) and not any(node.args.values())


def _call(r: Renderer, node: exp.Anonymous) -> str:
    name, function = _allowed(r, node)
    if function.role is Role.AGGREGATE:
        return _aggregate(r, node, name, r.only_rows)
    if function.role is Role.WINDOW:
        raise r.refuse(node, f"calls {name} without OVER", "write OVER (PARTITION BY … ORDER BY …)")
    return _row_call(r, node, name, function)


def _allowed(r: Renderer, node: exp.Anonymous) -> tuple[str, Function]:
    called = function_of(node)
    if called is None:
        name = str(getattr(node.this, "name", node.this))
        what, then = REFUSED_FUNCTIONS.get(name.lower(), ("is not an allowed function", _suggest_functions(name)))
        raise r.refuse(node, f"calls {name}, which {what},", then)
    name, function = called
    count = len(node.expressions)
    if count < function.fewest or (function.most is not None and count > function.most):
        raise r.refuse(node, f"calls {name} with {count} arguments", f"it takes {_describe_arity(function)}")
    for place, argument in enumerate(node.expressions):
        fits, words = LITERAL_ARGUMENTS.get((name, place), (None, ""))
        if fits and not fits(argument):
            raise r.refuse(argument, f"calls {name} with a wrong argument {place + 1}", f"it must be {words}")
    return name, function


def _suggest_functions(name: str) -> str:
    close = similar_names(name, RULE_FUNCTIONS, similarity=0.75)
    return (
        f"use {' or '.join(close)}" if close else "use one of Spark's plain functions on texts, numbers, dates or lists"
    )


def _describe_arity(function: Function) -> str:
    if function.most == function.fewest:
        return str(function.fewest)
    return f"{function.fewest} to {function.most}" if function.most is not None else f"{function.fewest} or more"


def _row_call(r: Renderer, node: exp.Anonymous, name: str, function: Function) -> str:
    arguments = node.expressions
    if name in _PATTERNS:
        return render_like(r, node, r.sql(arguments[0]), arguments[1], folds=_PATTERNS[name])
    if name in _EXPRESSIONS:
        return render_regex_match(r, node, r.sql(arguments[0]), arguments[1])
    inner = r.inside(is_growing=True) if function.grows else r
    r.facts.growth += function.grows
    rendered = _lambda_arguments(inner, node, name) if name in LAMBDAS else _arguments(inner, name, arguments)
    template = CALL_TEMPLATES.get((name, len(rendered)))
    return template.format(*rendered) if template else f"{NULL_SAFE_NAMES.get(name, name)}({', '.join(rendered)})"


def _arguments(r: Renderer, name: str, arguments: list[Any]) -> list[str]:
    if name not in UNIT_FIRST or len(arguments) != 3:
        return [r.sql(argument) for argument in arguments]
    node = arguments[0]
    unit = node.name.upper() if isinstance(node, exp.Column) else ""
    if unit not in UNITS:
        raise r.refuse(node, f"calls {name} with an unknown unit", f"use one of: {', '.join(UNITS)}")
    if name not in UNIT_BETWEEN and not is_amount(arguments[1]):
        raise r.refuse(node, f"calls {name} with a wrong argument 2", "it must be an integer up to 10,000")
    return [unit, r.sql(arguments[1]), r.sql(arguments[2])]


def _lambda_arguments(r: Renderer, node: exp.Anonymous, name: str) -> list[str]:
    """Render lists and lambdas; variables of concatenated lists, and accumulators, count as concatenated."""
    rendered = []
    start = r.facts.growth
    for argument in node.expressions:
        if not isinstance(argument, exp.Lambda):
            rendered.append(r.sql(argument))
            continue
        if r.lambdas >= _MAX_LAMBDA_DEPTH:
            raise r.refuse(argument, f"nests lambdas more than {_MAX_LAMBDA_DEPTH} deep", "split it into several rules")
        rendered.append(_lambda(r, argument, is_built=r.facts.growth > start, folds=name in FOLDS))
    return rendered


def _lambda(r: Renderer, node: exp.Lambda, *, is_built: bool, folds: bool) -> str:
    names = [variable.name for variable in node.expressions if isinstance(variable, exp.Identifier)]
    if not names or len(names) != len(node.expressions) or node.args.get("colon"):
        raise r.refuse(node, "has an invalid lambda", "write it like x -> x.amount > 0")
    grown = {name.lower(): is_built or (folds and not number) for number, name in enumerate(names)}
    body = r.inside(variables={**r.variables, **grown}, lambdas=r.lambdas + 1, may=Allowed.NOTHING).sql(node.this)
    quoted = [r.name(node, name) for name in names]
    return f"{quoted[0] if len(quoted) == 1 else '(' + ', '.join(quoted) + ')'} -> {body}"


def _aggregate(r: Renderer, node: exp.Anonymous, name: str, only_rows: str | None) -> str:
    if not r.may & Allowed.AGGREGATE:
        raise r.refuse(node, f"calls {name}, which needs many rows,", "write SELECT … FROM {object}, or HAVING")
    inner = r.inside(may=Allowed.NOTHING, only_rows=None, must_aggregate=False)
    arguments, distinct = node.expressions, ""
    if isinstance(arguments[0], exp.Distinct):
        if len(arguments) != 1 or arguments[0].args.get("on"):
            raise r.refuse(node, "has an unsupported DISTINCT", "write count(DISTINCT a, b)")
        arguments, distinct = arguments[0].expressions, "DISTINCT "
        r.facts.has_distinct = True
    is_all = name == "count" and not distinct and len(arguments) == 1 and is_plain_star(arguments[0])
    rendered = "*" if is_all else inner.several(arguments)
    rows = f" FILTER (WHERE {only_rows})" if only_rows else ""
    return f"{NULL_SAFE_NAMES.get(name, name)}({distinct}{rendered}){rows}"


def _filtered(r: Renderer, node: exp.Filter) -> str:
    call, where = node.this, node.expression
    if not is_aggregate(call) or not isinstance(where, exp.Where):
        raise r.refuse(
            node, "has FILTER after something that is not an aggregate", "write it like count(*) FILTER (WHERE …)"
        )
    name, _ = _allowed(r, call)
    condition = r.inside(may=Allowed.NOTHING, only_rows=None, must_aggregate=False).sql(where.this)
    return _aggregate(r, call, name, f"({r.only_rows} AND {condition})" if r.only_rows else condition)


def render_windowed_call(r: Renderer, node: Any) -> str:
    """Render the function before OVER."""
    called = function_of(node)
    if called is not None and called[1].role is Role.WINDOW:
        name, _ = _allowed(r, node)
        return f"{name}({', '.join(_arguments(r.inside(may=Allowed.NOTHING), name, node.expressions))})"
    if called is None or called[1].role is not Role.AGGREGATE:
        raise r.refuse(
            node,
            "has OVER after a function that is not an aggregate or window function",
            "write it like row_number() OVER (…)",
        )
    name, _ = _allowed(r, node)
    return _aggregate(r.inside(may=Allowed.AGGREGATE), node, name, None)


CALL_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Anonymous: node_renderer(_call, "this expressions"),
    exp.Filter: node_renderer(_filtered, "this expression"),
}


def render_order(r: Renderer, node: exp.Order) -> str:
    """Render ORDER BY."""
    terms = []
    for term in node.expressions:
        if not isinstance(term, exp.Ordered) or term.args.get("with_fill") or node.args.get("siblings"):
            raise r.refuse(node, "has an unsupported ORDER BY", "write it like ORDER BY a DESC")
        direction = "DESC" if term.args.get("desc") else "ASC"
        nulls = "FIRST" if term.args.get("nulls_first") else "LAST"
        terms.append(f"{r.sql(term.this)} {direction} NULLS {nulls}")
    return f"ORDER BY {', '.join(terms)}"


def _window(r: Renderer, node: exp.Window) -> str:
    if not r.may & Allowed.WINDOW:
        raise r.refuse(node, "has OVER where it is not allowed", "put it into SELECT, and filter in an outer query")
    inner = r.inside(may=Allowed.NOTHING, only_rows=None)
    parts = [f"PARTITION BY {inner.several(node.args['partition_by'])}"] if node.args.get("partition_by") else []
    order, spec = node.args.get("order"), node.args.get("spec")
    parts += [render_order(inner, order)] if order is not None else []
    parts += [_span(r, spec)] if spec is not None else []
    return f"{render_windowed_call(r, node.this)} OVER ({' '.join(parts)})"


def _span(r: Renderer, node: exp.WindowSpec) -> str:
    kind = str(node.args.get("kind")).upper()
    ends = [_end(r, node, "start"), _end(r, node, "end") if node.args.get("end") else "CURRENT ROW"]
    if kind not in ("ROWS", "RANGE") or node.args.get("exclude"):
        raise r.refuse(
            node, "has an unsupported window scope", "write it like ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
        )
    return f"{kind} BETWEEN {ends[0]} AND {ends[1]}"


def _end(r: Renderer, node: exp.WindowSpec, which: str) -> str:
    value, side = node.args.get(which), str(node.args.get(f"{which}_side") or "").upper()
    number = value.name if isinstance(value, exp.Literal) else str(value).upper()
    if number == "CURRENT ROW":
        return number
    if (number != "UNBOUNDED" and not (number.isdigit() and len(number) < 8)) or side not in ("PRECEDING", "FOLLOWING"):
        raise r.refuse(
            node, "has an unsupported window scope", "write it like ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
        )
    return f"{number} {side}"


WINDOW_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Window: node_renderer(_window, "this partition_by order spec over"),
}
