"""Write contracts as Avro schemas."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.text.writer import write_json
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY, FrozenMap, Json, thaw
from treaty.formats.avro.named_types import default_type_name
from treaty.formats.avro.reader import Reader, name_branches, read
from treaty.formats.avro.types import (
    ALIASES_PROPERTY,
    DEFAULT_DECIMAL,
    DEFAULT_PROPERTY,
    ENUM_DEFAULT_PROPERTY,
    FIXED_SIZE,
    FORMAT_NAME,
    INTEGERS,
    LOGICAL,
    NAMED_TYPE,
    NULL_PROPERTY,
    ORDER_PROPERTY,
    TYPE_ALIASES_PROPERTY,
    WIDE_INTEGER_DIGITS,
)
from treaty.formats.losses import find_losses
from treaty.formats.naming import is_identifier, make_field_names, make_identifier
from treaty.formats.notes import NOTE_KEY, make_note, make_object_note, note_entry, require_objects
from treaty.formats.results import Loss, WriteResult

TITLE = "Avro"
REASONS = {"*": "Avro cannot express it"}
UNCHECKED_REASONS = {"*": "kept as a note, which Avro does not check", "type": "kept as a note; Avro has no such type"}
RULE_WORDS = frozenset(
    {
        *("type", "enum", "required", "unique", "primaryKey", "quality", "relationships", "content"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
        *("json_schema", "json-schema", "protobuf"),
    }
)
"""First words of losses that are rules for data; others are descriptions, owners, units and the like."""


def write(contract: Contract) -> WriteResult:
    """Write a contract as one record, or as a list of records if it has several objects."""
    plain = require_objects(contract, TITLE)
    records = _Writer(plain).records()
    text = write_json(records[0] if len(records) == 1 else records)
    losses = find_losses(contract, read(text, contract.id).contracts, REASONS)
    return WriteResult(text, (*losses, *find_carried_rules(contract, records)))


def find_carried_rules(contract: Contract, records: list[dict[str, Json]]) -> Iterator[Loss]:
    """Yield the rules that only the notes carry: Avro accepts data that violate them."""
    bare = write_json([strip_notes(record) for record in records])
    for loss in find_losses(contract, read(bare, contract.id).contracts, UNCHECKED_REASONS):
        if loss.what.partition(" ")[0] in RULE_WORDS:
            yield replace(loss, is_carried=True)


def strip_notes(node: Json) -> Json:
    """Return a schema without its notes."""
    if isinstance(node, list):
        return [strip_notes(one) for one in node]
    if isinstance(node, dict):
        return {key: strip_notes(value) for key, value in node.items() if key != NOTE_KEY}
    return node


class _Writer:
    """Writes one contract and defines each named type once."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.reader = Reader(contract.id)
        self.names = make_field_names([item.name for item in contract.schema])
        self.definitions = TypeDefinitions(self.names)

    def records(self) -> list[dict[str, Json]]:
        return [self._record(item, index) for index, item in enumerate(self.contract.schema)]

    def _record(self, item: SchemaObject, index: int) -> dict[str, Json]:
        name = self.names[index]
        namespace = self.contract.id.removesuffix(f".{name}")
        record: dict[str, Json] = {"type": "record", "name": name}
        if namespace != self.contract.id and all(map(is_identifier, namespace.split("."))):
            record["namespace"] = namespace
        if item.description:
            record["doc"] = item.description
        aliases = list_aliases(item, self.names)
        if aliases:
            record["aliases"] = aliases
        self.reader.home = record.get("namespace", "")
        self.definitions.enter(self.reader.home)
        self.reader.begin(self.definitions.full(name), record)
        record["fields"] = self._fields(item.fields, name)
        native = self.reader.contract({**record, "fields": []})
        note = make_object_note(self.contract, index, native)
        return record | ({NOTE_KEY: note} if note or self.definitions.has_default_names else {})

    def _fields(self, fields: tuple[Field, ...], parent: str) -> list[Json]:
        names = make_field_names([field.name for field in fields])
        return [self._field(field, name, parent, names) for field, name in zip(fields, names, strict=True)]

    def _field(self, field: Field, name: str, parent: str, siblings: list[str]) -> dict[str, Json]:
        kind = self._type(field, default_type_name(parent, name))
        node: dict[str, Json] = {"name": name, "type": kind}
        default, custom = thaw(field.treaty.get("default")), custom_values(field)
        if is_valid_default(default, kind):
            node |= {"type": kind if field.is_required else add_null(kind, last=True), "default": default}
        elif not field.is_required:
            node["type"] = add_null(kind, last=custom.get(NULL_PROPERTY) == "last")
            node |= {} if custom.get(DEFAULT_PROPERTY) == "none" else {"default": None}
        if field.description:
            node["doc"] = field.description
        if aliases := list_aliases(field, siblings):
            node["aliases"] = aliases
        if custom.get(ORDER_PROPERTY) in ("descending", "ignore"):
            node["order"] = custom[ORDER_PROPERTY]
        return node | note_entry(make_note(field, self.reader.field(node, FieldPath(), parent)))

    def _element(self, field: Field | None, name: str) -> Json:
        """Write the type of elements or map values; the note goes inside the type."""
        if field is None:
            return "string"
        kind = self._type(field, name)
        written = kind if field.is_required else add_null(kind)
        note = make_note(replace(field, name=None), self.reader.element(written, FieldPath(), name))
        if not note or isinstance(kind, list):
            return written
        kind = add_note(kind, note)
        return kind if field.is_required else add_null(kind)

    def _type(self, field: Field, name: str) -> Json:
        kind = field.type.name if field.type else "string"
        size = find_construct(field, FIXED_SIZE)
        if size is not None and size.isdecimal() and len(size) < 10:
            return self._named(field, name, {"type": "fixed", "size": int(size), **fixed_logical_type(field)})
        if field.enum and kind == "string" and are_symbols(field.enum):
            return self._named(field, name, {"type": "enum", "symbols": [item["value"] for item in field.enum]})
        match kind:
            case "object" if field.is_union and (branches := self._union(field)) is not None:
                return branches
            case "object" if field.properties is not None:
                return self._named(field, name, {"type": "record"})
            case "object" if (reference := self.definitions.find_reference(field)) is not None:
                return reference
            case "array":
                return {"type": "array", "items": self._element(field.items, name)}
            case "map":
                return {"type": "map", "values": self._element(field.map_value, name)}
            case _:
                return scalar_type(field)

    def _union(self, field: Field) -> list[Json] | None:
        """Write an object with one field for each branch as a union; None if it is not one."""
        children = field.properties or ()
        if any(child.is_required or child.is_union or child.type is None for child in children):
            return None
        branches: list[Json] = []
        for child in children:
            kind = self._type(child, child.name or "")
            note = make_note(child, self.reader.branch(kind, child.name or ""))
            branches.append(add_note(kind, note) if note else kind)
        same = len(branches) > 1 and name_branches(branches) == [child.name for child in children]
        return branches if same else None

    def _named(self, field: Field, default: str, node: dict[str, Json]) -> Json:
        """Define a named type, or refer to an identical definition."""
        wanted, reference = self.definitions.place(field, default)
        if reference is not None:
            return reference
        custom = custom_values(field)
        node = {"type": node["type"], **self.definitions.named(wanted), **node}
        if isinstance(aliases := custom.get(TYPE_ALIASES_PROPERTY), tuple) and all(map(is_full_name, aliases)):
            node["aliases"] = list(aliases)
        if custom.get(ENUM_DEFAULT_PROPERTY) in node.get("symbols", ()):
            node["default"] = custom[ENUM_DEFAULT_PROPERTY]
        if node["type"] == "record":
            self.reader.begin(self.definitions.full(wanted), node)
            with self.definitions.inside(wanted):
                node["fields"] = self._fields(field.properties or (), wanted)
        self.reader.register(self.definitions.full(wanted), node)
        return node


