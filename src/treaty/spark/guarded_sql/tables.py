"""The tables of a query: the contract's objects, queries in their place, and joins held together by an equality."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlglot import exp

from treaty.spark.guarded_sql.frames import Derived, Frame, Source, source_of
from treaty.spark.guarded_sql.naming import column_and_source
from treaty.spark.guarded_sql.results import table_mark
from treaty.spark.guarded_sql.writing import Writing

Derive: TypeAlias = Callable[[Writing, Any], Derived]
"""Writes a query that stands in the place of a table."""
MOST_JOINS = 6
_JOINS = {
    ("", ""): "JOIN",
    ("", "INNER"): "JOIN",
    ("LEFT", ""): "LEFT JOIN",
    ("LEFT", "OUTER"): "LEFT JOIN",
    ("RIGHT", ""): "RIGHT JOIN",
    ("RIGHT", "OUTER"): "RIGHT JOIN",
    ("FULL", ""): "FULL JOIN",
    ("FULL", "OUTER"): "FULL JOIN",
    ("", "SEMI"): "LEFT SEMI JOIN",
    ("LEFT", "SEMI"): "LEFT SEMI JOIN",
    ("", "ANTI"): "LEFT ANTI JOIN",
    ("LEFT", "ANTI"): "LEFT ANTI JOIN",
}
_HIDDEN = ("SEMI", "ANTI")
_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Table: {"this", "alias", "db", "catalog"},
    exp.Subquery: {"this", "alias"},
    exp.Join: {"this", "on", "side", "kind"},
    exp.From: {"this"},
    exp.TableAlias: {"this"},
}


def tables_sql(w: Writing, node: exp.Select, derive: Derive) -> tuple[str, Frame]:
    """Write FROM and the joins, and return the frame in which the rest of the query stands."""
    first = node.args.get("from_")
    if first is None:
        raise w.refuse(node, "reads no table", "write FROM {object}")
    _understood(w, first)
    joins = node.args.get("joins") or []
    if len(joins) > MOST_JOINS:
        raise w.refuse(joins[-1], f"joins more than {MOST_JOINS} times", "write several rules")
    sql, source = _table(w, first.this, derive)
    sources: list[Source] = [source]
    hidden: list[Source] = []
    texts = [sql]
    for join in joins:
        text, source, is_hidden = _join(w, join, sources, derive)
        texts.append(text)
        (hidden if is_hidden else sources).append(source)
        _refuse_same_alias(w, join, [*sources, *hidden])
    return " ".join(texts), Frame(tuple(sources), w.frame if w.frame.sources else None)


def own_source(w: Writing, node: exp.Select) -> Source | None:
    """Return the rule's own object, its columns standing bare, if that is what a query reads from."""
    first = node.args.get("from_")
    if first is None or not isinstance(first.this, exp.Table):
        return None
    _understood(w, first)
    source = _table(w, first.this, _no_query)[1]
    return replace(source, alias=None) if source.object is w.notes.scope.object else None


def _no_query(w: Writing, node: Any) -> Derived:
    raise w.refuse(node, "has a query in the place of a table", "read from {object}")


def _understood(w: Writing, node: exp.Expr) -> None:
    """Refuse a clause with parts that rules do not use."""
    for part, value in node.args.items():
        if part not in _PARTS[type(node)] and value is not None and value is not False and value != []:
            raise w.refuse(node, f"has {part.strip('_')!r} with a table", "a rule reads tables as they are")


def _table(w: Writing, node: Any, derive: Derive) -> tuple[str, Source]:
    if not isinstance(node, (exp.Table, exp.Subquery)):
        raise w.refuse(node, "reads from what is no table", f"read from: {', '.join(w.notes.scope.table_names)}")
    _understood(w, node)
    alias = _alias(w, node)
    if isinstance(node, exp.Subquery):
        derived = derive(w.inside(frame=Frame(())), node.this)
        if alias is None:
            alias = f"_{w.notes.selects}"
        return f"({derived.sql}) AS {w.name(node, alias)}", _derived(derived, alias)
    parts = [node.args.get(part) for part in ("catalog", "db", "this")]
    names = tuple(part.name for part in parts if isinstance(part, exp.Identifier))
    if len(names) != sum(part is not None for part in parts):
        raise w.refuse(node, "reads from a function", f"read from: {', '.join(w.notes.scope.table_names)}")
    query = w.queries.get(names[0].lower()) if len(names) == 1 else None
    if query is not None:
        return f"{query.sql} AS {w.name(node, alias or names[0])}", _derived(query, alias or names[0])
    item = w.notes.scope.table(names)
    if item is None:
        known = ", ".join(w.notes.scope.table_names)
        raise w.refuse(node, f"reads {'.'.join(names)!r}, which is no table of the contract", f"read from: {known}")
    if item.name not in w.notes.tables:
        w.notes.tables.append(item.name)
    mark = table_mark(w.notes.tables.index(item.name))
    own = source_of(item)
    source = Source(((alias.lower(),),) if alias else own.names, item.fields, alias or names[-1], item)
    return f"{mark} AS {w.name(node, alias or names[-1])}", source


def _derived(query: Derived, alias: str) -> Source:
    return Source(((alias.lower(),),), query.fields, alias, None, query.grown, query.plain)


def _alias(w: Writing, node: exp.Table | exp.Subquery) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    if not isinstance(alias, exp.TableAlias) or not isinstance(alias.this, exp.Identifier):
        raise w.refuse(node, "has an odd alias", "write it like FROM orders AS o")
    _understood(w, alias)
    return alias.this.name


def _join(w: Writing, node: exp.Join, sources: Sequence[Source], derive: Derive) -> tuple[str, Source, bool]:
    _understood(w, node)
    side, kind = (str(node.args.get(part) or "").upper() for part in ("side", "kind"))
    words = _JOINS.get((side, kind))
    on = node.args.get("on")
    if words is None or on is None:
        raise w.refuse(node, "joins without a condition", "write JOIN … ON a.id = b.id")
    sql, source = _table(w, node.this, derive)
    inside = w.inside(frame=Frame((*sources, source)))
    if not tied(inside, on, [source], sources):
        raise w.refuse(
            node, "joins without an equality of columns of both tables", "write ON a.id = b.id, AND whatever else"
        )
    return f"{words} {sql} ON {inside.sql(on)}", source, kind in _HIDDEN


def _refuse_same_alias(w: Writing, node: exp.Join, sources: Sequence[Source]) -> None:
    aliases = [(source.alias or "").lower() for source in sources]
    if len(set(aliases)) < len(aliases):
        raise w.refuse(node, "has two tables of one name", "give each its own, such as orders AS a")


def tied(w: Writing, condition: exp.Expr, one: Sequence[Source], other: Sequence[Source]) -> bool:
    """Tell whether a condition holds two groups of tables together by an equality of columns."""
    here, there = {id(source) for source in one}, {id(source) for source in other}
    for item in _conjuncts(condition):
        if isinstance(item, (exp.EQ, exp.NullSafeEQ)):
            left, right = _column_source(w, item.this), _column_source(w, item.expression)
            if (left in here and right in there) or (left in there and right in here):
                return True
    return False


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, exp.And):
            waiting += [item.this, item.expression]
        elif isinstance(item, exp.Paren):
            waiting.append(item.this)
        else:
            yield item


def _column_source(w: Writing, node: exp.Expr) -> int | None:
    """Return which table a column of the data is of; a computed value could be the same in every row."""
    bare = node.unnest()
    found = column_and_source(w, bare) if isinstance(bare, exp.Column) else None
    return id(found[0]) if found is not None and found[0].is_plain(found[1]) else None
