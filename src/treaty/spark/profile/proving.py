"""Holding the data to their own draft: a guess that a single row breaks is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from pyspark.sql import DataFrame

from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.values import FrozenMap
from treaty.spark.checks import Kind
from treaty.spark.enforcing import enforce
from treaty.spark.profile.guesses import without_guesses

_TERMS = {
    Kind.REQUIRED: "required",
    Kind.ENUM: "enum",
    Kind.PATTERN: "pattern",
    Kind.FORMAT: "format",
    Kind.RANGE: "range",
    Kind.LENGTH: "length",
    Kind.UNIQUE: "primaryKey",
}
"""Which guess stands behind which kind of rule."""
_OPTIONS = {
    Kind.PATTERN: ("pattern",),
    Kind.FORMAT: ("format",),
    Kind.RANGE: ("minimum", "maximum"),
    Kind.LENGTH: ("minLength", "maxLength"),
}
_STRUCTURES = ("object", "array", "map")


def proved(frame: DataFrame, contract: Contract, now: datetime) -> Contract:
    """Return the draft without what the data themselves break, by the very rules they will be held to."""
    breaches = enforce(frame, contract).measures(now=now).breaches
    if any(broken.rule.kind is Kind.FRESHNESS for broken in breaches):
        contract = replace(contract, sla=None)
    keyless = any(broken.rule.kind is Kind.UNIQUE for broken in breaches)
    kinds: dict[str, set[Kind]] = {}
    for broken in breaches:
        kinds.setdefault(broken.rule.field, set()).add(broken.rule.kind)

    def change(path: FieldPath, field: Field) -> Field:
        taken_back = kinds.get(str(path), set()) & _TERMS.keys() | ({Kind.UNIQUE} if keyless else set())
        if Kind.TYPE in kinds.get(str(path), ()):
            return _untyped(field)
        return _loosened(field, taken_back)

    return _each_field(contract, change) if breaches else contract


def _each_field(contract: Contract, change: Callable[[FieldPath, Field], Field]) -> Contract:
    def inside(path: FieldPath, field: Field) -> Field:
        parts = field.properties
        changed = replace(
            field,
            properties=None if parts is None else tuple(inside(path.field(part.name or ""), part) for part in parts),
            items=field.items and inside(path.into(ITEMS), field.items),
            map_key=field.map_key and inside(path.into(MAP_KEYS), field.map_key),
            map_value=field.map_value and inside(path.into(MAP_VALUES), field.map_value),
        )
        return change(path, changed)

    objects = tuple(
        replace(item, properties=tuple(inside(FieldPath().field(field.name or ""), field) for field in item.fields))
        for item in contract.schema
    )
    return replace(contract, objects=objects)


def _loosened(field: Field, kinds: set[Kind]) -> Field:
    """Return the field without the terms behind some kinds of rules."""
    drafted = {kind for kind in kinds if kind is not Kind.UNIQUE or field.primary_key}
    if not drafted:
        return field
    gone = {option for kind in drafted for option in _OPTIONS.get(kind, ())}
    options = {name: value for name, value in (field.options or {}).items() if name not in gone}
    loosened = replace(
        field,
        options=FrozenMap(options) if options else None,
        required=None if Kind.REQUIRED in drafted else field.required,
        enum=None if Kind.ENUM in drafted else field.enum,
        primary_key=None if drafted & {Kind.UNIQUE, Kind.REQUIRED} else field.primary_key,
        primary_key_position=None if drafted & {Kind.UNIQUE, Kind.REQUIRED} else field.primary_key_position,
    )
    return without_guesses(loosened, [_TERMS[kind] for kind in drafted], "rows of the data break it")


def _untyped(field: Field) -> Field:
    """Return the field as the text, or the JSON in a text, that it is stored as."""
    kept = Field(
        field.name,
        description=field.description,
        classification=field.classification,
        required=field.required,
        custom_properties=field.custom_properties,
    )
    stored = ("object", "json") if field.logical_type in _STRUCTURES else ("string", "string")
    plain = replace(kept, logical_type=stored[0], physical_type=stored[1])
    return without_guesses(
        plain, ["logicalType", "range", "primaryKey"], "not all values can be read as more than text"
    )
