"""What dbt calls a data type is the warehouse's own; which one it is must be told from the text."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from treaty.contracts.model import Field
from treaty.contracts.types import DataType, data_type
from treaty.contracts.values import EMPTY
from treaty.formats.sql.types import read_type as field_of

_LOGICAL = frozenset({"string", "integer", "number", "boolean", "date", "time", "timestamp"})
_NESTED = ("<", "[", "STRUCT(", "OBJECT(", "ARRAY(", "MAP(")


def read_type(text: str) -> Field:
    """Return a nameless field of a type as a warehouse spells it."""
    if any(sign in text.upper() for sign in _NESTED):
        return _nested(text)
    stored = data_type(None, text, EMPTY)
    if stored is None or stored.name not in _LOGICAL:
        is_json = stored is not None and stored.name == "json"
        return Field(logical_type="object" if is_json else None, physical_type=text)
    return Field(logical_type=_name(stored), physical_type=text)


def _name(stored: DataType) -> str:
    whole = stored.detail == "decimal" and stored.precision is not None and not stored.scale
    return "integer" if whole else stored.name


def _nested(text: str) -> Field:
    """Read a type with parts, which takes a parser."""
    for dialect in _likely(text):
        try:
            field = field_of(exp.DataType.build(text, dialect=dialect), dialect)
        except (SqlglotError, ValueError, RecursionError):
            continue
        if field.logical_type is not None:
            return field
    return Field(physical_type=text)


def _likely(text: str) -> tuple[str, ...]:
    upper = text.upper()
    if ":" in text:
        return ("spark",)
    if "[" in text or "STRUCT(" in upper:
        return ("duckdb", "postgres")
    if any(sign in upper for sign in ("OBJECT(", "ARRAY(", "MAP(")):
        return ("snowflake", "duckdb")
    return ("bigquery", "spark")
