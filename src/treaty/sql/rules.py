"""Parse and check the SQL of quality rules and migrations, and choose the cheapest way to compute it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.sql import function_calls, rule_columns, rule_expressions, rule_queries, text_patterns
from treaty.sql.allowed_functions import BOOLEAN_FUNCTIONS
from treaty.sql.checked_sql import (
    AggregateMetric,
    RowCondition,
    RowCount,
    RowValue,
    RuleQuery,
    RuleSql,
    RuleTarget,
)
from treaty.sql.function_calls import function_of, is_aggregate, is_plain_star
from treaty.sql.lexer import Kind, Lexeme, rule_error, tokenize_rule
from treaty.sql.parser import parse_rule_tree
from treaty.sql.rule_queries import own_source
from treaty.sql.rule_renderer import Allowed, NodeRenderers, Renderer, RuleFacts
from treaty.sql.scopes import RuleScope, contract_source

if TYPE_CHECKING:
    from treaty.compatibility.migration import GuardedSql

RENDERERS: NodeRenderers = {
    **rule_expressions.OPERATOR_RENDERERS,
    **rule_expressions.VALUE_RENDERERS,
    **rule_columns.COLUMN_RENDERERS,
    **text_patterns.PATTERN_RENDERERS,
    **function_calls.CALL_RENDERERS,
    **function_calls.WINDOW_RENDERERS,
    **rule_queries.QUERY_RENDERERS,
}
"""The allow-list: every node type that the SQL of a contract may contain."""
_SIMPLE_PARTS = frozenset({"expressions", "from_", "where"})
_NON_BOOLEAN_NODES = (
    *(exp.Literal, exp.HexString, exp.Interval, exp.Extract),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.Neg, exp.DPipe),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot),
)


def parse_rule(query: str, target: RuleTarget) -> RuleSql:
    """Parse the SQL of a rule, refuse what is not allowed, and return it re-rendered by kind."""
    facts = RuleFacts(query, target, RENDERERS)
    lexemes = tuple(fill_placeholders(query, tokenize_rule(query), target))
    try:
        return _classify(facts, parse_rule_tree(query, lexemes))
    except RecursionError:
        raise rule_error(query, None, "nests too deeply", "nest less, or split it into several rules") from None


def parse_measure(text: str, target: RuleTarget) -> RowCount | AggregateMetric | RuleQuery:
    """Parse the SQL of a measure, an aggregate over the rows or a query of one value, and return it re-rendered."""
    facts = RuleFacts(text, target, RENDERERS)
    lexemes = tuple(fill_placeholders(text, tokenize_rule(text), target))
    try:
        node = parse_rule_tree(text, lexemes)
        if isinstance(node, exp.Query):
            query = _classify(facts, node)
            assert not isinstance(query, RowCondition)  # noqa: S101  a query is no condition
            return query
        if not any(is_aggregate(child) for child in node.walk()):
            hint = "write a number over all rows, such as 100.0 * count_if(state = 'open') / count(*), or SELECT …"
            raise rule_error(text, None, "has no aggregate", hint)
        rows = Renderer(facts, RuleScope((contract_source(target.object),)))
        expression = rows.inside(may=Allowed.AGGREGATE, must_aggregate=True).sql(node)
    except RecursionError:
        raise rule_error(text, None, "nests too deeply", "nest less") from None
    return AggregateMetric(expression=expression, has_distinct=facts.has_distinct, **_fields_classify(facts))


def parse_row_value(text: str, target: RuleTarget) -> RowValue:
    """Parse an expression over one row, as in migrations, refuse what is not allowed, and return it re-rendered."""
    facts = RuleFacts(text, target, RENDERERS)
    lexemes = tuple(fill_placeholders(text, tokenize_rule(text), target))
    try:
        node = parse_rule_tree(text, lexemes)
        if isinstance(node, exp.Query):
            raise rule_error(text, None, "is a query", "write one expression over the fields of a row")
        value = Renderer(facts, RuleScope((contract_source(target.object),))).sql(node)
    except RecursionError:
        raise rule_error(text, None, "nests too deeply", "nest less") from None
    return RowValue(expression=value, **_fields_classify(facts))


def _classify(facts: RuleFacts, node: exp.Expr) -> RuleSql:
    if not isinstance(node, exp.Query):
        rows = Renderer(facts, RuleScope((contract_source(facts.target.object),)))
        _refuse_non_boolean(rows, node)
        return RowCondition(condition=rows.sql(node), **_fields_classify(facts))
    select = _one_table_select(node)
    source = own_source(Renderer(facts, RuleScope(())), select) if select is not None else None
    if select is None or source is None:
        return _query(facts, node)
    rows = Renderer(facts, RuleScope((source,)))
    where = [child.this for child in [select.args.get("where")] if child is not None]
    result = select.expressions[0].unalias()
    conditions = count_conditions(result)
    if conditions is not None:
        met = [rows.sql(condition) for condition in [*where, *conditions]] or ["true"]
        return RowCount(condition=met[0] if len(met) == 1 else f"({' AND '.join(met)})", **_fields_classify(facts))
    if not any(is_aggregate(child) for child in result.walk()):
        return _query(facts, node)
    only_rows = rows.sql(where[0]) if where else None
    expression = rows.inside(may=Allowed.AGGREGATE, only_rows=only_rows, must_aggregate=True).sql(result)
    return AggregateMetric(expression=expression, has_distinct=facts.has_distinct, **_fields_classify(facts))


def _fields_classify(facts: RuleFacts) -> dict[str, Any]:
    return {"fields": tuple(facts.columns), "paths": tuple(sorted(facts.paths, key=str))}


def _one_table_select(node: exp.Expr) -> exp.Select | None:
    """Return the query if it selects one value from one table, with at most a WHERE; else None."""
    while isinstance(node, exp.Subquery) and not any(value for part, value in node.args.items() if part != "this"):
        node = node.this
    if not isinstance(node, exp.Select) or len(node.expressions) != 1:
        return None
    if any(value for part, value in node.args.items() if part not in _SIMPLE_PARTS):
        return None
    return node if all(child is node for child in node.find_all(exp.Window, exp.Query)) else None


def _query(facts: RuleFacts, node: exp.Query) -> RuleQuery:
    query = rule_queries.render_query(Renderer(facts, RuleScope(())), node)
    if len(query.fields) != 1:
        raise rule_error(
            facts.text, None, f"selects {len(query.fields)} columns", "select the one value that is compared"
        )
    return RuleQuery(template=query.sql, tables=tuple(facts.tables), **_fields_classify(facts))


def _refuse_non_boolean(rows: Renderer, node: exp.Expr) -> None:
    """Refuse what cannot be a boolean; Spark checks the rest by the types of the data."""
    bare = node.unnest()
    called = function_of(bare)
    is_other = isinstance(bare, _NON_BOOLEAN_NODES) or (
        called is not None and not is_aggregate(bare) and called[0] not in BOOLEAN_FUNCTIONS
    )
    if is_other:
        raise rows.refuse(
            node, "is not a condition", "write what must be true for a row, such as amount > 0, or SELECT …"
        )


OBJECT = frozenset({"object", "table", "model"})
FIELD = frozenset({"property", "column", "field"})
QUALIFIERS = frozenset({"schema", "database", "dataset", "catalog", "project"})
"""Placeholders for the location of a table; dropped, because the caller decides where tables are."""


def fill_placeholders(text: str, lexemes: Sequence[Lexeme], target: RuleTarget) -> Iterator[Lexeme]:
    """Yield the lexemes with every placeholder replaced by the names of the object or field."""
    place = 0
    while place < len(lexemes):
        lexeme = lexemes[place]
        place += 1
        if lexeme.kind is not Kind.PLACEHOLDER:
            yield lexeme
            continue
        word = lexeme.value.strip("${}").lower()
        if word in OBJECT:
            yield Lexeme(Kind.NAME, target.object.name, lexeme.at)
        elif word in FIELD:
            yield from _field(text, lexeme, target)
        elif word in QUALIFIERS and place < len(lexemes) and lexemes[place].value == ".":
            place += 1
        else:
            known = ", ".join(f"{{{name}}}" for name in sorted(OBJECT | FIELD))
            raise rule_error(text, lexeme.at, f"has the unknown placeholder {lexeme.value}", f"use one of: {known}")


def _field(text: str, lexeme: Lexeme, target: RuleTarget) -> Iterator[Lexeme]:
    if target.field is None:
        then = "name the field, or move the rule to its field"
        raise rule_error(text, lexeme.at, f"has {lexeme.value}, but the rule is not on a field", then)
    if any(step.is_mark for step in target.field.steps):
        then = f"write the rule on the object, with exists(…) or forall(…) over {target.field.steps[0].text}"
        raise rule_error(text, lexeme.at, f"has {lexeme.value}, but {target.field} is inside a list or map", then)
    for number, step in enumerate(target.field.steps):
        if number:
            yield Lexeme(Kind.SIGN, ".", lexeme.at)
        yield Lexeme(Kind.NAME, step.text, lexeme.at)


_RULE_SUBJECT = "the SQL of the rule"


def guard_sql(text: str, contract: Contract, schema: SchemaObject) -> GuardedSql:
    """Return the checked SQL of a migration over the rows of an object; refuse what is not on the allow-list."""
    try:
        value = parse_row_value(text, RuleTarget.of(contract, schema))
    except InvalidDocument as error:
        message = str(error).replace(_RULE_SUBJECT, f"the SQL that migration declares over {schema.name}")
        raise InvalidDocument(message) from None
    from treaty.compatibility.migration import GuardedSql  # lint reads rules without loading compatibility

    owner = schema.name if len(contract.schema) > 1 else None
    return GuardedSql(value.expression, tuple(FieldPath(path.steps, owner) for path in value.paths))


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
    branch = _branch_of(argument)
    if branch and isinstance(branch[1], exp.Literal) and (branch[2] is None or isinstance(branch[2], exp.Null)):
        return [branch[0]]
    return [exp.Not(this=exp.Is(this=exp.Paren(this=argument), expression=exp.Null()))]


def _sum(argument: exp.Expr) -> list[exp.Expr] | None:
    branch = _branch_of(argument)
    if branch and _is_number(branch[1], "1") and (branch[2] is None or _is_number(branch[2], "0")):
        return [branch[0]]
    return None


def _count_if(argument: exp.Expr) -> list[exp.Expr] | None:
    return [argument]


def _branch_of(node: exp.Expr) -> tuple[exp.Expr, exp.Expr, exp.Expr | None] | None:
    """Return condition, value and default of an IF or of a CASE with one branch."""
    if isinstance(node, exp.Case) and node.this is None and len(node.args["ifs"]) == 1:
        branch, default = node.args["ifs"][0], node.args.get("default")
        return branch.this, _bare(branch.args["true"]), _bare(default)
    is_if = isinstance(node, exp.Anonymous) and isinstance(node.this, str) and node.this.lower() == "if"
    if is_if and len(node.expressions) == 3:
        return node.expressions[0], _bare(node.expressions[1]), _bare(node.expressions[2])
    return None


_COUNTS = {"count": _count, "count_if": _count_if, "sum": _sum, "try_sum": _sum}
