"""Protobuf types and their contract types."""

from __future__ import annotations

from treaty.contracts.foreign import ForeignConstruct
from treaty.contracts.model import Field, SchemaObject
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
    "sint32": _field("integer"),
    "sfixed32": _field("integer"),
    "sint64": _field("integer", format="i64"),
    "sfixed64": _field("integer", format="i64"),
    "fixed32": _field("integer", format="u32"),
    "fixed64": _field("integer", format="u64"),
    "float": _field("number", format="f32"),
    "double": _field("number"),
    "bytes": _field(None, "binary"),
}
SPECIAL_ENCODINGS = frozenset({"sint32", "sint64", "sfixed32", "sfixed64", "fixed32", "fixed64", "float"})
"""Scalars whose bytes cannot be read as those of the usual scalar for the same values (int32, uint64, double …)."""
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
    **dict.fromkeys(WRAPPERS, "google/protobuf/wrappers.proto"),
    f"{_TYPE}Date": "google/type/date.proto",
    f"{_TYPE}TimeOfDay": "google/type/timeofday.proto",
    f"{_TYPE}Decimal": "google/type/decimal.proto",
}
"""The file that defines each well-known message."""
MAP_KEY_TYPES = frozenset({"string", "bool", "int32", "int64", "uint32", "uint64"})
"""Types allowed as map keys."""


def is_well_known(name: str) -> bool:
    """Whether a message is one of Google's well-known types."""
    bare = name.removeprefix(".")
    return bare in WELL_KNOWN_TYPES or bare in WRAPPERS


FORMAT_NAME = "protobuf"
"""The format of foreign constructs."""
RESERVED = "reserved"
"""Custom property: the reserved numbers and names of a message or enum."""
SYNTAX_PROPERTY = "protobuf.syntax"
"""Custom property: proto2, or the edition; proto3 is not stated."""
FILE_OPTION_PREFIX = "protobuf."
"""Starts the names of custom properties with options of the file."""

# Names of foreign constructs
ONEOF = "oneof"
PRESENCE = "presence"
JSON_NAME = "json name"
ENCODING = "encoding"
ENUM_TYPE = "enum type"
MESSAGE_TYPE = "message type"
ZERO_VALUE = "zero value"
CLOSED_ENUM = "closed enum"
EXTENSIONS = "extensions"
OTHER_FEATURES = "features"


def make_construct(name: str, text: str) -> ForeignConstruct:
    """Return a foreign construct of Protobuf."""
    return ForeignConstruct(FORMAT_NAME, name, text)


def find_construct(part: Field | SchemaObject, name: str) -> str | None:
    """Return the text of a Protobuf construct of a field or object."""
    return next((one.text for one in part.foreign if (one.format, one.name) == (FORMAT_NAME, name)), None)


def make_json_name(name: str) -> str:
    """Return the JSON name that Protobuf derives from the name of a field: order_id → orderId."""
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)
