"""Spark SQL types and literals of fields."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from treaty.compatibility.terms.comparison import parse_instant
from treaty.contracts.model import Field
from treaty.contracts.sql_quoting import identifier_problem, quote_identifier, quote_string
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY, abbreviate
from treaty.errors import InvalidDocument

TEXT = "STRING"
MAX_DECIMAL_DIGITS = 38
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
    """Return the column name of a field."""
    return field.physical_name or field.name or ""


def quote_column(name: str) -> str:
    """Return a column name in backticks; raises InvalidDocument for unsafe names."""
    if problem := identifier_problem(name):
        raise InvalidDocument(f"shims cannot use {problem} ({name!r}); give the field a physicalName")
    return quote_identifier(name)


def type_sql(field: Field | None) -> str:
    """Return the Spark SQL type of a field; STRING if the contract does not state one."""
    stated = field.type if field is not None else None
    if field is None or stated is None:
        return TEXT
    reader = _READERS.get(stated.name)
    return reader(field, stated) if reader else TEXT


def _object(field: Field, _: DataType) -> str:
    if not field.properties:
        return TEXT
    parts = ", ".join(f"{quote_column(stored_name(item))}: {type_sql(item)}" for item in field.properties)
    return f"STRUCT<{parts}>"


def _integer(_: Field, stated: DataType) -> str:
    if stated.detail == "decimal":
        return f"DECIMAL({min(stated.precision or MAX_DECIMAL_DIGITS, MAX_DECIMAL_DIGITS)},0)"
    return _INTEGERS.get(stated.detail or "i32", "BIGINT")


def _number(_: Field, stated: DataType) -> str:
    if stated.detail != "decimal":
        return "FLOAT" if stated.detail == "f32" else "DOUBLE"
    if stated.precision is None:
        return "DECIMAL(38,18)"
    digits = min(stated.precision, MAX_DECIMAL_DIGITS)
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


MAX_LITERAL_LENGTH = 10_000


def literal_sql(value: Any, field: Field, where: str) -> str:
    """Return a value as SQL literal of the type of a field; raises InvalidDocument if it does not fit."""
    sql = _literal(value, field)
    if sql is None:
        raise InvalidDocument(
            f"{where}: {abbreviate(value)!r} is not a valid {field.type or 'text'}; use a value of that type"
        )
    return sql


def fits(value: Any, field: Field) -> bool:
    """Return whether a value fits the type of a field."""
    return _literal(value, field) is not None


def value_of_text(text: str, field: Field) -> Any:
    """Convert a text, such as a mapping key, to the type of a field; returned unchanged if it does not fit."""
    name = field.type.name if field.type else "string"
    if name == "boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    if name in ("integer", "number"):
        try:
            number = Decimal(text)
        except InvalidOperation:
            return text
        if not number.is_finite():
            return text
        return int(number) if number == number.to_integral_value() and abs(number) < 10**38 else float(number)
    return text


def _literal(value: Any, field: Field) -> str | None:
    want = type_sql(field)
    if not isinstance(value, (str, int, float)) or (isinstance(value, str) and len(value) > MAX_LITERAL_LENGTH):
        return None
    match want:
        case "BOOLEAN":
            return str(value).lower() if isinstance(value, bool) else None
        case "DATE":
            return f"DATE {quote_string(value)}" if isinstance(value, str) and _is_day(value) else None
        case "TIMESTAMP" | "TIMESTAMP_NTZ":
            is_moment = isinstance(value, str) and parse_instant(value) is not None
            return f"CAST({quote_string(str(value))} AS {want})" if is_moment else None
        case "BINARY":
            return None
    if want == TEXT:
        plain = field.type is None or field.type.name in ("string", "time", "json")
        if isinstance(value, bool) or not plain:
            return None
        return quote_string(value) if isinstance(value, str) else quote_string(abbreviate(value))
    if want.startswith(("STRUCT", "ARRAY", "MAP")) or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return _number_sql(value, want)


def _number_sql(value: int | float, want: str) -> str | None:
    number = Decimal(str(value))
    whole = number == number.to_integral_value() if number.is_finite() else False
    if not number.is_finite() or (not whole and want in ("TINYINT", "SMALLINT", "INT", "BIGINT")):
        return None
    limits = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
    if want in limits and not -(2 ** limits[want]) <= number < 2 ** limits[want]:
        return None
    if want.startswith("DECIMAL"):
        precision, scale = (int(part) for part in want[8:-1].split(","))
        exponent = number.normalize().as_tuple().exponent
        decimals = -exponent if isinstance(exponent, int) and exponent < 0 else 0
        if decimals > scale or abs(number) >= Decimal(10) ** (precision - scale):
            return None
    return f"CAST('{number:f}' AS {want})"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10