_STORED = re.compile(r"(?:record|error|enum|fixed) (\S+)")


class TypeDefinitions:
    """The types defined so far and the current namespace."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken: dict[str, Field | None] = dict.fromkeys(taken)
        self._spaces = [""]
        self.has_default_names = False

    def enter(self, namespace: str) -> None:
        """Start a top-level record in a namespace."""
        self._spaces = [namespace]

    def place(self, field: Field, default: str) -> tuple[str, str | None]:
        """Return the name of a type, and a reference if an identical type is already defined."""
        wanted = stated_type_name(field) or default
        known = self._taken.get(wanted)
        if known is not None and is_same_definition(known, field):
            return wanted, self.full(wanted)
        if wanted in self._taken or self.full(wanted) in self._taken:
            wanted = make_identifier(default, self._taken)
        self._taken[wanted] = field
        self.has_default_names |= stated_type_name(field) is None
        return wanted, None

    def find_reference(self, field: Field) -> str | None:
        """Return the reference to a type that is already defined, for a recursive field."""
        name = stated_type_name(field)
        return self.full(name) if name is not None and name in self._taken else None

    def full(self, name: str) -> str:
        """Return the full name of a type."""
        return name if "." in name or not self._spaces[0] else f"{self._spaces[0]}.{name}"

    def named(self, name: str) -> dict[str, Json]:
        """Return the keys that name a type in the current namespace."""
        outside = "." not in name and self._spaces[-1] != self._spaces[0]
        return {"name": name} | ({"namespace": self._spaces[0]} if outside else {})

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Switch to the namespace of a record while its fields are written."""
        self._spaces.append(self.full(name).rpartition(".")[0])
        yield
        self._spaces.pop()


