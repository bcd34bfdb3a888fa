"""Read the SQL of a quality rule, and find the cheapest way to compute what it asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from treaty.sql import function_calls, operators, rule_columns, rule_queries, text_patterns, values
from treaty.sql.allowed_functions import BOOLEAN_FUNCTIONS
from treaty.sql.checked_sql import (
    AggregateMetric,
    RowCondition,
    RowCount,
    RowValue,
    RuleQuery,
    RuleScope,
    RuleSql,
)
from treaty.sql.function_calls import function_of, is_aggregate
from treaty.sql.lexer import Kind, Lexeme, lexemes, rule_error
from treaty.sql.parser import parse_rule_tree
from treaty.sql.rendering import Allowed, NodeRenderers, Renderer, RuleFacts
from treaty.sql.row_counts import count_conditions
from treaty.sql.rule_queries import own_source
from treaty.sql.rule_scopes import RuleFrame, source_of

RENDERERS: NodeRenderers = {
    **operators.OPERATOR_RENDERERS,
    **values.VALUE_RENDERERS,
    **rule_columns.COLUMN_RENDERERS,
    **text_patterns.PATTERN_RENDERERS,
    **function_calls.CALL_RENDERERS,
    **function_calls.WINDOW_RENDERERS,
    **rule_queries.QUERY_RENDERERS,
}
"""Everything a rule's SQL may be made of."""
_SIMPLE_PARTS = frozenset({"expressions", "from_", "where"})
_NO_TRUTHS = (
    *(exp.Literal, exp.HexString, exp.Interval, exp.Extract),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.Neg, exp.DPipe),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot),
)


def parse_rule(query: str, scope: RuleScope) -> RuleSql:
    """Read a rule's SQL, refuse what is not allowed, and return what it asks as SQL written anew."""
    notes = RuleFacts(query, scope, RENDERERS)
    found = tuple(filled(query, lexemes(query), scope))
    try:
        return _read(notes, parse_rule_tree(query, found))
    except RecursionError:
        raise rule_error(query, None, "nests too deeply", "nest less, or split it into several rules") from None


def parse_row_value(text: str, scope: RuleScope) -> RowValue:
    """Read SQL for one value of a row, refuse what is not allowed, and return it written anew."""
    notes = RuleFacts(text, scope, RENDERERS)
    found = tuple(filled(text, lexemes(text), scope))
    try:
        node = parse_rule_tree(text, found)
        if isinstance(node, exp.Query):
            raise rule_error(text, None, "is a query", "write one expression over the fields of a row")
        value = Renderer(notes, RuleFrame((source_of(scope.object),))).sql(node)
    except RecursionError:
        raise rule_error(text, None, "nests too deeply", "nest less") from None
    return RowValue(expression=value, **_read_of(notes))


def _read(notes: RuleFacts, node: exp.Expr) -> RuleSql:
    if not isinstance(node, exp.Query):
        rows = Renderer(notes, RuleFrame((source_of(notes.scope.object),)))
        _refuse_no_truth(rows, node)
        return RowCondition(condition=rows.sql(node), **_read_of(notes))
    select = _simple(node)
    source = own_source(Renderer(notes, RuleFrame(())), select) if select is not None else None
    if select is None or source is None:
        return _query(notes, node)
    rows = Renderer(notes, RuleFrame((source,)))
    where = [item.this for item in [select.args.get("where")] if item is not None]
    result = select.expressions[0].unalias()
    conditions = count_conditions(result)
    if conditions is not None:
        met = [rows.sql(condition) for condition in [*where, *conditions]] or ["true"]
        return RowCount(condition=met[0] if len(met) == 1 else f"({' AND '.join(met)})", **_read_of(notes))
    if not any(is_aggregate(item) for item in result.walk()):
        return _query(notes, node)
    only_rows = rows.sql(where[0]) if where else None
    expression = rows.inside(may=Allowed.AGGREGATE, only_rows=only_rows, must_aggregate=True).sql(result)
    return AggregateMetric(expression=expression, has_distinct=notes.has_distinct, **_read_of(notes))


def _read_of(notes: RuleFacts) -> dict[str, Any]:
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


def _query(notes: RuleFacts, node: exp.Query) -> RuleQuery:
    query = rule_queries.render_query(Renderer(notes, RuleFrame(())), node)
    if len(query.fields) != 1:
        raise rule_error(
            notes.text, None, f"selects {len(query.fields)} columns", "select the one value that is compared"
        )
    return RuleQuery(template=query.sql, tables=tuple(notes.tables), **_read_of(notes))


def _refuse_no_truth(rows: Renderer, node: exp.Expr) -> None:
    """Refuse what can be neither true nor false; Spark refuses the rest by the types of the data."""
    bare = node.unnest()
    called = function_of(bare)
    is_other = isinstance(bare, _NO_TRUTHS) or (
        called is not None and not is_aggregate(bare) and called[0] not in BOOLEAN_FUNCTIONS
    )
    if is_other:
        raise rows.refuse(
            node, "is not a condition", "write what must be true for a row, such as amount > 0, or SELECT …"
        )


OBJECT = frozenset({"object", "table", "model"})
FIELD = frozenset({"property", "column", "field"})
QUALIFIERS = frozenset({"schema", "database", "dataset", "catalog", "project"})
"""Where the table lies is the caller's business: these fall away before a table."""


def filled(text: str, found: Sequence[Lexeme], scope: RuleScope) -> Iterator[Lexeme]:
    """Yield the lexemes with every placeholder replaced by the names it stands for."""
    place = 0
    while place < len(found):
        lexeme = found[place]
        place += 1
        if lexeme.kind is not Kind.PLACEHOLDER:
            yield lexeme
            continue
        word = lexeme.value.strip("${}").lower()
        if word in OBJECT:
            yield Lexeme(Kind.NAME, scope.object.name, lexeme.at)
        elif word in FIELD:
            yield from _field(text, lexeme, scope)
        elif word in QUALIFIERS and place < len(found) and found[place].value == ".":
            place += 1
        else:
            known = ", ".join(f"{{{name}}}" for name in sorted(OBJECT | FIELD))
            raise rule_error(text, lexeme.at, f"has the unknown placeholder {lexeme.value}", f"use one of: {known}")


def _field(text: str, lexeme: Lexeme, scope: RuleScope) -> Iterator[Lexeme]:
    if scope.field is None:
        then = "name the field, or move the rule to its field"
        raise rule_error(text, lexeme.at, f"has {lexeme.value}, but the rule is not on a field", then)
    if any(step.is_mark for step in scope.field.steps):
        then = f"write the rule on the object, with exists(…) or forall(…) over {scope.field.steps[0].text}"
        raise rule_error(text, lexeme.at, f"has {lexeme.value}, but {scope.field} is inside a list or map", then)
    for number, step in enumerate(scope.field.steps):
        if number:
            yield Lexeme(Kind.SIGN, ".", lexeme.at)
        yield Lexeme(Kind.NAME, step.text, lexeme.at)
