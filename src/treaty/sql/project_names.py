"""Resolve the names of project SQL: the tables and joins of FROM, and the columns of expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from treaty.contracts.findings import Finding
from treaty.sql.functions import KNOWN, words
from treaty.sql.parser import SqlText
from treaty.sql.relations import (
    JOIN_KINDS,
    RIGHT_HIDING_JOINS,
    Column,
    ColumnType,
    ComputedRows,
    Join,
    JoinKind,
    Names,
    NoSuchField,
    Output,
    Place,
    Reference,
    Relation,
    RenamedQuery,
    Source,
    UnknownTable,
    element_type,
    field_type,
    is_known,
    type_at,
)
from treaty.sql.result_types import call_type, case_type, node_type
from treaty.sql.scopes import AmbiguousName, QueryScope
from treaty.suggestions import did_you_mean

_UNITS = words(
    "year years quarter month months week weeks day days dayofyear hour hours minute minutes second seconds "
    "millisecond microsecond"
)
_UNIT_FUNCTIONS = frozenset({"date_add", "date_diff", "dateadd", "datediff", "timestampadd", "timestampdiff"})
_GRAMMAR_FUNCTIONS = frozenset({"timestampadd", "timestampdiff"})
"""Functions that Spark's grammar knows and its list of functions does not."""
_TYPE_PRESERVING = (exp.Paren, exp.Alias, exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)
_ELEMENT_FUNCTIONS = frozenset({"explode", "explode_outer"})


@dataclass(eq=False)
class Resolver:
    """The state of resolving one SQL text: its tables, resolved names and findings."""

    text: SqlText
    tables: Mapping[str, Relation]
    read_query: Callable[[Resolver, exp.Expr, QueryScope], Relation]
    names: Names = field(default_factory=Names)
    problems: list[Finding] = field(default_factory=list)
    used: dict[str, None] = field(default_factory=dict)

    def problem(self, finding: str, message: str, hint: str, node: exp.Expr | None) -> None:
        """Add a finding."""
        self.problems.append(self.text.error(finding, message, hint, node))


def resolve_expression(
    resolver: Resolver, node: exp.Expr, scope: QueryScope, variables: frozenset[str] = frozenset()
) -> ColumnType | None:
    """Resolve every name in an expression; return its type where that follows from a path alone."""
    if isinstance(node, exp.Query):
        resolver.names.queries[id(node)] = query = resolver.read_query(resolver, node, scope)
        return query.columns[0].type if len(query.columns) == 1 else None
    if isinstance(node, exp.Column):
        return _column(resolver, node, scope, variables)
    if isinstance(node, exp.Lambda):
        names = frozenset(variable.name.lower() for variable in node.expressions)
        resolve_expression(resolver, node.this, scope, variables | names)
        return None
    if isinstance(node, exp.Anonymous):
        return _call(resolver, node, scope, variables)
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
        hint = "use Spark's own functions"
        resolver.problem("sql-function", f"Spark has no function {node.sql(dialect='spark')}", hint, node)
        return None
    if isinstance(node, exp.Case):
        return _case(resolver, node, scope, variables)
    types = [resolve_expression(resolver, child, scope, variables) for child in _children(node)]
    if isinstance(node, exp.Dot):
        value_type = types[0] if types else None
        return _inside(resolver, node, value_type, (node.expression.name,)) if value_type is not None else None
    if isinstance(node, exp.Bracket):
        return element_type(types[0]) if types else None
    if isinstance(node, _TYPE_PRESERVING):
        return types[0] if types else None
    return node_type(node, types)


def _case(resolver: Resolver, node: exp.Case, scope: QueryScope, variables: frozenset[str]) -> ColumnType | None:
    """Resolve CASE; its type is that of its results, of which the missing one is NULL."""
    if node.this is not None:
        resolve_expression(resolver, node.this, scope, variables)
    branches = [branch for branch in node.args.get("ifs") or () if isinstance(branch, exp.If)]
    for branch in branches:
        resolve_expression(resolver, branch.this, scope, variables)
    results = [*(branch.args["true"] for branch in branches), *filter(None, [node.args.get("default")])]
    types = [resolve_expression(resolver, result, scope, variables) for result in results]
    return case_type([known for result, known in zip(results, types, strict=True) if not isinstance(result, exp.Null)])


