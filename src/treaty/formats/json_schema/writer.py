"""Write contracts as JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from treaty.contracts.foreign import ForeignConstruct
from treaty.contracts.model import Contract, Field, MissingAs, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.text.writer import write_json
from treaty.contracts.values import Json, thaw
from treaty.formats.json_schema.constructs import apply_constructs
from treaty.formats.json_schema.documents import SchemaDocuments
from treaty.formats.json_schema.field_reader import FieldReader
from treaty.formats.json_schema.keywords import add_limits, is_portable, type_limits, write_keywords
from treaty.formats.json_schema.reader import Reader, Root, read
from treaty.formats.json_schema.types import DIALECTS
from treaty.formats.losses import find_losses
from treaty.formats.naming import make_field_names
from treaty.formats.notes import FULL_RULES_KEY, make_note, make_object_note, note_entry, require_objects
from treaty.formats.results import WriteResult
from treaty.formats.unchecked_rules import UncheckedRules, find_unchecked_rules

TITLE = "JSON Schema"
REASONS = {"*": "JSON Schema cannot express it"}
_KEY_PATTERNS = {
    "integer": "^-?[0-9]+$",
    "number": "^-?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$",
    "boolean": "^(?:true|false)$",
}
"""Patterns of map keys: in JSON, every key is a text."""
UNCHECKED = UncheckedRules(
    rows="a JSON Schema validates one document at a time",
    decimals="validators compute multipleOf in binary floating point and would reject 19.99",
    other="no keyword of JSON Schema checks it",
    is_portable=is_portable,
)


def write(contract: Contract, dialect: str = "2020-12") -> WriteResult:
    """Write a contract as one schema; several objects become alternatives of `anyOf`."""
    plain = require_objects(contract, TITLE)
    uri, definitions = DIALECTS[dialect]
    writer = Writer(plain)
    objects = [writer.object(item, index) for index, item in enumerate(plain.schema)]
    schema: dict[str, Json] = {"$schema": uri}
    if len(objects) == 1:
        schema |= objects[0]
    else:
        names = make_field_names([item.name for item in plain.schema])
        schema["anyOf"] = [{"$ref": f"#/{definitions}/{name}"} for name in names]
        schema[definitions] = dict(zip(names, objects, strict=True))
    text = write_json(schema)
    losses = find_losses(contract, read(text, contract.id).contracts, REASONS)
    return WriteResult(text, (*losses, *find_unchecked_rules(plain, UNCHECKED)))


class Writer:
    """Writes the objects of one contract."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.closed = contract.treaty.content == "closed"
        self.fields = FieldReader(contract.id, SchemaDocuments(contract.id, {}))
        self.fields.closed = self.closed
        self.fields.has_full_rules = True

    def object(self, item: SchemaObject, index: int) -> dict[str, Json]:
        node = {"title": item.name, **self.body(item)}
        shell = {**node, "properties": {}, "required": _undeclared(node)}
        native = Reader(self.contract.id, {}).part(Root(shell, ())).contract
        return node | note_entry({FULL_RULES_KEY: True, **make_object_note(self.contract, index, native)})

    def body(self, item: SchemaObject) -> dict[str, Json]:
        """Return the schema of an object, without a title and a note."""
        node: dict[str, Json] = {"description": item.description} if item.description else {}
        return _with_constructs(node | self._inside(item.fields), item.foreign)

    def _inside(self, fields: tuple[Field, ...]) -> dict[str, Json]:
        node: dict[str, Json] = {"type": "object", "properties": {one.name or "": self.field(one) for one in fields}}
        needed = [field.name for field in fields if field.is_required or field.missing_as is MissingAs.NULL]
        if needed:
            node["required"] = needed
        return node | ({"additionalProperties": False} if self.closed else {})

    def field(self, field: Field) -> dict[str, Json]:
        """Write a field; an optional field allows null unless its missing values are absent."""
        node = self._node(field)
        if not field.is_required and field.missing_as is not MissingAs.ABSENT:
            node = _with_null(node)
        required = field.is_required or field.missing_as is MissingAs.NULL
        native = self.fields.field(field.name, node, FieldPath(), required=required)
        return node | note_entry(make_note(field, native))

    def _element(self, field: Field) -> dict[str, Json]:
        """Write an array element or map value, which may be null unless it is required."""
        node = self._node(field)
        if not field.is_required:
            node = _with_null(node)
        return self._with_note(field, node)

    def _node(self, field: Field) -> dict[str, Json]:
        node = add_limits(write_keywords(field), type_limits(field))
        kind = field.type.name if field.type else "string"
        if kind == "object" and field.properties is not None:
            node |= self._inside(field.properties)
        elif kind == "array" and field.items:
            node["items"] = self._element(field.items)
        elif kind == "vector":
            node["items"] = {"type": "number"}
        elif kind == "map":
            node |= self._map(field)
        if field.business_name:
            node["title"] = field.business_name
        if field.description:
            node["description"] = field.description
        if (default := field.treaty.get("default")) is not None:
            node["default"] = thaw(default)
        if field.deprecated:
            node["deprecated"] = True
        if examples := field.more.get("examples"):
            node["examples"] = thaw(examples)
        return _with_constructs(node, field.foreign)

    def _map(self, field: Field) -> dict[str, Json]:
        node: dict[str, Json] = {
            "additionalProperties": self._element(field.map_value) if field.map_value else {"type": "string"}
        }
        if field.map_key is None:
            return node
        key = self._map_key(field.map_key)
        return node | ({"propertyNames": key} if key != {"type": "string"} else {})

    def _map_key(self, field: Field) -> dict[str, Json]:
        pattern = _KEY_PATTERNS.get(field.type.name if field.type else "string")
        node = self._node(field) if pattern is None else {"type": "string", "pattern": pattern}
        return self._with_note(replace(field, required=True), node)

    def _with_note(self, field: Field, node: dict[str, Json]) -> dict[str, Json]:
        return node | note_entry(make_note(field, self.fields.field(None, node, FieldPath())))


def _with_null(node: dict[str, Json]) -> dict[str, Json]:
    """Return a node that also accepts null."""
    types = node.get("type")
    if types is None:
        return node
    listed = types if isinstance(types, list) else [types]
    with_null = {**node, "type": [*listed, *(["null"] if "null" not in listed else [])]}
    values = node.get("enum")
    if isinstance(values, list) and None not in values:
        with_null["enum"] = [*values, None]
    return with_null


def _with_constructs(node: dict[str, Json], constructs: tuple[ForeignConstruct, ...]) -> dict[str, Json]:
    """Return the node with its foreign constructs; undeclared required names are added to the declared ones."""
    written = apply_constructs(node, [one for one in constructs if one.name != "required"])
    names = [name for one in constructs if one.name == "required" for name in json.loads(one.text)]
    return written | ({"required": [*written.get("required", []), *names]} if names else {})


def _undeclared(node: Mapping[str, Json]) -> list[str]:
    return [name for name in node.get("required", []) if name not in node["properties"]]
