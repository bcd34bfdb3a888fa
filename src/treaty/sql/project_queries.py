"""Queries and expressions of a project, with every name resolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from treaty.sql.functions import words
from treaty.sql.parser import SqlText, error_from_findings, parse_expression, parse_select
from treaty.sql.project_names import Resolver, rename_columns, resolve_expression, resolve_from
from treaty.sql.relations import (
    Column,
    ColumnType,
    Names,
    NoSuchField,
    Output,
    Place,
    Reference,
    Relation,
    RenamedQuery,
    Select,
    SetQuery,
    Source,
    Table,
    UnknownTable,
    Value,
    field_type,
    type_at,
)
from treaty.sql.scopes import AmbiguousName, QueryScope
from treaty.suggestions import did_you_mean


@dataclass(frozen=True, eq=False)
class Query:
    """One SELECT of the project."""

    text: SqlText
    tree: exp.Expr
    root: Relation
    names: Names
    inputs: tuple[str, ...]
    """The declared inputs that it reads, in order of appearance."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the output columns."""
        return tuple(column.name for column in self.root.columns)


@dataclass(frozen=True, eq=False)
class Expression:
    """One expression over named rows, such as a condition."""

    text: SqlText
    tree: exp.Expr
    names: Names


def analyse_query(sql: str, source: str, inputs: Mapping[str, Sequence[Column]]) -> Query:
    """Parse a query and resolve its names; unknown tables, columns and functions are findings of the error."""
    text = SqlText(source, sql)
    tree = parse_select(text)
    tables = {name.lower(): Table(name, tuple(columns)) for name, columns in inputs.items()}
    resolver = Resolver(text, tables, resolve_query)
    root = resolve_query(resolver, tree, QueryScope())
    _report_duplicate_outputs(resolver, tree, root)
    if resolver.problems:
        raise error_from_findings(*sorted(resolver.problems, key=lambda problem: problem.sort_key))
    given = {name.lower(): name for name in inputs}
    return Query(text, tree, root, resolver.names, tuple(given[name] for name in resolver.used))


def analyse_expression(sql: str, source: str, rows: Mapping[str, Sequence[Column]]) -> Expression:
    """Parse an expression over named rows and resolve its names; columns of the row named "" need no prefix."""
    text = SqlText(source, sql, None)
    tree = parse_expression(text)
    resolver = Resolver(text, {}, resolve_query)
    scope = QueryScope()
    for name, columns in rows.items():
        table = Table(name, tuple(columns))
        scope.add(Source(name.lower(), table, table.columns))
    own = [places for places in scope.layout if places[1][0][0].alias == ""]
    if own:  # attributes go before the columns of claims
        scope.layout[:] = own
    resolve_expression(resolver, tree, scope)
    if resolver.problems:
        raise error_from_findings(*resolver.problems)
    return Expression(text, tree, resolver.names)


def _report_duplicate_outputs(resolver: Resolver, tree: exp.Expr, root: Relation) -> None:
    """Report output names that are used more than once."""
    counts = Counter(column.name.lower() for column in root.columns)
    for name in [name for name, number in counts.items() if number > 1]:
        resolver.problem(
            "sql-column", f"{name} is an output column more than once", "give each column a unique name", tree
        )


_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: words(
        "with_ expressions hint distinct from_ laterals joins where group having windows distribute sort cluster order "
        "limit offset"
    ),
    exp.SetOperation: words("with_ this expression distinct order limit offset sort cluster distribute"),
    exp.Subquery: words("this alias with_ order limit offset"),
}
_ORDERS = ("distribute", "sort", "cluster", "order")


def resolve_query(resolver: Resolver, node: exp.Expr, outer: QueryScope) -> Relation:
    """Resolve a query; `outer` is the scope around it."""
    kind = next((node_type for node_type in _PARTS if isinstance(node, node_type)), None)
    if kind is None:
        resolver.problem("sql-unsupported", "this is not a query", "write a SELECT", node)
        return UnknownTable()
    for part, value in node.args.items():
        if value and part not in _PARTS[kind]:
            words = part.strip("_").upper()
            resolver.problem(
                "sql-unsupported", f"{words} is not supported", "write it with SELECT, JOIN, GROUP BY", node
            )
    scope = _with_ctes(resolver, node, outer)
    if isinstance(node, exp.Select):
        return _select(resolver, node, scope)
    if isinstance(node, exp.SetOperation):
        return _combined(resolver, node, scope)
    inside = resolve_query(resolver, node.this, scope)
    limit = node.args.get("limit") or node.args.get("offset")
    return RenamedQuery(inside, inside.columns, limit) if limit else inside


def _with_ctes(resolver: Resolver, node: exp.Expr, outer: QueryScope) -> QueryScope:
    """Return the outer scope with the CTEs of a query; each CTE sees those before it."""
    clause = node.args.get("with_")
    if clause is None:
        return outer
    if clause.args.get("recursive"):
        resolver.problem("sql-unsupported", "WITH RECURSIVE is not supported", "write out the steps", clause)
    scope = outer
    for cte in clause.expressions:
        name = cte.alias.lower()
        query = rename_columns(resolver, resolve_query(resolver, cte.this, _ctes_only(scope)), cte.args.get("alias"))
        scope = QueryScope(outer.outer, {**scope.ctes, name: query}, outer.sources, outer.layout, outer.outputs)
    return scope


def _ctes_only(scope: QueryScope) -> QueryScope:
    """Return a scope with only CTEs, which do not see outer rows."""
    return QueryScope(None, scope.ctes)


