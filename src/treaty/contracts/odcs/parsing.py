"""ODCS documents as contracts, or refused with every problem named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.contracts import schemas
from treaty.contracts.making import made
from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.moves import bad_moves
from treaty.contracts.odcs.keys import CONTRACT, FIELD, OBJECT
from treaty.contracts.odcs.patterns import bad_patterns
from treaty.contracts.odcs.plain_keys import EMPTY_LIST, FieldLifter, given_twice, lift
from treaty.contracts.odcs.versions import validator_for
from treaty.contracts.reading.lines import PlaceOf, Pointer
from treaty.contracts.validation import refuse_if_any, violations
from treaty.contracts.values import EMPTY, FrozenMap, Json, freeze


def looks_like_odcs(data: Mapping[str, Any]) -> bool:
    """Tell an ODCS document by the keys that only it has."""
    return "apiVersion" in data or "schema" in data or data.get("kind") == "DataContract"


def parse_odcs(data: dict[str, Json], place_of: PlaceOf, form: Form = Form.ODCS) -> Contract:
    """Read an ODCS document, with or without Treaty's plain blocks, or refuse it with every problem named."""
    strict, plain_keys = lift(data, schemas.block_names())
    problems = violations(
        schemas.blocks(),
        {key: data[key] for key in plain_keys if key != EMPTY_LIST},
        place_of,
        schemas.known_keys_of_odcs,
    )
    problems += given_twice(data, plain_keys, place_of)
    lifter = FieldLifter(place_of)
    if isinstance(strict.get("schema"), list):
        strict["schema"] = [lifter.children(item, ("schema", index)) for index, item in enumerate(strict["schema"])]
    problems += lifter.problems + violations(
        validator_for(data.get("apiVersion")), strict, place_of, schemas.known_keys_of_odcs
    )
    refuse_if_any(problems)
    refuse_if_any(list(bad_patterns(strict, place_of)))
    contract = _contract(strict, _objects(strict, lifter.plain_keys), plain_keys, form)
    refuse_if_any(list(bad_moves(contract, data, place_of)))
    return contract


def _contract(
    strict: dict[str, Json], objects: tuple[SchemaObject, ...] | None, plain_keys: tuple[str, ...], form: Form
) -> Contract:
    known, more = _split(strict, CONTRACT, ("kind", "schema"))
    return Contract(**known, objects=objects, more=more, plain_keys=plain_keys, form=form)


def _objects(strict: dict[str, Json], field_keys: dict[Pointer, tuple[str, ...]]) -> tuple[SchemaObject, ...] | None:
    if "schema" not in strict:
        return None
    return tuple(_object(item, ("schema", index), field_keys) for index, item in enumerate(strict["schema"]))


def _object(data: dict[str, Json], pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]) -> SchemaObject:
    known, more = _split(data, OBJECT, ("properties",))
    properties = _fields(data.get("properties"), (*pointer, "properties"), field_keys)
    return SchemaObject(**known, properties=properties, more=more)


def _field(data: dict[str, Json], pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]) -> Field:
    known, more = _split(data, FIELD, ("properties", "items", "map"))
    known["more"] = more
    if field_keys:
        known["plain_keys"] = field_keys.get(pointer, ())
    if "properties" in data:
        known["properties"] = _fields(data["properties"], (*pointer, "properties"), field_keys)
    if "items" in data:
        known["items"] = _field(data["items"], (*pointer, "items"), field_keys)
    if entries := data.get("map"):
        known["map_key"] = _field(entries["key"], (*pointer, "map", "key"), field_keys)
        known["map_value"] = _field(entries["value"], (*pointer, "map", "value"), field_keys)
    return made(Field, known)


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
            known[table[key]] = freeze(value) if isinstance(value, (dict, list)) else value
        elif key not in elsewhere:
            more[key] = value
    return known, FrozenMap(more) if more else EMPTY
