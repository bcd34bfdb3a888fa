"""What stands at a node of an Avro schema beside its type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap, Json, freeze
from treaty.formats.avro.types import LOGICAL


def logical(schema: Mapping[str, Any]) -> Field | None:
    """Read a primitive with a logical type beside it; one that nobody knows counts for nothing, as Avro has it."""
    kind, logical = schema.get("type"), schema.get("logicalType")
    if kind == "bytes" and logical == "decimal" and isinstance(schema.get("precision"), int):
        return Field(logical_type="number", physical_type=f"decimal({schema['precision']},{schema.get('scale') or 0})")
    return LOGICAL.get((kind, logical)) if isinstance(kind, str) and isinstance(logical, str) else None


def alternatives(schema: Json) -> Iterator[Json]:
    """Yield the branches of a union, or the one type."""
    yield from schema if isinstance(schema, list) else (schema,)


def branch(schema: Json) -> str:
    """Name a branch of a union."""
    if not isinstance(schema, Mapping):
        return str(schema)
    return str(schema.get("name") or schema.get("logicalType") or schema.get("type"))


def doc_of(schema: Mapping[str, Any]) -> str | None:
    """Return the documentation of a record or field, where it says something."""
    doc = schema.get("doc")
    return doc if isinstance(doc, str) and doc else None


def attributes(schema: Mapping[str, Any], known: frozenset[str]) -> tuple[FrozenMap, ...] | None:
    """Keep attributes that Avro does not define."""
    entries = (
        FrozenMap({"property": key, "value": freeze(value)}) for key, value in schema.items() if key not in known
    )
    return tuple(entries) or None
