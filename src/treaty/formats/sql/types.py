"""Read SQL types as contract types."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from treaty.contracts.model import Field
from treaty.contracts.types import INTEGER_DEFAULT, data_type
from treaty.contracts.values import EMPTY, FrozenMap

_T = exp.DataType.Type
_INTEGERS = {
    _T.TINYINT: "i8",
    _T.SMALLINT: "i16",
    _T.INT: "i32",
    _T.MEDIUMINT: "i32",
    _T.BIGINT: "i64",
    _T.INT128: "i128",
    _T.UTINYINT: "u8",
    _T.USMALLINT: "u16",
    _T.UINT: "u32",
    _T.UMEDIUMINT: "u32",
    _T.UBIGINT: "u64",
    _T.UINT128: "u128",
    _T.SMALLSERIAL: "i16",
    _T.SERIAL: "i32",
    _T.BIGSERIAL: "i64",
}
_LOGICAL = {
    **dict.fromkeys((_T.BOOLEAN, _T.BIT), "boolean"),
    **dict.fromkeys((_T.DATE, _T.DATE32), "date"),
    **dict.fromkeys((_T.TIME, _T.TIMETZ), "time"),
    **dict.fromkeys((_T.TIMESTAMPTZ, _T.TIMESTAMPLTZ), "timestamp"),
    **dict.fromkeys(exp.DataType.TEXT_TYPES, "string"),
}
_WITHOUT_TIME_ZONE = {
    _T.TIMESTAMP,
    _T.TIMESTAMPNTZ,
    _T.DATETIME,
    _T.DATETIME2,
    _T.SMALLDATETIME,
    _T.TIMESTAMP_S,
    _T.TIMESTAMP_MS,
    _T.DATETIME64,
}
_JSON = {_T.JSON, _T.JSONB, _T.VARIANT, _T.SUPER}
_BINARY = {_T.BINARY, _T.VARBINARY, _T.BLOB, _T.TINYBLOB, _T.MEDIUMBLOB, _T.LONGBLOB, _T.IMAGE}
_DECIMALS = {_T.DECIMAL, _T.BIGDECIMAL, _T.DECIMAL32, _T.DECIMAL64, _T.DECIMAL128, _T.UDECIMAL, _T.MONEY, _T.SMALLMONEY}


def read_type(kind: exp.DataType, dialect: str) -> Field:
    """Return an unnamed field of a type; its physical type is the name in the dialect."""
    if kind.this is _T.LOWCARDINALITY and kind.expressions:
        return read_type(kind.expressions[0], dialect)
    if kind.this is _T.DATE and dialect == "oracle":  # it has a time of day
        return _field("timestamp", "DATE", timezone=False)
    if kind.this in (_T.ARRAY, _T.LIST):
        inner = next((part for part in kind.expressions if isinstance(part, exp.DataType)), None)
        items = read_type(inner, dialect) if inner is not None else None
        return Field(logical_type="array", physical_type="array", items=items)
    if kind.this is _T.MAP and len(kind.expressions) == 2:
        key, value = (read_type(part, dialect) for part in kind.expressions)
        return Field(logical_type="map", physical_type="map", map_key=key, map_value=value)
    parts = kind.expressions if kind.this in (_T.STRUCT, _T.OBJECT) else []
    if parts and all(isinstance(part, exp.ColumnDef) for part in parts):
        return Field(logical_type="object", physical_type="struct", properties=_members(kind, dialect))
    if kind.this in (_T.ENUM, _T.ENUM8, _T.ENUM16):
        values = tuple(FrozenMap({"value": part.name}) for part in kind.expressions if isinstance(part, exp.Literal))
        return Field(logical_type="string", enum=values or None)
    return _scalar(kind, kind.sql(dialect=dialect))


def _members(kind: exp.DataType, dialect: str) -> tuple[Field, ...]:
    from treaty.formats.sql.columns import read_column

    return tuple(read_column(part, dialect) for part in kind.expressions)


def _scalar(kind: exp.DataType, type_name: str) -> Field:
    if kind.this in _INTEGERS:
        width = _INTEGERS[kind.this]
        return _field("integer", type_name) if width == INTEGER_DEFAULT else _field("integer", type_name, format=width)
    if kind.this in _DECIMALS:
        return _decimal(type_name)
    if kind.this is _T.FLOAT:
        return _field("number", type_name, format="f32")
    if kind.this is _T.DOUBLE:
        return _field("number", type_name)
    if kind.this in _WITHOUT_TIME_ZONE:
        return _field("timestamp", type_name, timezone=False)
    if kind.this is _T.UUID:
        return _field("string", type_name, format="uuid")
    if kind.this in _JSON or kind.this is _T.OBJECT:
        known = data_type("object", type_name, EMPTY)
        return _field("object", type_name if known and known.name == "json" else "json")
    if kind.this in _BINARY:
        known = data_type(None, type_name, EMPTY)
        return _field(None, type_name if known and known.name == "binary" else "binary")
    return _field(_LOGICAL.get(kind.this), type_name)


def _decimal(type_name: str) -> Field:
    known = data_type("number", type_name, EMPTY)
    if known is None or known.detail != "decimal":
        return _field("number", "decimal")
    return _field("integer" if known.precision is not None and not known.scale else "number", type_name)


def _field(logical: str | None, physical: str, **options: Any) -> Field:
    return Field(logical_type=logical, physical_type=physical, options=FrozenMap(options) if options else None)
