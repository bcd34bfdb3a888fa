"""The structure that JSON is read with: what a contract declares, and what is in the data besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.errors import InvalidDocument
from treaty.spark.schema import column_name

TEXT = spark.StringType()
_OPEN = ("json", "object")
"""What may hold any JSON, and is kept as it is written."""
Same = Callable[[str], str]
"""What two names have in common when they name the same column: themselves, or their lower case."""


def with_declared(fields: tuple[Field, ...], found: spark.DataType | None, same: Same) -> spark.StructType:
    """Return the structure of declared fields, with the parts that only the data have.

    Every value is a text, so that a number keeps its digits and a wrong one can be judged. A field that the data spell
    in another case keeps their spelling.
    """
    in_data = {same(item.name): item for item in found} if isinstance(found, spark.StructType) else {}
    parts = []
    for field in fields:
        other = in_data.pop(same(column_name(field)), None)
        name = column_name(field) if other is None else other.name
        parts.append(spark.StructField(name, _declared(field, other.dataType if other else None, same)))
    more = [spark.StructField(item.name, _as_texts(item.dataType)) for item in in_data.values()]
    return spark.StructType([*parts, *more])


def _declared(field: Field | None, found: spark.DataType | None, same: Same) -> spark.DataType:
    """Return the structure of one field; a single value that is an object everywhere stays one, to be seen as wrong."""
    kind = field.type.name if field and field.type else "json"
    if field and kind == "object" and field.properties:
        return with_declared(field.properties, found, same)
    if field and kind in ("array", "vector"):
        element = found.elementType if isinstance(found, spark.ArrayType) else None
        return spark.ArrayType(_declared(field.items, element, same))
    if field and kind == "map":
        value = _joined([item.dataType for item in found]) if isinstance(found, spark.StructType) else None
        return spark.MapType(TEXT, _declared(field.map_value, value, same))
    if kind in _OPEN or not isinstance(found, (spark.StructType, spark.ArrayType)):
        return TEXT
    return _as_texts(found)


def _as_texts(kind: spark.DataType) -> spark.DataType:
    if isinstance(kind, spark.StructType):
        return spark.StructType([spark.StructField(item.name, _as_texts(item.dataType)) for item in kind])
    return spark.ArrayType(_as_texts(kind.elementType)) if isinstance(kind, spark.ArrayType) else TEXT


def _joined(kinds: Sequence[spark.DataType]) -> spark.DataType | None:
    """Return one type with all the parts that the values of a map have; None where they have nothing in common."""
    structs = [kind for kind in kinds if isinstance(kind, spark.StructType)]
    if structs and len(structs) == len(kinds):
        names = dict.fromkeys(item.name for struct in structs for item in struct)
        inside = {name: [struct[name].dataType for struct in structs if name in struct.names] for name in names}
        return spark.StructType([spark.StructField(name, _joined(inside[name]) or TEXT) for name in names])
    arrays = [kind.elementType for kind in kinds if isinstance(kind, spark.ArrayType)]
    if arrays and len(arrays) == len(kinds):
        return spark.ArrayType(_joined(arrays) or TEXT)
    return None


def refuse_twins(kind: spark.DataType, same: Same) -> None:
    """Refuse names that Spark cannot tell apart."""
    if isinstance(kind, spark.ArrayType):
        refuse_twins(kind.elementType, same)
    if isinstance(kind, spark.StructType):
        seen: dict[str, str] = {}
        for item in kind:
            other = seen.setdefault(same(item.name), item.name)
            if other != item.name:
                raise InvalidDocument(
                    f"the data have {other!r} and {item.name!r}, which differ in case only; "
                    "make them one, or set spark.sql.caseSensitive to true"
                )
            refuse_twins(item.dataType, same)
