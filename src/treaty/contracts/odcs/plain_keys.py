"""Converts Treaty's keys between plain keys, as people write them, and custom properties, as strict ODCS needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import Any

from treaty.contracts import schemas
from treaty.contracts.findings import Finding, Place, PlaceOf, Pointer
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.validation import finding_at, schema_violations
from treaty.contracts.values import FrozenMap, Json, thaw

EMPTY_LIST = "customProperties"
"""Marks a document that has plain keys and also an empty list of custom properties."""


class BlockStyle(StrEnum):
    """How extension blocks are written: as custom properties, or as plain keys if they were read as such."""

    CUSTOM = "custom"
    PLAIN = "plain"


def with_plain_blocks(contract: Contract) -> Contract:
    """Return a contract whose extension blocks are all written as plain keys."""
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
    """Return the custom properties that can be plain keys: unique, valid and without further keys."""
    names = Counter(entry.get("property") for entry in entries or ())
    return tuple(
        entry["property"]
        for entry in entries or ()
        if names[entry.get("property")] == 1
        and entry.keys() == {"property", "value"}
        and fits(entry["property"], thaw(entry["value"]))
    )


def to_custom_properties(data: dict[str, Json], names: frozenset[str]) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Move plain keys into customProperties, and return the document and the keys that were moved."""
    plain = tuple(key for key in data if key in names)
    if not plain:
        return dict(data), ()
    strict = {key: value for key, value in data.items() if key not in names}
    carried = strict.get("customProperties", [])
    if isinstance(carried, list):
        strict["customProperties"] = [*carried, *({"property": key, "value": data[key]} for key in plain)]
    return strict, (*plain, EMPTY_LIST) if data.get("customProperties") == [] else plain


def restore_plain_keys(document: dict[str, Json], plain_keys: tuple[str, ...], blocks: BlockStyle) -> dict[str, Json]:
    """Move blocks from customProperties back to plain keys, if the style is PLAIN."""
    if blocks is BlockStyle.CUSTOM or not plain_keys:
        return document
    carried = document.pop("customProperties", [])
    kept = [entry for entry in carried if entry.get("property") not in plain_keys]
    if kept or EMPTY_LIST in plain_keys:
        document["customProperties"] = kept
    values = {entry["property"]: entry["value"] for entry in carried if entry.get("property") in plain_keys}
    return document | {key: values[key] for key in plain_keys if key != EMPTY_LIST}


def find_duplicate_keys(data: dict[str, Json], plain_keys: tuple[str, ...], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each key that is both a plain key and a custom property."""
    carried = data.get("customProperties")
    entries = [entry for entry in carried if isinstance(entry, dict)] if isinstance(carried, list) else []
    names = {name for entry in entries if isinstance(name := entry.get("property"), str)}
    for key in plain_keys:
        if key in names:
            yield finding_at(
                f"{key!r} is given both as a key and in customProperties", (key,), place_of, "keep one of them"
            )


class FieldLifter:
    """Moves the plain keys of fields at any depth into custom properties, and records their pointers."""

    def __init__(self, place_of: PlaceOf) -> None:
        self.place_of = place_of
        self.problems: list[Finding] = []
        self.plain_keys: dict[Pointer, tuple[str, ...]] = {}

    def field(self, data: Json, pointer: Pointer) -> Json:
        """Return a field with its own and its children's plain keys moved."""
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
        strict, plain = to_custom_properties(data, schemas.field_key_names())
        if not plain:
            return data
        self.plain_keys[pointer] = plain

        def place_of(inner: Any) -> Place:
            return self.place_of((*pointer, *inner))

        self.problems += schema_violations(
            schemas.field_keys(),
            {key: data[key] for key in plain if key != EMPTY_LIST},
            place_of,
            schemas.known_keys_of_odcs,
        )
        self.problems += find_duplicate_keys(data, plain, place_of)
        return strict