def _select(resolver: Resolver, node: exp.Select, outer: QueryScope) -> Select:
    is_inner = bool(outer.sources or outer.layout or outer.outer)
    scope = QueryScope(outer if is_inner else None, outer.ctes)
    first, joins, laterals = resolve_from(resolver, node, scope)
    if node.args.get("where"):
        resolve_expression(resolver, node.args["where"].this, scope)
    outputs = resolve_outputs(resolver, node, scope)
    scope.outputs = list(outputs)
    groups = tuple(_groups(resolver, node, scope, outputs))
    for part in ("having", *_ORDERS):
        if node.args.get(part):
            for expression in node.args[part].iter_expressions():
                resolve_expression(resolver, expression, scope)
    for window in node.args.get("windows") or ():
        resolve_expression(resolver, window, scope)
    return Select(node, first, joins, laterals, outputs, groups)


def _groups(resolver: Resolver, node: exp.Select, scope: QueryScope, outputs: Sequence[Output]) -> Iterator[Value]:
    group = node.args.get("group")
    for expression in group.expressions if group is not None else ():
        if isinstance(expression, exp.Literal) and not expression.is_string and expression.name.isdecimal():
            number = int(expression.name)
            if 1 <= number <= len(outputs):
                yield outputs[number - 1]
            else:
                resolver.problem(
                    "sql-column", f"there is no column {number} to group by", "name the column", expression
                )
        else:
            resolve_expression(resolver, expression, scope)
            yield expression


def _combined(resolver: Resolver, node: exp.SetOperation, outer: QueryScope) -> SetQuery:
    left, right = (resolve_query(resolver, node.args[part], outer) for part in ("this", "expression"))
    if len(left.columns) != len(right.columns):
        what = f"{len(left.columns)} columns are combined with {len(right.columns)}"
        resolver.problem("sql-column", what, "give both queries the same columns in the same order", node)
    return SetQuery(node, left, right)


_GENERATED = {"explode": ("col",), "explode_outer": ("col",), "posexplode": ("pos", "col")}
"""Spark's default names for the columns of functions that generate rows."""


def resolve_outputs(resolver: Resolver, node: exp.Select, scope: QueryScope) -> tuple[Output, ...]:
    """Resolve the output columns in order; later ones may refer to earlier ones."""
    for expression in node.expressions:
        scope.outputs += _outputs(resolver, expression, scope)
    if not scope.outputs and scope.is_known:
        resolver.problem("sql-column", "nothing is selected", "name the columns", node)
    return tuple(scope.outputs)


def _outputs(resolver: Resolver, node: exp.Expr, scope: QueryScope) -> list[Output]:
    if isinstance(node, exp.Star):
        return list(_expand_star(resolver, node, scope.layout, _except(node)))
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return list(_expand_qualified_star(resolver, node, scope))
    value_type = resolve_expression(resolver, node, scope)
    if isinstance(node, exp.Aliases):
        return [Output(Column(name.name), node.this) for name in node.expressions]
    value = node.this if isinstance(node, exp.Alias) else node
    if not isinstance(node, exp.Alias) and isinstance(value, exp.Anonymous) and value.name.lower() in _GENERATED:
        return [Output(Column(name), value) for name in _GENERATED[value.name.lower()]]
    return [Output(Column(_name(node), value_type), value)]


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.Dot):
        return str(node.expression.name)
    bare = node.unnest() if isinstance(node, exp.Paren) else node
    return bare.alias_or_name or bare.sql(dialect="spark")


def _except(node: exp.Expr) -> Sequence[exp.Expr]:
    excluded = node.args.get("except_") or []
    return excluded if isinstance(excluded, list) else [excluded]


def _expand_qualified_star(resolver: Resolver, node: exp.Column, scope: QueryScope) -> Iterator[Output]:
    """Expand the star of one source or struct: t.* or t.address.*."""
    parts = [node.args[part].name for part in ("catalog", "db", "table") if node.args.get(part)]
    source = scope.source(parts[0]) if len(parts) == 1 else None
    if source is not None:
        columns: list[tuple[str, tuple[Place, ...]]] = [
            (column.name, ((source, number),)) for number, column in enumerate(source.columns)
        ]
        yield from _expand_star(resolver, node, columns, _except(node.this))
        return
    reference = _reference(scope, parts)
    struct = _type_of(reference) if reference else None
    if not scope.is_known:
        return
    if reference is None or struct is None or struct.name != "struct":
        near = did_you_mean(parts[-1], scope.names()) or "name the columns"
        resolver.problem("sql-column", f"there are no columns in {'.'.join(parts)}.*", near, node)
        return
    for field in struct.fields:
        yield Output(Column(field.name, field.type), Reference(reference.places, (*reference.steps, field.name)))


def _reference(scope: QueryScope, parts: list[str]) -> Reference | None:
    try:
        match = scope.find_column(parts)
    except AmbiguousName:
        return None
    return Reference(match.column, match.steps) if match is not None else None


def _type_of(reference: Reference) -> ColumnType | None:
    value_type = type_at(reference.places)
    try:
        for step in reference.steps:
            value_type = field_type(value_type, step)
    except NoSuchField:
        return None
    return value_type


def _expand_star(
    resolver: Resolver, node: exp.Expr, columns: Sequence[tuple[str, tuple[Place, ...]]], without: Sequence[exp.Expr]
) -> Iterator[Output]:
    names = {column.name.lower() for column in without}
    known = {name.lower() for name, _ in columns}
    for name in sorted(names - known):
        near = did_you_mean(name, known) or "name a column there is"
        resolver.problem("sql-column", f"there is no column {name} to exclude", near, node)
    for name, places in columns:
        if name.lower() not in names:
            yield Output(Column(name, type_at(places)), Reference(places))
