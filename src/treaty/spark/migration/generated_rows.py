"""Generate rows that satisfy a contract, reproducibly, including nulls and edge cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count as numbers
from itertools import islice
from random import Random
from typing import Any

from pyspark.sql import types as spark

from treaty.compatibility.terms.field_values import allowed_values, item_count
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.values import EMPTY, abbreviate
from treaty.errors import InvalidDocument
from treaty.generation.field_values import (
    Decimals,
    Floats,
    Integers,
    generate_dates,
    generate_floats,
    generate_numbers,
    generate_text,
    generate_timestamps,
    text_generator,
)
from treaty.spark.schema import column_name, spark_type, struct_type

_BITS: dict[type[spark.DataType], int] = {
    spark.ByteType: 8,
    spark.ShortType: 16,
    spark.IntegerType: 32,
    spark.LongType: 64,
}
_WHOLE = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType, spark.DecimalType)
_MAX_ATTEMPTS = 50
_NULL_FREQUENCY = 5
_MAX_EXTRA_ITEMS = 3


def generate_rows(schema: SchemaObject, count: int, seed: str = "") -> list[tuple[Any, ...]]:
    """Generate rows of an object, or as many as its keys allow; the same seed gives the same rows."""
    columns = [_Column(field, FieldPath().field(field.name or ""), f"{seed}/{schema.name}") for field in schema.fields]
    keys = [place for place, field in enumerate(schema.fields) if field.primary_key]
    unique = [place for place, field in enumerate(schema.fields) if field.unique]
    seen: set[tuple[Any, ...]] = set()
    rows: list[tuple[Any, ...]] = []
    while len(rows) < count:
        row = [column.value(len(rows)) for column in columns]
        for _ in range(_MAX_ATTEMPTS):
            marks = _unique_values(row, keys, unique)
            if seen.isdisjoint(marks):
                break
            for place in {*keys, *unique}:  # the other values stay, so that no edge case is lost
                row[place] = columns[place].value(len(rows))
        else:
            break
        seen.update(marks)
        rows.append(tuple(row))
    return rows


def _unique_values(row: Sequence[Any], keys: Sequence[int], unique: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the keys and unique values of a row, which no other row may have."""
    marks: list[tuple[Any, ...]] = [("key", *(_identity(row[place]) for place in keys))] if keys else []
    return marks + [(place, _identity(row[place])) for place in unique if row[place] is not None]


def row_schema(schema: SchemaObject) -> spark.StructType:
    """Return the schema of the rows with nullable columns, because enforcement checks nullability."""
    return spark.StructType(
        [spark.StructField(column.name, column.dataType, True) for column in struct_type(schema).fields]
    )


class _Column:
    """Generates the values of one column."""

    def __init__(self, field: Field, path: FieldPath, seed: str) -> None:
        self.field = field
        self.random = Random(f"{seed}/{path}")  # noqa: S311 - test data, not secrets
        self.values = _values(field, path, self.random)
        self.path = path

    def value(self, number: int) -> Any:
        """Return the value of a row; the first row has all optional values null, the second has none null."""
        if not self.field.is_required and number != 1 and (number == 0 or self.random.randrange(_NULL_FREQUENCY) == 0):
            return None
        value = next(self.values, None)
        if value is None and self.field.is_required:
            raise InvalidDocument(
                f"cannot generate rows: no value found for {self.path} that satisfies its terms; give rows with --data"
            )
        return value


def _values(field: Field, path: FieldPath, random: Random) -> Iterator[Any]:
    """Return an infinite iterator of values of a field; empty if no value satisfies its terms."""
    kind = spark_type(field) or spark.StringType()
    listed = allowed_values(field)
    if listed is not None:
        return _listed(listed, kind, random)
    if isinstance(kind, spark.StructType) and field.properties:
        return _objects(field, path, random)
    if isinstance(kind, spark.ArrayType):
        return _arrays(field, kind, path, random)
    if isinstance(kind, spark.MapType):
        return _maps(field, path, random)
    return _scalars(field, kind, random)


