"""Protobuf types and their contract types."""

from __future__ import annotations

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap


def _field(logical: str | None, physical: str | None = None, **options: object) -> Field:
    return Field(logical_type=logical, physical_type=physical, options=FrozenMap(options) if options else None)


SCALARS: dict[str, Field] = {
    "string": _field("string"),
    "bool": _field("boolean"),
    "int32": _field("integer"),
    "int64": _field("integer", format="i64"),
    "uint32": _field("integer", format="u32"),
    "uint64": _field("integer", format="u64"),
    "sint32": _field("integer", "sint32"),
    "sfixed32": _field("integer", "sfixed32"),
    "sint64": _field("integer", "sint64", format="i64"),
    "sfixed64": _field("integer", "sfixed64", format="i64"),
    "fixed32": _field("integer", "fixed32", format="u32"),
    "fixed64": _field("integer", "fixed64", format="u64"),
    "float": _field("number", format="f32"),
    "double": _field("number"),
    "bytes": _field(None, "binary"),
}
_PROTOBUF = "google.protobuf."
_TYPE = "google.type."
WELL_KNOWN_TYPES: dict[str, Field] = {
    f"{_PROTOBUF}Timestamp": _field("timestamp"),
    f"{_TYPE}Date": _field("date"),
    f"{_TYPE}TimeOfDay": _field("time"),
    f"{_TYPE}Decimal": _field("number", "decimal"),
    f"{_PROTOBUF}Struct": _field("object", "json"),
    f"{_PROTOBUF}Value": _field("object", f"{_PROTOBUF}Value"),
    f"{_PROTOBUF}ListValue": _field("array", f"{_PROTOBUF}ListValue"),
    f"{_PROTOBUF}Duration": _field(None, f"{_PROTOBUF}Duration"),
    f"{_PROTOBUF}Any": _field(None, f"{_PROTOBUF}Any"),
    f"{_PROTOBUF}Empty": _field(None, f"{_PROTOBUF}Empty"),
    f"{_PROTOBUF}FieldMask": _field(None, f"{_PROTOBUF}FieldMask"),
}
"""Google's well-known messages, which need no definition."""
WRAPPERS: dict[str, str] = {
    f"{_PROTOBUF}{name}Value": scalar
    for name, scalar in (
        *(("String", "string"), ("Bool", "bool"), ("Bytes", "bytes"), ("Int32", "int32"), ("Int64", "int64")),
        *(("UInt32", "uint32"), ("UInt64", "uint64"), ("Float", "float"), ("Double", "double")),
    )
}
IMPORTS: dict[str, str] = {
    f"{_PROTOBUF}Timestamp": "google/protobuf/timestamp.proto",
    **dict.fromkeys(
        (f"{_PROTOBUF}{name}" for name in ("Struct", "Value", "ListValue")), "google/protobuf/struct.proto"
    ),
    f"{_PROTOBUF}Duration": "google/protobuf/duration.proto",
    f"{_PROTOBUF}Any": "google/protobuf/any.proto",
    f"{_PROTOBUF}Empty": "google/protobuf/empty.proto",
    f"{_PROTOBUF}FieldMask": "google/protobuf/field_mask.proto",
    f"{_TYPE}Date": "google/type/date.proto",
    f"{_TYPE}TimeOfDay": "google/type/timeofday.proto",
    f"{_TYPE}Decimal": "google/type/decimal.proto",
}
"""The file that defines each well-known message."""
MAP_KEY_TYPES = frozenset({"string", "bool", "int32", "int64", "uint32", "uint64"})
"""Types allowed as map keys."""
