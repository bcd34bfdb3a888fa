"""Every place of a row that can hold a value, outermost first: columns, and whatever is nested in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.spark.preparing import MALFORMED, named
from treaty.spark.profile.values import OnePerRow, Values


@dataclass(frozen=True)
class Place:
    """Where values stand, what they are, and how they are reached."""

    path: FieldPath
    kind: spark.DataType
    values: Values

    @property
    def name(self) -> str:
        """The name of the field, or of the field whose elements these are."""
        return next((step.text for step in reversed(self.path.steps) if not step.is_mark), "")


def places_in(struct: spark.StructType) -> tuple[Place, ...]:
    """Return every place of the rows of a frame."""
    columns = [item for item in struct.fields if item.name != MALFORMED]
    return tuple(
        place
        for item in columns
        for place in _from(FieldPath().field(item.name), item.dataType, OnePerRow(named(item.name)))
    )


def _from(path: FieldPath, kind: spark.DataType, values: Values) -> Iterator[Place]:
    yield Place(path, kind, values)
    if isinstance(kind, spark.StructType):
        for item in kind.fields:
            yield from _from(path.field(item.name), item.dataType, values.part(item.name))
    elif isinstance(kind, spark.ArrayType):
        yield from _from(path.into(ITEMS), kind.elementType, values.inside(lambda value: value))
    elif isinstance(kind, spark.MapType):
        yield from _from(path.into(MAP_KEYS), kind.keyType, values.inside(F.map_keys))
        yield from _from(path.into(MAP_VALUES), kind.valueType, values.inside(F.map_values))
