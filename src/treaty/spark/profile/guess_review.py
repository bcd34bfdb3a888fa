"""Review a draft with its own rules: drop guesses that many rows violate, and report those that few rows violate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from pyspark.sql import DataFrame

from treaty.contracts.model import Contract, Field
from treaty.contracts.paths import ITEMS, MAP_KEYS, MAP_VALUES, FieldPath
from treaty.contracts.values import FrozenMap
from treaty.spark.enforcement import enforce
from treaty.spark.measures import RuleMeasure
from treaty.spark.profile.model import (
    Inferred,
    NearMiss,
    Profile,
    add_to_guess,
    drop_guesses,
    is_nearly_all,
    read_guesses,
)
from treaty.spark.rules import Kind

_OPTIONAL_TERMS = {
    Kind.REQUIRED: "required",
    Kind.ENUM: "enum",
    Kind.PATTERN: "pattern",
    Kind.FORMAT: "format",
    Kind.RANGE: "range",
    Kind.LENGTH: "length",
    Kind.UNIQUE: "primaryKey",
}
"""The guessed term behind each kind of rule that a field can do without."""
_TERMS_BY_KIND = {Kind.TYPE: "logicalType", **_OPTIONAL_TERMS}
_OPTIONS = {
    Kind.PATTERN: ("pattern",),
    Kind.FORMAT: ("format",),
    Kind.RANGE: ("minimum", "maximum"),
    Kind.LENGTH: ("minLength", "maxLength"),
}
_STRUCTURES = ("object", "array", "map")


def review_guesses(frame: DataFrame, inferred: Inferred, now: datetime) -> Inferred:
    """Check the draft with its own rules: drop terms that many rows violate, and report those that few rows violate."""
    measures = enforce(frame, inferred.contract).measures(now=now)
    tolerated = {breach.rule.id for breach in measures.breaches if _is_near_miss(breach, inferred.profile)}
    dropped = [breach for breach in measures.breaches if breach.rule.id not in tolerated]
    contract = _drop_terms(inferred.contract, dropped)
    if dropped:
        measures = enforce(frame, contract).measures(now=now)
    breaches = [breach for breach in measures.breaches if breach.rule.kind in _TERMS_BY_KIND]
    quarantined = measures.quarantined + inferred.profile.malformed
    return _report_near_misses(replace(inferred, contract=contract, quarantined=quarantined), breaches)


def _is_near_miss(breach: RuleMeasure, profile: Profile) -> bool:
    """Whether few enough rows violate a rule to keep its term."""
    count = breach.violating_rows
    if breach.rule.kind not in _TERMS_BY_KIND or count is None or profile.has_few_rows:
        return False
    return is_nearly_all(profile.rows - count, profile.rows)


def _report_near_misses(inferred: Inferred, breaches: Sequence[RuleMeasure]) -> Inferred:
    """Note in each field how many rows its terms quarantine, and return the near misses."""
    key = inferred.contract.schema[0].primary_key
    notes: dict[str, list[tuple[str, int]]] = {}
    for breach in breaches:
        names = key if breach.rule.kind is Kind.UNIQUE else (breach.rule.field,)
        for name in names:
            notes.setdefault(name, []).append((_TERMS_BY_KIND[breach.rule.kind], breach.violating_rows or 0))
    near_misses = []

    def note(path: FieldPath, field: Field) -> Field:
        for term, rows in notes.get(str(path), ()):
            if term == "required" and term not in read_guesses(field):
                field = add_to_guess(field, term, f"a key must have a value; {_count_rows(rows, 'has', 'have')} none")
            field = add_to_guess(field, term, _quarantine_note(rows))
            near_misses.append(NearMiss(str(path), term, rows, read_guesses(field)[term].partition(": ")[2]))
        return field

    contract = _each_field(inferred.contract, note) if notes else inferred.contract
    return replace(inferred, contract=contract, near_misses=tuple(near_misses))


def _quarantine_note(rows: int) -> str:
    return f"{_count_rows(rows, 'is', 'are')} quarantined under this draft"


def _count_rows(rows: int, one: str, many: str) -> str:
    return f"1 row {one}" if rows == 1 else f"{rows:,} rows {many}"


def _drop_terms(contract: Contract, breaches: Sequence[RuleMeasure]) -> Contract:
    """Return the draft without the terms behind these breaches."""
    if any(breach.rule.kind is Kind.FRESHNESS for breach in breaches):
        contract = replace(contract, sla=None)
    keyless = any(breach.rule.kind is Kind.UNIQUE for breach in breaches)
    kinds: dict[str, set[Kind]] = {}
    for breach in breaches:
        kinds.setdefault(breach.rule.field, set()).add(breach.rule.kind)

    def change(path: FieldPath, field: Field) -> Field:
        violated = kinds.get(str(path), set()) & _OPTIONAL_TERMS.keys() | ({Kind.UNIQUE} if keyless else set())
        if Kind.TYPE in kinds.get(str(path), ()):
            return _as_text(field)
        return _without_terms(field, violated)

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
        replace(schema, properties=tuple(inside(FieldPath().field(field.name or ""), field) for field in schema.fields))
        for schema in contract.schema
    )
    return replace(contract, objects=objects)


def _without_terms(field: Field, kinds: set[Kind]) -> Field:
    """Return the field without the terms behind these kinds of rules."""
    drafted = {kind for kind in kinds if kind is not Kind.UNIQUE or field.primary_key}
    if not drafted:
        return field
    dropped = {option for kind in drafted for option in _OPTIONS.get(kind, ())}
    options = {name: value for name, value in (field.options or {}).items() if name not in dropped}
    loosened = replace(
        field,
        options=FrozenMap(options) if options else None,
        required=None if Kind.REQUIRED in drafted else field.required,
        enum=None if Kind.ENUM in drafted else field.enum,
        primary_key=None if drafted & {Kind.UNIQUE, Kind.REQUIRED} else field.primary_key,
        primary_key_position=None if drafted & {Kind.UNIQUE, Kind.REQUIRED} else field.primary_key_position,
    )
    return drop_guesses(loosened, [_OPTIONAL_TERMS[kind] for kind in drafted], "many rows violate it")


def _as_text(field: Field) -> Field:
    """Return the field as plain text or JSON text, as it is stored."""
    text = Field(
        field.name,
        description=field.description,
        classification=field.classification,
        required=field.required,
        custom_properties=field.custom_properties,
    )
    stored = ("object", "json") if field.logical_type in _STRUCTURES else ("string", "string")
    plain = replace(text, logical_type=stored[0], physical_type=stored[1])
    return drop_guesses(plain, ["logicalType", "range", "primaryKey"], "many values can only be read as text")
