"""Paths to all values of a row, and aggregates over the values at a path at any nesting."""

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
    """Aggregates over all values at a path, regardless of nesting."""

    def present(self) -> Column:
        """Count the values that are not null."""
        ...

    def least(self, of: ColumnFunction) -> Column:
        """Return the minimum of an expression over the values."""
        ...

    def greatest(self, of: ColumnFunction) -> Column:
        """Return the maximum of an expression over the values."""
        ...

    def each(self, of: ColumnFunction) -> Column:
        """Return an array with an expression for each value of a row."""
        ...

    def part(self, name: str) -> Values:
        """Return the values of a field of these objects."""
        ...

    def inside(self, of: ColumnFunction) -> Values:
        """Return the elements of the arrays that an expression yields for the values."""
        ...


@dataclass(frozen=True)
class OnePerRow:
    """A column or a field of one: one value per row."""

    column: Column

    def present(self) -> Column:
        """Count the values that are not null."""
        return F.count(self.column)

    def least(self, of: ColumnFunction) -> Column:
        """Return the minimum of an expression over the values."""
        return F.min(of(self.column))

    def greatest(self, of: ColumnFunction) -> Column:
        """Return the maximum of an expression over the values."""
        return F.max(of(self.column))

    def distinct(self) -> Column:
        """Return the approximate number of distinct values."""
        return F.approx_count_distinct(self.column)

    def each(self, of: ColumnFunction) -> Column:
        """Return an array with an expression for each value of a row."""
        return F.array(of(self.column))

    def part(self, name: str) -> OnePerRow:
        """Return the values of a field of these objects."""
        return OnePerRow(self.column.getField(name))

    def inside(self, of: ColumnFunction) -> ManyPerRow:
        """Return the elements of the arrays that an expression yields for the values."""
        return ManyPerRow(of(self.column))


@dataclass(frozen=True)
class ManyPerRow:
    """An array of the values of a row at a path, or null."""

    column: Column

    def present(self) -> Column:
        """Count the values that are not null."""
        return _sum_of_sizes(self._non_null)

    def seen(self) -> Column:
        """Count all elements, including nulls."""
        return _sum_of_sizes(self.column)

    def least(self, of: ColumnFunction) -> Column:
        """Return the minimum of an expression over the values."""
        return F.min(F.array_min(F.transform(self.column, of)))

    def greatest(self, of: ColumnFunction) -> Column:
        """Return the maximum of an expression over the values."""
        return F.max(F.array_max(F.transform(self.column, of)))

    def each(self, of: ColumnFunction) -> Column:
        """Return an array with an expression for each value of a row."""
        return F.transform(self.column, of)

    def part(self, name: str) -> ManyPerRow:
        """Return the values of a field of these objects."""
        return ManyPerRow(F.transform(self._non_null, lambda value: value.getField(name)))

    def inside(self, of: ColumnFunction) -> ManyPerRow:
        """Return the elements of the arrays that an expression yields for the values."""
        return ManyPerRow(F.flatten(F.transform(self._non_null, of)))

    @property
    def _non_null(self) -> Column:
        return F.filter(self.column, lambda value: value.isNotNull())


def _sum_of_sizes(arrays: Column) -> Column:
    return F.coalesce(F.sum(F.array_size(arrays)), F.lit(0))


@dataclass(frozen=True)
class ValuePath:
    """The path of values, their type, and their aggregates."""

    path: FieldPath
    kind: spark.DataType
    values: Values

    @property
    def name(self) -> str:
        """The name of the field, or of the field that contains these elements."""
        return next((step.text for step in reversed(self.path.steps) if not step.is_mark), "")


def list_value_paths(struct: spark.StructType) -> tuple[ValuePath, ...]:
    """Return the paths to all values in the rows of a frame, parents first."""
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
