"""A part of a contract as flat keys and values: those of ODCS, options and custom properties each for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs.documents import CONTRACT, FIELD, OBJECT
from treaty.contracts.schemas import block_names, field_key_names
from treaty.contracts.values import FrozenMap, Json, freeze, thaw

ContractPart = TypeVar("ContractPart", Contract, SchemaObject, Field)

CHILD_KEYS = ("items", "map_key", "map_value")
OPTION_PREFIX = "logicalTypeOptions."
_OPTIONS = "logicalTypeOptions"
_CUSTOM = "customProperties."
_ALL_CUSTOM = "customProperties"


def flatten(part: Contract | SchemaObject | Field) -> dict[str, Json]:
    """Return what a part says of itself, without the fields inside it."""
    said = {key: thaw(value) for key, name in _table(part).items() if (value := getattr(part, name)) is not None}
    said |= thaw(part.more)
    said |= {f"{OPTION_PREFIX}{name}": value for name, value in said.pop(_OPTIONS, {}).items()}
    entries = said.pop(_ALL_CUSTOM, [])
    names = [entry.get("property") for entry in entries]
    if len({str(name) for name in names}) == len(names) and all(_is_plain(entry) for entry in entries):
        own = _own_names(part)
        said |= {
            name if name in own else f"{_CUSTOM}{name}": entry["value"]
            for name, entry in zip(names, entries, strict=True)
        }
    elif entries:
        said[_ALL_CUSTOM] = entries
    return said


def unflatten(part: ContractPart, said: dict[str, Json]) -> ContractPart:
    """Return the part as saying exactly this, with the fields inside it as they are."""
    rest, own = dict(said), _own_names(part)
    options = {key.removeprefix(OPTION_PREFIX): rest.pop(key) for key in said if key.startswith(OPTION_PREFIX)}
    entries = list(rest.pop(_ALL_CUSTOM, []))
    for key in said:
        if key in own or key.startswith(_CUSTOM):
            entries.append({"property": key.removeprefix(_CUSTOM), "value": rest.pop(key)})
    if options:
        rest[_OPTIONS] = options
    if entries:
        rest[_ALL_CUSTOM] = entries
    known = {name: freeze(rest.pop(key, None)) for key, name in _table(part).items()}
    return replace(part, **known, more=FrozenMap(rest))


def flatten_children(field: Field) -> dict[str, Json]:
    """Return the fields inside a field, each as flat keys with the fields inside it."""
    found: dict[str, Json] = {}
    if field.properties is not None:
        found["properties"] = [flatten(child) | flatten_children(child) for child in field.properties]
    for name in CHILD_KEYS:
        child = getattr(field, name)
        if child is not None:
            found[name] = flatten(child) | flatten_children(child)
    return found


def unflatten_children(field: Field, said: dict[str, Json]) -> Field:
    """Return the field with exactly these fields inside it, as `inside` says them."""
    properties = said.get("properties")
    items, key, value = (_whole(said[name]) if name in said else None for name in CHILD_KEYS)
    named = None if properties is None else tuple(map(_whole, properties))
    return replace(field, properties=named, items=items, map_key=key, map_value=value)


def _whole(said: dict[str, Json]) -> Field:
    children = {key: value for key, value in said.items() if key in ("properties", *CHILD_KEYS)}
    own = {key: value for key, value in said.items() if key not in children}
    return unflatten_children(unflatten(Field(), own), children)


def as_mapping(value: Json) -> Mapping[str, Any]:
    """Return a value that should be a mapping, or an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Json) -> list[Any]:
    """Return a value that should be a list, or an empty one where it is none."""
    return value if isinstance(value, list) else []


def _table(part: Contract | SchemaObject | Field) -> dict[str, str]:
    return FIELD if isinstance(part, Field) else OBJECT if isinstance(part, SchemaObject) else CONTRACT


def _own_names(part: Contract | SchemaObject | Field) -> frozenset[str]:
    if isinstance(part, Field):
        return field_key_names()
    return block_names() if isinstance(part, Contract) else frozenset()


def _is_plain(entry: dict[str, Json]) -> bool:
    return entry.keys() == {"property", "value"} and isinstance(entry["property"], str)
