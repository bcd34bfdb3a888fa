"""Find what makes a query return different results for the same data: time, randomness, order of rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from treaty.contracts.findings import Finding, Place, Severity
from treaty.sql.functions import (
    IN_WINDOW_ORDER,
    LISTS,
    NOW_WITHOUT_ARGUMENTS,
    ORDER_FREE,
    ORDER_KEEPING,
    UNORDERED,
    UNREPEATABLE,
)
from treaty.sql.project_queries import Expression, Query
from treaty.sql.relations import FLOATING_POINT, Reference, type_at

_THROUGH = (exp.Paren, exp.Filter, exp.Window, exp.IgnoreNulls, exp.RespectNulls)
_ROUNDED = frozenset({"avg", "mean", "sum", "try_avg", "try_sum"})


def find_unrepeatable(query: Query | Expression) -> tuple[Finding, ...]:
    """Return a finding for everything that can differ between two runs on the same data."""
    findings = [*_calls(query), *_limits(query)]
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))


def _calls(query: Query | Expression) -> Iterator[Finding]:
    for node in query.tree.find_all(exp.Anonymous):
        name = node.name.lower()
        if name in UNREPEATABLE or (name in NOW_WITHOUT_ARGUMENTS and not node.expressions):
            why = UNREPEATABLE.get(name) or UNREPEATABLE["now"]
            yield _finding(query, node, f"{name} gives {why.partition(';')[0]}", why)
        elif (window := _window(node)) is not None and name in IN_WINDOW_ORDER:
            if not _is_ordered(window, node):
                why = "the order in which rows come; add ORDER BY to its window"
                yield _finding(query, node, f"{name} depends on {why.partition(';')[0]}", why)
        elif name in UNORDERED and not _is_settled(node):
            why = UNORDERED[name]
            yield _finding(query, node, f"{name} depends on {why.partition(';')[0]}", why)
        elif name in _ROUNDED and _is_float(query, node):
            message = f"{name} of a floating-point column can differ in its last digits"
            yield _finding(query, node, message, "…; cast it to decimal first", Severity.WARNING)


def _limits(query: Query | Expression) -> Iterator[Finding]:
    for node in query.tree.find_all(exp.Limit, exp.Offset):
        parent = node.parent
        if parent is not None and not parent.args.get("order"):
            why = "the order in which rows come; add ORDER BY, or use row_number()"
            yield _finding(query, node, f"{node.key.upper()} depends on {why.partition(';')[0]}", why)


def _finding(
    query: Query | Expression, node: exp.Expr, message: str, why: str, severity: Severity = Severity.ERROR
) -> Finding:
    place = Place(query.text.source, query.text.line_of(node))
    return Finding("sql-unrepeatable", severity, message, place=place, hint=why.partition("; ")[2])


def _window(node: exp.Expr) -> exp.Window | None:
    """Return the window that a function is computed over, if any."""
    parent = node.parent
    while isinstance(parent, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        parent = parent.parent
    return parent if isinstance(parent, exp.Window) else None


def _is_ordered(window: exp.Window, node: exp.Expr) -> bool:
    if window.args.get("order"):
        return True
    name = window.args.get("alias")
    select = node.find_ancestor(exp.Select)
    if select is None or name is None:
        return False
    named = select.args.get("windows") or ()
    return any(candidate.name.lower() == name.name.lower() and candidate.args.get("order") for candidate in named)


def _is_settled(node: exp.Expr) -> bool:
    """Return whether a list is sorted before it is used, or its order does not matter."""
    parent = node.parent
    if isinstance(parent, exp.WithinGroup):
        return True
    if node.name.lower() not in LISTS:
        return False
    while parent is not None:
        if isinstance(parent, exp.Anonymous):
            name = parent.name.lower()
            if name in ORDER_FREE:
                return True
            if name not in ORDER_KEEPING:
                return False
        elif not isinstance(parent, _THROUGH):
            return False
        parent = parent.parent
    return False


def _is_float(query: Query | Expression, node: exp.Anonymous) -> bool:
    column = node.expressions[0] if node.expressions else None
    meaning = query.names.columns.get(id(column)) if isinstance(column, exp.Column) else None
    if not isinstance(meaning, Reference) or meaning.steps:
        return False
    column_type = type_at(meaning.places)
    return column_type is not None and column_type.name in FLOATING_POINT
