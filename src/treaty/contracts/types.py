"""Data types, independent of their notation, and which type widens to which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INTEGER_DEFAULT = "i32"
"""In ODCS, an integer without a format is i32."""
NUMBER_DEFAULT = "f64"

_INTEGER_FORMATS = frozenset({"i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128"})
_FLOAT_FORMATS = frozenset({"f32", "f64"})

_PHYSICAL: dict[str, tuple[str, str | None]] = {
    name: meaning
    for names, meaning in (
        ("string str text varchar varchar2 nvarchar nvarchar2 char nchar bpchar character", ("string", None)),
        ("national varying utf8 uuid clob longtext", ("string", None)),
        ("boolean bool", ("boolean", None)),
        ("tinyint byte int8_t", ("integer", "i8")),
        ("smallint int16 short int2", ("integer", "i16")),
        ("int integer int32 int4", ("integer", "i32")),
        ("bigint long int64 bigserial", ("integer", "i64")),
        ("int8", ("integer", "int8")),  # 8 bits in some systems, 8 bytes in others
        ("float real float32 float4", ("number", "f32")),
        ("double float64 float8", ("number", "f64")),
        ("decimal numeric number dec", ("number", "decimal")),
        ("date", ("date", None)),
        ("time", ("time", None)),
        ("timestamp datetime datetime2", ("timestamp", None)),
        ("timestamp_ltz timestamptz datetimeoffset", ("timestamp", "with time zone")),
        ("timestamp_ntz", ("timestamp", "without time zone")),
        ("struct record object row", ("object", None)),
        ("json jsonb variant", ("json", None)),
        ("array list repeated", ("array", None)),
        ("map", ("map", None)),
        ("binary varbinary bytes blob bytea", ("binary", None)),
    )
    for name in names.split()
}
_PHYSICAL_TYPE = re.compile(
    r"(?P<name>[a-z_][a-z0-9_]*)(?:\((?P<p>[0-9]{1,9})(?:,(?P<s>[0-9]{1,4}))?(?: ?(?:char|byte))?\))?(?P<rest>.*)"
)
_CAPACITY = re.compile(r"[a-z0-9_ ]+\((?P<n>[0-9]{1,9})(?: ?(?:char|byte))?\)")
_SPACES_AROUND_SIGNS = re.compile(r" ?([(),<>:]) ?")
MAX_TYPE_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class DataType:
    """A type common to all formats: a name and, if it matters, how values are stored."""

    name: str
    detail: str | None = None
    precision: int | None = None
    scale: int | None = None
    rest: str = ""

    def __str__(self) -> str:
        if self.detail == "decimal":
            amount = "" if self.precision is None else f"({self.precision},{self.scale or 0})"
            return f"decimal{amount}" if self.name == "number" else f"{self.name} as decimal{amount}"
        defaults = (("integer", INTEGER_DEFAULT), ("number", NUMBER_DEFAULT))
        plain = self.detail is None or (self.name, self.detail) in defaults
        return (self.name if plain else f"{self.name}({self.detail})") + self.rest


def normalize_type(physical: str) -> str:
    """Return a physical type in lower case without spaces around punctuation."""
    return _SPACES_AROUND_SIGNS.sub(r"\1", " ".join(physical.lower().split()))


def capacity(physical: str | None) -> int | None:
    """Return the maximum number of characters or bytes of a physical type, or None if it has no limit."""
    stored = _from_physical(physical)
    found = (
        _CAPACITY.match(normalize_type(physical))
        if physical and stored and stored.name in ("string", "binary")
        else None
    )
    return int(found["n"]) if found else None


def without_capacity(physical: str) -> str:
    """Return a normalized physical type without its maximum length."""
    text = normalize_type(physical)
    return text if capacity(physical) is None else re.sub(r"\([0-9]+(?: ?(?:char|byte))?\)", "", text, count=1)


def data_type(
    logical: str | None, physical: str | None, options: Mapping[str, Any], *, declares_inside: bool = False
) -> DataType | None:
    """Return the type for a logical type, its options and the physical type; None if none of them is given."""
    stored = _from_physical(physical)
    if logical is None:
        return stored or (DataType(normalize_type(physical)) if physical else None)
    if logical == "object" and stored and stored.name == "json":
        return stored
    if logical == "vector":
        return DataType("vector", f"{options.get('dimensions')}×{options.get('elementType', 'float32')}")
    declared = options.get("format")
    if (logical == "integer" and declared in _INTEGER_FORMATS) or (logical == "number" and declared in _FLOAT_FORMATS):
        is_number = stored is None or stored.name in ("integer", "number")
        return DataType(logical, declared if is_number or stored is None else f"{declared} as {stored.name}")
    if stored is not None and stored.name == logical:
        return DataType(logical, stored.detail, stored.precision, stored.scale, "" if declares_inside else stored.rest)
    if stored is not None:
        held = stored.detail if stored.detail == "decimal" else f"as {stored.name}"
        return DataType(logical, held, stored.precision, stored.scale)
    return DataType(logical, {"integer": INTEGER_DEFAULT, "number": NUMBER_DEFAULT}.get(logical))


def widens(narrow: DataType, wide: DataType) -> bool:
    """Return whether every value of `narrow` is also a value of `wide`."""
    if narrow.name != wide.name or narrow == wide or narrow.rest != wide.rest:
        return False
    if narrow.detail == wide.detail == "decimal":
        known = narrow.precision is not None and wide.precision is not None
        return known and (narrow.scale or 0) == (wide.scale or 0) and (narrow.precision or 0) < (wide.precision or 0)
    if narrow.name == "integer":
        return _integer_widens(narrow.detail or INTEGER_DEFAULT, wide.detail or INTEGER_DEFAULT)
    return narrow.name == "number" and (narrow.detail, wide.detail) == ("f32", "f64")


def _integer_widens(narrow: str, wide: str) -> bool:
    if not {narrow, wide} <= _INTEGER_FORMATS:
        return False
    narrow_bits, wide_bits = int(narrow[1:]), int(wide[1:])
    return narrow_bits < wide_bits and (narrow[0] == wide[0] or narrow[0] == "u")


def _from_physical(physical: str | None) -> DataType | None:
    is_readable = physical and len(physical) <= MAX_TYPE_LENGTH
    found = _PHYSICAL_TYPE.fullmatch(normalize_type(physical)) if physical and is_readable else None
    if found is None or found["name"] not in _PHYSICAL:
        return None
    name, detail = _PHYSICAL[found["name"]]
    if name in ("string", "binary"):
        return DataType(name)
    rest = found["rest"]
    if name == "timestamp":
        zone = next((zone for zone in ("without time zone", "with time zone") if zone in rest), None)
        detail, rest = zone or detail, rest.replace(zone, "").strip() if zone else rest
    if found["name"] == "double":
        rest = rest.removeprefix(" precision")
    if name == "integer" and rest.strip() == "unsigned" and detail in _INTEGER_FORMATS:
        return DataType(name, f"u{detail[1:]}")
    precision, scale = (int(part) if part else None for part in found.group("p", "s"))
    if detail == "decimal":
        return DataType(name, detail, precision, None if precision is None else scale or 0, rest)
    if detail == "f32" and precision is not None:
        return DataType(name, "f64" if precision > 24 else "f32", rest=rest)
    return DataType(name, detail, rest=(f"({precision})" if precision is not None and name != "integer" else "") + rest)
