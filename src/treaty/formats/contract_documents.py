"""Parts of ODCS documents that readers of older contract formats build: custom properties, servers, quality rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treaty.contracts.odcs import LATEST_API_VERSION, find_version_problems
from treaty.contracts.types import data_type
from treaty.contracts.values import EMPTY, Json

HEAD: dict[str, Json] = {"apiVersion": LATEST_API_VERSION, "kind": "DataContract"}
_LOGICAL = frozenset({"string", "integer", "number", "boolean", "date", "time", "timestamp"})


def without_nulls(value: Json) -> Json:
    """Return a value without the keys that are null; older formats write them for keys that are not stated."""
    if isinstance(value, Mapping):
        return {key: without_nulls(part) for key, part in value.items() if part is not None}
    return [without_nulls(part) for part in value] if isinstance(value, list) else value


def rename_keys(data: Mapping[str, Any], table: Mapping[str, str]) -> dict[str, Json]:
    """Return the keys of a table that the data has, under their new names."""
    return {new: data[old] for old, new in table.items() if old in data}


def custom_properties(*sources: Mapping[str, Any], without: Mapping[str, Any] | tuple[str, ...]) -> list[Json]:
    """Return the keys that have no place in ODCS as custom properties, in order."""
    return [
        {"property": str(key), "value": value}
        for source in sources
        for key, value in source.items()
        if key not in without
    ]


def with_custom_properties(part: dict[str, Json], entries: list[Json]) -> dict[str, Json]:
    """Return a part with custom properties, if there are any, after those that it has."""
    carried = part.get("customProperties")
    together = [*(carried if isinstance(carried, list) else []), *entries]
    return part | ({"customProperties": together} if together else {})


def read_type(text: str) -> dict[str, Json]:
    """Return the logical and physical type for the name of a type that no format defines."""
    stored = data_type(None, text, EMPTY)
    if stored is None or stored.name not in _LOGICAL:
        return {"physicalType": text}
    return {"logicalType": stored.name, "physicalType": text}


def valid_server(name: str, kind: str, keys: Mapping[str, Any]) -> dict[str, Json]:
    """Return a server; what ODCS does not know of servers of its kind is kept in custom properties."""
    known = {
        key: value for key, value in keys.items() if _is_valid({"servers": [_server(name, kind, {key: value})]}, key)
    }
    rest = custom_properties(keys, without=known)
    server = with_custom_properties(_server(name, kind, known), rest)
    if not find_version_problems({**HEAD, "id": name, "version": "1", "servers": [server]}):
        return server
    return with_custom_properties(
        {"server": name, "type": "custom"}, custom_properties({"type": kind}, keys, without=())
    )


def _server(name: str, kind: str, keys: Mapping[str, Any]) -> dict[str, Json]:
    return {"server": name, "type": kind, **keys}


def _is_valid(part: dict[str, Json], key: str) -> bool:
    """Return whether ODCS has no complaint about one key of a part; other keys may be missing."""
    problems = find_version_problems({**HEAD, "id": "a", "version": "1", **part})
    return all(problem.pointer[-1:] != (key,) for problem in problems)


def valid_rule(rule: dict[str, Json], original: Json, engine: str) -> dict[str, Json]:
    """Return a quality rule if it is valid in ODCS, otherwise a custom rule with the original as its implementation."""
    document = {**HEAD, "id": "a", "version": "1", "schema": [{"name": "a", "quality": [rule]}]}
    if not find_version_problems(document):
        return rule
    described = original.get("description") if isinstance(original, Mapping) else None
    words = {"description": described} if isinstance(described, str) else {}
    implementation = original if isinstance(original, (dict, str)) else {"rule": original}
    return {"type": "custom", **words, "engine": engine, "implementation": implementation}
