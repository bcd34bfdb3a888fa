"""Read contracts from Avro schemas.

What Avro states beyond the contract model is kept in two ways. If it decides which data a reader can resolve (the names
of types, the sizes of `fixed` types), it is a foreign construct. If it does not (sort order, further aliases, the
default symbol of an enum), it is a custom property whose name starts with `avro.`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.contracts.findings import Place
from treaty.contracts.foreign import ForeignConstruct, add_constructs
from treaty.contracts.model import UNION, Contract, Field, SchemaObject
from treaty.contracts.paths import ITEMS, MAP_VALUES, FieldPath
from treaty.contracts.text.limits import invalid_document
from treaty.contracts.values import FrozenMap, Json, abbreviate, freeze
from treaty.errors import InvalidDocument
from treaty.formats.avro.named_types import (
    RECORD_KINDS,
    NamedType,
    NamedTypes,
    default_type_name,
    looks_like_type_in_other_file,
    read_schema_text,
)
from treaty.formats.avro.types import (
    ALIASES_PROPERTY,
    BINARY,
    DEFAULT_PROPERTY,
    ENUM_DEFAULT_PROPERTY,
    FIXED_SIZE,
    FORMAT_NAME,
    LOGICAL,
    NAMED_TYPE,
    NULL_PROPERTY,
    ORDER_PROPERTY,
    PRIMITIVES,
    TYPE_ALIASES_PROPERTY,
    make_properties,
)
from treaty.formats.nearby_files import NO_FILES, NearbyFiles
from treaty.formats.notes import NOTE_KEY, SchemaPart, apply_note, assemble_contracts, make_contract
from treaty.formats.results import Loss, ReadResult, no_contract

_FIELD_KEYS = frozenset({"name", "type", "doc", "default", "aliases", "order", NOTE_KEY})
_RECORD_KEYS = frozenset({"name", "namespace", "type", "doc", "fields", "aliases", NOTE_KEY})
_TYPE_KEYS = _RECORD_KEYS | {"logicalType", "precision", "scale", "symbols", "default", "size", "items", "values"}
MAX_FIELDS = 50_000
"""How many fields a contract may have after references are replaced by what they refer to."""


def read(text: str, name: str, files: NearbyFiles = NO_FILES) -> ReadResult:
    """Read every record that is not part of another record in the file."""
    data = read_schema_text(text, name)
    reader = Reader(name, data, files)
    parts = [reader.part(root) for root in reader.roots]
    contracts = assemble_contracts(parts, name)
    return ReadResult(_with_constructs(contracts, read_outer_constructs(data)), tuple(reader.losses))


class Reader:
    """Reads one file and resolves its named types."""

    def __init__(self, source: str, data: Json = None, files: NearbyFiles = NO_FILES) -> None:
        self.source = source
        self.home = ""
        self.losses: list[Loss] = []
        self._inside: list[str] = []
        self._unfinished: set[str] = set()
        self._field_count = 0
        self._omits_default_names = True
        self._types = NamedTypes(data, self.refuse, files)
        self.roots = self._types.root_records()
        if data is not None and not self.roots:
            kinds = ", ".join(sorted({f"{one.kind} {one.name}" for one in self._types})) or abbreviate(data)
            message = f"the schema defines no record, only {kinds}; a contract describes rows or events"
            raise no_contract(message, source, 'wrap it: {"type": "record", …}')

    def part(self, root: NamedType) -> SchemaPart:
        """Read a record as a contract."""
        schema = root.schema
        self._inside, self.home, self._field_count = [root.name], root.namespace, 0
        self._omits_default_names = NOTE_KEY in schema
        path = FieldPath(object=root.short if len(self.roots) > 1 else None)
        aliases = self._aliases(schema)
        custom = make_properties({ALIASES_PROPERTY: aliases[1:] or None}) + read_attributes(schema, _RECORD_KEYS)
        kind = [ForeignConstruct(FORMAT_NAME, NAMED_TYPE, root.kind)] if root.kind != "record" else []
        item = SchemaObject(
            root.short,
            id=aliases[0].rpartition(".")[2] if aliases else None,
            description=read_doc(schema),
            properties=self._fields(schema, root, path),
            custom_properties=add_constructs(custom or None, kind),
        )
        return SchemaPart(make_contract(root.name, item), schema.get(NOTE_KEY))

    def register(self, name: str, schema: Mapping[str, Any]) -> None:
        """Register a named type that is defined elsewhere, so that schemas can refer to it."""
        self._types.register(name, schema)
        self._unfinished.discard(name)

    def begin(self, name: str, schema: Mapping[str, Any]) -> None:
        """Register a record whose fields are still being written, so that they can refer to it."""
        self._types.register(name, schema)
        self._unfinished.add(name)

    def contract(self, schema: Mapping[str, Any]) -> Contract:
        """Read a single record without its note."""
        alone = Reader(self.source, schema)
        return alone.part(alone.roots[0]).contract

    def field(self, schema: Json, path: FieldPath, parent: str) -> Field:
        """Read one field of a record."""
        if not isinstance(schema, Mapping) or not isinstance(schema.get("name"), str) or "type" not in schema:
            raise self.refuse(f"{abbreviate(schema)!r} is not a field of {parent!r}", "a field has a name and a type")
        self._field_count += 1
        if self._field_count > MAX_FIELDS:
            raise self.refuse(f"the record has more than {MAX_FIELDS:,} fields, counting nested ones", "split it")
        path = path.field(schema["name"])
        kind, nullable = self._nullable(schema["type"], path, default_type_name(parent, schema["name"]))
        aliases = self._aliases(schema)
        custom = make_properties(
            {
                "default": schema.get("default"),
                DEFAULT_PROPERTY: "none" if nullable and "default" not in schema else None,
                NULL_PROPERTY: "last" if _has_null_last(schema) else None,
                ORDER_PROPERTY: order if (order := schema.get("order", "ascending")) != "ascending" else None,
                ALIASES_PROPERTY: aliases[1:] or None,
            }
        )
        native = replace(
            kind,
            name=schema["name"],
            id=aliases[0] if aliases else None,
            required=None if nullable else True,
            description=read_doc(schema) or kind.description,
            custom_properties=(*custom, *read_attributes(schema, _FIELD_KEYS), *(kind.custom_properties or ())) or None,
        )
        return apply_note(native, schema.get(NOTE_KEY), self.source, str(path))

    def element(self, schema: Json, path: FieldPath, name: str) -> Field:
        """Read the type of elements or map values; they are required unless the type is a union with null."""
        kind, nullable = self._nullable(schema, path, name)
        native = replace(kind, required=None if nullable else True)
        types = [one for one in union_branches(schema) if one != "null"]
        note = types[0].get(NOTE_KEY) if len(types) == 1 and isinstance(types[0], Mapping) else None
        return apply_note(native, note, self.source, str(path))

    def branch(self, schema: Json, name: str) -> Field:
        """Read one branch of a union."""
        return replace(self._type(schema, FieldPath(), ""), name=name)

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
        return self._union(others, path), len(others) < len(schema)

    def _union(self, branches: Sequence[Json], path: FieldPath) -> Field:
        """Read a union as an object with one optional field for each branch, named as in Avro's JSON encoding."""
        tags = name_branches(branches)
        if len(set(tags)) < len(tags):
            raise self.refuse(f"the union at {path} has two branches of the same type", "remove one of them")
        fields = []
        for tag, branch in zip(tags, branches, strict=True):
            if isinstance(branch, list):
                raise self.refuse(f"the union at {path} contains a union", "write one union with all branches")
            field = replace(self._type(branch, path.field(tag), ""), name=tag)
            note = branch.get(NOTE_KEY) if isinstance(branch, Mapping) else None
            fields.append(apply_note(field, note, self.source, str(path.field(tag))))
        return Field(logical_type="object", physical_type=UNION, properties=tuple(fields))

    def _type(self, schema: Json, path: FieldPath, name: str) -> Field:
        if isinstance(schema, str):
            return self._by_name(schema, path, name)
        if isinstance(schema, list):
            return self._nullable(schema, path, name)[0]
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        match kind:
            case "record" | "error" | "enum" | "fixed":
                near = self._inside[-1].rpartition(".")[0] if self._inside else self.home
                return self._named(self._types.of_schema(schema, near), path, name)
            case "array":
                field = Field(logical_type="array", items=self.element(schema.get("items"), path.into(ITEMS), name))
            case "map":
                value = self.element(schema.get("values"), path.into(MAP_VALUES), name)
                field = Field(logical_type="map", map_key=Field(logical_type="string"), map_value=value)
            case str() | list() | dict():
                known = read_logical_type(schema)
                field = known or self._type(kind, path, name)
                if known is None and isinstance(schema.get("logicalType"), str):
                    field = _add_properties(field, make_properties({"avro.logicalType": schema["logicalType"]}))
            case _:
                raise self.refuse(f"{abbreviate(schema)!r} at {path} is not an Avro type", "see the Avro specification")
        return _add_properties(field, read_attributes(schema, _TYPE_KEYS))

    def _by_name(self, name: str, path: FieldPath, default: str) -> Field:
        if name in PRIMITIVES:
            return PRIMITIVES[name]
        if name == "null":
            return Field(physical_type="null")
        near = self._inside[-1].rpartition(".")[0] if self._inside else self.home
        named = self._types.find(name, near)
        if named is not None:
            return self._named(named, path, default)
        if looks_like_type_in_other_file(name):
            self.losses.append(Loss(str(path), f"the definition of {name}", "it is in a file that was not found"))
            return Field(custom_properties=add_constructs(None, [_named_type(name)]))
        known = ", ".join(one.name for one in self._types) or "none"
        raise self.refuse(f"unknown type {name!r} at {path}", f"define it in the same file; it defines: {known}")

    def _named(self, named: NamedType, path: FieldPath, default: str) -> Field:
        name = named.short if named.namespace == self.home else named.name
        is_default = self._omits_default_names and name == default
        construct = _named_type(f"{named.kind} {name}")
        schema = named.schema
        if (
            named.name in self._inside or named.name in self._unfinished
        ):  # a recursive type is kept as a reference by name
            return Field(logical_type="object", custom_properties=add_constructs(None, [construct]))
        if named.kind in RECORD_KINDS:
            self._inside.append(named.name)
            field = Field(logical_type="object", properties=self._fields(schema, named, path))
            self._inside.pop()
        else:
            field = self._enum(schema, path) if named.kind == "enum" else self._fixed(schema, path)
        aliases = self._aliases(schema)
        custom = make_properties({TYPE_ALIASES_PROPERTY: aliases or None}) + read_attributes(schema, _TYPE_KEYS)
        field = replace(_add_properties(field, custom), description=read_doc(schema))
        constructs = [] if is_default else [construct]
        return replace(field, custom_properties=add_constructs(field.custom_properties, constructs))

    def _enum(self, schema: Mapping[str, Any], path: FieldPath) -> Field:
        symbols = schema.get("symbols")
        if not isinstance(symbols, list) or not symbols:
            raise self.refuse(f"the enum at {path} has no symbols", "add 'symbols'")
        values = tuple(FrozenMap({"value": symbol}) for symbol in symbols)
        custom = make_properties({ENUM_DEFAULT_PROPERTY: schema.get("default")})
        return Field(logical_type="string", enum=values, custom_properties=custom or None)

    def _fixed(self, schema: Mapping[str, Any], path: FieldPath) -> Field:
        size = schema.get("size")
        if not isinstance(size, int) or isinstance(size, bool):
            raise self.refuse(f"the fixed type at {path} has no size", "add 'size', a number of bytes")
        logical = schema.get("logicalType")
        kind = read_logical_type({**schema, "type": "bytes"}) or BINARY
        if logical == "uuid":
            kind = LOGICAL["string", "uuid"]
        elif logical == "duration":
            kind = Field(physical_type="duration")
        return replace(
            kind, custom_properties=add_constructs(None, [ForeignConstruct(FORMAT_NAME, FIXED_SIZE, str(size))])
        )

    def _aliases(self, schema: Mapping[str, Any]) -> list[str]:
        aliases = schema.get("aliases") or []
        if not isinstance(aliases, list) or not all(isinstance(one, str) for one in aliases):
            raise self.refuse(
                f"the aliases of {schema.get('name')!r} are {abbreviate(aliases)!r}", "write a list of names"
            )
        return aliases


