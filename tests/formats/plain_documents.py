"""Contracts as plain ODCS documents without defaults, to compare two contracts by their terms."""

from __future__ import annotations

import json
from typing import Any

from treaty.contracts import Contract
from treaty.contracts.odcs import write_odcs

_DEFAULTS = {
    "required": False,
    "unique": False,
    "primaryKey": False,
    "deprecated": False,
    "primaryKeyPosition": -1,
}


def plain_document(contract: Contract) -> dict[str, Any]:
    """Return the ODCS document of a contract without default values, in a fixed order."""
    document = write_odcs(contract)
    document["schema"] = [_object(item) for item in document.get("schema", [])]
    plain: dict[str, Any] = _sort(document)
    return plain


def _object(item: dict[str, Any]) -> dict[str, Any]:
    fields = [_field(field) for field in item.get("properties", [])]
    keys = [field for field in fields if field.get("primaryKey")]
    keys.sort(key=lambda field: field.get("primaryKeyPosition", 99))
    for place, field in enumerate(keys, start=1):
        field["primaryKeyPosition"] = place
    if len(keys) == 1:
        del keys[0]["primaryKeyPosition"]
    for field in fields:
        if not field.get("primaryKey"):
            field.pop("primaryKeyPosition", None)
    return {**item, "properties": fields}


def _field(field: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in field.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
    if plain.get("primaryKey"):
        plain["required"] = True
    options = dict(plain.pop("logicalTypeOptions", {}))
    default = {"integer": "i32", "number": "f64"}.get(plain.get("logicalType", ""))
    if default and options.get("format") == default and "physicalType" not in plain:
        del options["format"]
    if options:
        plain["logicalTypeOptions"] = options
    if "properties" in plain:
        plain["properties"] = [_inner(one) for one in plain["properties"]]
    if "items" in plain:
        plain["items"] = _inner(plain["items"])
    if "map" in plain:
        plain["map"] = {key: _inner(one) for key, one in plain["map"].items()}
    return plain


def _inner(field: dict[str, Any]) -> dict[str, Any]:
    plain = _field(field)
    plain.pop("primaryKeyPosition", None)
    return plain


def _sort(value: Any) -> Any:
    """Return a value with all custom properties sorted; their order means nothing."""
    if isinstance(value, dict):
        return {
            key: _sort(_sort_entries(inner) if key == "customProperties" else inner) for key, inner in value.items()
        }
    return [_sort(inner) for inner in value] if isinstance(value, list) else value


def _sort_entries(entries: list[Any]) -> list[Any]:
    return sorted(entries, key=lambda entry: json.dumps(entry, sort_keys=True))