def _children(node: exp.Expr) -> Iterable[exp.Expr]:
    plain = (exp.Identifier, exp.DataType, exp.Var, exp.Star)
    return [child for child in node.iter_expressions() if not isinstance(child, plain)]


def _call(resolver: Resolver, node: exp.Anonymous, scope: QueryScope, variables: frozenset[str]) -> ColumnType | None:
    name = node.name.lower()
    if name not in KNOWN | _GRAMMAR_FUNCTIONS:
        near = did_you_mean(name, KNOWN)
        resolver.problem("sql-function", f"Spark has no function {name}", near or "use Spark's own functions", node)
    arguments = list(node.expressions)
    if name in _UNIT_FUNCTIONS and arguments and isinstance(arguments[0], exp.Column):
        is_unit = len(arguments) == 3 and not arguments[0].table and arguments[0].name.lower() in _UNITS
        arguments = arguments[1:] if is_unit else arguments
    types = [
        resolve_expression(resolver, argument, scope, variables)
        for argument in arguments
        if not isinstance(argument, (exp.Star, exp.Identifier, exp.Var))
    ]
    if name in _ELEMENT_FUNCTIONS:
        return element_type(types[0]) if types else None
    if name == "if":
        return case_type(types[1:])
    return call_type(name, types)


def _column(resolver: Resolver, node: exp.Column, scope: QueryScope, variables: frozenset[str]) -> ColumnType | None:
    if isinstance(node.this, exp.Star):  # as in count(t.*)
        return None
    parts = [node.args[part].name for part in ("catalog", "db", "table", "this") if node.args.get(part)]
    if parts[0].lower() in variables:
        return None
    try:
        resolved = scope.resolve(parts)
    except AmbiguousName:
        what = f"{'.'.join(parts)} is a column of several tables"
        resolver.problem("sql-column", what, "qualify it with its table", node)
        return None
    if resolved is None and not scope.must_have(parts):
        return None
    if resolved is None:
        known = dict.fromkeys([*scope.names(), *(output.column.name for output in scope.outputs)])
        near = did_you_mean(parts[-1], known) or f"there are: {', '.join(list(known)[:20]) or 'no columns'}"
        resolver.problem("sql-column", f"there is no column {'.'.join(parts)}", near, node)
        return None
    meaning = resolved[1]
    if isinstance(meaning, Output):
        resolver.names.columns[id(node)] = meaning
        return meaning.column.type
    resolver.names.columns[id(node)] = Reference(meaning.column, meaning.steps)
    return _inside(resolver, node, type_at(meaning.column), meaning.steps)


def _inside(
    resolver: Resolver, node: exp.Expr, value_type: ColumnType | None, steps: tuple[str, ...]
) -> ColumnType | None:
    for step in steps:
        try:
            value_type = field_type(value_type, step)
        except NoSuchField as error:
            near = did_you_mean(step, error.known)
            hint = near or (f"there are: {', '.join(error.known)}" if error.known else "it has no fields")
            resolver.problem("sql-column", f"there is no field {step} in {node.sql(dialect='spark')}", hint, node)
            return None
    return value_type


_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Table: words("this alias db catalog"),
    exp.Subquery: words("this alias with_ order limit offset"),
    exp.Values: words("expressions alias"),
    exp.Join: words("this on side kind using method"),
    exp.Lateral: words("this view outer alias"),
}
_GENERATED_COLUMNS = {
    "explode": ("col",),
    "explode_outer": ("col",),
    "posexplode": ("pos", "col"),
    "posexplode_outer": ("pos", "col"),
}


