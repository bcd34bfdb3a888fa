"""Avro types and their contract types."""

from __future__ import annotations

from treaty.contracts.foreign import AVRO_DEFAULT_KEY
from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap, Json, freeze

BINARY = Field(physical_type="binary")


def _field(logical: str, physical: str | None = None, **options: object) -> Field:
    return Field(logical_type=logical, physical_type=physical, options=FrozenMap(options) if options else None)


PRIMITIVES: dict[str, Field] = {
    "string": _field("string"),
    "boolean": _field("boolean"),
    "int": _field("integer"),
    "long": _field("integer", format="i64"),
    "float": _field("number", format="f32"),
    "double": _field("number"),
    "bytes": BINARY,
}
LOGICAL: dict[tuple[str, str], Field] = {
    ("string", "uuid"): _field("string", format="uuid"),
    ("int", "date"): _field("date"),
    ("int", "time-millis"): _field("time", "time-millis"),
    ("long", "time-micros"): _field("time"),
    ("long", "timestamp-millis"): _field("timestamp", "timestamp-millis"),
    ("long", "timestamp-micros"): _field("timestamp"),
    ("long", "timestamp-nanos"): _field("timestamp", "timestamp-nanos"),
    ("long", "local-timestamp-millis"): _field("timestamp", "local-timestamp-millis", timezone=False),
    ("long", "local-timestamp-micros"): _field("timestamp", timezone=False),
    ("long", "local-timestamp-nanos"): _field("timestamp", "local-timestamp-nanos", timezone=False),
    ("bytes", "big-decimal"): _field("number", "decimal"),
}
"""By primitive type and logical type."""

INTEGERS = {
    **dict.fromkeys(("i8", "i16", "i32", "u8", "u16"), "int"),
    **dict.fromkeys(("i64", "u32"), "long"),
}
WIDE_INTEGER_DIGITS = {"u64": 20, "i128": 39, "u128": 39}
"""Decimal digits of integers that are too wide for any Avro integer."""
DEFAULT_DECIMAL = (38, 18)
"""Precision and scale of a decimal that states none."""

FORMAT_NAME = "avro"
"""The format of foreign constructs."""
NAMED_TYPE = "named type"
"""Foreign construct: the kind and name of a record, enum or fixed type; readers resolve types by name."""
FIXED_SIZE = "fixed size"
"""Foreign construct: the size of a fixed type in bytes."""

DEFAULT_PROPERTY = AVRO_DEFAULT_KEY
"""Custom property of a nullable field: `none` if it has no default."""
NULL_PROPERTY = "avro.null"
"""Custom property of a nullable field: `last` if null is not the first branch."""
ORDER_PROPERTY = "avro.order"
ALIASES_PROPERTY = "avro.aliases"
"""Custom property: the aliases of a record or field after the first one, which is its stable id."""
TYPE_ALIASES_PROPERTY = "avro.typeAliases"
ENUM_DEFAULT_PROPERTY = "avro.enumDefault"


def make_properties(entries: dict[str, Json]) -> tuple[FrozenMap, ...]:
    """Return custom properties for the entries that have a value."""
    return tuple(
        FrozenMap({"property": name, "value": freeze(value)}) for name, value in entries.items() if value is not None
    )
