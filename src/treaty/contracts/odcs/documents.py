"""Converts ODCS documents to contracts and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.contracts import schemas
from treaty.contracts.data_policy_checks import check_data_policy
from treaty.contracts.field_moves import check_field_moves
from treaty.contracts.findings import Finding, PlaceOf, Pointer
from treaty.contracts.frozen import build_frozen
from treaty.contracts.lifecycle_checks import check_lifecycle
from treaty.contracts.measure_checks import check_measures
from treaty.contracts.model import Contract, Field, Form, SchemaObject
from treaty.contracts.odcs.plain_keys import (
    EMPTY_LIST,
    BlockStyle,
    FieldLifter,
    find_duplicate_keys,
    restore_plain_keys,
    to_custom_properties,
)
from treaty.contracts.odcs.schema_versions import find_violations, valid_version
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.requirement_checks import check_requirements
from treaty.contracts.validation import declared_twice, finding_at, raise_if_any, schema_violations
from treaty.contracts.values import EMPTY, FrozenMap, Json, abbreviate, freeze, thaw


def looks_like_odcs(data: Mapping[str, Any]) -> bool:
    """Return whether data has the keys of an ODCS document."""
    return "apiVersion" in data or "schema" in data or data.get("kind") == "DataContract"


def parse_odcs(data: dict[str, Json], place_of: PlaceOf, form: Form = Form.ODCS) -> Contract:
    """Convert an ODCS document, with or without extension blocks, or raise InvalidDocument with all problems."""
    strict, plain_keys = to_custom_properties(data, schemas.block_names())
    problems = schema_violations(
        schemas.blocks(),
        {key: data[key] for key in plain_keys if key != EMPTY_LIST},
        place_of,
        schemas.known_keys_of_odcs,
    )
    problems += find_duplicate_keys(data, plain_keys, place_of)
    lifter = FieldLifter(place_of)
    if isinstance(strict.get("schema"), list):
        strict["schema"] = [lifter.children(item, ("schema", index)) for index, item in enumerate(strict["schema"])]
    problems += lifter.problems + find_violations(strict, place_of)
    raise_if_any(problems)
    raise_if_any([*check_patterns(strict, place_of), *_find_duplicate_fields(strict, place_of)])
    contract = _contract(strict, _objects(strict, lifter.plain_keys), plain_keys, form)
    raise_if_any(
        [
            *check_field_moves(contract, data, place_of),
            *check_requirements(data, place_of),
            *check_measures(data, place_of),
            *check_lifecycle(data, place_of),
            *check_data_policy(contract, data, place_of),
        ]
    )
    return contract


def _contract(
    strict: dict[str, Json], objects: tuple[SchemaObject, ...] | None, plain_keys: tuple[str, ...], form: Form
) -> Contract:
    known, more = _split(strict, CONTRACT_KEYS, ("kind", "schema"))
    return Contract(**known, objects=objects, more=more, plain_keys=plain_keys, form=form)


def _objects(strict: dict[str, Json], field_keys: dict[Pointer, tuple[str, ...]]) -> tuple[SchemaObject, ...] | None:
    if "schema" not in strict:
        return None
    return tuple(_object(item, ("schema", index), field_keys) for index, item in enumerate(strict["schema"]))


def _object(data: dict[str, Json], pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]) -> SchemaObject:
    known, more = _split(data, OBJECT_KEYS, ("properties",))
    properties = _fields(data.get("properties"), (*pointer, "properties"), field_keys)
    return SchemaObject(**known, properties=properties, more=more)


def _field(data: dict[str, Json], pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]) -> Field:
    known, more = _split(data, FIELD_KEYS, ("properties", "items", "map"))
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
    return build_frozen(Field, known)


def _fields(
    data: list[dict[str, Json]] | None, pointer: Pointer, field_keys: dict[Pointer, tuple[str, ...]]
) -> tuple[Field, ...] | None:
    if data is None:
        return None
    return tuple(_field(item, (*pointer, index), field_keys) for index, item in enumerate(data))


def _split(
    data: dict[str, Json], table: dict[str, str], elsewhere: tuple[str, ...]
) -> tuple[dict[str, Any], FrozenMap]:
    """Split the keys of a document into attributes of the model and other keys."""
    known: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for key, value in data.items():
        if key in table:
            known[table[key]] = freeze(value) if isinstance(value, (dict, list)) else value
        elif key not in elsewhere:
            more[key] = value
    return known, FrozenMap(more) if more else EMPTY


def check_patterns(strict: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each pattern that RE2 does not accept."""
    check = PatternCheck()
    for pointer, field in _field_documents(strict):
        for inner, pattern in _patterns_of(field):
            if isinstance(pattern, str) and (error := check.problem(pattern)):
                message = f"the pattern {abbreviate(pattern)!r} is invalid: {error}"
                yield finding_at(message, (*pointer, *inner), place_of, "write it in RE2 syntax")