def read_logical_type(schema: Mapping[str, Any]) -> Field | None:
    """Read a primitive with a logical type; as in Avro, an unknown logical type is ignored."""
    kind, logical = schema.get("type"), schema.get("logicalType")
    if kind == "bytes" and logical == "decimal" and isinstance(schema.get("precision"), int):
        return Field(logical_type="number", physical_type=f"decimal({schema['precision']},{schema.get('scale') or 0})")
    return LOGICAL.get((kind, logical)) if isinstance(kind, str) and isinstance(logical, str) else None


def read_outer_constructs(data: Json) -> list[ForeignConstruct]:
    """Return what a file states around its records: the array or map they are in, the calls of a protocol."""
    if not isinstance(data, Mapping):
        return []
    if data.get("type") in ("array", "map"):
        return [ForeignConstruct(FORMAT_NAME, "top level", str(data["type"]))]
    messages = data.get("messages") if "protocol" in data else None
    if not isinstance(messages, Mapping):
        return []
    return [ForeignConstruct.of(FORMAT_NAME, f"message {name}", message) for name, message in messages.items()]


def _with_constructs(contracts: tuple[Contract, ...], constructs: list[ForeignConstruct]) -> tuple[Contract, ...]:
    return tuple(replace(one, custom_properties=add_constructs(one.custom_properties, constructs)) for one in contracts)


