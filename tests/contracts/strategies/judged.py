"""Contracts of terms that a judgement reads, and little else."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.contracts.strategies.blocks import blocks
from tests.contracts.strategies.documents import versions
from tests.contracts.strategies.fields import PLAIN_FIELD_KEYS, field_keys, logical_type_options
from tests.contracts.strategies.parts import SERVICE_LEVELS, UNITS
from tests.contracts.strategies.values import Document, mapping
from tests.contracts.strategies.versions import LOGICAL_TYPES, V3_2
from treaty.contracts import Contract, contract_from

NAMES = ("id", "amount", "currency", "customer", "placed_at", "größe", "order.total", "列", "status", "note")


@st.composite
def judged_field(draw: DrawFn, depth: int = 1) -> Document:
    """A field with terms that a judgement reads, and little else."""
    kinds = [name for name in LOGICAL_TYPES[V3_2] if depth or name not in ("object", "array", "map")]
    kind = draw(st.sampled_from(kinds))
    keys = field_keys(V3_2)
    read = ("required", "unique", "primaryKey", "description", "classification", "enum", "id", "deprecated")
    optional = {name: keys[name] for name in (*read, "physicalType", "quality", "authoritativeDefinitions")}
    field = {"name": draw(st.sampled_from(NAMES)), **draw(mapping({}, {**optional, **PLAIN_FIELD_KEYS}, most=3))}
    field["logicalType"] = kind
    if kind == "vector" or draw(st.booleans()):
        field["logicalTypeOptions"] = draw(logical_type_options(V3_2, kind))
    if kind == "object":
        field["properties"] = draw(judged_fields(depth - 1, 2))
    if kind == "array":
        field["items"] = _unnamed(draw(judged_field(depth - 1)))
    if kind == "map":
        field["map"] = {part: _unnamed(draw(judged_field(depth - 1))) for part in ("key", "value")}
    return field


def _unnamed(field: Document) -> Document:
    return {key: value for key, value in field.items() if key not in ("name", "id")}


@cache
def judged_fields(depth: int, max_size: int) -> SearchStrategy[list[Any]]:
    """Such fields, of different names and ids."""
    return st.lists(judged_field(depth), min_size=1, max_size=max_size, unique_by=lambda field: str(field["name"])).map(
        distinct_ids
    )


def distinct_ids(columns: list[Document]) -> list[Document]:
    """Leave an id to the first field that has it: an id names one field."""
    seen: set[str] = set()
    for field in columns:
        if field.get("id") in seen:
            del field["id"]
        seen.add(field.get("id", ""))
    return columns


@st.composite
def judged_documents(draw: DrawFn) -> Document:
    """Authored ODCS 3.2 documents of terms that a judgement reads, with a version to compare."""
    names_of_objects = draw(st.lists(st.sampled_from(("orders", "lines")), min_size=1, max_size=2, unique=True))
    return {
        "apiVersion": V3_2,
        "kind": "DataContract",
        "id": "orders",
        "version": draw(versions()),
        "schema": [{"name": name, "properties": draw(judged_fields(1, 4))} for name in names_of_objects],
        "slaProperties": draw(judged_levels()),
        **draw(mapping({}, blocks(), most=4)),
    }


@cache
def judged_levels() -> SearchStrategy[list[Any]]:
    """Service levels in many units, one of each property."""
    values = st.one_of(st.integers(1, 99), st.sampled_from(("4h", "PT4H", "99.9 %", "soon")))
    level = mapping({"property": st.sampled_from(SERVICE_LEVELS), "value": values}, {"unit": st.sampled_from(UNITS)})
    return st.lists(level, max_size=2, unique_by=lambda one: str(one["property"]))


def contracts() -> SearchStrategy[Contract]:
    """Contracts of ODCS 3.2 with everything a judgement reads."""
    return judged_documents().map(contract_from)
