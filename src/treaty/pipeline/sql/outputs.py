"""The columns that a SELECT gives, stars written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql.types import DataType, StructType
from sqlglot import exp

from treaty.pipeline.sql.expressions import Reading, nearest, read
from treaty.pipeline.sql.frames import Ambiguous, Frame, type_at
from treaty.pipeline.sql.relations import Column, Output, Place, Reference
from treaty.pipeline.sql.types import NoSuchField, step

_GENERATED = {"explode": ("col",), "explode_outer": ("col",), "posexplode": ("pos", "col")}
"""What Spark calls the columns that a function makes rows for, where the query does not name them."""


def outputs_of(reading: Reading, node: exp.Select, frame: Frame) -> tuple[Output, ...]:
    """Return the outputs in order; each can be named by those after it."""
    for item in node.expressions:
        frame.outputs += _outputs(reading, item, frame)
    if not frame.outputs and frame.is_known:
        reading.problem("sql-column", "nothing is selected", "name the columns", node)
    return tuple(frame.outputs)


def _outputs(reading: Reading, node: exp.Expr, frame: Frame) -> list[Output]:
    if isinstance(node, exp.Star):
        return list(_starred(reading, node, frame.layout, _except(node)))
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return list(_of_one(reading, node, frame))
    held = read(reading, node, frame)
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


def _of_one(reading: Reading, node: exp.Column, frame: Frame) -> Iterator[Output]:
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
    if found is None or not isinstance(held, StructType):
        near = nearest(parts[-1], frame.names()) or "name the columns"
        reading.problem("sql-column", f"there is nothing to list in {'.'.join(parts)}.*", near, node)
        return
    for item in held:
        yield Output(Column(item.name, item.dataType), Reference(found.places, (*found.steps, item.name)))


def _reference(frame: Frame, parts: list[str]) -> Reference | None:
    try:
        return frame.find(parts)
    except Ambiguous:
        return None


def _held(found: Reference) -> DataType | None:
    held = type_at(found.places)
    try:
        for one in found.steps:
            held = step(held, one)
    except NoSuchField:
        return None
    return held


def _starred(
    reading: Reading, node: exp.Expr, columns: Sequence[tuple[str, tuple[Place, ...]]], without: Sequence[exp.Expr]
) -> Iterator[Output]:
    names = {item.name.lower() for item in without}
    known = {name.lower() for name, _ in columns}
    for name in sorted(names - known):
        near = nearest(name, known) or "name a column there is"
        reading.problem("sql-column", f"there is no column {name} to leave out", near, node)
    for name, places in columns:
        if name.lower() not in names:
            yield Output(Column(name, type_at(places)), Reference(places))