def stated_type_name(field: Field) -> str | None:
    """Return the name that a contract gives to the Avro type of a field."""
    stored = _STORED.fullmatch(find_construct(field, NAMED_TYPE) or field.physical_type or "")
    return stored[1] if stored and is_full_name(stored[1]) else None


def is_same_definition(one: Field, other: Field) -> bool:
    """Whether two fields have the same named type."""
    return (one.properties, one.enum, one.type, find_construct(one, FIXED_SIZE)) == (
        other.properties,
        other.enum,
        other.type,
        find_construct(other, FIXED_SIZE),
    )


def is_full_name(name: object) -> bool:
    """Whether a name is a valid Avro name, with or without a namespace."""
    return isinstance(name, str) and all(map(is_identifier, name.split(".")))


def find_construct(field: Field, name: str) -> str | None:
    """Return the text of an Avro construct of a field."""
    return next((one.text for one in field.foreign if (one.format, one.name) == (FORMAT_NAME, name)), None)


def custom_values(part: Field | SchemaObject) -> dict[str, Any]:
    """Return the values of custom properties by name."""
    return {str(entry.get("property")): entry.get("value") for entry in part.custom_properties or ()}


def list_aliases(part: Field | SchemaObject, siblings: list[str]) -> list[Json]:
    """Return the aliases of a record or field: its stable id and those that were read with it."""
    if not part.id or not is_identifier(part.id) or part.id in siblings:
        return []
    more = custom_values(part).get(ALIASES_PROPERTY)
    others = list(more) if isinstance(more, tuple) else []
    is_valid = all(map(is_full_name, others)) and not {part.id, *siblings} & set(others)
    return [part.id, *(others if is_valid else [])]


def add_null(kind: Json, *, last: bool = False) -> list[Json]:
    """Return the union of a type, or of the branches of a union, with null."""
    branches = kind if isinstance(kind, list) else [kind]
    return [*branches, "null"] if last else ["null", *branches]


