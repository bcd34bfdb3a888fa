"""Contracts to Avro schema text."""

from __future__ import annotations

from dataclasses import replace

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.values import Json, thaw
from treaty.contracts.writing import write_json
from treaty.formats.assembling import noted, object_note, with_objects
from treaty.formats.avro.defining import Definitions
from treaty.formats.avro.names import default_name
from treaty.formats.avro.reading import Reader, read
from treaty.formats.avro.scalars import are_symbols, fits, scalar
from treaty.formats.carrying import note
from treaty.formats.losses import lost
from treaty.formats.naming import fields_named, is_identifier
from treaty.formats.results import Written

TITLE = "Avro"
REASONS = {"*": "Avro has no place for it"}


def write(contract: Contract) -> Written:
    """Write a contract as one record, or as a list of records where it has several objects."""
    plain = with_objects(contract, TITLE)
    records = _Writer(plain).records()
    text = write_json(records[0] if len(records) == 1 else records)
    return Written(text, lost(contract, read(text, contract.id).contracts, REASONS))


class _Writer:
    """Writes one contract; names each type once."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.reader = Reader(contract.id)
        self.names = fields_named([item.name for item in contract.schema])
        self.definitions = Definitions(self.names)

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
        return record | noted(object_note(self.contract, index, native))

    def _fields(self, fields: tuple[Field, ...], parent: str) -> list[Json]:
        names = fields_named([field.name for field in fields])
        return [self._field(field, name, parent, names) for field, name in zip(fields, names, strict=True)]

    def _field(self, field: Field, name: str, parent: str, siblings: list[str]) -> dict[str, Json]:
        kind = self._type(field, default_name(parent, name))
        node: dict[str, Json] = {"name": name, "type": kind}
        default = thaw(field.treaty.get("default"))
        if not field.is_required:
            node |= {"type": ["null", kind], "default": None}
        if fits(default, kind):
            node |= {"type": kind if field.is_required else [kind, "null"], "default": default}
        if field.description:
            node["doc"] = field.description
        if field.id and is_identifier(field.id) and field.id not in siblings:
            node["aliases"] = [field.id]
        return node | noted(note(field, self.reader.field(node, FieldPath(), parent)))

    def _element(self, field: Field | None, name: str) -> Json:
        """Write the type of elements or map values, its note inside the type."""
        if field is None:
            return "string"
        kind = self._type(field, name)
        kept = note(replace(field, name=None), self.reader.element(kind, FieldPath(), name))
        return {**(kind if isinstance(kind, dict) else {"type": kind}), **noted(kept)} if kept else kind

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
                return scalar(field)

    def _named(self, field: Field, default: str, node: dict[str, Json]) -> Json:
        """Define a named type, or refer to one that is defined alike."""
        wanted, reference = self.definitions.place(field, default)
        if reference is not None:
            return reference
        node = {"type": node["type"], **self.definitions.named(wanted), **node}
        if node["type"] == "record":
            with self.definitions.inside(wanted):
                node["fields"] = self._fields(field.properties or (), wanted)
        self.reader.know(self.definitions.full(wanted), node)
        return node
