"""Read the SQL of a quality rule, and find the cheapest way to compute what it asks."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from treaty.spark.guarded_sql import calls, likeness, naming, operators, queries, values, windows
from treaty.spark.guarded_sql.calls import function_of, is_aggregate
from treaty.spark.guarded_sql.counting import counted
from treaty.spark.guarded_sql.frames import Frame, source_of
from treaty.spark.guarded_sql.functions import TRUTHS
from treaty.spark.guarded_sql.lexing import lexemes
from treaty.spark.guarded_sql.parsing import tree
from treaty.spark.guarded_sql.placeholders import filled
from treaty.spark.guarded_sql.refusing import refused
from treaty.spark.guarded_sql.results import AggregateMetric, Query, RowCondition, RowsCounted, RowValue, RuleSql
from treaty.spark.guarded_sql.scope import Scope
from treaty.spark.guarded_sql.tables import own_source
from treaty.spark.guarded_sql.writing import May, Notes, Writers, Writing

WRITERS: Writers = {
    **operators.WRITERS,
    **values.WRITERS,
    **naming.WRITERS,
    **likeness.WRITERS,
    **calls.WRITERS,
    **windows.WRITERS,
    **queries.WRITERS,
}
"""Everything a rule's SQL may be made of."""
_SIMPLE_PARTS = frozenset({"expressions", "from_", "where"})
_NO_TRUTHS = (
    *(exp.Literal, exp.HexString, exp.Interval, exp.Extract, exp.CurrentDate, exp.CurrentTimestamp),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.Neg, exp.DPipe),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot),
)


def read_rule_sql(query: str, scope: Scope) -> RuleSql:
    """Read a rule's SQL, refuse what is not allowed, and return what it asks as SQL written anew."""
    notes = Notes(query, scope, WRITERS)
    found = tuple(filled(query, lexemes(query), scope))
    try:
        return _read(notes, tree(query, found))
    except RecursionError:
        raise refused(query, None, "nests too deep", "write it flatter, or as several rules") from None


def read_value_sql(text: str, scope: Scope) -> RowValue:
    """Read SQL for one value of a row, refuse what is not allowed, and return it written anew."""
    notes = Notes(text, scope, WRITERS)
    found = tuple(filled(text, lexemes(text), scope))
    try:
        node = tree(text, found)
        if isinstance(node, exp.Query):
            raise refused(text, None, "is a query", "write one expression over the fields of a row")
        value = Writing(notes, Frame((source_of(scope.object),))).sql(node)
    except RecursionError:
        raise refused(text, None, "nests too deep", "write it flatter") from None
    return RowValue(expression=value, **_read_of(notes))


def _read(notes: Notes, node: exp.Expr) -> RuleSql:
    if not isinstance(node, exp.Query):
        rows = Writing(notes, Frame((source_of(notes.scope.object),)))
        _refuse_no_truth(rows, node)
        return RowCondition(condition=rows.sql(node), **_read_of(notes))
    select = _simple(node)
    source = own_source(Writing(notes, Frame(())), select) if select is not None else None
    if select is None or source is None:
        return _query(notes, node)
    rows = Writing(notes, Frame((source,)))
    where = [item.this for item in [select.args.get("where")] if item is not None]
    result = select.expressions[0].unalias()
    conditions = counted(result)
    if conditions is not None:
        met = [rows.sql(condition) for condition in [*where, *conditions]] or ["true"]
        return RowsCounted(condition=met[0] if len(met) == 1 else f"({' AND '.join(met)})", **_read_of(notes))
    if not any(is_aggregate(item) for item in result.walk()):
        return _query(notes, node)
    only_rows = rows.sql(where[0]) if where else None
    expression = rows.inside(may=May.AGGREGATE, only_rows=only_rows, must_aggregate=True).sql(result)
    return AggregateMetric(expression=expression, has_distinct=notes.has_distinct, **_read_of(notes))


def _read_of(notes: Notes) -> dict[str, Any]:
    return {"fields": tuple(notes.columns), "paths": tuple(sorted(notes.paths, key=str))}


def _simple(node: exp.Expr) -> exp.Select | None:
    """Return the query if it selects one value from one table, with nothing but WHERE; else None."""
    while isinstance(node, exp.Subquery) and not any(value for part, value in node.args.items() if part != "this"):
        node = node.this
    if not isinstance(node, exp.Select) or len(node.expressions) != 1:
        return None
    if any(value for part, value in node.args.items() if part not in _SIMPLE_PARTS):
        return None
    return node if all(item is node for item in node.find_all(exp.Window, exp.Query)) else None


def _query(notes: Notes, node: exp.Query) -> Query:
    query = queries.derive(Writing(notes, Frame(())), node)
    if len(query.fields) != 1:
        raise refused(notes.text, None, f"selects {len(query.fields)} columns", "select the one value that is compared")
    return Query(template=query.sql, tables=tuple(notes.tables), **_read_of(notes))


def _refuse_no_truth(rows: Writing, node: exp.Expr) -> None:
    """Refuse what can be neither true nor false; Spark refuses the rest by the types of the data."""
    bare = node.unnest()
    called = function_of(bare)
    is_other = isinstance(bare, _NO_TRUTHS) or (
        called is not None and not is_aggregate(bare) and called[0] not in TRUTHS
    )
    if is_other:
        raise rows.refuse(node, "is no condition", "write what must be true of a row, such as amount > 0, or SELECT …")