def _scalars(field: Field, kind: spark.DataType, random: Random) -> Iterator[Any]:
    if isinstance(kind, _WHOLE):
        return generate_numbers(field, _number_kind(kind), random)
    if isinstance(kind, (spark.FloatType, spark.DoubleType)):
        return generate_floats(field, _float_kind(kind), random)
    if isinstance(kind, spark.BooleanType):
        return (number % 2 == 0 for number in numbers())
    if isinstance(kind, spark.DateType):
        return generate_dates(field, random)
    if isinstance(kind, (spark.TimestampType, spark.TimestampNTZType)):
        return generate_timestamps(field, random, aware=isinstance(kind, spark.TimestampType))
    if isinstance(kind, spark.BinaryType):
        return (bytearray(random.randbytes(number % 9)) for number in numbers())
    return _texts(field, random)


def _number_kind(kind: spark.DataType) -> Integers | Decimals:
    return Decimals(kind.precision, kind.scale) if isinstance(kind, spark.DecimalType) else Integers(_BITS[type(kind)])


def _float_kind(kind: spark.DataType) -> Floats:
    return Floats.SINGLE if isinstance(kind, spark.FloatType) else Floats.DOUBLE


def _texts(field: Field, random: Random) -> Iterator[str]:
    make = text_generator(field)
    for number in numbers():
        text = generate_text(field, make, random, number)
        if text is None:
            return
        yield text


def _listed(values: tuple[Any, ...], kind: spark.DataType, random: Random) -> Iterator[Any]:
    """Yield every allowed value once, then random ones."""
    typed = [value for value in (_typed(value, kind) for value in values) if value is not None]
    yield from typed
    while typed:
        yield random.choice(typed)


def _typed(value: Any, kind: spark.DataType) -> Any:
    if value is None:
        return None
    if isinstance(kind, spark.StringType):
        return value if isinstance(value, str) else abbreviate(value)
    if isinstance(kind, spark.DecimalType):
        from decimal import Decimal

        return Decimal(str(value)) if not isinstance(value, (bool, str)) else None
    if isinstance(kind, (spark.FloatType, spark.DoubleType)):
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if isinstance(kind, spark.BooleanType):
        return value if isinstance(value, bool) else None
    is_whole = isinstance(kind, _WHOLE) and isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if is_whole and value == int(value) else None


def _objects(field: Field, path: FieldPath, random: Random) -> Iterator[dict[str, Any]]:
    needed = (field.options or EMPTY).get("required") or ()
    parts = [
        (child.name in needed, _Column(child, path.field(child.name or ""), str(random.random())))
        for child in field.properties or ()
    ]
    for number in numbers(1):
        yield {column_name(part.field): part.value(1 if must else number) for must, part in parts}


def _arrays(field: Field, kind: spark.ArrayType, path: FieldPath, random: Random) -> Iterator[list[Any]]:
    options, limits = field.options or EMPTY, item_count(field)
    fixed = options.get("dimensions")
    low = fixed if isinstance(fixed, int) else limits.low or 0
    high = (
        fixed
        if isinstance(fixed, int)
        else min(limits.high if limits.high is not None else low + _MAX_EXTRA_ITEMS, low + 9)
    )
    element = field.items
    inside: Iterator[Any]
    if element is None:
        inside = _scalars(Field(), kind.elementType, random)
    else:
        inside = _values(element, path.into(ITEMS), random)
    distinct = options.get("uniqueItems") is True
    for number in numbers():
        length = (low, high)[number] if number < 2 else random.randint(low, high)
        items = list(islice(inside, length))
        if distinct:
            items = list({_identity(element): element for element in items}.values())
        if len(items) < low:
            return
        if element is not None and not element.is_required and items and number % 6 == 5 and not distinct:
            items[-1] = None
        yield items


def _maps(field: Field, path: FieldPath, random: Random) -> Iterator[dict[Any, Any]]:
    keys = _values(field.map_key or Field(), path.into(MAP_KEYS), random)
    values = _values(field.map_value or Field(), path.into(MAP_VALUES), random)
    for number in numbers():
        names = islice(keys, number % _MAX_EXTRA_ITEMS)
        yield {name if not isinstance(name, bytearray) else bytes(name): next(values, None) for name in names}


def _identity(value: Any) -> Any:
    """Return a hashable value that identifies a value."""
    if isinstance(value, (str, int, float)) or value is None:
        return (type(value).__name__, value)
    return (type(value).__name__, repr(value))
