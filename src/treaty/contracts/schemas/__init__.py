"""JSON schemas: the official one of ODCS, and our own for the blocks and the short form."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from treaty.contracts.values import Json
from treaty.errors import Unavailable


@cache
def _load(package: str, name: str) -> dict[str, Any]:
    return _read(package, name)


def _read(package: str, name: str) -> dict[str, Any]:
    content = pkgutil.get_data(package, name)
    if content is None:
        raise Unavailable(f"the package {package} has no {name}; install treaty again")
    loaded: dict[str, Any] = json.loads(content)
    return loaded


def official_odcs() -> dict[str, Any]:
    """Return a fresh copy of the official JSON schema of ODCS 3.2."""
    return _read("open_data_contract_standard", "schema.json")


@cache
def short_form() -> jsonschema_rs.Validator:
    """Return the validator of the short form."""
    return jsonschema_rs.validator_for(_load(__name__, "short.json"))


@cache
def blocks() -> jsonschema_rs.Validator:
    """Return the validator of Treaty's own top-level blocks."""
    return jsonschema_rs.validator_for(_load(__name__, "blocks.json"), validate_formats=True)


@cache
def field_keys() -> jsonschema_rs.Validator:
    """Return the validator of Treaty's own keys on a field."""
    definitions = _load(__name__, "blocks.json")["$defs"]
    return jsonschema_rs.validator_for({**definitions["field"], "$defs": definitions})


@cache
def known_keys_of_odcs() -> tuple[frozenset[str], frozenset[str]]:
    """Return every key that ODCS and the blocks have anywhere, and those at the top."""
    own, official = _load(__name__, "blocks.json"), official_odcs()
    return _keys_in(official, own), frozenset(official["properties"]) | block_names()


@cache
def known_keys_of_short_form() -> tuple[frozenset[str], frozenset[str]]:
    """Return every key that the short form and the blocks have anywhere, and those at the top."""
    own, short = _load(__name__, "blocks.json"), _load(__name__, "short.json")
    return _keys_in(short, own), frozenset(short["properties"]) | block_names()


def _keys_in(*schemas: dict[str, Any]) -> frozenset[str]:
    found: set[str] = set()
    pending: list[Any] = list(schemas)
    while pending:
        schema = pending.pop()
        if isinstance(schema, dict):
            found |= schema["properties"].keys() if isinstance(schema.get("properties"), dict) else set()
            pending += schema.values()
        elif isinstance(schema, list):
            pending += schema
    return frozenset(found)


@cache
def block_names() -> frozenset[str]:
    """Return the names of Treaty's top-level blocks."""
    return frozenset(_load(__name__, "blocks.json")["properties"])


@cache
def field_key_names() -> frozenset[str]:
    """Return the names of Treaty's keys on a field."""
    return frozenset(_load(__name__, "blocks.json")["$defs"]["field"]["properties"])


def block_descriptions() -> Iterator[tuple[str, str]]:
    """Yield each block with what it is for."""
    for name, schema in _load(__name__, "blocks.json")["properties"].items():
        yield name, schema["description"]


def fits_block(name: str, value: Json) -> bool:
    """Return whether a value has the shape of the block."""
    return name in block_names() and blocks().is_valid({name: value})


def fits_field_key(name: str, value: Json) -> bool:
    """Return whether a value has the shape of the field key."""
    return name in field_key_names() and field_keys().is_valid({name: value})
