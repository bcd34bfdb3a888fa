"""Write the terms of a field as the keywords of a JSON Schema node, without its nested fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from treaty.compatibility.terms.field_values import allowed_values
from treaty.contracts.model import Field
from treaty.contracts.text_formats import BASE64, CLOCK, PATTERNS
from treaty.contracts.types import DataType, capacity
from treaty.contracts.values import EMPTY, Json, thaw
from treaty.formats.json_schema.types import OPTION_KEYWORDS, TYPES, UNION

_TIME_TYPES = {"date": "date", "time": "time", "timestamp": "date-time"}
_SCALARS: dict[str, dict[str, Json]] = {
    "boolean": {"type": "boolean"},
    "binary": {"type": "string", "contentEncoding": "base64"},
    "json": {"type": "object"},
    "object": {"type": "object"},
    "array": {"type": "array"},
    "map": {"type": "object"},
    "null": {"type": "null"},
    "vector": {"type": "array"},
}
_LOCAL_PATTERNS = {
    "time-local": CLOCK,
    "date-time-local": f"{PATTERNS['date']}[Tt]{CLOCK}",
}
_F32_MAX = 3.4028234663852886e38
_EXACT_DIGITS = 15
"""Decimal numbers of up to this many digits are the same as text and as a binary floating point number."""
_RE2_ONLY = re.compile(r"\(\?(?!:)|\\[AzQECpP]|\[\[:")
"""Syntax that RE2 has, but not every validator of JSON Schema."""


def is_portable(pattern: Any) -> bool:
    """Whether every validator reads a pattern as RE2 does."""
    return isinstance(pattern, str) and _RE2_ONLY.search(pattern) is None


def write_keywords(field: Field) -> dict[str, Json]:
    """Return the type of a field, its format, its options and its allowed values."""
    node = _typed(field)
    values = allowed_values(field)
    if values and all(isinstance(value, str | int | float | bool | None) for value in values):
        node["enum"] = [value for value in values if value is not None]
    options = field.options or EMPTY
    for key in OPTION_KEYWORDS.get(field.logical_type or "", ()):
        value = options.get(key)
        if key == "uniqueItems":
            node |= {key: True} if value is True else {}
        elif value is not None and not isinstance(value, bool) and (key != "pattern" or is_portable(value)):
            node[key] = thaw(value)
    return node


def _typed(field: Field) -> dict[str, Json]:
    kind = field.type.name if field.type else "string"
    options = field.options or EMPTY
    if kind in ("integer", "number") and field.type:
        return _number(field.type)
    if kind in _TIME_TYPES:
        return {"type": "string"} | ({} if "format" in options else {"format": _time_format(field, kind)})
    if kind == "string":
        named_format = options.get("format")
        is_custom = isinstance(named_format, str) and ("string", named_format) not in TYPES
        return {"type": "string"} | ({"format": named_format} if is_custom else {})
    if alternatives := UNION.fullmatch(field.physical_type or ""):
        return {"type": alternatives["types"].split(",")}
    if (field.physical_type or "").startswith("$ref "):
        return {}
    return dict(_SCALARS.get(kind, {"type": "string"}))


def _number(stated: DataType) -> dict[str, Json]:
    if stated.detail == "decimal":
        return {"type": "integer"} if stated.name == "integer" else {"type": "number", "format": "decimal"}
    for (kind, named_format), field in TYPES.items():
        if kind == stated.name and field.type == stated:
            return {"type": kind} | ({"format": named_format} if named_format else {})
    return {"type": stated.name}


def _time_format(field: Field, kind: str) -> str:
    is_local = (field.options or EMPTY).get("timezone") is False or (
        field.type is not None and field.type.detail == "without time zone"
    )
    return _TIME_TYPES[kind] + ("-local" if is_local and kind != "date" else "")


def type_limits(field: Field) -> dict[str, Json]:
    """Return the keywords that a type implies: the range of its numbers, the pattern of its texts, its length."""
    stated, options = field.type, field.options or EMPTY
    kind = stated.name if stated else "string"
    if stated and kind in ("integer", "number"):
        return _number_limits(stated)
    if kind in _TIME_TYPES:
        return {} if "format" in options else _pattern(_time_format(field, kind))
    if kind == "binary":
        return {"pattern": f"^(?:{BASE64})$"}
    if kind == "vector" and isinstance(options.get("dimensions"), int):
        return {"minItems": options["dimensions"], "maxItems": options["dimensions"]}
    if kind == "string":
        length = capacity(field.physical_type)
        return _pattern(options.get("format")) | ({} if length is None else {"maxLength": length})
    return {}


def _pattern(named_format: Any) -> dict[str, Json]:
    pattern = {**PATTERNS, **_LOCAL_PATTERNS}.get(named_format) if isinstance(named_format, str) else None
    return {} if pattern is None else {"pattern": f"^(?:{pattern})$"}


def _number_limits(stated: DataType) -> dict[str, Json]:
    if stated.detail == "decimal" and stated.precision is not None:
        digits, scale = stated.precision, stated.scale or 0
        if digits > _EXACT_DIGITS:
            return {"exclusiveMinimum": -(10 ** (digits - scale)), "exclusiveMaximum": 10 ** (digits - scale)}
        largest = (10**digits - 1) / 10**scale if scale else 10**digits - 1
        return {"minimum": -largest, "maximum": largest}
    if stated.detail == "f32":
        return {"minimum": -_F32_MAX, "maximum": _F32_MAX}
    if stated.name == "integer" and stated.detail and re.fullmatch("[iu][0-9]+", stated.detail):
        bits, signed = int(stated.detail[1:]), stated.detail[0] == "i"
        return (
            {"minimum": -(2 ** (bits - 1)), "maximum": 2 ** (bits - 1) - 1}
            if signed
            else {"minimum": 0, "maximum": 2**bits - 1}
        )
    return {}


def precision_of(node: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the precision and scale whose largest number is the maximum, or the negated minimum, of a node."""
    for bound in (node.get("maximum"), node.get("minimum")):
        digits = re.fullmatch(r"-?(9*|0)(?:\.(9+))?", str(bound)) if isinstance(bound, int | float) else None
        if digits and bound:
            scale = len(digits[2] or "")
            return len(digits[1].lstrip("0")) + scale, scale
    return None


_TIGHTER: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minItems"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxItems", "maxLength"), min),
}


def add_limits(node: dict[str, Json], limits: Mapping[str, Json]) -> dict[str, Json]:
    """Return the node with the limits of its type; where it states the same keyword, both hold."""
    apart: dict[str, Json] = {}
    limited = dict(node)
    for key, value in limits.items():
        if key not in node:
            limited[key] = value
        elif (
            key not in _TIGHTER
            or not isinstance(node[key], int | float)
            or _TIGHTER[key](node[key], value) != node[key]
        ):
            apart[key] = value
    return limited | ({"allOf": [apart]} if apart else {})
