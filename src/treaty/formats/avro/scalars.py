"""Fields without parts as Avro types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from treaty.contracts.model import Field
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY, FrozenMap, Json
from treaty.formats.avro.types import DIGITS, INTEGERS, LOGICAL, UNSAID_DIGITS
from treaty.formats.naming import is_identifier

_PLAIN: dict[str, Json] = {
    "boolean": "boolean",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "vector": {"type": "array", "items": "float"},
}
_FITTING: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
}
_EMPTY: dict[str, Json] = {"array": [], "map": {}}
_BITS = {"int": 31, "long": 63}


def scalar(field: Field) -> Json:
    """Return the Avro type that holds a field's values; what no type holds is a text."""
    stated = field.type
    if stated is None:
        return "string"
    stored = next((key for key, one in LOGICAL.items() if _is_spelt(field, one)), None)
    if stored is not None:
        return {"type": stored[0], "logicalType": stored[1]}
    match stated.name:
        case "integer" | "number":
            return _number(stated)
        case "timestamp":
            bare = stated.detail == "without time zone" or (field.options or EMPTY).get("timezone") is False
            return {"type": "long", "logicalType": "local-timestamp-micros" if bare else "timestamp-micros"}
        case "string" if (field.options or EMPTY).get("format") == "uuid":
            return {"type": "string", "logicalType": "uuid"}
        case _:
            return _PLAIN.get(stated.name, "string")


def are_symbols(values: tuple[FrozenMap, ...]) -> bool:
    """Tell whether values can be the symbols of an Avro enum."""
    listed = [item["value"] for item in values]
    return all(isinstance(one, str) and is_identifier(one) for one in listed) and len(set(listed)) == len(listed)


def fits(default: Json, kind: Json) -> bool:
    """Tell whether a value can be the default of an Avro type."""
    if isinstance(kind, Mapping) and kind.get("type") == "enum":
        return bool(default in kind["symbols"])
    if isinstance(kind, Mapping) and kind.get("type") in _EMPTY:
        return isinstance(default, list | dict) and bool(default == _EMPTY[kind["type"]])
    if not isinstance(kind, str) or kind not in _FITTING or type(default) not in _FITTING[kind]:
        return False
    if isinstance(default, int) and kind in _BITS:
        limit: int = 2 ** _BITS[kind]
        return -limit <= default < limit
    return not isinstance(default, float) or math.isfinite(default)


def _is_spelt(field: Field, kind: Field) -> bool:
    """Tell whether the stored type names an Avro type of its own, such as timestamp-millis."""
    return kind.physical_type is not None and (field.logical_type, field.physical_type) == (
        kind.logical_type,
        kind.physical_type,
    )


def _number(stated: DataType) -> dict[str, Any] | str:
    if stated.detail in DIGITS:
        return {"type": "bytes", "logicalType": "decimal", "precision": DIGITS[stated.detail], "scale": 0}
    if stated.detail == "decimal":
        whole = stated.name == "integer"
        precision = stated.precision or UNSAID_DIGITS[0]
        scale = (0 if whole else UNSAID_DIGITS[1]) if stated.precision is None else stated.scale or 0
        return {"type": "bytes", "logicalType": "decimal", "precision": max(precision, scale), "scale": scale}
    if stated.name == "integer":
        return INTEGERS.get(stated.detail or "i32", "long")
    return "float" if stated.detail == "f32" else "double"