def add_note(kind: Json, note: dict[str, Json]) -> dict[str, Json]:
    """Return a type with a note inside; a reference by name becomes a mapping."""
    return {**(kind if isinstance(kind, dict) else {"type": kind}), **note_entry(note)}


def fixed_logical_type(field: Field) -> dict[str, Json]:
    """Return the logical type of a fixed type."""
    if field.physical_type == "duration":
        return {"logicalType": "duration"}
    if field.logical_type == "string":
        return {"logicalType": "uuid"}
    stated = field.type
    if stated is not None and stated.detail == "decimal" and stated.precision:
        return {"logicalType": "decimal", "precision": stated.precision, "scale": stated.scale or 0}
    return {}


_PLAIN: dict[str, Json] = {
    "boolean": "boolean",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "vector": {"type": "array", "items": "float"},
}
_DEFAULT_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
}
_EMPTY: dict[str, Json] = {"array": [], "map": {}}
_BITS = {"int": 31, "long": 63}


def scalar_type(field: Field) -> Json:
    """Return the Avro type of a field; string if no other type fits."""
    stated = field.type
    if stated is None:
        return "string"
    stored = next((key for key, one in LOGICAL.items() if _is_physical_type(field, one)), None)
    if stored is not None:
        return {"type": stored[0], "logicalType": stored[1]}
    match stated.name:
        case "integer" | "number":
            return _number(stated)
        case "timestamp":
            is_local = stated.detail == "without time zone" or (field.options or EMPTY).get("timezone") is False
            return {"type": "long", "logicalType": "local-timestamp-micros" if is_local else "timestamp-micros"}
        case "string" if (field.options or EMPTY).get("format") == "uuid":
            return {"type": "string", "logicalType": "uuid"}
        case _:
            return _PLAIN.get(stated.name, "string")


def are_symbols(values: tuple[FrozenMap, ...]) -> bool:
    """Whether values can be the symbols of an Avro enum."""
    listed = [item["value"] for item in values]
    return all(isinstance(one, str) and is_identifier(one) for one in listed) and len(set(listed)) == len(listed)


def is_valid_default(default: Json, kind: Json) -> bool:
    """Whether a value can be the default of an Avro type."""
    if isinstance(kind, list):
        return bool(kind) and is_valid_default(default, kind[0])
    if isinstance(kind, Mapping) and kind.get("type") == "enum":
        return bool(default in kind["symbols"])
    if isinstance(kind, Mapping) and kind.get("type") in _EMPTY:
        return isinstance(default, list | dict) and bool(default == _EMPTY[kind["type"]])
    if not isinstance(kind, str) or kind not in _DEFAULT_TYPES or type(default) not in _DEFAULT_TYPES[kind]:
        return False
    if isinstance(default, int) and kind in _BITS:
        limit: int = 2 ** _BITS[kind]
        return -limit <= default < limit
    return not isinstance(default, float) or math.isfinite(default)


def _is_physical_type(field: Field, kind: Field) -> bool:
    """Whether the physical type names a specific Avro type such as timestamp-millis."""
    return kind.physical_type is not None and (field.logical_type, field.physical_type) == (
        kind.logical_type,
        kind.physical_type,
    )


def _number(stated: DataType) -> dict[str, Any] | str:
    if stated.detail in WIDE_INTEGER_DIGITS:
        return {"type": "bytes", "logicalType": "decimal", "precision": WIDE_INTEGER_DIGITS[stated.detail], "scale": 0}
    if stated.detail == "decimal":
        whole = stated.name == "integer"
        precision = stated.precision or DEFAULT_DECIMAL[0]
        scale = (0 if whole else DEFAULT_DECIMAL[1]) if stated.precision is None else stated.scale or 0
        return {"type": "bytes", "logicalType": "decimal", "precision": max(precision, scale), "scale": scale}
    if stated.name == "integer":
        return INTEGERS.get(stated.detail or "i32", "long")
    return "float" if stated.detail == "f32" else "double"