def union_branches(schema: Json) -> Iterator[Json]:
    """Yield the branches of a union, or the single type."""
    yield from schema if isinstance(schema, list) else (schema,)


def name_branches(branches: Sequence[Json]) -> list[str]:
    """Return the names of the branches of a union; named types without their namespace if that is unambiguous."""
    full = [_branch_name(one) for one in branches]
    short = [name.rpartition(".")[2] for name in full]
    return [name if short.count(tag) > 1 else tag for name, tag in zip(full, short, strict=True)]


def _branch_name(schema: Json) -> str:
    if not isinstance(schema, Mapping):
        return str(schema)
    if not isinstance(schema.get("name"), str):
        return _branch_name(schema.get("type"))
    namespace = schema.get("namespace")
    return f"{namespace}.{schema['name']}" if namespace and "." not in schema["name"] else schema["name"]


def read_doc(schema: Mapping[str, Any]) -> str | None:
    """Return the documentation of a record or field; None if it is empty."""
    doc = schema.get("doc")
    return doc if isinstance(doc, str) and doc else None


def read_attributes(schema: Mapping[str, Any], known: frozenset[str]) -> tuple[FrozenMap, ...]:
    """Return attributes that Avro does not define as custom properties."""
    return tuple(
        FrozenMap({"property": key, "value": freeze(value)}) for key, value in schema.items() if key not in known
    )


def _add_properties(field: Field, custom: tuple[FrozenMap, ...]) -> Field:
    return replace(field, custom_properties=(*custom, *(field.custom_properties or ())) or None) if custom else field


def _named_type(text: str) -> ForeignConstruct:
    return ForeignConstruct(FORMAT_NAME, NAMED_TYPE, text)


def _has_null_last(schema: Mapping[str, Any]) -> bool:
    """Whether null is not the first branch, although the default is none or null."""
    kind = schema["type"]
    return isinstance(kind, list) and "null" in kind[1:] and schema.get("default") is None
