"""Reading queries: SELECT, what it reads and gives, and queries put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from treaty.pipeline.sql.expressions import Reading, read
from treaty.pipeline.sql.frames import Frame
from treaty.pipeline.sql.functions import words
from treaty.pipeline.sql.outputs import outputs_of
from treaty.pipeline.sql.relations import Combined, Output, Relation, Renamed, Select, Unknown, Value
from treaty.pipeline.sql.sources import read_from, renamed

_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: words(
        "with_ expressions hint distinct from_ laterals joins where group having windows distribute sort cluster order "
        "limit offset"
    ),
    exp.SetOperation: words("with_ this expression distinct order limit offset sort cluster distribute"),
    exp.Subquery: words("this alias with_ order limit offset"),
}
_ORDERS = ("distribute", "sort", "cluster", "order")


def read_query(reading: Reading, node: exp.Expr, outer: Frame) -> Relation:
    """Return what a query is; `outer` is the frame around it."""
    kind = next((one for one in _PARTS if isinstance(node, one)), None)
    if kind is None:
        reading.problem("sql-unsupported", "this is no query", "write a SELECT", node)
        return Unknown()
    for part, value in node.args.items():
        if value and part not in _PARTS[kind]:
            words = part.strip("_").upper()
            reading.problem(
                "sql-unsupported", f"{words} cannot be followed", "write it with SELECT, JOIN, GROUP BY", node
            )
    around = _with_ctes(reading, node, outer)
    if isinstance(node, exp.Select):
        return _select(reading, node, around)
    if isinstance(node, exp.SetOperation):
        return _combined(reading, node, around)
    inside = read_query(reading, node.this, around)
    limit = node.args.get("limit") or node.args.get("offset")
    return Renamed(inside, inside.columns, limit) if limit else inside


def _with_ctes(reading: Reading, node: exp.Expr, outer: Frame) -> Frame:
    """Return the frame around a query, with the queries that its WITH names; each sees those before it."""
    clause = node.args.get("with_")
    if clause is None:
        return outer
    if clause.args.get("recursive"):
        reading.problem("sql-unsupported", "WITH RECURSIVE cannot be followed", "write the steps out", clause)
    around = outer
    for item in clause.expressions:
        name = item.alias.lower()
        found = renamed(reading, read_query(reading, item.this, _alone(around)), item.args.get("alias"))
        around = Frame(outer.outer, {**around.ctes, name: found}, outer.sources, outer.layout, outer.outputs)
    return around


def _alone(frame: Frame) -> Frame:
    """Return a frame with nothing but CTEs: they do not see the rows around them."""
    return Frame(None, frame.ctes)


def _select(reading: Reading, node: exp.Select, around: Frame) -> Select:
    is_inner = bool(around.sources or around.layout or around.outer)
    frame = Frame(around if is_inner else None, around.ctes)
    first, joins, laterals = read_from(reading, node, frame)
    if node.args.get("where"):
        read(reading, node.args["where"].this, frame)
    outputs = outputs_of(reading, node, frame)
    frame.outputs = list(outputs)
    groups = tuple(_groups(reading, node, frame, outputs))
    for part in ("having", *_ORDERS):
        if node.args.get(part):
            for item in node.args[part].iter_expressions():
                read(reading, item, frame)
    for window in node.args.get("windows") or ():
        read(reading, window, frame)
    return Select(node, first, joins, laterals, outputs, groups)


def _groups(reading: Reading, node: exp.Select, frame: Frame, outputs: Sequence[Output]) -> Iterator[Value]:
    group = node.args.get("group")
    for item in group.expressions if group is not None else ():
        if isinstance(item, exp.Literal) and not item.is_string and item.name.isdecimal():
            number = int(item.name)
            if 1 <= number <= len(outputs):
                yield outputs[number - 1]
            else:
                reading.problem("sql-column", f"there is no column {number} to group by", "name the column", item)
        else:
            read(reading, item, frame)
            yield item


def _combined(reading: Reading, node: exp.SetOperation, around: Frame) -> Combined:
    left, right = (read_query(reading, node.args[part], around) for part in ("this", "expression"))
    if len(left.columns) != len(right.columns):
        what = f"{len(left.columns)} columns are put together with {len(right.columns)}"
        reading.problem("sql-column", what, "give both queries the same columns in the same order", node)
    return Combined(node, left, right)
