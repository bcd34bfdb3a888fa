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
from treaty.formats.avro.reader import Reader, read
from treaty.formats.avro.types import DEFAULT_DECIMAL, INTEGERS, LOGICAL, WIDE_INTEGER_DIGITS, default_type_name
from treaty.formats.losses import find_losses
from treaty.formats.naming import is_identifier, make_field_names, make_identifier
from treaty.formats.notes import make_note, make_object_note, note_entry, require_objects
from treaty.formats.results import WriteResult

TITLE = "Avro"
REASONS = {"*": "Avro cannot express it"}


def write(contract: Contract) -> WriteResult:
    """Write a contract as one record, or as a list of records if it has several objects."""
    plain = require_objects(contract, TITLE)
    records = _Writer(plain).records()
    text = write_json(records[0] if len(records) == 1 else records)
    return WriteResult(text, find_losses(contract, read(text, contract.id).contracts, REASONS))


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
        if item.id and is_identifier(item.id) and item.id not in self.names:
            record["aliases"] = [item.id]
        self.reader.home = record.get("namespace", "")
        self.definitions.enter(self.reader.home)
        record["fields"] = self._fields(item.fields, name)
        native = self.reader.contract({**record, "fields": []})
        return record | note_entry(make_object_note(self.contract, index, native))

    def _fields(self, fields: tuple[Field, ...], parent: str) -> list[Json]:
        names = make_field_names([field.name for field in fields])
        return [self._field(field, name, parent, names) for field, name in zip(fields, names, strict=True)]

    def _field(self, field: Field, name: str, parent: str, siblings: list[str]) -> dict[str, Json]:
        kind = self._type(field, default_type_name(parent, name))
        node: dict[str, Json] = {"name": name, "type": kind}
        default = thaw(field.treaty.get("default"))
        if not field.is_required:
            node |= {"type": ["null", kind], "default": None}
        if is_valid_default(default, kind):
            node |= {"type": kind if field.is_required else [kind, "null"], "default": default}
        if field.description:
            node["doc"] = field.description
        if field.id and is_identifier(field.id) and field.id not in siblings:
            node["aliases"] = [field.id]
        return node | note_entry(make_note(field, self.reader.field(node, FieldPath(), parent)))

    def _element(self, field: Field | None, name: str) -> Json:
        """Write the type of elements or map values; the note goes inside the type."""
        if field is None:
            return "string"
        kind = self._type(field, name)
        note = make_note(replace(field, name=None), self.reader.element(kind, FieldPath(), name))
        return {**(kind if isinstance(kind, dict) else {"type": kind}), **note_entry(note)} if note else kind

    def _type(self, field: Field, name: str) -> Json:
        kind = field.type.name if field.type else "string"
        if field.enum and kind == "string" and are_symbols(field.enum):
            return self._named(field, name, {"type": "enum", "symbols": [item["value"] for item in field.enum]})
        match kind:
            case "object" if field.properties is not None:
                return self._named(field, name, {"type": "record"})
            case "array":
                return {"type": "array", "items": self._element(field.items, name)}
            case "map":
                return {"type": "map", "values": self._element(field.map_value, name)}
            case _:
                return scalar_type(field)

    def _named(self, field: Field, default: str, node: dict[str, Json]) -> Json:
        """Define a named type, or refer to an identical definition."""
        wanted, reference = self.definitions.place(field, default)
        if reference is not None:
            return reference
        node = {"type": node["type"], **self.definitions.named(wanted), **node}
        if node["type"] == "record":
            with self.definitions.inside(wanted):
                node["fields"] = self._fields(field.properties or (), wanted)
        self.reader.register(self.definitions.full(wanted), node)
        return node


_STORED = re.compile(r"(?:record|enum) (\S+)")


class TypeDefinitions:
    """The types defined so far and the current namespace."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken: dict[str, Field | None] = dict.fromkeys(taken)
        self._spaces = [""]

    def enter(self, namespace: str) -> None:
        """Start a top-level record in a namespace."""
        self._spaces = [namespace]

    def place(self, field: Field, default: str) -> tuple[str, str | None]:
        """Return the name of a type, and a reference if an identical type is already defined."""
        stored = _STORED.fullmatch(field.physical_type or "")
        wanted = stored[1] if stored and all(map(is_identifier, stored[1].split("."))) else default
        known = self._taken.get(wanted)
        if known is not None and (known.properties, known.enum) == (field.properties, field.enum):
            return wanted, self.full(wanted)
        if wanted in self._taken:
            wanted = make_identifier(default, self._taken)
        self._taken[wanted] = field
        return wanted, None

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
