"""Rules of a contract that a written schema carries, but does not check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from treaty.compatibility.terms.field_values import field_rules
from treaty.compatibility.terms.quality_rules import rule_name
from treaty.contracts.model import Contract, Field, SchemaObject, locate_fields
from treaty.contracts.text_formats import PATTERNS, UNCHECKED_FORMATS
from treaty.contracts.values import EMPTY, abbreviate
from treaty.formats.results import Loss

_TIME_TYPES = frozenset({"date", "time", "timestamp"})
_HARMLESS_OPTIONS = frozenset({"timezone", "defaultTimezone", "elementType", "dimensions"})


@dataclass(frozen=True)
class UncheckedRules:
    """Why a format does not check rules about several rows, about the digits of decimals, and others."""

    rows: str
    other: str
    decimals: str | None = None
    is_portable: Callable[[Any], bool] = lambda pattern: True
    unchecked_options: frozenset[str] = field(default_factory=frozenset)
    checks_constructs: bool = True


def find_unchecked_rules(contract: Contract, rules: UncheckedRules) -> Iterator[Loss]:
    """Yield a loss for every rule that rows are held to by the contract, but not by the written schema."""
    for item in contract.schema:
        yield from _object_rules(item, rules)
    for path, one, _ in locate_fields(contract):
        for what, why in _field_rules(one, rules):
            yield Loss(str(path), what, why, is_carried=True)


def _object_rules(item: SchemaObject, rules: UncheckedRules) -> Iterator[Loss]:
    for rule in item.quality or ():
        yield Loss(item.name, f"the rule {abbreviate(rule_name(rule))}", rules.rows, is_carried=True)
    for _ in item.relationships or ():
        yield Loss(item.name, "a relationship", rules.rows, is_carried=True)
    for what, why in _unchecked_constructs(item, rules):
        yield Loss(item.name, what, why, is_carried=True)


def _field_rules(one: Field, rules: UncheckedRules) -> Iterator[tuple[str, str]]:
    if one.primary_key:
        yield "primaryKey true", rules.rows
    if one.unique:
        yield "unique true", rules.rows
    for rule in field_rules(one):
        yield f"the rule {abbreviate(rule_name(rule))}", rules.rows
    for _ in one.relationships or ():
        yield "a relationship", rules.rows
    stated = one.type
    if rules.decimals and stated and stated.detail == "decimal" and stated.scale:
        yield f"at most {stated.scale} decimal places", rules.decimals
    yield from _unchecked_constructs(one, rules)
    yield from _unchecked_options(one, rules)


def _unchecked_constructs(part: Field | SchemaObject, rules: UncheckedRules) -> Iterator[tuple[str, str]]:
    for construct in part.foreign:
        what = f"{construct.name} {abbreviate(construct.text)}"
        if not rules.checks_constructs:
            yield what, rules.other
        elif '"$ref"' in construct.text:
            yield what, "it refers to a schema that is not known here"


def _unchecked_options(one: Field, rules: UncheckedRules) -> Iterator[tuple[str, str]]:
    options, kind = one.options or EMPTY, one.type.name if one.type else "string"
    for key, value in options.items():
        if key in _HARMLESS_OPTIONS or value is None or value is False:
            continue
        if key == "pattern":
            is_unchecked = not rules.is_portable(value)
        elif key == "format" and kind == "string":
            is_unchecked = value not in PATTERNS and value not in UNCHECKED_FORMATS
        else:
            is_unchecked = kind in _TIME_TYPES or key in rules.unchecked_options
        if is_unchecked:
            yield f"{key} {abbreviate(value)}", rules.other
