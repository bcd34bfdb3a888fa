"""ODCS documents in and out: document → model → document loses nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from treaty.contracts import schemas
from treaty.contracts.findings import Finding, Place
from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.odcs_versions import validator_for
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.reading.lines import PlaceOf, Pointer
from treaty.contracts.validation import problem, refuse_if_any, violations
from treaty.contracts.values import FrozenMap, Json, brief, freeze, thaw

LATEST_API_VERSION = "v3.2.0"


_EMPTY_LIST = "customProperties"
"""Remembered beside the plain keys where a document has them and an empty list of custom properties too."""


class BlockStyle(StrEnum):
    """How Treaty's own blocks are written: as custom properties, or as the plain keys they were authored as."""

    CUSTOM = "custom"
    PLAIN = "plain"


_CONTRACT = {
    "apiVersion": "api_version",
    "id": "id",
    "name": "name",
    "version": "version",
    "status": "status",
    "domain": "domain",
    "description": "description",
    "servers": "servers",
    "team": "team",
    "support": "support",
    "slaProperties": "sla",
    "authoritativeDefinitions": "authoritative_definitions",
    "customProperties": "custom_properties",
}
_OBJECT = {
    "id": "id",
    "name": "name",
    "physicalName": "physical_name",
    "physicalType": "physical_type",
    "description": "description",
    "dataGranularityDescription": "granularity",
    "quality": "quality",
    "relationships": "relationships",
    "authoritativeDefinitions": "authoritative_definitions",
    "customProperties": "custom_properties",
}
_FIELD = {
    "id": "id",
    "name": "name",
    "businessName": "business_name",
    "logicalType": "logical_type",
    "logicalTypeOptions": "options",
    "physicalType": "physical_type",
    "physicalName": "physical_name",
    "description": "description",
    "required": "required",
    "unique": "unique",
    "primaryKey": "primary_key",
    "primaryKeyPosition": "primary_key_position",
    "classification": "classification",
    "deprecated": "deprecated",
    "enum": "enum",
    "quality": "quality",
    "relationships": "relationships",
    "authoritativeDefinitions": "authoritative_definitions",
    "customProperties": "custom_properties",
}
"""Which key of a document is which attribute of the model; every other key is kept as it is in `more`."""


def looks_like_odcs(data: Mapping[str, Any]) -> bool:
    """Tell an ODCS document by the keys that only it has."""
    return "apiVersion" in data or "schema" in data or data.get("kind") == "DataContract"


def parse_odcs(data: dict[str, Json], place_of: PlaceOf, form: Form = Form.ODCS) -> Contract:
    """Read an ODCS document, with or without Treaty's plain blocks, or refuse it with every problem named."""
    strict, plain_keys = _lift(data, schemas.block_names())
    problems = violations(
        schemas.blocks(),
        {key: data[key] for key in plain_keys if key != _EMPTY_LIST},
        place_of,
        schemas.known_keys_of_odcs,
    )
    problems += _given_twice(data, plain_keys, place_of)
    lifter = _FieldLifter(place_of)
    if isinstance(strict.get("schema"), list):
        strict["schema"] = [lifter.children(item, ("schema", index)) for index, item in enumerate(strict["schema"])]
    problems += lifter.problems + violations(
        validator_for(data.get("apiVersion")), strict, place_of, schemas.known_keys_of_odcs
    )
    refuse_if_any(problems, place_of(()).source)
    refuse_if_any(list(_bad_patterns(strict, place_of)), place_of(()).source)
    return _contract(strict, plain_keys, lifter.plain_keys, form)


def write_odcs(contract: Contract, blocks: BlockStyle = BlockStyle.CUSTOM) -> dict[str, Json]:
    """Write the contract as strict ODCS, or with Treaty's blocks as plain keys where they were authored so."""
    document: dict[str, Json] = {"kind": "DataContract"}
    for key, attribute in _CONTRACT.items():
        _put(document, key, getattr(contract, attribute))
    document |= thaw(contract.more)
    if contract.objects is not None:
        document["schema"] = [_write_object(item, blocks) for item in contract.objects]
    return _settle(document, contract.plain_keys, blocks)


def with_plain_blocks(contract: Contract) -> Contract:
    """Return the contract as if every block of Treaty's had been authored as a plain key."""
    objects = None if contract.objects is None else tuple(map(_plain_object, contract.objects))
    keys = _plain_keys(contract.custom_properties, schemas.fits_block)
    return replace(contract, objects=objects, plain_keys=keys)


def _plain_object(item: SchemaObject) -> SchemaObject:
    return replace(item, properties=_plain_fields(item.properties))