def resolve_from(
    resolver: Resolver, node: exp.Select, scope: QueryScope
) -> tuple[Source | None, tuple[Join, ...], tuple[Source, ...]]:
    """Resolve FROM, the joins and the lateral views of a SELECT, and add them to its scope."""
    clause = node.args.get("from_")
    first = _source(resolver, clause.this, scope) if clause is not None else None
    if first is not None:
        scope.add(first)
    joins = tuple(_join(resolver, clause_item, scope) for clause_item in node.args.get("joins") or ())
    laterals = tuple(_lateral(resolver, clause_item, scope) for clause_item in node.args.get("laterals") or ())
    return first, joins, laterals


def _check_parts(resolver: Resolver, node: exp.Expr) -> None:
    known = next((parts for kind, parts in _PARTS.items() if isinstance(node, kind)), frozenset())
    for part, value in node.args.items():
        if value and part not in known:
            words = part.strip("_").upper()
            resolver.problem("sql-unsupported", f"{words} is not supported", "read the table as it is", node)


def _source(resolver: Resolver, node: exp.Expr, scope: QueryScope) -> Source:
    _check_parts(resolver, node)
    alias = node.args.get("alias")
    if isinstance(node, exp.Table):
        relation, name = _table(resolver, node, scope)
    elif isinstance(node, exp.Subquery):
        relation, name = resolver.read_query(resolver, node, QueryScope(None, scope.ctes)), ""
    elif isinstance(node, exp.Values):
        relation, name = _values(resolver, node, scope), ""
    else:
        resolver.problem("sql-table", "this is not a table", "read a declared input, or a query in parentheses", node)
        relation, name = UnknownTable(), ""
    called = alias.name if alias is not None else ""
    if not isinstance(node, exp.Values):
        relation = rename_columns(resolver, relation, alias)
    return Source((called or name).lower(), relation, relation.columns)


def rename_columns(resolver: Resolver, query: Relation, alias: exp.Expr | None) -> Relation:
    """Return a query with the column names of its alias."""
    names = [identifier.name for identifier in alias.args.get("columns") or ()] if alias is not None else []
    if not names:
        return query
    if len(names) != len(query.columns):
        what = f"{len(names)} names are given to {len(query.columns)} columns"
        resolver.problem("sql-column", what, "name every column", alias)
    columns = [Column(name, column.type) for name, column in zip(names, query.columns, strict=False)]
    return RenamedQuery(query, tuple(columns))


def _table(resolver: Resolver, node: exp.Table, scope: QueryScope) -> tuple[Relation, str]:
    parts = [node.args.get(part) for part in ("catalog", "db", "this")]
    names = [part.name for part in parts if isinstance(part, exp.Identifier)]
    if len(names) != sum(part is not None for part in parts):
        what = "rows are read from a function"
        resolver.problem("sql-table", what, "read a declared input, or use LATERAL VIEW", node)
        return UnknownTable(), ""
    if len(names) == 1:
        name = names[0].lower()
        if name in scope.ctes:
            return scope.ctes[name], name
        if name in resolver.tables:
            resolver.used[name] = None
            return resolver.tables[name], name
    called = ".".join(names)
    known = [*resolver.tables, *scope.ctes]
    near = did_you_mean(called, known) or f"declared are: {', '.join(resolver.tables) or 'none'}"
    resolver.problem("sql-table", f"{called} is not a declared input", near, node)
    return UnknownTable(), names[-1].lower()


def _values(resolver: Resolver, node: exp.Values, scope: QueryScope) -> ComputedRows:
    rows = [value.expressions if isinstance(value, exp.Tuple) else [value] for value in node.expressions]
    for row in rows:
        for value in row:
            resolve_expression(resolver, value, QueryScope(None, scope.ctes))
    alias = node.args.get("alias")
    given = [value.name for value in alias.args.get("columns") or ()] if alias is not None else []
    names = given or [f"col{number + 1}" for number in range(len(rows[0]) if rows else 0)]
    return ComputedRows(tuple(Column(name) for name in names))


