"""Read contracts from Avro schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_VALUES, FieldPath
from treaty.contracts.text.json_reader import read as read_json_text
from treaty.contracts.text.limits import Limits, invalid_document
from treaty.contracts.values import FrozenMap, Json, abbreviate, freeze
from treaty.errors import InvalidDocument
from treaty.formats.avro.types import BINARY, LOGICAL, PRIMITIVES, NamedType, collect_named_types, default_type_name
from treaty.formats.notes import NOTE_KEY, SchemaPart, apply_note, assemble_contracts, make_contract
from treaty.formats.results import Loss, ReadResult

_FIELD_KEYS = frozenset({"name", "type", "doc", "default", "aliases", "order", NOTE_KEY})
_RECORD_KEYS = frozenset({"name", "namespace", "type", "doc", "fields", "aliases", NOTE_KEY})


def read(text: str, name: str) -> ReadResult:
    """Read every record that is not part of another record in the file."""
    data, _ = read_json_text(text, name, Limits())
    reader = Reader(name, data)
    parts = [reader.part(root) for root in reader.roots]
    return ReadResult(assemble_contracts(parts, name), tuple(reader.losses))


class Reader:
    """Reads one file and resolves its named types."""

    def __init__(self, source: str, data: Json = None) -> None:
        self.source = source
        self.home = ""
        self.losses: list[Loss] = []
        self._inside: list[str] = []
        self._types, used = collect_named_types(data, self.refuse)
        records = [named for named in self._types.values() if named.schema.get("type") in ("record", "error")]
        top = data if isinstance(data, list) else [data]
        self.roots = [one for one in records if any(one.schema is schema for schema in top) and one.name not in used]
        if data is not None and not self.roots:
            raise self._no_root(records)

    def part(self, root: NamedType) -> SchemaPart:
        """Read a record as a contract."""
        schema, short = root.schema, root.name.rpartition(".")[2]
        self._inside, self.home = [root.name], root.name.rpartition(".")[0]
        path = FieldPath(object=short if len(self.roots) > 1 else None)
        aliases = self._aliases(schema, str(path))
        item = SchemaObject(
            short,
            id=aliases[0].rpartition(".")[2] if aliases else None,
            description=read_doc(schema),
            properties=self._fields(schema, root, path),
            custom_properties=read_custom_attributes(schema, _RECORD_KEYS),
        )
        return SchemaPart(make_contract(root.name, item), schema.get(NOTE_KEY))

    def register(self, name: str, schema: Mapping[str, Any]) -> None:
        """Register a named type that is defined elsewhere, so that schemas can refer to it."""
        self._types[name] = NamedType(name, schema)

    def contract(self, schema: Mapping[str, Any]) -> Contract:
        """Read a single record without its note."""
        alone = Reader(self.source, schema)
        return alone.part(alone.roots[0]).contract

    def field(self, schema: Json, path: FieldPath, parent: str) -> Field:
        """Read one field of a record."""
        if not isinstance(schema, Mapping) or not isinstance(schema.get("name"), str) or "type" not in schema:
            raise self.refuse(f"{abbreviate(schema)!r} is not a field of {parent!r}", "a field has a name and a type")
        path = path.field(schema["name"])
        kind, nullable = self._nullable(schema["type"], path, default_type_name(parent, schema["name"]))
        aliases = self._aliases(schema, str(path))
        if schema.get("order", "ascending") != "ascending":
            self._add_loss(path, f"order {abbreviate(schema['order'])}", "a contract does not state a sort order")
        default = schema.get("default")
        entries = [FrozenMap({"property": "default", "value": default})] if default is not None else []
        native = replace(
            kind,
            name=schema["name"],
            id=aliases[0] if aliases else None,
            required=None if nullable else True,
            description=read_doc(schema),
            custom_properties=(*entries, *(read_custom_attributes(schema, _FIELD_KEYS) or ())) or None,
        )
        return apply_note(native, schema.get(NOTE_KEY), self.source, str(path))

    def element(self, schema: Json, path: FieldPath, name: str) -> Field:
        """Read the type of elements or map values."""
        kind, nullable = self._nullable(schema, path, name)
        if nullable:
            self._add_loss(path, "null elements", "a contract cannot declare elements as nullable")
        note = next((one.get(NOTE_KEY) for one in union_branches(schema) if isinstance(one, Mapping)), None)
        return apply_note(kind, note, self.source, str(path))

    def refuse(self, message: str, hint: str) -> InvalidDocument:
        """Return the error for an invalid Avro schema."""
        return invalid_document(message, Place(self.source), hint)

    def _fields(self, schema: Mapping[str, Any], named: NamedType, path: FieldPath) -> tuple[Field, ...]:
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise self.refuse(f"record {named.name!r} has no list of fields", "add 'fields'")
        return tuple(self.field(field, path, named.name) for field in fields)

    def _nullable(self, schema: Json, path: FieldPath, name: str) -> tuple[Field, bool]:
        """Read a type, and whether its union includes null."""
        if not isinstance(schema, list):
            return self._type(schema, path, name), schema == "null"
        others = [one for one in schema if one != "null"]
        if len(others) == 1:
            return self._type(others[0], path, name), len(others) < len(schema)
        branches = ",".join(map(branch_name, others))
        self._add_loss(path, f"the union of {branches}", "a field in a contract has one type")
        return Field(physical_type=f"union<{branches}>"), len(others) < len(schema)

    def _type(self, schema: Json, path: FieldPath, name: str) -> Field:
        if isinstance(schema, str):
            return self._by_name(schema, path, name)
        if isinstance(schema, list):
            return self._nullable(schema, path, name)[0]
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        match kind:
            case "record" | "error" | "enum" | "fixed":
                return self._named(NamedType.of(schema), path, name)
            case "array":
                return Field(logical_type="array", items=self.element(schema.get("items"), path.into(ITEMS), name))
            case "map":
                value = self.element(schema.get("values"), path.into(MAP_VALUES), name)
                return Field(logical_type="map", map_key=Field(logical_type="string"), map_value=value)
            case str() | list() | dict():
                return read_logical_type(schema) or self._type(kind, path, name)
            case _:
                raise self.refuse(f"{abbreviate(schema)!r} at {path} is not an Avro type", "see the Avro specification")

    def _by_name(self, name: str, path: FieldPath, default: str) -> Field:
        if name in PRIMITIVES:
            return PRIMITIVES[name]
        if name == "null":
            self._add_loss(path, "the type null", "a field in a contract has values")
            return Field(physical_type="null")
        near = self._inside[-1].rpartition(".")[0] if self._inside else self.home
        named = self._types.get(f"{near}.{name}") or self._types.get(name)
        if named is None:
            known = ", ".join(self._types) or "none"
            raise self.refuse(f"unknown type {name!r} at {path}", f"define it in the same file; it defines: {known}")
        return self._named(named, path, default)

    def _named(self, named: NamedType, path: FieldPath, default: str) -> Field:
        schema = named.schema
        named = next((one for one in self._types.values() if one.schema is schema), named)
        name = named.short if named.name.rpartition(".")[0] == self.home else named.name
        stored = None if name == default else f"{schema['type']} {name}"
        if schema["type"] == "fixed":
            return self._fixed(schema, path)
        if schema["type"] == "enum":
            return self._enum(schema, path, stored)
        if named.name in self._inside:
            raise self.refuse(
                f"record {named.name!r} contains itself at {path}",
                "contracts cannot describe recursive types; refer to the other object by its key",
            )
        self._inside.append(named.name)
        field = Field(logical_type="object", physical_type=stored, properties=self._fields(schema, named, path))
        self._inside.pop()
        return field

    def _enum(self, schema: Mapping[str, Any], path: FieldPath, stored: str | None) -> Field:
        symbols = schema.get("symbols")
        if not isinstance(symbols, list) or not symbols:
            raise self.refuse(f"the enum at {path} has no symbols", "add 'symbols'")
        if schema.get("default") is not None:
            self._add_loss(
                path,
                f"the default symbol {abbreviate(schema['default'])}",
                "contracts have no default for unknown values",
            )
        values = tuple(FrozenMap({"value": symbol}) for symbol in symbols)
        return Field(logical_type="string", physical_type=stored, enum=values)

    def _fixed(self, schema: Mapping[str, Any], path: FieldPath) -> Field:
        decimal = read_logical_type({**schema, "type": "bytes"})
        if schema.get("logicalType") == "duration":
            self._add_loss(path, "months, days and milliseconds of the duration", "contracts have no duration type")
            return Field(physical_type="duration")
        if decimal is None and schema.get("logicalType") == "uuid":
            return LOGICAL["string", "uuid"]
        self._add_loss(
            path,
            f"the fixed type {schema.get('name')} of {schema.get('size')} bytes",
            "a contract does not state storage sizes",
        )
        return decimal or BINARY

    def _aliases(self, schema: Mapping[str, Any], path: str) -> list[str]:
        aliases = schema.get("aliases") or []
        if not isinstance(aliases, list) or not all(isinstance(one, str) for one in aliases):
            raise self.refuse(
                f"the aliases of {schema.get('name')!r} are {abbreviate(aliases)!r}", "write a list of names"
            )
        if len(aliases) > 1:
            self.losses.append(Loss(path, f"the aliases {', '.join(aliases[1:])}", "a field has one stable id"))
        return aliases

    def _add_loss(self, path: FieldPath, what: str, why: str) -> None:
        self.losses.append(Loss(str(path), what, why))

    def _no_root(self, records: list[NamedType]) -> InvalidDocument:
        if records:
            return self.refuse(
                f"every record is part of another: {', '.join(one.name for one in records)}",
                "contracts cannot describe recursive types",
            )
        return self.refuse(
            "the schema defines no record; a contract describes rows or events", 'wrap it: {"type": "record", …}'
        )


def read_logical_type(schema: Mapping[str, Any]) -> Field | None:
    """Read a primitive with a logical type; as in Avro, an unknown logical type is ignored."""
    kind, logical = schema.get("type"), schema.get("logicalType")
    if kind == "bytes" and logical == "decimal" and isinstance(schema.get("precision"), int):
        return Field(logical_type="number", physical_type=f"decimal({schema['precision']},{schema.get('scale') or 0})")
    return LOGICAL.get((kind, logical)) if isinstance(kind, str) and isinstance(logical, str) else None


def union_branches(schema: Json) -> Iterator[Json]:
    """Yield the branches of a union, or the single type."""
    yield from schema if isinstance(schema, list) else (schema,)


def branch_name(schema: Json) -> str:
    """Return the name of a branch of a union."""
    if not isinstance(schema, Mapping):
        return str(schema)
    return str(schema.get("name") or schema.get("logicalType") or schema.get("type"))


def read_doc(schema: Mapping[str, Any]) -> str | None:
    """Return the documentation of a record or field; None if it is empty."""
    doc = schema.get("doc")
    return doc if isinstance(doc, str) and doc else None


def read_custom_attributes(schema: Mapping[str, Any], known: frozenset[str]) -> tuple[FrozenMap, ...] | None:
    """Return attributes that Avro does not define as custom properties."""
    entries = (
        FrozenMap({"property": key, "value": freeze(value)}) for key, value in schema.items() if key not in known
    )
    return tuple(entries) or None