def _plain_fields(fields: tuple[Field, ...] | None) -> tuple[Field, ...] | None:
    return None if fields is None else tuple(map(_plain_field, fields))


def _plain_field(field: Field) -> Field:
    return replace(
        field,
        properties=_plain_fields(field.properties),
        items=field.items and _plain_field(field.items),
        map_key=field.map_key and _plain_field(field.map_key),
        map_value=field.map_value and _plain_field(field.map_value),
        plain_keys=_plain_keys(field.custom_properties, schemas.fits_field_key),
    )


def _plain_keys(entries: tuple[FrozenMap, ...] | None, fits: Callable[[str, Json], bool]) -> tuple[str, ...]:
    """Name the custom properties that can stand as plain keys: alone under their name, of the right shape, no notes."""
    names = Counter(entry.get("property") for entry in entries or ())
    return tuple(
        entry["property"]
        for entry in entries or ()
        if names[entry.get("property")] == 1
        and entry.keys() == {"property", "value"}
        and fits(entry["property"], thaw(entry["value"]))
    )


def _contract(
    strict: dict[str, Json],
    plain_keys: tuple[str, ...],
    field_keys: dict[Pointer, tuple[str, ...]],
    form: Form,
) -> Contract:
    known, more = _split(strict, _CONTRACT, ("kind", "schema"))
    objects = None
    if "schema" in strict:
        objects = tuple(_object(item, ("schema", index), field_keys) for index, item in enumerate(strict["schema"]))
    return Contract(**known, objects=objects, more=more, plain_keys=plain_keys, form=form)


def _object(data: dict[str, Json], pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]) -> SchemaObject:
    known, more = _split(data, _OBJECT, ("properties",))
    properties = _fields(data.get("properties"), (*pointer, "properties"), field_keys)
    return SchemaObject(**known, properties=properties, more=more)


def _field(data: dict[str, Json], pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]) -> Field:
    known, more = _split(data, _FIELD, ("properties", "items", "map"))
    entries = data.get("map") or {}
    return Field(
        **known,
        properties=_fields(data.get("properties"), (*pointer, "properties"), field_keys),
        items=_field(data["items"], (*pointer, "items"), field_keys) if "items" in data else None,
        map_key=_field(entries["key"], (*pointer, "map", "key"), field_keys) if entries else None,
        map_value=_field(entries["value"], (*pointer, "map", "value"), field_keys) if entries else None,
        more=more,
        plain_keys=field_keys.get(pointer, ()),
    )


def _fields(
    data: list[dict[str, Json]] | None, pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]
) -> tuple[Field, ...] | None:
    if data is None:
        return None
    return tuple(_field(item, (*pointer, index), field_keys) for index, item in enumerate(data))


def _split(
    data: dict[str, Json], table: dict[str, str], elsewhere: tuple[str, ...]
) -> tuple[dict[str, Any], FrozenMap]:
    """Part a document's keys into attributes of the model and the rest."""
    known: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for key, value in data.items():
        if key in table:
            known[table[key]] = freeze(value)
        elif key not in elsewhere:
            more[key] = value
    return known, FrozenMap(more)


def _write_object(item: SchemaObject, blocks: BlockStyle) -> dict[str, Json]:
    document: dict[str, Json] = {}
    for key, attribute in _OBJECT.items():
        _put(document, key, getattr(item, attribute))
    document |= thaw(item.more)
    if item.properties is not None:
        document["properties"] = [_write_field(field, blocks) for field in item.properties]
    return document


def _write_field(field: Field, blocks: BlockStyle) -> dict[str, Json]:
    document: dict[str, Json] = {}
    for key, attribute in _FIELD.items():
        _put(document, key, getattr(field, attribute))
    document |= thaw(field.more)
    if field.properties is not None:
        document["properties"] = [_write_field(child, blocks) for child in field.properties]
    if field.items is not None:
        document["items"] = _write_field(field.items, blocks)
    if field.map_key is not None and field.map_value is not None:
        document["map"] = {
            "key": _write_field(field.map_key, blocks),
            "value": _write_field(field.map_value, blocks),
        }
    return _settle(document, field.plain_keys, blocks)


def _put(document: dict[str, Json], key: str, value: Any) -> None:
    if value is not None:
        document[key] = thaw(value)


def _lift(data: dict[str, Json], names: frozenset[str]) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Move Treaty's plain keys into customProperties, as strict ODCS carries them."""
    plain = tuple(key for key in data if key in names)
    if not plain:
        return dict(data), ()
    strict = {key: value for key, value in data.items() if key not in names}
    carried = strict.get("customProperties", [])
    if isinstance(carried, list):
        strict["customProperties"] = [*carried, *({"property": key, "value": data[key]} for key in plain)]
    return strict, (*plain, _EMPTY_LIST) if data.get("customProperties") == [] else plain


