"""Types inside types: where a step by name leads."""

from __future__ import annotations

from pyspark.sql import types as spark

from treaty.contracts.paths import ITEMS, FieldPath


class NoSuchField(Exception):
    """A step that leads nowhere; carries the names that would lead on."""

    def __init__(self, known: tuple[str, ...]) -> None:
        super().__init__()
        self.known = known


def step(held: spark.DataType | None, name: str) -> spark.DataType | None:
    """Return the type of a field inside a value; None where nothing is known."""
    if isinstance(held, spark.StructType):
        found = [item for item in held if item.name.lower() == name.lower()]
        if not found:
            raise NoSuchField(tuple(item.name for item in held))
        return found[0].dataType
    if isinstance(held, spark.ArrayType):
        inside = step(held.elementType, name)
        return None if inside is None else spark.ArrayType(inside)
    if isinstance(held, spark.MapType):
        return held.valueType
    if held is None or isinstance(held, spark.VariantType):
        return None
    raise NoSuchField(())


def element(held: spark.DataType | None) -> spark.DataType | None:
    """Return the type of what an array or a map holds."""
    if isinstance(held, spark.ArrayType):
        return held.elementType
    return held.valueType if isinstance(held, spark.MapType) else None


def path(name: str, held: spark.DataType | None, steps: tuple[str, ...]) -> str:
    """Return the path of a field inside a column, such as lines[].amount."""
    at = FieldPath().field(name)
    for one in steps:
        if isinstance(held, spark.ArrayType):
            at, held = at.into(ITEMS), held.elementType
        at = at.field(one)
        held = step(held, one) if held is not None else None
    return str(at)
