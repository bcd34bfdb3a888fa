"""Render the queries of rules: SELECT over the tables of the contract, subqueries, set operations and joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlglot import exp

from treaty.contracts.model import Field
from treaty.sql.checked_sql import table_mark
from treaty.sql.function_calls import render_order
from treaty.sql.relations import JOIN_KINDS, RIGHT_HIDING_JOINS, conjuncts
from treaty.sql.rule_columns import resolve_column
from treaty.sql.rule_renderer import Allowed, NodeRenderer, Renderer, node_renderer
from treaty.sql.scopes import DerivedTable, RuleScope, RuleSource, contract_source

MAX_SELECTS = 12
_MAX_LIMIT = 1_000_000
_IN_QUERY = Allowed.AGGREGATE | Allowed.WINDOW | Allowed.QUERY
_SETS: dict[type[exp.Expr], str] = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def render_query(r: Renderer, node: Any) -> DerivedTable:
    """Render a query; return its SQL and output columns."""
    r.known(node)
    inner = r.deeper(node)
    if isinstance(node, exp.Subquery):
        return render_query(inner, node.this)
    r.facts.selects += 1
    if r.facts.selects > MAX_SELECTS:
        raise r.refuse(node, f"has more than {MAX_SELECTS} queries", "split it into several rules")
    inner, start = _with(inner, node)
    query = _set(inner, node) if isinstance(node, exp.SetOperation) else _select(inner, node)
    return replace(query, sql=start + query.sql)


def _with(r: Renderer, node: exp.Query) -> tuple[Renderer, str]:
    """Render the CTEs, each of which sees those before it."""
    clause = node.args.get("with_")
    if clause is None:
        return r, ""
    if clause.args.get("recursive"):
        raise r.refuse(clause, "has a recursive query", "write it without RECURSIVE")
    texts, queries = [], dict(r.queries)
    for cte in clause.expressions:
        alias = cte.args.get("alias")
        name = alias.this.name if isinstance(alias, exp.TableAlias) and isinstance(alias.this, exp.Identifier) else ""
        is_plain = set(cte.args) - {"this", "alias"} <= {part for part, value in cte.args.items() if not value}
        if not name or not is_plain or alias.args.get("columns") or name.lower() in queries:
            raise r.refuse(cte, "has an unsupported WITH", "write it like WITH name AS (SELECT …), each name once")
        if r.facts.target.table((name,)) is not None:
            raise r.refuse(cte, f"names a query like the table {name!r}", "choose another name")
        query = render_query(r.inside(scope=RuleScope(()), queries=dict(queries)), cte.this)
        quoted = r.name(cte, f"with_{r.facts.selects}_{name}")
        queries[name.lower()] = replace(query, sql=quoted)
        texts.append(f"{quoted} AS ({query.sql})")
    return r.inside(queries=queries), f"WITH {', '.join(texts)} "


def _set(r: Renderer, node: exp.SetOperation) -> DerivedTable:
    left, right = render_query(r, node.this), render_query(r, node.expression)
    if len(left.fields) != len(right.fields):
        raise r.refuse(node, "combines queries with different numbers of columns", "give both the same columns")
    words = _SETS[type(node)] + ("" if node.args.get("distinct") else " ALL")
    pairs = [(mine.name or "", theirs.name or "") for mine, theirs in zip(left.fields, right.fields, strict=True)]
    grown = frozenset(mine for mine, theirs in pairs if mine in left.grown or theirs in right.grown)
    plain = frozenset(mine for mine, theirs in pairs if mine in left.plain and theirs in right.plain)
    return DerivedTable(f"({left.sql}) {words} ({right.sql})", left.fields, grown, plain)


def _select(r: Renderer, node: exp.Select) -> DerivedTable:
    start = len(r.facts.outside)
    tables, scope = render_tables(r, node, render_query)
    rows = r.inside(scope=scope, may=Allowed.QUERY, only_rows=None, is_growing=False, variables={}, lambdas=0)
    given = _projections(rows.inside(may=_IN_QUERY), node)
    names = tuple(field.name for field in given.fields if field.name)
    unclear = frozenset(name.lower() for name in names if name not in given.plain)
    after = rows.inside(scope=replace(scope, aliases=names, unclear=unclear), may=_IN_QUERY)
    texts = ["SELECT " + ("DISTINCT " if _distinct(r, node) else "") + given.sql, f"FROM {tables}"]
    where = node.args.get("where")
    if where is not None:
        texts.append(f"WHERE {rows.sql(where.this)}")
    group = node.args.get("group")
    if group is not None:
        grouping = rows.inside(scope=replace(scope, aliases=names), may=Allowed.NOTHING)
        texts.append(f"GROUP BY {_grouping(grouping, group)}")
    having = node.args.get("having")
    if having is not None:
        texts.append(f"HAVING {after.sql(having.this)}")
    texts += _order_and_limit(after, node)
    _refuse_loose_correlation(rows, node, scope, set(r.facts.outside[start:]))
    return replace(given, sql=" ".join(texts))


def _projections(r: Renderer, node: exp.Select) -> DerivedTable:
    texts, fields = [], []
    grown, plain = set(), set()
    for output in node.expressions:
        inner = output.this if isinstance(output, exp.Alias) else output
        name = output.alias if isinstance(output, exp.Alias) else inner.name if isinstance(inner, exp.Column) else ""
        before = r.facts.growth
        sql = r.sql(inner)
        texts.append(f"{sql} AS {r.name(output, name)}" if name else sql)
        fields.append(Field(name=name or None))
        grown |= {name} if r.facts.growth > before else set()
        plain |= {name} if _stored_source(r, inner) is not None else set()
    if not texts:
        raise r.refuse(node, "selects nothing", "write SELECT count(*) FROM {object}")
    return DerivedTable(", ".join(texts), tuple(fields), frozenset(grown), frozenset(plain))


def _distinct(r: Renderer, node: exp.Select) -> bool:
    distinct = node.args.get("distinct")
    if distinct is not None and (distinct.args.get("on") or distinct.expressions):
        raise r.refuse(distinct, "has DISTINCT ON", "write SELECT DISTINCT")
    return distinct is not None


def _grouping(r: Renderer, node: exp.Group) -> str:
    if any(value for part, value in node.args.items() if part != "expressions") or not node.expressions:
        raise r.refuse(node, "has an unsupported GROUP BY", "write GROUP BY with columns only")
    return r.several(node.expressions)


def _order_and_limit(r: Renderer, node: exp.Select) -> list[str]:
    order, limit = node.args.get("order"), node.args.get("limit")
    texts = [render_order(r, order)] if order is not None else []
    if limit is not None:
        count = limit.expression
        is_count = isinstance(count, exp.Literal) and count.name.isdigit() and int(count.name) <= _MAX_LIMIT
        if not is_count or any(value for part, value in limit.args.items() if part not in ("this", "expression")):
            raise r.refuse(limit, "has an unsupported LIMIT", "write it like LIMIT 10")
        texts.append(f"LIMIT {count.name}")
    return texts


def _refuse_loose_correlation(r: Renderer, node: exp.Select, scope: RuleScope, reached: set[int]) -> None:
    if scope.outer is None:
        return
    outer_sources = [source for level in scope.outer.levels() for source in level.sources]
    where = node.args.get("where")
    is_correlated = any(id(source) in reached for source in outer_sources)
    if is_correlated and (where is None or not is_joined_by_equality(r, where.this, scope.sources, outer_sources)):
        then = "write WHERE inner.id = outer.id, with further conditions after AND"
        raise r.refuse(node, "has a subquery that compares every row with every other", then)


def _subquery(r: Renderer, node: exp.Expr) -> str:
    if not r.may & Allowed.QUERY:
        then = "write the rule as SELECT count(*) FROM {object} WHERE …, without lambdas or aggregates around it"
        raise r.refuse(node, "has a subquery where a value of the row is needed", then)
    query = render_query(r, node.this if isinstance(node, exp.Exists) else node)
    if not isinstance(node, exp.Exists) and not isinstance(node.parent, exp.In) and len(query.fields) != 1:
        raise r.refuse(node, "has a subquery with several columns as a value", "select one column")
    return f"(EXISTS ({query.sql}))" if isinstance(node, exp.Exists) else f"({query.sql})"


_QUERY = "with_ expressions distinct from_ joins where group having order limit"
QUERY_RENDERERS: dict[type[exp.Expr], NodeRenderer] = {
    exp.Select: node_renderer(_subquery, _QUERY),
    exp.Subquery: node_renderer(_subquery, "this"),
    exp.Exists: node_renderer(_subquery, "this"),
    **{kind: node_renderer(_subquery, "this expression distinct with_") for kind in _SETS},
}


RenderQuery: TypeAlias = Callable[[Renderer, Any], DerivedTable]
"""Renders a derived table."""
MAX_JOINS = 6
_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Table: {"this", "alias", "db", "catalog"},
    exp.Subquery: {"this", "alias"},
    exp.Join: {"this", "on", "side", "kind"},
    exp.From: {"this"},
    exp.TableAlias: {"this"},
}


def render_tables(r: Renderer, node: exp.Select, derive: RenderQuery) -> tuple[str, RuleScope]:
    """Render FROM and the joins; return the scope for the rest of the query."""
    first = node.args.get("from_")
    if first is None:
        raise r.refuse(node, "reads no table", "write FROM {object}")
    _check_parts(r, first)
    joins = node.args.get("joins") or []
    if len(joins) > MAX_JOINS:
        raise r.refuse(joins[-1], f"joins more than {MAX_JOINS} times", "split it into several rules")
    sql, source = _table(r, first.this, derive)
    sources: list[RuleSource] = [source]
    hidden: list[RuleSource] = []
    texts = [sql]
    for join in joins:
        text, source, is_hidden = _join(r, join, sources, derive)
        texts.append(text)
        (hidden if is_hidden else sources).append(source)
        _refuse_same_alias(r, join, [*sources, *hidden])
    return " ".join(texts), RuleScope(tuple(sources), r.scope if r.scope.sources else None)


def own_source(r: Renderer, node: exp.Select) -> RuleSource | None:
    """Return the object of the rule, without an alias, if the query reads from it."""
    first = node.args.get("from_")
    if first is None or not isinstance(first.this, exp.Table):
        return None
    _check_parts(r, first)
    source = _table(r, first.this, _no_query)[1]
    return replace(source, alias=None) if source.object is r.facts.target.object else None


def _no_query(r: Renderer, node: Any) -> DerivedTable:
    raise r.refuse(node, "has a query instead of a table", "read from {object}")


def _check_parts(r: Renderer, node: exp.Expr) -> None:
    """Refuse a clause with unsupported parts."""
    for part, value in node.args.items():
        if part not in _PARTS[type(node)] and value is not None and value is not False and value != []:
            raise r.refuse(node, f"has {part.strip('_')!r} with a table", "rules read plain tables")


def _table(r: Renderer, node: Any, derive: RenderQuery) -> tuple[str, RuleSource]:
    if not isinstance(node, (exp.Table, exp.Subquery)):
        raise r.refuse(
            node, "reads from something that is not a table", f"read from: {', '.join(r.facts.target.table_names)}"
        )
    _check_parts(r, node)
    alias = _alias(r, node)
    if isinstance(node, exp.Subquery):
        derived = derive(r.inside(scope=RuleScope(())), node.this)
        if alias is None:
            alias = f"_{r.facts.selects}"
        return f"({derived.sql}) AS {r.name(node, alias)}", _derived(derived, alias)
    parts = [node.args.get(part) for part in ("catalog", "db", "this")]
    names = tuple(part.name for part in parts if isinstance(part, exp.Identifier))
    if len(names) != sum(part is not None for part in parts):
        raise r.refuse(node, "reads from a function", f"read from: {', '.join(r.facts.target.table_names)}")
    query = r.queries.get(names[0].lower()) if len(names) == 1 else None
    if query is not None:
        return f"{query.sql} AS {r.name(node, alias or names[0])}", _derived(query, alias or names[0])
    schema = r.facts.target.table(names)
    if schema is None:
        known = ", ".join(r.facts.target.table_names)
        raise r.refuse(node, f"reads {'.'.join(names)!r}, which is not a table of the contract", f"read from: {known}")
    if schema.name not in r.facts.tables:
        r.facts.tables.append(schema.name)
    mark = table_mark(r.facts.tables.index(schema.name))
    own = contract_source(schema)
    source = RuleSource(((alias.lower(),),) if alias else own.names, schema.fields, alias or names[-1], schema)
    return f"{mark} AS {r.name(node, alias or names[-1])}", source


def _derived(query: DerivedTable, alias: str) -> RuleSource:
    return RuleSource(((alias.lower(),),), query.fields, alias, None, query.grown, query.plain)


def _alias(r: Renderer, node: exp.Table | exp.Subquery) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    if not isinstance(alias, exp.TableAlias) or not isinstance(alias.this, exp.Identifier):
        raise r.refuse(node, "has an unsupported alias", "write it like FROM orders AS o")
    _check_parts(r, alias)
    return alias.this.name


def _join(
    r: Renderer, node: exp.Join, sources: Sequence[RuleSource], derive: RenderQuery
) -> tuple[str, RuleSource, bool]:
    _check_parts(r, node)
    side, kind = (str(node.args.get(part) or "").upper() for part in ("side", "kind"))
    join_kind = JOIN_KINDS.get((side, kind))
    on = node.args.get("on")
    if join_kind is None or on is None:
        raise r.refuse(node, "joins without a condition", "write JOIN … ON a.id = b.id")
    sql, source = _table(r, node.this, derive)
    inside = r.inside(scope=RuleScope((*sources, source)))
    if not is_joined_by_equality(inside, on, [source], sources):
        raise r.refuse(
            node,
            "joins without an equality between columns of both tables",
            "write ON a.id = b.id, with further conditions after AND",
        )
    return f"{join_kind} {sql} ON {inside.sql(on)}", source, join_kind in RIGHT_HIDING_JOINS


def _refuse_same_alias(r: Renderer, node: exp.Join, sources: Sequence[RuleSource]) -> None:
    aliases = [(source.alias or "").lower() for source in sources]
    if len(set(aliases)) < len(aliases):
        raise r.refuse(node, "has two tables with the same name", "give each a unique alias, such as orders AS a")


def is_joined_by_equality(
    r: Renderer, condition: exp.Expr, tables: Sequence[RuleSource], others: Sequence[RuleSource]
) -> bool:
    """Return whether a condition compares a column of `tables` with one of `others` by equality."""
    for comparison in conjuncts(condition):
        if isinstance(comparison, (exp.EQ, exp.NullSafeEQ)):
            sides = (comparison.this.unnest(), comparison.expression.unnest())
            left, right = (_stored_source(r, side) for side in sides)
            if (left in tables and right in others) or (left in others and right in tables):
                return True
    return False


def _stored_source(r: Renderer, node: exp.Expr) -> RuleSource | None:
    """Return the table of a stored column; None for computed values, which may be constant."""
    match = resolve_column(r, node) if isinstance(node, exp.Column) else None
    if match is None:
        return None
    source, field = match.column
    return source if source.is_plain(field) else None
