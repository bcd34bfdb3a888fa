"""The official schema for each version of ODCS: that of 3.2, edited by what older versions allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from treaty.contracts.schemas import official_odcs

Schema = dict[str, Any]

_CLOSING = ("additionalProperties", "unevaluatedProperties")
_KNOWN_IN_3_0: dict[str, tuple[str, ...]] = {
    "SupportItem": ("channel", "url", "description", "tool", "scope", "invitationUrl"),
    "Pricing": ("priceAmount", "priceCurrency", "priceUnit"),
    "TeamMember": ("username", "name", "description", "role", "dateIn", "dateOut", "replacedByUsername"),
    "Role": ("role", "description", "access", "firstLevelApprovers", "secondLevelApprovers", "customProperties"),
    "ServiceLevelAgreementProperty": ("property", "value", "valueExt", "unit", "element", "driver"),
    "CustomProperty": ("property", "value"),
    "Server": ("server", "type", "description", "environment", "roles", "customProperties"),
}
"""The keys that 3.0 knows of each part; it takes any others, of any kind."""
_OPTIONAL_IN_3_0 = ("CustomProperty", "TeamMember")
_OPERATORS = (
    "mustBe",
    "mustNotBe",
    "mustBeGreaterThan",
    "mustBeGreaterOrEqualTo",
    "mustBeLessThan",
    "mustBeLessOrEqualTo",
    "mustBeBetween",
    "mustNotBeBetween",
)


def _only_maps_need_entries(definitions: Schema) -> None:
    """Mend the official schema: the entries it asks of a map, it also asks of a field that names no type at all."""
    parts = definitions["SchemaBaseProperty"]["allOf"]
    for part in parts:
        if "map" in part.get("then", {}).get("required", ()):
            del part["then"]["required"]
    is_map = {"properties": {"logicalType": {"const": "map"}}, "required": ["logicalType"]}
    parts.append({"if": is_map, "then": {"required": ["map"]}})


def _objects_may_be_blobs(definitions: Schema) -> None:
    definitions["SchemaObject"]["properties"]["logicalType"]["enum"].append("blob")


def _parts_take_other_keys(definitions: Schema) -> None:
    for name, known in _KNOWN_IN_3_0.items():
        definitions[name]["properties"] = {key: definitions[name]["properties"][key] for key in known}
    definitions["DataQuality"]["properties"].pop("id")
    for name in (*_KNOWN_IN_3_0, "DataQuality"):
        for keyword in _CLOSING:
            definitions[name].pop(keyword, None)
    definition = definitions["AuthoritativeDefinitions"]["items"]
    definition.pop("additionalProperties", None)
    definition["properties"] = {key: definition["properties"][key] for key in ("url", "type")}


def _parts_need_fewer_keys(definitions: Schema) -> None:
    for name in _OPTIONAL_IN_3_0:
        definitions[name].pop("required", None)


def _quality_rules_are_named_freely(definitions: Schema) -> None:
    """Version 3.0 calls the metric `rule`, of any name, and asks for no operator."""
    library = definitions["DataQualityLibrary"]
    library["required"] = []
    library["anyOf"] = [{"required": ["rule"]}, {"required": ["metric"]}]
    library["properties"]["metric"] = {"type": "string"}
    operators = definitions["DataQualityOperators"]
    operators.pop("oneOf")
    operators["properties"] = {name: {} for name in _OPERATORS}


def _bounds_may_be_flags(definitions: Schema) -> None:
    """Version 3.0 says `exclusiveMaximum: true` beside `maximum`."""
    for schema in _walk(definitions["SchemaBaseProperty"]):
        for name in ("exclusiveMaximum", "exclusiveMinimum"):
            bound = schema.get(name)
            if isinstance(bound, dict) and isinstance(bound.get("type"), str):
                bound["type"] = [bound["type"], "boolean"]


_FOR_ALL: tuple[Callable[[Schema], None], ...] = (_only_maps_need_entries,)
_EDITS: dict[str, tuple[Callable[[Schema], None], ...]] = {
    "v3.2": (),
    "v3.1": (_objects_may_be_blobs,),
    "v3.0": (
        _parts_take_other_keys,
        _parts_need_fewer_keys,
        _quality_rules_are_named_freely,
        _bounds_may_be_flags,
    ),
}


def validator_for(api_version: object) -> jsonschema_rs.Validator:
    """Return the validator for documents of one `apiVersion`."""
    minor = ".".join(api_version.split(".")[:2]) if isinstance(api_version, str) else ""
    return _validator(minor if minor in _EDITS else "v3.2")


@cache
def _validator(minor: str) -> jsonschema_rs.Validator:
    schema = official_odcs()
    for edit in (*_FOR_ALL, *_EDITS[minor]):
        edit(schema["$defs"])
    return jsonschema_rs.validator_for(schema)


def _walk(schema: Any) -> Iterator[Schema]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _walk(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _walk(value)
