"""Flatten a contract, object or field into ODCS keys; options and custom properties get a key each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.odcs.documents import CONTRACT_KEYS, FIELD_KEYS, OBJECT_KEYS
from treaty.contracts.schemas import block_names, field_key_names
from treaty.contracts.values import FrozenMap, Json, freeze, thaw

ContractPart = TypeVar("ContractPart", Contract, SchemaObject, Field)

CHILD_KEYS = ("items", "map_key", "map_value")
OPTION_PREFIX = "logicalTypeOptions."
_OPTIONS_KEY = "logicalTypeOptions"
_CUSTOM_PREFIX = "customProperties."
_CUSTOM_KEY = "customProperties"


def flatten(part: Contract | SchemaObject | Field) -> dict[str, Json]:
    """Return the terms of a part by key, without its nested fields."""
    terms = {key: thaw(value) for key, name in _key_table(part).items() if (value := getattr(part, name)) is not None}
    terms |= thaw(part.more)
    terms |= {f"{OPTION_PREFIX}{name}": value for name, value in terms.pop(_OPTIONS_KEY, {}).items()}
    entries = terms.pop(_CUSTOM_KEY, [])
    names = [entry.get("property") for entry in entries]
    if len({str(name) for name in names}) == len(names) and all(_has_only_value(entry) for entry in entries):
        own = _own_names(part)
        terms |= {
            name if name in own else f"{_CUSTOM_PREFIX}{name}": entry["value"]
            for name, entry in zip(names, entries, strict=True)
        }
    elif entries:
        terms[_CUSTOM_KEY] = entries
    return terms


def unflatten(part: ContractPart, terms: dict[str, Json]) -> ContractPart:
    """Return the part with exactly these terms; its nested fields stay unchanged."""
    rest, own = dict(terms), _own_names(part)
    options = {key.removeprefix(OPTION_PREFIX): rest.pop(key) for key in terms if key.startswith(OPTION_PREFIX)}
    entries = list(rest.pop(_CUSTOM_KEY, []))
    for key in terms:
        if key in own or key.startswith(_CUSTOM_PREFIX):
            entries.append({"property": key.removeprefix(_CUSTOM_PREFIX), "value": rest.pop(key)})
    if options:
        rest[_OPTIONS_KEY] = options
    if entries:
        rest[_CUSTOM_KEY] = entries
    known = {name: freeze(rest.pop(key, None)) for key, name in _key_table(part).items()}
    return replace(part, **known, more=FrozenMap(rest))


def flatten_children(field: Field) -> dict[str, Json]:
    """Return the nested fields of a field, each flattened together with its own nested fields."""
    children: dict[str, Json] = {}
    if field.properties is not None:
        children["properties"] = [flatten(child) | flatten_children(child) for child in field.properties]
    for name in CHILD_KEYS:
        child = getattr(field, name)
        if child is not None:
            children[name] = flatten(child) | flatten_children(child)
    return children


def unflatten_children(field: Field, terms: dict[str, Json]) -> Field:
    """Return the field with exactly these nested fields, as `flatten_children` returns them."""
    properties = terms.get("properties")
    items, key, value = (_unflatten_field(terms[name]) if name in terms else None for name in CHILD_KEYS)
    named = None if properties is None else tuple(map(_unflatten_field, properties))
    return replace(field, properties=named, items=items, map_key=key, map_value=value)


def _unflatten_field(terms: dict[str, Json]) -> Field:
    children = {key: value for key, value in terms.items() if key in ("properties", *CHILD_KEYS)}
    own = {key: value for key, value in terms.items() if key not in children}
    return unflatten_children(unflatten(Field(), own), children)


def as_mapping(value: Json) -> Mapping[str, Any]:
    """Return the value if it is a mapping, otherwise an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Json) -> list[Any]:
    """Return the value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []


def _key_table(part: Contract | SchemaObject | Field) -> dict[str, str]:
    return FIELD_KEYS if isinstance(part, Field) else OBJECT_KEYS if isinstance(part, SchemaObject) else CONTRACT_KEYS


def _own_names(part: Contract | SchemaObject | Field) -> frozenset[str]:
    if isinstance(part, Field):
        return field_key_names()
    return block_names() if isinstance(part, Contract) else frozenset()


def _has_only_value(entry: dict[str, Json]) -> bool:
    return entry.keys() == {"property", "value"} and isinstance(entry["property"], str)
