"""Rows sent there and back: which fields came back as they went, and which had to."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.compatibility.migration import Fidelity, Shim, Step, projection
from treaty.contracts.model import Field
from treaty.contracts.paths import FieldPath
from treaty.spark.migration.serving import served
from treaty.spark.preparing import named
from treaty.spark.schema import column_name
from treaty.spark.value_checks import holds_maps

_SENT = "__treaty_sent"


def differences(frame: DataFrame, there: Shim, back: Shim) -> dict[str, int]:
    """Send rows through one shim and back through the other; count, by field, those that came back different."""
    sent = F.struct(*map(named, frame.columns)).alias(_SENT)
    middle = frame.select("*", sent).selectExpr(*projection(there), _SENT)
    returned = middle.selectExpr(*projection(back), _SENT)
    served(frame, there)  # says what Spark has against a shim in words of the migration
    fields = list(_comparable(there.source.fields, FieldPath(), frame.schema))
    if not fields:
        return {}
    counts = [
        F.count_if(~_same(_at(named(names[0]), names[1:]), _at(named(_SENT), names), kind)).alias(f"c{place}")
        for place, (_, names, kind) in enumerate(fields)
    ]
    row = returned.agg(*counts).first()
    return {path: int(row[place]) for place, (path, _, _) in enumerate(fields)} if row is not None else {}


def must_return(step: Step, back: Shim, there: Shim) -> bool:
    """Tell whether a field has to come back as it went: it is made exactly, from what was made exactly.

    What stands in a list or map is compared with all of that list or map, so all of it has to.
    """
    together = [one for one in back.walk() if not one.inside and _container(step).covers(one.target)]
    return all(
        one.fidelity is Fidelity.EXACT and one.sources and all(_is_exact(source, there) for source in one.sources)
        for one in together
    )


def _container(step: Step) -> FieldPath:
    """Return the path of what a field is compared with: itself, or the outermost list or map it stands in."""
    steps = step.target.steps
    marks = [place for place, one in enumerate(steps) if one.is_mark]
    return FieldPath(steps[: marks[0]], step.target.object) if marks else step.target


def _is_exact(path: FieldPath, shim: Shim) -> bool:
    """Tell whether a field was made exactly, all of it."""
    touching = [one for one in shim.walk() if not one.inside and (path.covers(one.target) or one.target.covers(path))]
    return bool(touching) and all(one.fidelity is Fidelity.EXACT for one in touching)


def _comparable(
    fields: tuple[Field, ...], parent: FieldPath, schema: spark.StructType, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...], spark.DataType]]:
    """Yield every field that can be compared by itself; lists and maps are compared as a whole, under each leaf."""
    kinds = {item.name: item.dataType for item in schema.fields}
    for field in fields:
        name, path = column_name(field), parent.field(field.name or "")
        kind = kinds.get(name)
        if kind is None:
            continue
        if isinstance(kind, spark.StructType) and field.properties:
            yield from _comparable(field.properties, path, kind, (*above, name))
        else:
            yield from ((str(one), (*above, name), kind) for one in _leaves(field, path))


def _leaves(field: Field, path: FieldPath) -> Iterator[FieldPath]:
    inside = [(path.field(item.name or ""), item) for item in field.properties or ()]
    inside += [(path.into(mark), child) for mark, child in field.children]
    if not inside:
        yield path
    for at, child in inside:
        yield from _leaves(child, at)


def _at(column: Column, names: tuple[str, ...]) -> Column:
    for name in names:
        column = column.getField(name)
    return column


def _same(one: Column, other: Column, kind: spark.DataType) -> Column:
    """Compare two values, null being like null; maps are compared as they are written."""
    if holds_maps(kind):
        return F.to_json(F.struct(one.alias("v"))).eqNullSafe(F.to_json(F.struct(other.alias("v"))))
    return one.eqNullSafe(other)