def _settle(document: dict[str, Json], plain_keys: tuple[str, ...], blocks: BlockStyle) -> dict[str, Json]:
    """Move authored blocks back out of customProperties to plain keys, where that is asked for."""
    if blocks is BlockStyle.CUSTOM or not plain_keys:
        return document
    carried = document.pop("customProperties", [])
    kept = [entry for entry in carried if entry.get("property") not in plain_keys]
    if kept or _EMPTY_LIST in plain_keys:
        document["customProperties"] = kept
    values = {entry["property"]: entry["value"] for entry in carried if entry.get("property") in plain_keys}
    return document | {key: values[key] for key in plain_keys if key != _EMPTY_LIST}


def _given_twice(data: dict[str, Json], plain_keys: tuple[str, ...], place_of: PlaceOf) -> Iterator[Finding]:
    carried = data.get("customProperties")
    entries = [entry for entry in carried if isinstance(entry, dict)] if isinstance(carried, list) else []
    names = {name for entry in entries if isinstance(name := entry.get("property"), str)}
    for key in plain_keys:
        if key in names:
            yield problem(f"{key!r} stands both as a key and in customProperties", (key,), place_of, "keep one of them")


class _FieldLifter:
    """Lifts Treaty's plain keys of fields at any depth, remembering where they stood."""

    def __init__(self, place_of: PlaceOf) -> None:
        self.place_of = place_of
        self.problems: list[Finding] = []
        self.plain_keys: dict[Pointer, tuple[str, ...]] = {}

    def field(self, data: Json, pointer: Pointer) -> Json:
        """Return a field with its own and its children's keys lifted."""
        return self.children(self._own(data, pointer), pointer) if isinstance(data, dict) else data

    def children(self, data: Json, pointer: Pointer) -> Json:
        """Return a field or object with the keys of its children lifted."""
        if not isinstance(data, dict):
            return data
        properties, items, entries = data.get("properties"), data.get("items"), data.get("map")
        if isinstance(properties, list):
            lifted = [self.field(item, (*pointer, "properties", index)) for index, item in enumerate(properties)]
            data = {**data, "properties": lifted}
        if isinstance(items, dict):
            data = {**data, "items": self.field(items, (*pointer, "items"))}
        if isinstance(entries, dict):
            lifted_map = {key: self.field(item, (*pointer, "map", key)) for key, item in entries.items()}
            data = {**data, "map": lifted_map}
        return data

    def _own(self, data: dict[str, Json], pointer: Pointer) -> dict[str, Json]:
        strict, plain = _lift(data, schemas.field_key_names())
        if not plain:
            return data
        self.plain_keys[pointer] = plain

        def place_of(inner: Any) -> Place:
            return self.place_of((*pointer, *inner))

        self.problems += violations(
            schemas.field_keys(),
            {key: data[key] for key in plain if key != _EMPTY_LIST},
            place_of,
            schemas.known_keys_of_odcs,
        )
        self.problems += _given_twice(data, plain, place_of)
        return strict


def _bad_patterns(strict: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    check = PatternCheck()
    for pointer, field in _field_documents(strict):
        for inner, pattern in _patterns_of(field):
            if isinstance(pattern, str) and (trouble := check.problem(pattern)):
                message = f"the pattern {brief(pattern)!r} cannot be used: {trouble}"
                yield problem(message, (*pointer, *inner), place_of, "write it in RE2 syntax")


def _patterns_of(field: dict[str, Json]) -> Iterator[tuple[Pointer, Json]]:
    yield ("logicalTypeOptions", "pattern"), (field.get("logicalTypeOptions") or {}).get("pattern")
    for index, rule in enumerate(field.get("quality") or ()):
        arguments = rule.get("arguments")
        if isinstance(arguments, dict):
            yield ("quality", index, "arguments", "pattern"), arguments.get("pattern")


def _field_documents(strict: dict[str, Json]) -> Iterator[tuple[Pointer, dict[str, Json]]]:
    """Yield every object and field, in the order of the document."""
    for index, item in enumerate(strict.get("schema") or ()):
        yield from _inside(item, ("schema", index))


def _inside(data: dict[str, Json], pointer: Pointer) -> Iterator[tuple[Pointer, dict[str, Json]]]:
    yield pointer, data
    for index, item in enumerate(data.get("properties") or ()):
        yield from _inside(item, (*pointer, "properties", index))
    if "items" in data:
        yield from _inside(data["items"], (*pointer, "items"))
    for key, item in (data.get("map") or {}).items():
        yield from _inside(item, (*pointer, "map", key))
