"""Write contracts as JSON Schemas."""

from __future__ import annotations

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.text.writer import write_json
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY, Json, thaw
from treaty.formats.json_schema.reader import FieldReader, Reader, read
from treaty.formats.json_schema.types import DIALECTS, OPTION_KEYWORDS, TYPES
from treaty.formats.losses import find_losses
from treaty.formats.naming import make_field_names
from treaty.formats.notes import make_note, make_object_note, note_entry, require_objects
from treaty.formats.results import WriteResult

TITLE = "JSON Schema"
REASONS = {"*": "JSON Schema cannot express it"}
_SCALARS: dict[str, dict[str, Json]] = {
    "date": {"type": "string", "format": "date"},
    "boolean": {"type": "boolean"},
    "binary": {"type": "string", "contentEncoding": "base64"},
    "json": {"type": "object"},
    "object": {"type": "object"},
    "vector": {"type": "array", "items": {"type": "number"}},
}


def write(contract: Contract, dialect: str = "2020-12") -> WriteResult:
    """Write a contract as one schema; several objects become alternatives of `anyOf`."""
    plain = require_objects(contract, TITLE)
    uri, definitions = DIALECTS[dialect]
    writer = _Writer(plain)
    objects = [writer.object(item, index) for index, item in enumerate(plain.schema)]
    schema: dict[str, Json] = {"$schema": uri}
    if len(objects) == 1:
        schema |= objects[0]
    else:
        names = make_field_names([item.name for item in plain.schema])
        schema["anyOf"] = [{"$ref": f"#/{definitions}/{name}"} for name in names]
        schema[definitions] = dict(zip(names, objects, strict=True))
    text = write_json(schema)
    return WriteResult(text, find_losses(contract, read(text, contract.id).contracts, REASONS))


class _Writer:
    """Writes one contract."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.closed = contract.treaty.content == "closed"
        self.fields = FieldReader(contract.id, {})
        self.fields.closed = self.closed

    def object(self, item: SchemaObject, index: int) -> dict[str, Json]:
        node: dict[str, Json] = {"title": item.name}
        if item.description:
            node["description"] = item.description
        node |= self._inside(item.fields)
        native = Reader(self.contract.id, {**node, "properties": {}}).part({**node, "properties": {}}).contract
        return node | note_entry(make_object_note(self.contract, index, native))

    def _inside(self, fields: tuple[Field, ...]) -> dict[str, Json]:
        node: dict[str, Json] = {"type": "object", "properties": {one.name or "": self._field(one) for one in fields}}
        if needed := [field.name for field in fields if field.is_required]:
            node["required"] = needed
        return node | ({"additionalProperties": False} if self.closed else {})

    def _field(self, field: Field) -> dict[str, Json]:
        """Write a field; an optional field allows null."""
        node = self._node(field)
        if not field.is_required:
            node["type"] = [node["type"], "null"]
            if "enum" in node:
                node["enum"] = [*node["enum"], None]
        native = self.fields.field(field.name, node, FieldPath(), required=field.is_required)
        return node | note_entry(make_note(field, native))

    def _element(self, field: Field) -> dict[str, Json]:
        node = self._node(field)
        return node | note_entry(make_note(field, self.fields.field(None, node, FieldPath())))

    def _node(self, field: Field) -> dict[str, Json]:
        node = self._typed(field)
        if field.business_name:
            node["title"] = field.business_name
        if field.description:
            node["description"] = field.description
        if field.enum and not any(item["value"] is None for item in field.enum):
            node["enum"] = [thaw(item["value"]) for item in field.enum]
        for key in OPTION_KEYWORDS.get(field.logical_type or "", ()):
            if key in (options := field.options or EMPTY) and not isinstance(options[key], bool | None):
                node[key] = thaw(options[key])
        if (field.options or EMPTY).get("uniqueItems") is True:
            node["uniqueItems"] = True
        if (default := field.treaty.get("default")) is not None:
            node["default"] = thaw(default)
        if field.deprecated:
            node["deprecated"] = True
        if examples := field.more.get("examples"):
            node["examples"] = thaw(examples)
        return node

    def _typed(self, field: Field) -> dict[str, Json]:
        kind = field.type.name if field.type else "string"
        match kind:
            case "object" if field.properties is not None:
                return self._inside(field.properties)
            case "array":
                return {"type": "array"} | ({"items": self._element(field.items)} if field.items else {})
            case "map":
                return self._map(field)
            case "integer" | "number":
                return _number(field.type)
            case "time" | "timestamp":
                return _timestamp(field, kind)
            case "string":
                named_format = (field.options or EMPTY).get("format")
                is_custom = named_format and ("string", named_format) not in TYPES
                return {"type": "string"} | ({"format": named_format} if is_custom else {})
            case _:
                return dict(_SCALARS.get(kind, {"type": "string"}))

    def _map(self, field: Field) -> dict[str, Json]:
        value = self._element(field.map_value) if field.map_value else {"type": "string"}
        node: dict[str, Json] = {"type": "object", "additionalProperties": value}
        key = self._element(field.map_key) if field.map_key else {"type": "string"}
        return node | ({"propertyNames": key} if key != {"type": "string"} else {})


def _number(stated: DataType | None) -> dict[str, Json]:
    if stated is None:
        return {"type": "number"}
    if stated.detail == "decimal":
        return {"type": "integer"} if stated.name == "integer" else {"type": "number", "format": "decimal"}
    for (kind, named_format), field in TYPES.items():
        if kind == stated.name and field.type == stated:
            return {"type": kind} | ({"format": named_format} if named_format else {})
    return {"type": stated.name}


def _timestamp(field: Field, kind: str) -> dict[str, Json]:
    named_format = {"time": "time", "timestamp": "date-time"}[kind]
    is_local = (field.options or EMPTY).get("timezone") is False or (
        field.type and field.type.detail == "without time zone"
    )
    return {"type": "string", "format": f"{named_format}-local" if is_local else named_format}
