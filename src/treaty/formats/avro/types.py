"""Which Avro type is which type of a contract."""

from __future__ import annotations

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap

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
"""By the type that is stored and the logical type beside it."""

INTEGERS = {
    **dict.fromkeys(("i8", "i16", "i32", "u8", "u16"), "int"),
    **dict.fromkeys(("i64", "u32"), "long"),
}
DIGITS = {"u64": 20, "i128": 39, "u128": 39}
"""How many digits a whole number needs that no Avro integer holds."""
UNSAID_DIGITS = (38, 18)
"""Precision and scale of a decimal that names none."""
