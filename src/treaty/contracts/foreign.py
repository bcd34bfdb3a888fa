"""Foreign constructs: what a schema of another format states and the model cannot express, kept as opaque text.

A construct is carried as a custom property of the contract, object or field it belongs to, so it survives every way
through ODCS. Two versions are compared by the text: if it differs, the change cannot be judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.contracts.values import FrozenMap, canonical_json

FOREIGN_KEY = "treaty.foreign_constructs"
"""The name of the custom property that carries foreign constructs."""

AVRO_DEFAULT_KEY = "avro.default"
"""The custom property that is `none` if an Avro field may be null and has no default; otherwise it is null."""

CustomProperties = tuple[FrozenMap, ...] | None


@dataclass(frozen=True, slots=True, order=True)
class ForeignConstruct:
    """A construct of a foreign schema: its format, its name or path within the part, and its normalised text."""

    format: str
    name: str
    text: str

    @classmethod
    def of(cls, schema_format: str, name: str, value: Any) -> ForeignConstruct:
        """Return the construct with a JSON value as its text; equal values give equal texts."""
        return cls(schema_format, name, canonical_json(value))


def foreign_constructs_in(custom_properties: Iterable[FrozenMap] | None) -> tuple[ForeignConstruct, ...]:
    """Return the foreign constructs among custom properties, sorted; an entry of another shape is ignored."""
    found: list[ForeignConstruct] = []
    for entry in custom_properties or ():
        if carries_constructs(entry):
            found += [ForeignConstruct(item["format"], item["name"], item["text"]) for item in entry["value"]]
    return tuple(sorted(set(found)))


def carries_constructs(entry: Mapping[str, Any]) -> bool:
    """Return whether a custom property is a well-formed list of foreign constructs."""
    if entry.get("property") != FOREIGN_KEY or entry.keys() != {"property", "value"}:
        return False
    value = entry["value"]
    return isinstance(value, tuple) and all(_is_construct(item) for item in value)


def add_constructs(custom_properties: CustomProperties, constructs: Iterable[ForeignConstruct]) -> CustomProperties:
    """Return custom properties with more foreign constructs; without any, they are returned unchanged."""
    added = tuple(constructs)
    if not added:
        return custom_properties
    entries = custom_properties or ()
    every = sorted({*foreign_constructs_in(entries), *added})
    items = [{"format": one.format, "name": one.name, "text": one.text} for one in every]
    others = tuple(entry for entry in entries if not carries_constructs(entry))
    return (*others, FrozenMap({"property": FOREIGN_KEY, "value": items}))


def remove_constructs(custom_properties: CustomProperties) -> CustomProperties:
    """Return custom properties without the foreign constructs, for writers that state them in their own way."""
    if custom_properties is None:
        return None
    return tuple(entry for entry in custom_properties if not carries_constructs(entry)) or None


def _is_construct(item: Any) -> bool:
    return (
        isinstance(item, Mapping)
        and item.keys() == {"format", "name", "text"}
        and all(isinstance(value, str) for value in item.values())
    )
