"""Read data types in dbt files, which are those of an unnamed warehouse."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from treaty.contracts.model import Field
from treaty.contracts.types import DataType, data_type
from treaty.contracts.values import EMPTY
from treaty.formats.sql.types import read_type as field_of

_LOGICAL = frozenset({"string", "integer", "number", "boolean", "date", "time", "timestamp"})
_NESTED_MARKS = ("<", "[", "STRUCT(", "OBJECT(", "ARRAY(", "MAP(")


def read_type(text: str) -> Field:
    """Return an unnamed field with a type as a warehouse writes it."""
    if any(sign in text.upper() for sign in _NESTED_MARKS):
        return _read_nested(text)
    stored = data_type(None, text, EMPTY)
    if stored is None or stored.name not in _LOGICAL:
        is_json = stored is not None and stored.name == "json"
        return Field(logical_type="object" if is_json else None, physical_type=text)
    return Field(logical_type=_logical_name(stored), physical_type=text)


def _logical_name(stored: DataType) -> str:
    is_integer = stored.detail == "decimal" and stored.precision is not None and not stored.scale
    return "integer" if is_integer else stored.name


def _read_nested(text: str) -> Field:
    """Parse a nested type in each likely dialect."""
    for dialect in _likely_dialects(text):
        try:
            field = field_of(exp.DataType.build(text, dialect=dialect), dialect)
        except (SqlglotError, ValueError, RecursionError):
            continue
        if field.logical_type is not None:
            return field
    return Field(physical_type=text)


def _likely_dialects(text: str) -> tuple[str, ...]:
    upper = text.upper()
    if ":" in text:
        return ("spark",)
    if "[" in text or "STRUCT(" in upper:
        return ("duckdb", "postgres")
    if any(sign in upper for sign in ("OBJECT(", "ARRAY(", "MAP(")):
        return ("snowflake", "duckdb")
    return ("bigquery", "spark")
