"""What expressions say about columns: which one a value is, and what is computed over many rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from treaty.pipeline.sql.functions import AGGREGATES
from treaty.pipeline.sql.relations import Names, Output, Place, Reference, Select, Value

_FIRST = frozenset({"coalesce", "ifnull", "nvl"})
_ONLY_OVER_MANY = (exp.Filter, exp.WithinGroup)


class Meaning:
    """Reads values by what their names mean."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def first_of(self, value: Value | None) -> frozenset[Place] | None:
        """Return the columns that a value is the first present one of; None where it is computed otherwise."""
        if isinstance(value, Reference):
            return None if value.steps else frozenset(value.places)
        if isinstance(value, Output):
            return self.first_of(value.value)
        if isinstance(value, exp.Column):
            return self.first_of(self.names.columns.get(id(value)))
        if isinstance(value, (exp.Paren, exp.Alias)):
            return self.first_of(value.this)
        if isinstance(value, exp.Anonymous) and value.name.lower() in _FIRST:
            parts = [self.first_of(item) for item in value.expressions]
            return None if None in parts else frozenset().union(*(part for part in parts if part))
        return None

    def has_aggregate(self, select: Select) -> bool:
        """Tell whether a SELECT computes something over all its rows."""
        return select.node.args.get("having") is not None or any(map(self._is_aggregate, own_nodes(select)))

    def windows(self, select: Select) -> Iterator[exp.Window]:
        """Yield the windows of a SELECT, with what a named one says."""
        named = {one.name.lower(): one for one in select.node.args.get("windows") or ()}
        for node in own_nodes(select):
            if isinstance(node, exp.Window):
                name = node.args.get("alias")
                yield named.get(name.name.lower(), node) if name is not None else node

    def _is_aggregate(self, node: exp.Expr) -> bool:
        if isinstance(node, _ONLY_OVER_MANY):
            return not isinstance(node.parent, exp.Window)
        if not isinstance(node, exp.Anonymous) or node.name.lower() not in AGGREGATES:
            return False
        around = node.parent
        while isinstance(around, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
            around = around.parent
        return not isinstance(around, exp.Window) or around.this is not _top(node, around)


def _top(node: exp.Expr, around: exp.Expr) -> exp.Expr:
    while node.parent is not around and node.parent is not None:
        node = node.parent
    return node


def own_nodes(select: Select) -> Iterator[exp.Expr]:
    """Yield every node of what a SELECT computes, but not those of the queries inside it."""
    parts = (*select.node.expressions, *(select.node.args.get(part) for part in ("having", "order", "sort")))
    waiting = [part for part in parts if part is not None]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in node.iter_expressions() if not isinstance(child, exp.Query)]


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the conditions that must all hold."""
    waiting = [condition] if condition is not None else []
    while waiting:
        item = waiting.pop()
        if isinstance(item, exp.And):
            waiting += [item.this, item.expression]
        elif isinstance(item, exp.Paren):
            waiting.append(item.this)
        else:
            yield item
