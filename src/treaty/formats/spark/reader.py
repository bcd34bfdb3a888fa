"""Read a contract from a StructType in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.text import read_json
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import FrozenMap, Json, abbreviate, freeze
from treaty.errors import InvalidDocument
from treaty.formats.flat_terms import as_mapping
from treaty.formats.naming import name_from_path
from treaty.formats.notes import NOTE_KEY, apply_note, make_contract, validate_contracts
from treaty.formats.results import Loss, ReadResult

ENDINGS = (".struct.json", ".schema.json", ".json")
_SCALARS: dict[str, Field] = {
    "string": Field(logical_type="string"),
    "boolean": Field(logical_type="boolean"),
    "byte": Field(logical_type="integer", options=FrozenMap({"format": "i8"})),
    "short": Field(logical_type="integer", options=FrozenMap({"format": "i16"})),
    "integer": Field(logical_type="integer"),
    "long": Field(logical_type="integer", options=FrozenMap({"format": "i64"})),
    "float": Field(logical_type="number", options=FrozenMap({"format": "f32"})),
    "double": Field(logical_type="number"),
    "date": Field(logical_type="date"),
    "timestamp": Field(logical_type="timestamp"),
    "timestamp_ntz": Field(logical_type="timestamp", options=FrozenMap({"timezone": False})),
    "binary": Field(physical_type="binary"),
    "variant": Field(logical_type="object", physical_type="variant"),
}
_CHAR_TYPE_KEY = "__CHAR_VARCHAR_TYPE_STRING"


def read(text: str, name: str) -> ReadResult:
    """Read a StructType as a contract with the name of its file."""
    data = read_json(text, name).data
    reader = Reader(name)
    object_name = name_from_path(name, ENDINGS)
    item = SchemaObject(object_name, properties=reader.fields(data, FieldPath()))
    return ReadResult(validate_contracts([make_contract(object_name, item)], name), tuple(reader.losses))


class Reader:
    """Reads the fields of one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.losses: list[Loss] = []

    def fields(self, struct: Json, path: FieldPath) -> tuple[Field, ...]:
        fields = struct.get("fields") if isinstance(struct, Mapping) and struct.get("type") == "struct" else None
        if not isinstance(fields, list):
            raise self._refuse("this is not a StructType: 'type': 'struct' with 'fields' is missing")
        return tuple(self.field(one, path) for one in fields)

    def field(self, data: Json, parent: FieldPath) -> Field:
        if not isinstance(data, Mapping) or not isinstance(data.get("name"), str) or "type" not in data:
            raise self._refuse(f"{abbreviate(data)!r} is not a StructField: its name or type is missing")
        path = parent.field(data["name"])
        metadata = as_mapping(data.get("metadata"))
        kind = self.type(data["type"], path)
        stored = metadata.get(_CHAR_TYPE_KEY)
        own = [(key, value) for key, value in metadata.items() if key not in ("comment", NOTE_KEY, _CHAR_TYPE_KEY)]
        native = replace(
            kind,
            name=data["name"],
            physical_type=stored if isinstance(stored, str) else kind.physical_type,
            required=True if data.get("nullable") is False else None,
            description=metadata.get("comment") or None,
            custom_properties=tuple(FrozenMap({"property": key, "value": freeze(value)}) for key, value in own) or None,
        )
        return apply_note(native, self._note(metadata, path), self.source, str(path))

    def type(self, kind: Json, path: FieldPath) -> Field:
        if isinstance(kind, str):
            return _scalar(kind)
        match kind.get("type") if isinstance(kind, Mapping) else None:
            case "struct":
                return Field(logical_type="object", properties=self.fields(kind, path))
            case "array":
                element = self.type(kind.get("elementType"), path.into(ITEMS))
                return Field(logical_type="array", items=_element(element, kind.get("containsNull")))
            case "map":
                value = self.type(kind.get("valueType"), path.into(MAP_VALUES))
                return Field(
                    logical_type="map",
                    map_key=self.type(kind.get("keyType"), path.into(MAP_KEYS)),
                    map_value=_element(value, kind.get("valueContainsNull")),
                )
            case "udt":
                self.losses.append(
                    Loss(str(path), f"the class {kind.get('class')}", "a contract states what is stored")
                )
                return self.type(kind.get("sqlType"), path)
            case _:
                raise self._refuse(f"{abbreviate(kind)!r} at {path} is not a Spark type")

    def _note(self, metadata: Mapping[str, Any], path: FieldPath) -> Json:
        """Read the note. It is JSON text, because Spark's metadata has no lists of mixed types."""
        note = metadata.get(NOTE_KEY)
        try:
            return json.loads(note) if isinstance(note, str) else note
        except ValueError:
            raise self._refuse(f"the note {NOTE_KEY!r} at {path} is not JSON") from None

    def _refuse(self, message: str) -> InvalidDocument:
        return invalid_document(message, Place(self.source), "use the output of df.schema.json()")


def _element(field: Field, contains_null: Json) -> Field:
    return replace(field, required=True) if contains_null is False else field


def _scalar(kind: str) -> Field:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind.startswith("decimal"):
        digits = kind if "(" in kind else "decimal(10,0)"
        is_integer = digits.replace(" ", "").endswith(",0)")
        return Field(logical_type="integer" if is_integer else "number", physical_type=digits)
    if kind.startswith(("char(", "varchar(")):
        return Field(logical_type="string", physical_type=kind)
    return Field(physical_type=kind)
