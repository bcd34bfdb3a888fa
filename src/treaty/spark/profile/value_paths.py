"""The values at one place of a row: one for each row, or, inside arrays and maps, many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.spark.columns import MALFORMED_COLUMN, quoted_col
from treaty.spark.type_conversion import ColumnFunction


class Values(Protocol):
    """What can be asked of all values at a place, whatever it is nested in."""

    def present(self) -> Column:
        """Count the values that are there."""
        ...

    def least(self, of: ColumnFunction) -> Column:
        """Find the least of something about each value."""
        ...

    def greatest(self, of: ColumnFunction) -> Column:
        """Find the greatest of something about each value."""
        ...

    def each(self, of: ColumnFunction) -> Column:
        """Return an array of something about each value of a row."""
        ...

    def part(self, name: str) -> Values:
        """Return the values of a part of these objects."""
        ...

    def inside(self, of: ColumnFunction) -> Values:
        """Return the elements of an array that each value is, or has."""
        ...


@dataclass(frozen=True)
class OnePerRow:
    """A column, or a part of one."""

    column: Column

    def present(self) -> Column:
        """Count the values that are there."""
        return F.count(self.column)

    def least(self, of: ColumnFunction) -> Column:
        """Find the least of something about each value."""
        return F.min(of(self.column))

    def greatest(self, of: ColumnFunction) -> Column:
        """Find the greatest of something about each value."""
        return F.max(of(self.column))

    def distinct(self) -> Column:
        """Count the different values, about."""
        return F.approx_count_distinct(self.column)

    def each(self, of: ColumnFunction) -> Column:
        """Return an array of something about each value of a row."""
        return F.array(of(self.column))

    def part(self, name: str) -> OnePerRow:
        """Return the values of a part of these objects."""
        return OnePerRow(self.column.getField(name))

    def inside(self, of: ColumnFunction) -> ManyPerRow:
        """Return the elements of an array that each value is, or has."""
        return ManyPerRow(of(self.column))


@dataclass(frozen=True)
class ManyPerRow:
    """An array of the values that a row has at a place, or null."""

    column: Column

    def present(self) -> Column:
        """Count the values that are there."""
        return _sum_of_sizes(self._there)

    def seen(self) -> Column:
        """Count the places for values, whether there is one or not."""
        return _sum_of_sizes(self.column)

    def least(self, of: ColumnFunction) -> Column:
        """Find the least of something about each value."""
        return F.min(F.array_min(F.transform(self.column, of)))

    def greatest(self, of: ColumnFunction) -> Column:
        """Find the greatest of something about each value."""
        return F.max(F.array_max(F.transform(self.column, of)))

    def each(self, of: ColumnFunction) -> Column:
        """Return an array of something about each value of a row."""
        return F.transform(self.column, of)

    def part(self, name: str) -> ManyPerRow:
        """Return the values of a part of these objects."""
        return ManyPerRow(F.transform(self._there, lambda value: value.getField(name)))

    def inside(self, of: ColumnFunction) -> ManyPerRow:
        """Return the elements of an array that each value is, or has."""
        return ManyPerRow(F.flatten(F.transform(self._there, of)))

    @property
    def _there(self) -> Column:
        return F.filter(self.column, lambda value: value.isNotNull())


def _sum_of_sizes(arrays: Column) -> Column:
    return F.coalesce(F.sum(F.array_size(arrays)), F.lit(0))


@dataclass(frozen=True)
class ValuePath:
    """Where values stand, what they are, and how they are reached."""

    path: FieldPath
    kind: spark.DataType
    values: Values

    @property
    def name(self) -> str:
        """The name of the field, or of the field whose elements these are."""
        return next((step.text for step in reversed(self.path.steps) if not step.is_mark), "")


def list_value_paths(struct: spark.StructType) -> tuple[ValuePath, ...]:
    """Return every place of the rows of a frame."""
    columns = [item for item in struct.fields if item.name != MALFORMED_COLUMN]
    return tuple(
        place
        for item in columns
        for place in _from(FieldPath().field(item.name), item.dataType, OnePerRow(quoted_col(item.name)))
    )


def _from(path: FieldPath, kind: spark.DataType, values: Values) -> Iterator[ValuePath]:
    yield ValuePath(path, kind, values)
    if isinstance(kind, spark.StructType):
        for item in kind.fields:
            yield from _from(path.field(item.name), item.dataType, values.part(item.name))
    elif isinstance(kind, spark.ArrayType):
        yield from _from(path.into(ITEMS), kind.elementType, values.inside(lambda value: value))
    elif isinstance(kind, spark.MapType):
        yield from _from(path.into(MAP_KEYS), kind.keyType, values.inside(F.map_keys))
        yield from _from(path.into(MAP_VALUES), kind.valueType, values.inside(F.map_values))