def _join(resolver: Resolver, node: exp.Join, scope: QueryScope) -> Join:
    _check_parts(resolver, node)
    source = _source(resolver, node.this, scope)
    side, kind = (str(node.args.get(part) or "").upper() for part in ("side", "kind"))
    join_kind = JOIN_KINDS.get((side, kind))
    if join_kind is None:
        resolver.problem("sql-unsupported", f"{side} {kind} JOIN is not supported", "use an ordinary join", node)
        join_kind = JoinKind.INNER
    names = _shared_names(resolver, node, scope, source)
    shared = tuple(_shared(resolver, node, scope, source, name) for name in names)
    if node.args.get("on") is not None:
        resolve_expression(resolver, node.args["on"], scope.with_source(source))
    if join_kind not in RIGHT_HIDING_JOINS:
        _lay_out(scope, source, join_kind, names, [pair for pair in shared if pair])
    return Join(source, join_kind, node.args.get("on"), tuple(pair for pair in shared if pair), node)


def _shared_names(resolver: Resolver, node: exp.Join, scope: QueryScope, source: Source) -> list[str]:
    if str(node.args.get("method") or "").upper() == "NATURAL":
        mine = {column.name.lower() for column in source.columns}
        return [name.lower() for name, _ in scope.layout if name.lower() in mine]
    if node.args.get("method"):
        resolver.problem("sql-unsupported", f"{node.args['method']} JOIN is not supported", "use ON", node)
    return [identifier.name.lower() for identifier in node.args.get("using") or ()]


def _shared(
    resolver: Resolver, node: exp.Join, scope: QueryScope, source: Source, name: str
) -> tuple[tuple[Place, ...], Place] | None:
    left = [places for column, places in scope.layout if column.lower() == name]
    right = [number for number, column in enumerate(source.columns) if column.name.lower() == name]
    if (len(left) != 1 or len(right) != 1) and scope.is_known and is_known(source.relation):
        what = f"{name} is not exactly one column on each side of the join"
        resolver.problem("sql-column", what, "write ON with the names of both tables", node)
    if len(left) != 1 or len(right) != 1:
        return None
    return left[0], (source, right[0])


def _lay_out(
    scope: QueryScope,
    source: Source,
    kind: JoinKind,
    names: list[str],
    shared: list[tuple[tuple[Place, ...], Place]],
) -> None:
    """Order the columns of a join as Spark does: shared columns once and first, then the others of each side."""
    merged: list[tuple[str, tuple[Place, ...]]] = []
    for name, (left, right) in zip(names, shared, strict=False):
        places = {JoinKind.RIGHT: (right,), JoinKind.FULL: (*left, right)}.get(kind, left)
        merged.append((name, places))
    scope.add(source)
    if merged:
        others = [(column, places) for column, places in scope.layout if column.lower() not in names]
        scope.layout[:] = [*merged, *others]


def _lateral(resolver: Resolver, node: exp.Lateral, scope: QueryScope) -> Source:
    _check_parts(resolver, node)
    if not node.args.get("view"):
        resolver.problem("sql-unsupported", "a lateral query is not supported", "use a join, or LATERAL VIEW", node)
    value_type = resolve_expression(resolver, node.this, scope)
    alias = node.args.get("alias")
    names = [identifier.name for identifier in alias.args.get("columns") or ()] if alias is not None else []
    function = node.this.name.lower() if isinstance(node.this, exp.Anonymous) else ""
    if not names and function not in _GENERATED_COLUMNS:
        resolver.problem("sql-column", "the columns of a lateral view have no names", "write … AS a, b", node)
    names = names or list(_GENERATED_COLUMNS.get(function, ()))
    columns = [Column(name, value_type if number == len(names) - 1 else None) for number, name in enumerate(names)]
    rows = ComputedRows(tuple(columns), (node.this,))
    source = Source(alias.name.lower() if alias is not None else "", rows, rows.columns)
    scope.add(source)
    return source
