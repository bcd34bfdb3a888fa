"""The table of field terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from treaty.compatibility.terms import quality_rules
from treaty.compatibility.terms.annotations import (
    custom_metadata,
    definition_notes,
    definitions,
    foreign_constructs,
    relationship_notes,
    relationships,
    rule_annotations,
)
from treaty.compatibility.terms.comparison import (
    Compare,
    Difference,
    Term,
    alternatives,
    bounds,
    flag,
    in_both,
    keyed,
    mark,
    presence,
    replaced,
    swapped,
    value_set,
)
from treaty.compatibility.terms.field_values import (
    allowed_values,
    field_rules,
    item_count,
    option,
    requirement,
    requirements,
    storage,
    stored,
    text_length,
    types,
    value_format,
    value_range,
)
from treaty.contracts.model import MISSING_AS_KEY, Field
from treaty.contracts.values import EMPTY, abbreviate


def _time_zone(field: Field) -> Any:
    options = field.options or EMPTY
    if options.get("timezone") is False and not field.treaty.get("time_zone"):
        return "no time zone"
    named = (
        field.treaty.get("time_zone") or options.get("defaultTimezone") or ("UTC" if options.get("timezone") else None)
    )
    return "UTC" if named in ("Etc/UTC", "Etc/GMT", "GMT", "Z") else named


def _personal(field: Field) -> str | None:
    """Return whether the field is marked as personal data."""
    marked = field.treaty.get("pii")
    return None if marked is None else f"pii: {str(marked).lower()}"


def _role(field: Field) -> Any:
    """Return the ODCS semantic type; the default `column` counts as none."""
    role = field.more.get("semanticType")
    return None if role == "column" else role


def _other_options(field: Field) -> dict[str, Any]:
    """Return the options that no other term reads."""
    return {
        key: value for key, value in (field.options or EMPTY).items() if key not in _graded_options() and value != 0
    }


def _field_metadata(field: Field) -> dict[str, Any]:
    other = {key: value for key, value in field.more.items() if key != "semanticType"}
    other["id"] = field.id
    other |= custom_metadata(field.custom_properties, {*field.treaty.keys(), MISSING_AS_KEY})
    return {key: value for key, value in other.items() if value not in (None, (), EMPTY)}


def _logical_type(field: Field) -> tuple[Any, str | None]:
    return field.type, field.logical_type


def _notation(before: tuple[Any, str | None], after: tuple[Any, str | None]) -> Iterator[Difference]:
    """Compare whether the logical type is declared, unless the types differ, which another term reports."""
    if before[0] == after[0]:
        for difference in presence(before[1], after[1]):
            yield replace(difference, subject="logicalType")


def _enum_numbers(field: Field) -> dict[str, Any]:
    """Return the numbers of the values of a Protobuf enum; bytes have numbers, not names."""
    if not any(construct.format == "protobuf" and construct.name == "enum type" for construct in field.foreign):
        return {}
    return {f"protobuf number of {abbreviate(item['value'])}": item.get("id") for item in field.enum or ()}


def _field_notes(field: Field) -> dict[str, Any]:
    """Return annotations of values, rules and definitions, which are compared only if both versions have them."""
    graded = ("value", "id") if _enum_numbers(field) else ("value",)
    values = {
        f"enum.{abbreviate(item['value'])}": {key: word for key, word in item.items() if key not in graded}
        for item in field.enum or ()
    }
    return values | rule_annotations(field.quality) | definition_notes(field) | relationship_notes(field)


_TYPE = ("logical_type", "physical_type", "options")
_OWN = ("custom_properties",)
_NOTED = ("enum", "quality", "authoritative_definitions", "relationships")


def _term(
    name: str,
    read: Callable[[Field], Any],
    compare: Compare,
    depends_on: tuple[str, ...],
    options: tuple[str, ...] = (),
) -> Term:
    attributes = (*depends_on, "options") if options else depends_on
    return Term(name, read, compare, frozenset(attributes), frozenset(options))


def _own(key: str) -> Callable[[Field], Any]:
    return lambda field: field.treaty.get(key)


_RANGE = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")

FIELD_TERMS: tuple[Term, ...] = (
    _term("field.type", lambda field: field.type, types, _TYPE, ("dimensions", "elementType")),
    _term("field.physical_type", stored, storage, _TYPE),
    _term("field.required", requirement, requirements, ("required", "primary_key", *_OWN)),
    _term("field.enum", allowed_values, value_set, ("enum", "quality")),
    _term("field.range", value_range, bounds, ("logical_type",), _RANGE),
    _term("field.length", text_length, bounds, ("physical_type",), ("minLength", "maxLength")),
    _term("field.item_count", item_count, bounds, (), ("minItems", "maxItems")),
    _term("field.pattern", option("pattern"), replaced, (), ("pattern",)),
    _term("field.format", value_format, replaced, ("logical_type",), ("format",)),
    _term("field.unique", lambda field: bool(field.unique), flag, ("unique",)),
    _term("field.unique", lambda field: bool(option("uniqueItems")(field)), flag, (), ("uniqueItems",)),
    _term("field.constraint", _other_options, keyed(replaced), ("options",)),
    _term("field.default", _own("default"), replaced, _OWN),
    _term("field.unit", _own("unit"), replaced, _OWN),
    _term("field.time_zone", _time_zone, replaced, _OWN, ("timezone", "defaultTimezone")),
    _term("field.semantic_type", _own("semantic_type"), replaced, _OWN),
    _term("field.semantic_type", _role, replaced, ("more",)),
    _term("foreign", foreign_constructs, keyed(replaced), _OWN),
    _term("foreign", _enum_numbers, in_both(replaced), ("enum", *_OWN)),
    _term("definition", definitions, keyed(alternatives), ("authoritative_definitions",)),
    _term("quality", field_rules, quality_rules.quality_rules, ("quality", "enum")),
    _term("relationship", relationships, keyed(presence), ("relationships",)),
    _term("field.description", lambda field: field.description, replaced, ("description",)),
    _term("field.classification", lambda field: field.classification, replaced, ("classification",)),
    _term("field.classification", _personal, replaced, _OWN),
    _term("field.physical_name", lambda field: field.physical_name or field.name, swapped, ("physical_name", "name")),
    _term("field.deprecated", lambda field: bool(field.deprecated), mark, ("deprecated",)),
    _term("field.business_name", lambda field: field.business_name, replaced, ("business_name",)),
    _term("field.metadata", _logical_type, _notation, _TYPE),
    _term("field.metadata", _field_metadata, keyed(replaced), ("id", "more", *_OWN)),
    _term("field.metadata", _field_notes, in_both(replaced), _NOTED),
)


@cache
def _graded_options() -> frozenset[str]:
    return frozenset().union(*(term.options for term in FIELD_TERMS))
