"""What each version of ODCS knows."""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from tests.contracts.strategies.values import json_values, scalars

V3_0, V3_1, V3_2 = "v3.0.2", "v3.1.0", "v3.2.0"
API_VERSIONS = (V3_0, V3_1, V3_2)
LOGICAL_TYPES = {
    V3_0: ("string", "date", "number", "integer", "object", "array", "boolean"),
    V3_1: ("string", "date", "timestamp", "time", "number", "integer", "object", "array", "boolean"),
    V3_2: ("string", "date", "timestamp", "time", "number", "integer", "object", "array", "boolean", "map", "vector"),
}


def since(version: str, first: str, **keys: SearchStrategy[Any]) -> dict[str, SearchStrategy[Any]]:
    """Keys that a version of the standard knows if it is the first to, or later."""
    return keys if API_VERSIONS.index(version) >= API_VERSIONS.index(first) else {}


def open_in_3_0(version: str) -> dict[str, SearchStrategy[Any]]:
    """Version 3.0 leaves most parts open for keys of one's own."""
    return {"x-own": json_values(), "Größe": scalars()} if version == V3_0 else {}
