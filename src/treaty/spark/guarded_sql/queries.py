"""Queries that cannot be computed row by row: one SELECT over the contract's tables, with what it may be made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from treaty.contracts.model import Field
from treaty.spark.guarded_sql.frames import Derived, Frame
from treaty.spark.guarded_sql.naming import column_and_source
from treaty.spark.guarded_sql.tables import tables_sql, tied
from treaty.spark.guarded_sql.windows import order_sql
from treaty.spark.guarded_sql.writing import May, Writer, Writing, writer

MOST_SELECTS = 12
_MOST_ROWS = 1_000_000
_ANYTHING = May.AGGREGATE | May.WINDOW | May.QUERY
_SETS: dict[type[exp.Expr], str] = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def derive(w: Writing, node: Any) -> Derived:
    """Write a query, and return it with the columns it gives."""
    w.known(node)
    inner = w.deeper(node)
    if isinstance(node, exp.Subquery):
        return derive(inner, node.this)
    w.notes.selects += 1
    if w.notes.selects > MOST_SELECTS:
        raise w.refuse(node, f"has more than {MOST_SELECTS} queries inside each other", "write several rules")
    inner, start = _with(inner, node)
    query = _set(inner, node) if isinstance(node, exp.SetOperation) else _select(inner, node)
    return replace(query, sql=start + query.sql)


def _with(w: Writing, node: exp.Query) -> tuple[Writing, str]:
    """Write the queries with names, each of which sees those before it."""
    clause = node.args.get("with_")
    if clause is None:
        return w, ""
    if clause.args.get("recursive"):
        raise w.refuse(clause, "has a query that calls itself", "write it without RECURSIVE")
    texts, queries = [], dict(w.queries)
    for item in clause.expressions:
        alias = item.args.get("alias")
        name = alias.this.name if isinstance(alias, exp.TableAlias) and isinstance(alias.this, exp.Identifier) else ""
        is_plain = set(item.args) - {"this", "alias"} <= {part for part, value in item.args.items() if not value}
        if not name or not is_plain or alias.args.get("columns") or name.lower() in queries:
            raise w.refuse(item, "has an odd WITH", "write it like WITH name AS (SELECT …), each name once")
        if w.notes.scope.table((name,)) is not None:
            raise w.refuse(item, f"gives a query the name of the table {name!r}", "choose another name")
        query = derive(w.inside(frame=Frame(()), queries=dict(queries)), item.this)
        spelt = w.name(item, f"with_{w.notes.selects}_{name}")
        queries[name.lower()] = replace(query, sql=spelt)
        texts.append(f"{spelt} AS ({query.sql})")
    return w.inside(queries=queries), f"WITH {', '.join(texts)} "


def _set(w: Writing, node: exp.SetOperation) -> Derived:
    left, right = derive(w, node.this), derive(w, node.expression)
    if len(left.fields) != len(right.fields):
        raise w.refuse(node, "joins queries of different width", "give both the same columns")
    words = _SETS[type(node)] + ("" if node.args.get("distinct") else " ALL")
    pairs = [(one.name or "", other.name or "") for one, other in zip(left.fields, right.fields, strict=True)]
    grown = frozenset(one for one, other in pairs if one in left.grown or other in right.grown)
    plain = frozenset(one for one, other in pairs if one in left.plain and other in right.plain)
    return Derived(f"({left.sql}) {words} ({right.sql})", left.fields, grown, plain)


def _select(w: Writing, node: exp.Select) -> Derived:
    start = len(w.notes.outside)
    tables, frame = tables_sql(w, node, derive)
    rows = w.inside(frame=frame, may=May.QUERY, only_rows=None, is_growing=False, variables={}, lambdas=0)
    given = _projections(rows.inside(may=_ANYTHING), node)
    names = tuple(field.name for field in given.fields if field.name)
    unclear = frozenset(name.lower() for name in names if name not in given.plain)
    after = rows.inside(frame=replace(frame, aliases=names, unclear=unclear), may=_ANYTHING)
    texts = ["SELECT " + ("DISTINCT " if _distinct(w, node) else "") + given.sql, f"FROM {tables}"]
    where = node.args.get("where")
    if where is not None:
        texts.append(f"WHERE {rows.sql(where.this)}")
    group = node.args.get("group")
    if group is not None:
        grouping = rows.inside(frame=replace(frame, aliases=names), may=May.NOTHING)
        texts.append(f"GROUP BY {_grouping(grouping, group)}")
    having = node.args.get("having")
    if having is not None:
        texts.append(f"HAVING {after.sql(having.this)}")
    texts += _order_and_limit(after, node)
    _refuse_loose_correlation(rows, node, frame, set(w.notes.outside[start:]))
    return replace(given, sql=" ".join(texts))


def _projections(w: Writing, node: exp.Select) -> Derived:
    texts, fields = [], []
    grown, plain = set(), set()
    for item in node.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        name = item.alias if isinstance(item, exp.Alias) else inner.name if isinstance(inner, exp.Column) else ""
        before = w.notes.growth
        sql = w.sql(inner)
        texts.append(f"{sql} AS {w.name(item, name)}" if name else sql)
        fields.append(Field(name=name or None))
        grown |= {name} if w.notes.growth > before else set()
        found = column_and_source(w, inner) if isinstance(inner, exp.Column) else None
        plain |= {name} if found is not None and found[0].is_plain(found[1]) else set()
    if not texts:
        raise w.refuse(node, "selects nothing", "write SELECT count(*) FROM {object}")
    return Derived(", ".join(texts), tuple(fields), frozenset(grown), frozenset(plain))


def _distinct(w: Writing, node: exp.Select) -> bool:
    distinct = node.args.get("distinct")
    if distinct is not None and (distinct.args.get("on") or distinct.expressions):
        raise w.refuse(distinct, "has DISTINCT ON", "write SELECT DISTINCT")
    return distinct is not None


def _grouping(w: Writing, node: exp.Group) -> str:
    if any(value for part, value in node.args.items() if part != "expressions") or not node.expressions:
        raise w.refuse(node, "groups by more than expressions", "write GROUP BY with columns only")
    return w.several(node.expressions)


def _order_and_limit(w: Writing, node: exp.Select) -> list[str]:
    order, limit = node.args.get("order"), node.args.get("limit")
    texts = [order_sql(w, order)] if order is not None else []
    if limit is not None:
        count = limit.expression
        is_count = isinstance(count, exp.Literal) and count.name.isdigit() and int(count.name) <= _MOST_ROWS
        if not is_count or any(value for part, value in limit.args.items() if part not in ("this", "expression")):
            raise w.refuse(limit, "has an odd LIMIT", "write it like LIMIT 10")
        texts.append(f"LIMIT {count.name}")
    return texts


def _refuse_loose_correlation(w: Writing, node: exp.Select, frame: Frame, reached: set[int]) -> None:
    if frame.outer is None:
        return
    around = [source for level in frame.outer.levels() for source in level.sources]
    where = node.args.get("where")
    is_correlated = any(id(source) in reached for source in around)
    if is_correlated and (where is None or not tied(w, where.this, frame.sources, around)):
        then = "write WHERE inner.id = outer.id, AND whatever else"
        raise w.refuse(node, "has a query inside that compares every row with every other", then)


def _subquery(w: Writing, node: exp.Expr) -> str:
    if not w.may & May.QUERY:
        then = "write the rule as SELECT count(*) FROM {object} WHERE …, without lambdas or aggregates around it"
        raise w.refuse(node, "has a query where a value of the row is needed", then)
    query = derive(w, node.this if isinstance(node, exp.Exists) else node)
    if not isinstance(node, exp.Exists) and not isinstance(node.parent, exp.In) and len(query.fields) != 1:
        raise w.refuse(node, "has a query of several columns for a value", "select one column")
    return f"(EXISTS ({query.sql}))" if isinstance(node, exp.Exists) else f"({query.sql})"


_QUERY = "with_ expressions distinct from_ joins where group having order limit"
WRITERS: dict[type[exp.Expr], Writer] = {
    exp.Select: writer(_subquery, _QUERY),
    exp.Subquery: writer(_subquery, "this"),
    exp.Exists: writer(_subquery, "this"),
    **{kind: writer(_subquery, "this expression distinct with_") for kind in _SETS},
}
