"""Reading queries: SELECT, what it reads and gives, and queries put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from treaty.sql.column_types import Column, ColumnType, NoSuchField, step
from treaty.sql.dialect import words
from treaty.sql.relations import Combined, Output, Place, Reference, Relation, Renamed, Select, Unknown, Value
from treaty.sql.scopes import Ambiguous, Frame, QueryReader, nearest, resolve_expression, type_at
from treaty.sql.sources import read_from, renamed

_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: words(
        "with_ expressions hint distinct from_ laterals joins where group having windows distribute sort cluster order "
        "limit offset"
    ),
    exp.SetOperation: words("with_ this expression distinct order limit offset sort cluster distribute"),
    exp.Subquery: words("this alias with_ order limit offset"),
}
_ORDERS = ("distribute", "sort", "cluster", "order")


def resolve_query(reading: QueryReader, node: exp.Expr, outer: Frame) -> Relation:
    """Return what a query is; `outer` is the frame around it."""
    kind = next((one for one in _PARTS if isinstance(node, one)), None)
    if kind is None:
        reading.problem("sql-unsupported", "this is not a query", "write a SELECT", node)
        return Unknown()
    for part, value in node.args.items():
        if value and part not in _PARTS[kind]:
            words = part.strip("_").upper()
            reading.problem(
                "sql-unsupported", f"{words} is not supported", "write it with SELECT, JOIN, GROUP BY", node
            )
    around = _with_ctes(reading, node, outer)
    if isinstance(node, exp.Select):
        return _select(reading, node, around)
    if isinstance(node, exp.SetOperation):
        return _combined(reading, node, around)
    inside = resolve_query(reading, node.this, around)
    limit = node.args.get("limit") or node.args.get("offset")
    return Renamed(inside, inside.columns, limit) if limit else inside


def _with_ctes(reading: QueryReader, node: exp.Expr, outer: Frame) -> Frame:
    """Return the frame around a query, with the queries that its WITH names; each sees those before it."""
    clause = node.args.get("with_")
    if clause is None:
        return outer
    if clause.args.get("recursive"):
        reading.problem("sql-unsupported", "WITH RECURSIVE is not supported", "write out the steps", clause)
    around = outer
    for item in clause.expressions:
        name = item.alias.lower()
        found = renamed(reading, resolve_query(reading, item.this, _alone(around)), item.args.get("alias"))
        around = Frame(outer.outer, {**around.ctes, name: found}, outer.sources, outer.layout, outer.outputs)
    return around


def _alone(frame: Frame) -> Frame:
    """Return a frame with nothing but CTEs: they do not see the rows around them."""
    return Frame(None, frame.ctes)


def _select(reading: QueryReader, node: exp.Select, around: Frame) -> Select:
    is_inner = bool(around.sources or around.layout or around.outer)
    frame = Frame(around if is_inner else None, around.ctes)
    first, joins, laterals = read_from(reading, node, frame)
    if node.args.get("where"):
        resolve_expression(reading, node.args["where"].this, frame)
    outputs = outputs_of(reading, node, frame)
    frame.outputs = list(outputs)
    groups = tuple(_groups(reading, node, frame, outputs))
    for part in ("having", *_ORDERS):
        if node.args.get(part):
            for item in node.args[part].iter_expressions():
                resolve_expression(reading, item, frame)
    for window in node.args.get("windows") or ():
        resolve_expression(reading, window, frame)
    return Select(node, first, joins, laterals, outputs, groups)


def _groups(reading: QueryReader, node: exp.Select, frame: Frame, outputs: Sequence[Output]) -> Iterator[Value]:
    group = node.args.get("group")
    for item in group.expressions if group is not None else ():
        if isinstance(item, exp.Literal) and not item.is_string and item.name.isdecimal():
            number = int(item.name)
            if 1 <= number <= len(outputs):
                yield outputs[number - 1]
            else:
                reading.problem("sql-column", f"there is no column {number} to group by", "name the column", item)
        else:
            resolve_expression(reading, item, frame)
            yield item


def _combined(reading: QueryReader, node: exp.SetOperation, around: Frame) -> Combined:
    left, right = (resolve_query(reading, node.args[part], around) for part in ("this", "expression"))
    if len(left.columns) != len(right.columns):
        what = f"{len(left.columns)} columns are combined with {len(right.columns)}"
        reading.problem("sql-column", what, "give both queries the same columns in the same order", node)
    return Combined(node, left, right)


_GENERATED = {"explode": ("col",), "explode_outer": ("col",), "posexplode": ("pos", "col")}
"""What Spark calls the columns that a function creates rows for, where the query does not name them."""


def outputs_of(reading: QueryReader, node: exp.Select, frame: Frame) -> tuple[Output, ...]:
    """Return the outputs in order; each can be named by those after it."""
    for item in node.expressions:
        frame.outputs += _outputs(reading, item, frame)
    if not frame.outputs and frame.is_known:
        reading.problem("sql-column", "nothing is selected", "name the columns", node)
    return tuple(frame.outputs)


def _outputs(reading: QueryReader, node: exp.Expr, frame: Frame) -> list[Output]:
    if isinstance(node, exp.Star):
        return list(_starred(reading, node, frame.layout, _except(node)))
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return list(_of_one(reading, node, frame))
    held = resolve_expression(reading, node, frame)
    if isinstance(node, exp.Aliases):
        return [Output(Column(name.name), node.this) for name in node.expressions]
    value = node.this if isinstance(node, exp.Alias) else node
    if not isinstance(node, exp.Alias) and isinstance(value, exp.Anonymous) and value.name.lower() in _GENERATED:
        return [Output(Column(name), value) for name in _GENERATED[value.name.lower()]]
    return [Output(Column(_name(node), held), value)]


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.Dot):
        return str(node.expression.name)
    bare = node.unnest() if isinstance(node, exp.Paren) else node
    return bare.alias_or_name or bare.sql(dialect="spark")


def _except(node: exp.Expr) -> Sequence[exp.Expr]:
    said = node.args.get("except_") or []
    return said if isinstance(said, list) else [said]


def _of_one(reading: QueryReader, node: exp.Column, frame: Frame) -> Iterator[Output]:
    """Write out the star of one source, or of one object: t.* or t.address.*."""
    parts = [node.args[part].name for part in ("catalog", "db", "table") if node.args.get(part)]
    source = frame.source(parts[0]) if len(parts) == 1 else None
    if source is not None:
        columns: list[tuple[str, tuple[Place, ...]]] = [
            (column.name, ((source, number),)) for number, column in enumerate(source.columns)
        ]
        yield from _starred(reading, node, columns, _except(node.this))
        return
    found = _reference(frame, parts)
    held = _held(found) if found else None
    if not frame.is_known:
        return
    if found is None or held is None or held.name != "struct":
        near = nearest(parts[-1], frame.names()) or "name the columns"
        reading.problem("sql-column", f"there are no columns in {'.'.join(parts)}.*", near, node)
        return
    for item in held.fields:
        yield Output(Column(item.name, item.type), Reference(found.places, (*found.steps, item.name)))


def _reference(frame: Frame, parts: list[str]) -> Reference | None:
    try:
        return frame.find(parts)
    except Ambiguous:
        return None


def _held(found: Reference) -> ColumnType | None:
    held = type_at(found.places)
    try:
        for one in found.steps:
            held = step(held, one)
    except NoSuchField:
        return None
    return held


def _starred(
    reading: QueryReader, node: exp.Expr, columns: Sequence[tuple[str, tuple[Place, ...]]], without: Sequence[exp.Expr]
) -> Iterator[Output]:
    names = {item.name.lower() for item in without}
    known = {name.lower() for name, _ in columns}
    for name in sorted(names - known):
        near = nearest(name, known) or "name a column there is"
        reading.problem("sql-column", f"there is no column {name} to exclude", near, node)
    for name, places in columns:
        if name.lower() not in names:
            yield Output(Column(name, type_at(places)), Reference(places))
