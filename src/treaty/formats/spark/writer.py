"""Write a contract as a StructType in JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import FieldPath
from treaty.contracts.text.writer import write_json
from treaty.contracts.values import EMPTY, Json
from treaty.formats.losses import find_carried_rules, find_losses
from treaty.formats.notes import NOTE_KEY, make_note, require_objects
from treaty.formats.results import WriteResult
from treaty.formats.spark.reader import Reader, read

TITLE = "Spark StructType"
REASONS = {
    "*": "a StructType describes columns only",
    "object": "a StructType describes one table",
}
_INTEGERS = {
    "i8": "byte",
    "i16": "short",
    "u8": "short",
    "i32": "integer",
    "u16": "integer",
    "i64": "long",
    "u32": "long",
    "u64": "decimal(20,0)",
    "i128": "decimal(38,0)",
    "u128": "decimal(38,0)",
}
_MAX_PRECISION = 38


def write(contract: Contract) -> WriteResult:
    """Write the first object of a contract as a StructType."""
    plain = require_objects(contract, TITLE)
    struct = _struct(plain.schema[0].fields)
    text = write_json(struct)
    losses = find_losses(contract, read(text, contract.id).contracts, REASONS)
    native = read(write_json(_without_notes(struct)), contract.id).contracts
    carried = find_carried_rules(replace(contract, objects=contract.schema[:1]), native, "Spark does not check it")
    return WriteResult(text, (*losses, *(loss for loss in carried if loss.path)))


def _without_notes(value: Json) -> Json:
    """Return a part of a StructType without the notes in its metadata."""
    if isinstance(value, dict):
        return {key: _without_notes(part) for key, part in value.items() if key != NOTE_KEY}
    return [_without_notes(part) for part in value] if isinstance(value, list) else value


def _struct(fields: tuple[Field, ...]) -> dict[str, Json]:
    return {"type": "struct", "fields": [_struct_field(field) for field in fields]}


def _struct_field(field: Field) -> dict[str, Json]:
    metadata: dict[str, Json] = {"comment": field.description} if field.description else {}
    node: dict[str, Json] = {
        "name": field.name or "",
        "type": _type(field),
        "nullable": not field.is_required,
        "metadata": metadata,
    }
    if note := make_note(field, Reader("").field(node, FieldPath())):
        metadata[NOTE_KEY] = json.dumps(note, ensure_ascii=False)
    return node


def _type(field: Field) -> Json:
    stated = field.type
    if stated is None:
        return "string"
    match stated.name:
        case "object" if field.properties is not None:
            return _struct(field.properties)
        case "array":
            element = _type(field.items) if field.items else "string"
            return {"type": "array", "elementType": element, "containsNull": not (field.items and field.items.required)}
        case "map":
            value = _type(field.map_value) if field.map_value else "string"
            contains_null = not (field.map_value and field.map_value.required)
            key = _type(field.map_key) if field.map_key else "string"
            return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": contains_null}
        case "vector":
            return {"type": "array", "elementType": "float", "containsNull": False}
        case "integer" if stated.detail != "decimal":
            return _INTEGERS.get(stated.detail or "i32", "long")
        case "integer" | "number" if stated.detail == "decimal":
            return _decimal(stated.precision, stated.scale, whole=stated.name == "integer")
        case "number":
            return "float" if stated.detail == "f32" else "double"
        case "timestamp":
            is_local = stated.detail == "without time zone" or (field.options or EMPTY).get("timezone") is False
            return "timestamp_ntz" if is_local else "timestamp"
        case "json" if field.physical_type == "variant":
            return "variant"
        case name:
            return name if name in ("boolean", "date", "binary") else "string"


def _decimal(precision: int | None, scale: int | None, *, whole: bool) -> str:
    if precision is None:
        return f"decimal({_MAX_PRECISION},{0 if whole else 18})"
    digits = min(precision, _MAX_PRECISION)
    return f"decimal({digits},{min(scale or 0, digits)})"
