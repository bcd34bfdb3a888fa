"""Contracts to Protobuf text."""

from __future__ import annotations

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.formats.assembling import with_objects
from treaty.formats.losses import lost
from treaty.formats.naming import fields_named, is_identifier
from treaty.formats.protobuf.messages import Scope, block, comment
from treaty.formats.protobuf.numbering import numbered, reserved_line
from treaty.formats.protobuf.reading import read
from treaty.formats.protobuf.tree import RESERVED
from treaty.formats.protobuf.types import IMPORTS, KEYS, KNOWN, SCALARS
from treaty.formats.results import Written

TITLE = "Protobuf"
REASONS = {
    "*": "a .proto file has no place for it",
    "required": "proto3 has no required fields",
    "field": "Protobuf has no lists of lists and no maps of lists or maps",
    "id": "a field of Protobuf is known by its number",
    "enum": "an enum of Protobuf lists identifiers, each once in its message",
    "logicalTypeOptions.timezone": "a Timestamp of Protobuf is a moment, whatever the zone",
    "logicalTypeOptions": "Protobuf has types without constraints",
    "type": "Protobuf has no such type",
    "name": "a name in Protobuf is letters, digits and underscores",
    "description": "a comment is whole lines of text",
}
_TYPES = {
    "string": "string",
    "boolean": "bool",
    "binary": "bytes",
    "date": "google.type.Date",
    "time": "google.type.TimeOfDay",
    "timestamp": "google.protobuf.Timestamp",
    "json": "google.protobuf.Struct",
    "object": "google.protobuf.Struct",
    "map": "google.protobuf.Struct",
    "array": "google.protobuf.ListValue",
    "vector": "google.protobuf.ListValue",
}
_INTEGERS = {
    **dict.fromkeys(("i8", "i16", "i32"), "int32"),
    **dict.fromkeys(("u8", "u16", "u32"), "uint32"),
    "i64": "int64",
    "u64": "uint64",
    **dict.fromkeys(("i128", "u128", "decimal"), "google.type.Decimal"),
}


def write(contract: Contract, dialect: str = "proto3") -> Written:
    """Write a contract as messages, one for each object."""
    plain = with_objects(contract, TITLE)
    text = _Writer(plain, dialect).text()
    return Written(text, lost(contract, read(text, contract.id).contracts, REASONS, settles=("id",)))


class _Writer:
    """Writes one contract; gathers the imports it needs."""

    def __init__(self, contract: Contract, dialect: str) -> None:
        self.contract = contract
        self.dialect = dialect
        self.imports: set[str] = set()

    def text(self) -> str:
        names = fields_named([item.name for item in self.contract.schema])
        messages = [self._object(item, name) for item, name in zip(self.contract.schema, names, strict=True)]
        package = self.contract.id.removesuffix(f".{names[0]}")
        head = [f'syntax = "{self.dialect}";']
        if package != self.contract.id and all(map(is_identifier, package.split("."))):
            head.append(f"package {package};")
        if self.imports:
            head.append("\n".join(f'import "{path}";' for path in sorted(self.imports)))
        return "\n\n".join([*head, *messages]) + "\n"

    def _object(self, item: SchemaObject, name: str) -> str:
        entries = {one.get("property"): one.get("value") for one in item.custom_properties or ()}
        lines = ["option deprecated = true;"] if item.more.get("deprecated") is True else []
        return comment(item.description) + self._message(name, item.fields, entries.get(RESERVED), lines)

    def _message(self, name: str, fields: tuple[Field, ...], reserved: object, lines: list[str]) -> str:
        scope = Scope(name)
        names = fields_named([field.name for field in fields])
        numbers = numbered(fields, reserved)
        body = [*lines, *reserved_line(reserved, numbers.values())]
        for index, (field, called) in enumerate(zip(fields, names, strict=True)):
            body.append(self._field(field, called, numbers[index], scope))
        return block(f"message {name}", [*body[: len(lines)], *scope.definitions, *body[len(lines) :]])

    def _field(self, field: Field, name: str, number: int, scope: Scope) -> str:
        kind = field.type.name if field.type else "string"
        label = ""
        if kind == "array" and field.physical_type != "google.protobuf.ListValue":
            written, label = self._single(field.items, name, scope), "repeated "
        elif kind == "vector":
            written, label = "float", "repeated "
        elif kind == "map" and field.map_value is not None:
            key = self._single(field.map_key, name, scope)
            written = f"map<{key if key in KEYS else 'string'}, {self._single(field.map_value, name, scope)}>"
        else:
            written = self._single(field, name, scope)
            label = "required " if field.is_required and self.dialect == "proto2" else "optional "
            label = "" if field.is_required and self.dialect == "proto3" else label
        options = " [deprecated = true]" if field.deprecated else ""
        return f"{comment(field.description)}{label}{written} {name} = {number}{options};"

    def _single(self, field: Field | None, name: str, scope: Scope) -> str:
        """Return the type of one value, defined in the message where it has to be."""
        if field is None:
            return "string"
        stated = field.type
        if field.physical_type in KNOWN or field.physical_type in SCALARS:
            known = {**KNOWN, **SCALARS}[field.physical_type or ""]
            if known.type == stated:
                return self._imported(field.physical_type or "")
        kind = stated.name if stated else "string"
        if kind == "string" and field.enum and (found := scope.enum(field, name)):
            return found
        if kind == "object" and field.properties is not None:
            return self._nested(field, name, scope)
        if stated is not None and kind in ("integer", "number"):
            fallback = "float" if stated.detail == "f32" else "double"
            whole = _INTEGERS.get(stated.detail or "i32", "int64" if kind == "integer" else fallback)
            return self._imported(whole if kind == "integer" or stated.detail == "decimal" else fallback)
        return self._imported(_TYPES.get(kind, "string"))

    def _nested(self, field: Field, name: str, scope: Scope) -> str:
        called, is_new = scope.place(field, name)
        if is_new:
            entries = {one.get("property"): one.get("value") for one in field.custom_properties or ()}
            scope.definitions.append(self._message(called, field.properties or (), entries.get(RESERVED), []))
        return called

    def _imported(self, kind: str) -> str:
        if kind in IMPORTS:
            self.imports.add(IMPORTS[kind])
        return kind
