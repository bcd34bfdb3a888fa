"""Queries inside expressions: each must look only at rows of the key of the row around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from treaty.pipeline.sql.relations import Place, Select
from treaty.pipeline.sql.standing import Home, Spreads, Standing
from treaty.pipeline.sql.values import conjuncts

if TYPE_CHECKING:
    from treaty.pipeline.sql.keyed_selects import Keying

_PARTS = ("where", "having", "order", "sort", "distribute", "cluster")


def held_subqueries(keying: Keying, select: Select, rows: Standing[Place]) -> None:
    """Refuse queries inside a SELECT that look at rows of other keys."""
    where = select.node.args.get("where")
    memberships = {id(item.args["query"]) for item in conjuncts(where and where.this) if _is_membership(item)}
    for node, holder in _queries(select):
        inside = keying.inside(keying.query.names.queries[id(node)], rows)
        if inside.home is not Home.ONE_KEY:
            continue
        if id(node) in memberships and _by_key(keying, holder, inside, rows):
            continue
        raise Spreads(f"a query inside it is not held to {keying.words} of the row around it{_advice(holder)}")


def _is_membership(node: exp.Expr) -> bool:
    return isinstance(node, exp.In) and node.args.get("query") is not None


def _queries(select: Select) -> Iterator[tuple[exp.Expr, exp.Expr | None]]:
    """Yield the outermost queries inside the expressions of a SELECT, each with what it stands in."""
    parts = [*select.node.expressions, *(select.node.args.get(part) for part in _PARTS)]
    parts += [item.this for item in select.node.args.get("laterals") or ()]
    parts += list(select.node.args["group"].expressions) if select.node.args.get("group") else []
    waiting: list[tuple[exp.Expr, exp.Expr | None]] = [(part, None) for part in parts if part is not None]
    while waiting:
        node, holder = waiting.pop()
        if isinstance(node, exp.Query):
            yield node, holder
        else:
            waiting += [(child, node) for child in node.iter_expressions()]


def _by_key(keying: Keying, holder: exp.Expr | None, inside: Standing[int], rows: Standing[Place]) -> bool:
    """Tell whether key IN (SELECT key …) looks up the key of the row; a row without a key is in nothing."""
    if not isinstance(holder, exp.In) or rows.home is Home.EVERYWHERE:
        return False
    tested = holder.this.expressions if isinstance(holder.this, exp.Tuple) else [holder.this]
    values = [keying.meaning.first_of(item) for item in tested]
    return all(
        any(mine.may_be_by(value) and held.may_be_by(frozenset({number})) for number, value in enumerate(values))
        for mine, held in zip(rows.key, inside.key, strict=True)
    )


def _advice(holder: exp.Expr | None) -> str:
    return "; NOT EXISTS with the key does what NOT IN should" if isinstance(holder, exp.In) else ""
