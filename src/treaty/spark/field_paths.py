"""Fields at any depth of a frame's columns, and conditions on whether any of their values meets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.spark.columns import quoted_col
from treaty.spark.schema import column_name, find_struct_field, unknown_columns
from treaty.spark.type_conversion import ColumnFunction

_Reach = Callable[[ColumnFunction], Column]
"""Returns whether a condition holds for the value, or for any of the values in a list or map."""


@dataclass(frozen=True)
class ReachedField:
    """A field of a contract, or an undeclared one, where the data have it."""

    path: str
    names: tuple[str, ...]
    kind: spark.DataType
    any_value: _Reach
    field: Field = field(default_factory=Field)
    is_repeated: bool = False


def reached_fields(fields: tuple[Field, ...], have: spark.StructType) -> Iterator[ReachedField]:
    """Yield the declared fields that the data have, outermost first."""
    yield from _declared(fields, have, _top, (), False)


def unknown_fields(fields: tuple[Field, ...], have: spark.StructType) -> Iterator[ReachedField]:
    """Yield the fields of the data that the contract does not declare, at any depth."""
    yield from _unknown(fields, have, _top, (), False)


_Inside = Callable[[str], _Reach]
"""Returns how the field of a struct is reached, by its name."""


def _top(name: str) -> _Reach:
    return lambda condition: condition(quoted_col(name))


def _part_of(reach: _Reach) -> _Inside:
    return lambda name: lambda condition: reach(lambda value: condition(value.getField(name)))


def _each_of(reach: _Reach) -> _Reach:
    return lambda condition: reach(
        lambda value: F.exists(value, lambda item: F.coalesce(condition(item), F.lit(False)))
    )


def _each_value_of(reach: _Reach) -> _Reach:
    return lambda condition: reach(
        lambda value: F.exists(F.map_values(value), lambda item: F.coalesce(condition(item), F.lit(False)))
    )


def _declared(
    fields: tuple[Field, ...], have: spark.StructType, inside: _Inside, names: tuple[str, ...], repeated: bool
) -> Iterator[ReachedField]:
    for one in fields:
        column = find_struct_field(have, column_name(one))
        if column is None:
            continue
        path = (*names, one.name or "")
        reach = inside(column.name)
        yield ReachedField(".".join(path), path, column.dataType, reach, one, repeated)
        yield from _below(one, column.dataType, reach, path, repeated, _declared)


def _unknown(
    fields: tuple[Field, ...], have: spark.StructType, inside: _Inside, names: tuple[str, ...], repeated: bool
) -> Iterator[ReachedField]:
    for name in unknown_columns(have, fields):
        path = (*names, name)
        yield ReachedField(".".join(path), path[-1:], have[name].dataType, inside(name), is_repeated=repeated)
    for one in fields:
        if (column := find_struct_field(have, column_name(one))) is not None:
            path = (*names, one.name or "")
            yield from _below(one, column.dataType, inside(column.name), path, repeated, _unknown)


_Walk = Callable[
    [tuple[Field, ...], spark.StructType, _Inside, tuple[str, ...], bool],
    Iterator[ReachedField],
]


def _below(
    one: Field, kind: spark.DataType, reach: _Reach, path: tuple[str, ...], repeated: bool, walk: _Walk
) -> Iterator[ReachedField]:
    """Walk through the fields inside a field: of an object, or of the objects in a list or map."""
    if isinstance(kind, spark.StructType) and one.properties:
        yield from walk(one.properties, kind, _part_of(reach), path, repeated)
    elif isinstance(kind, spark.ArrayType) and one.items is not None:
        yield from _elements(one.items, kind.elementType, _each_of(reach), path, walk)
    elif isinstance(kind, spark.MapType) and one.map_value is not None:
        yield from _elements(one.map_value, kind.valueType, _each_value_of(reach), path, walk)


def _elements(
    element: Field, kind: spark.DataType, reach: _Reach, path: tuple[str, ...], walk: _Walk
) -> Iterator[ReachedField]:
    if isinstance(kind, spark.StructType) and element.properties:
        yield from walk(element.properties, kind, _part_of(reach), path, True)
    else:
        yield from _below(element, kind, reach, path, True, walk)
