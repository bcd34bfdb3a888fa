"""Validates JSON lines against a contract through JSON Schema, independently of the generator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

from treaty.contracts import load
from treaty.contracts.model import Field

EVENTS = Path(__file__).parents[2] / "examples/retail/contracts/events"

MALFORMED = "malformed"
_KINDS = {
    "required": "required",
    "type": "type",
    "multipleOf": "type",
    "exclusiveMaximum": "type",
    "enum": "enum",
    "pattern": "pattern",
    "minimum": "range",
    "exclusiveMinimum": "range",
    "minItems": "item_count",
}
_MARKS = {"items": "[]", "additionalProperties": "{}", "propertyNames": "{key}"}
_WIDTHS = {"i32": 2**31, "i64": 2**63}


class LineValidator:
    """Finds the rules of one event contract that a line violates, as kind:field."""

    def __init__(self, name: str) -> None:
        fields = load((EVENTS / f"{name}.yaml").read_text(), name).contract.schema[0].fields
        self._validator = jsonschema_rs.Draft202012Validator(_object(fields), validate_formats=True)

    def violations(self, line: bytes) -> set[str]:
        """Return the rules that a line violates."""
        try:
            value = json.loads(line.decode())
        except ValueError:
            return {MALFORMED}
        if not isinstance(value, dict):
            return {MALFORMED}
        return {_rule(error) for error in self._validator.iter_errors(value)}


def _object(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _value(field) for field in fields},
        "required": [field.name for field in fields if field.is_required],
    }


def _value(field: Field) -> dict[str, Any]:
    options: dict[str, Any] = dict(field.options or {})
    bounds: dict[str, Any] = {
        name: options[name] for name in ("minimum", "exclusiveMinimum", "minItems") if name in options
    }
    message: dict[str, Any] = {**bounds, **_shape(field, options)}
    if field.enum:
        message["enum"] = [item["value"] for item in field.enum]
    return message


def _shape(field: Field, options: dict[str, Any]) -> dict[str, Any]:
    kind = field.type
    assert kind is not None
    match kind.name:
        case "object":
            return _object(field.properties or ())
        case "array":
            assert field.items is not None
            return {"type": "array", "items": _value(field.items)}
        case "map":
            assert field.map_key is not None
            assert field.map_value is not None
            key, value = _value(field.map_key), _value(field.map_value)
            return {"type": "object", "propertyNames": key, "additionalProperties": value}
        case "number":
            assert kind.precision is not None
            assert kind.scale is not None
            return {
                "type": "number",
                "multipleOf": float(f"1e-{kind.scale}"),
                "exclusiveMaximum": 10 ** (kind.precision - kind.scale),
            }
        case "integer":
            return {"type": "integer", "exclusiveMaximum": _WIDTHS[kind.detail or ""]}
        case "timestamp":
            return {"type": "string", "format": "date-time"}
        case "date":
            return {"type": "string", "format": "date"}
        case "boolean":
            return {"type": "boolean"}
        case _:
            return {"type": "string", **{name: options[name] for name in ("pattern", "format") if name in options}}


def _rule(error: jsonschema_rs.ValidationError) -> str:
    wave: Any = error.kind
    *way, keyword = [str(step) for step in error.schema_path]
    field = "".join(_steps(way)).removeprefix(".")
    if keyword == "required":
        return f"required:{field}.{wave.property}".replace(":.", ":")
    if keyword == "type" and error.instance is None:
        return f"required:{field}"
    if keyword == "format":
        return f"{'type' if wave.format in ('date', 'date-time') else 'format'}:{field}"
    return f"{_KINDS[keyword]}:{field}"


def _steps(way: list[str]) -> Iterator[str]:
    """Turn the way through a schema into the way through a contract."""
    steps = iter(way)
    for step in steps:
        yield f".{next(steps)}" if step == "properties" else _MARKS[step]
