"""Data types as the judgement sees them, and which type widens into which."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

INTEGER_DEFAULT = "i32"
"""ODCS takes an integer without a format to be i32."""
NUMBER_DEFAULT = "f64"

_INTEGER_FORMATS = frozenset({"i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128"})
_FLOAT_FORMATS = frozenset({"f32", "f64"})

_PHYSICAL: dict[str, tuple[str, str | None]] = {
    name: meaning
    for names, meaning in (
        (
            "string str text varchar varchar2 nvarchar char nchar character utf8 uuid clob longtext",
            ("string", None),
        ),
        ("boolean bool bit", ("boolean", None)),
        ("tinyint int8 byte", ("integer", "i8")),
        ("smallint int16 short int2", ("integer", "i16")),
        ("int integer int32 int4", ("integer", "i32")),
        ("bigint long int64 int8_t bigserial", ("integer", "i64")),
        ("float real float32 float4", ("number", "f32")),
        ("double float64 float8", ("number", "f64")),
        ("decimal numeric number dec", ("number", "decimal")),
        ("date", ("date", None)),
        ("time", ("time", None)),
        ("timestamp timestamp_ntz timestamp_ltz timestamptz datetime datetime2", ("timestamp", None)),
        ("struct record object row", ("object", None)),
        ("json jsonb variant", ("json", None)),
        ("array list repeated", ("array", None)),
        ("map", ("map", None)),
        ("binary varbinary bytes blob bytea", ("binary", None)),
    )
    for name in names.split()
}
_PHYSICAL_NAME = re.compile(
    r"\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*(?:\(\s*(?P<p>[0-9]{1,4})\s*(?:,\s*(?P<s>[0-9]{1,4})\s*)?\))?"
)
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class DataType:
    """A type in the common terms of all formats: a name and, for numbers, what holds them."""

    name: str
    detail: str | None = None
    precision: int | None = None
    scale: int | None = None

    def __str__(self) -> str:
        if self.detail == "decimal":
            return "decimal" if self.precision is None else f"decimal({self.precision},{self.scale or 0})"
        plain = self.detail is None or (self.name, self.detail) in (
            ("integer", INTEGER_DEFAULT),
            ("number", NUMBER_DEFAULT),
        )
        return self.name if plain else f"{self.name}({self.detail})"


def data_type(logical: str | None, physical: str | None, options: Any) -> DataType | None:
    """Work out the type from the logical type, its options and the physical type; None where nothing says it."""
    from_physical = _from_physical(physical)
    if logical is None:
        return from_physical or (DataType(physical.strip().lower()) if physical else None)
    if logical == "object" and from_physical and from_physical.name == "json":
        return from_physical
    if logical == "vector":
        return DataType("vector", f"{options.get('dimensions')}×{options.get('elementType', 'float32')}")
    if logical not in ("integer", "number"):
        return DataType(logical)
    declared = options.get("format")
    known = _INTEGER_FORMATS if logical == "integer" else _FLOAT_FORMATS
    if declared in known:
        return DataType(logical, declared)
    if from_physical and from_physical.name == logical:
        return from_physical
    return DataType(logical, INTEGER_DEFAULT if logical == "integer" else NUMBER_DEFAULT)


def widens(narrow: DataType, wide: DataType) -> bool:
    """Tell whether every value of `narrow` is a value of `wide`, read the same way."""
    if narrow.name != wide.name or narrow == wide:
        return False
    if narrow.name == "integer":
        return _integer_widens(narrow.detail or INTEGER_DEFAULT, wide.detail or INTEGER_DEFAULT)
    if narrow.name == "number":
        if (narrow.detail, wide.detail) == ("f32", "f64"):
            return True
        if narrow.detail == wide.detail == "decimal" and narrow.precision is not None and wide.precision is not None:
            return (narrow.scale or 0) == (wide.scale or 0) and narrow.precision < wide.precision
    return False


def _integer_widens(narrow: str, wide: str) -> bool:
    narrow_bits, wide_bits = int(narrow[1:]), int(wide[1:])
    if narrow[0] == wide[0]:
        return narrow_bits < wide_bits
    return narrow[0] == "u" and narrow_bits < wide_bits


def _from_physical(physical: str | None) -> DataType | None:
    found = _PHYSICAL_NAME.match(physical) if physical and len(physical) <= _LONGEST else None
    if found is None or found["name"].lower() not in _PHYSICAL:
        return None
    name, detail = _PHYSICAL[found["name"].lower()]
    if detail != "decimal":
        return DataType(name, detail)
    precision = int(found["p"]) if found["p"] else None
    return DataType(name, detail, precision, int(found["s"] or 0) if precision is not None else None)
