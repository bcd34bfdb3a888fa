"""The Spark SQL type of a field, as text."""

from __future__ import annotations

from collections.abc import Callable

from treaty.contracts.model import Field
from treaty.contracts.quoting import name_problem, name_sql
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument

TEXT = "STRING"
_MOST_DIGITS = 38
_INTEGERS = {
    "i8": "TINYINT",
    "i16": "SMALLINT",
    "i32": "INT",
    "i64": "BIGINT",
    "i128": "DECIMAL(38,0)",
    "u8": "SMALLINT",
    "u16": "INT",
    "u32": "BIGINT",
    "u64": "DECIMAL(20,0)",
    "u128": "DECIMAL(38,0)",
}
_VECTOR_ELEMENTS = {"float64": "DOUBLE", "int8": "TINYINT", "uint8": "SMALLINT", "binary": "BOOLEAN"}


def stored_name(field: Field) -> str:
    """Return the name a field has in the data."""
    return field.physical_name or field.name or ""


def quoted(name: str) -> str:
    """Write a name in backticks, or say why Spark cannot be given it."""
    if problem := name_problem(name):
        raise InvalidDocument(f"the shims would need {problem} ({name!r}); give the field a physicalName")
    return name_sql(name)


def type_sql(field: Field | None) -> str:
    """Return the Spark SQL type of a field; what the contract leaves open is a text."""
    stated = field.type if field is not None else None
    if field is None or stated is None:
        return TEXT
    reader = _READERS.get(stated.name)
    return reader(field, stated) if reader else TEXT


def _object(field: Field, _: DataType) -> str:
    if not field.properties:
        return TEXT
    parts = ", ".join(f"{quoted(stored_name(item))}: {type_sql(item)}" for item in field.properties)
    return f"STRUCT<{parts}>"


def _integer(_: Field, stated: DataType) -> str:
    if stated.detail == "decimal":
        return f"DECIMAL({min(stated.precision or _MOST_DIGITS, _MOST_DIGITS)},0)"
    return _INTEGERS.get(stated.detail or "i32", "BIGINT")


def _number(_: Field, stated: DataType) -> str:
    if stated.detail != "decimal":
        return "FLOAT" if stated.detail == "f32" else "DOUBLE"
    if stated.precision is None:
        return "DECIMAL(38,18)"
    digits = min(stated.precision, _MOST_DIGITS)
    return f"DECIMAL({digits},{min(stated.scale or 0, digits)})"


def _timestamp(field: Field, stated: DataType) -> str:
    said = (field.options or EMPTY).get("timezone")
    bare = stated.detail == "without time zone" or (said is False and stated.detail != "with time zone")
    return "TIMESTAMP_NTZ" if bare else "TIMESTAMP"


def _vector(field: Field, _: DataType) -> str:
    return f"ARRAY<{_VECTOR_ELEMENTS.get((field.options or EMPTY).get('elementType', ''), 'FLOAT')}>"


_READERS: dict[str, Callable[[Field, DataType], str]] = {
    "boolean": lambda field, stated: "BOOLEAN",
    "date": lambda field, stated: "DATE",
    "binary": lambda field, stated: "BINARY",
    "integer": _integer,
    "number": _number,
    "timestamp": _timestamp,
    "object": _object,
    "array": lambda field, stated: f"ARRAY<{type_sql(field.items)}>",
    "map": lambda field, stated: f"MAP<{type_sql(field.map_key)}, {type_sql(field.map_value)}>",
    "vector": _vector,
}