def _find_duplicate_fields(strict: dict[str, Json], place_of: PlaceOf) -> Iterator[Finding]:
    """Yield a finding for each field that has the name of another field beside it."""
    for pointer, item in _field_documents(strict):
        fields = item.get("properties") or ()
        if len(fields) > 1 and len({field["name"] for field in fields}) < len(fields):
            first: dict[str, Pointer] = {}
            for index, field in enumerate(fields):
                place = (*pointer, "properties", index)
                if field["name"] in first:
                    yield declared_twice(field["name"], first[field["name"]], place, place_of)
                first.setdefault(field["name"], place)


def _patterns_of(field: dict[str, Json]) -> Iterator[tuple[Pointer, Json]]:
    yield ("logicalTypeOptions", "pattern"), (field.get("logicalTypeOptions") or {}).get("pattern")
    for index, rule in enumerate(field.get("quality") or ()):
        arguments = rule.get("arguments")
        if isinstance(arguments, dict):
            yield ("quality", index, "arguments", "pattern"), arguments.get("pattern")


def _field_documents(strict: dict[str, Json]) -> Iterator[tuple[Pointer, dict[str, Json]]]:
    """Yield the data of every object and field, in document order."""
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


def write_odcs(contract: Contract, blocks: BlockStyle = BlockStyle.CUSTOM) -> dict[str, Json]:
    """Return a contract as strict ODCS, or with the extension blocks as plain keys if they were written so."""
    document: dict[str, Json] = {"kind": "DataContract"} | _known_keys(contract, CONTRACT_KEYS)
    if contract.objects is not None:
        document["schema"] = [_write_object(item, blocks) for item in contract.objects]
    return restore_plain_keys(document, contract.plain_keys, blocks)


def export_odcs(contract: Contract, blocks: BlockStyle = BlockStyle.CUSTOM) -> dict[str, Json]:
    """Return a contract as ODCS, with a version under whose official schema the document is valid.

    That is the version of the contract if it has all that the contract uses. A version before 3.2 needs a status; a
    contract without one is exported as a draft.
    """
    document, strict = write_odcs(contract, blocks), write_odcs(contract)
    for status in ({}, {"status": "draft"}) if contract.status is None else ({},):
        if version := valid_version(strict | status):
            return document | {"apiVersion": version} | status
    return document


def _write_object(item: SchemaObject, blocks: BlockStyle) -> dict[str, Json]:
    document = _known_keys(item, OBJECT_KEYS)
    if item.properties is not None:
        document["properties"] = [_write_field(field, blocks) for field in item.properties]
    return document


def _write_field(field: Field, blocks: BlockStyle) -> dict[str, Json]:
    document = _known_keys(field, FIELD_KEYS)
    if field.properties is not None:
        document["properties"] = [_write_field(child, blocks) for child in field.properties]
    if field.items is not None:
        document["items"] = _write_field(field.items, blocks)
    if field.map_key is not None and field.map_value is not None:
        document["map"] = {
            "key": _write_field(field.map_key, blocks),
            "value": _write_field(field.map_value, blocks),
        }
    return restore_plain_keys(document, field.plain_keys, blocks)


def _known_keys(part: Contract | SchemaObject | Field, table: dict[str, str]) -> dict[str, Json]:
    """Return the attributes of a part of the model under their ODCS keys, and its other keys."""
    values = {key: getattr(part, attribute) for key, attribute in table.items()}
    other: dict[str, Json] = thaw(part.more)
    return {key: thaw(value) for key, value in values.items() if value is not None} | other


CONTRACT_KEYS = {
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
OBJECT_KEYS = {
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
FIELD_KEYS = {
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
