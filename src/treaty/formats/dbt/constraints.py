"""Read dbt constraints and data tests as terms of a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import sqlglot
from sqlglot.errors import SqlglotError

from treaty.contracts.model import Field
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.values import EMPTY, FrozenMap, Json
from treaty.formats.sql.columns import apply_check

ConstraintReader = Callable[[Field, Mapping[str, Any]], Field | None]
"""Returns the field with the constraint applied, or None if a contract cannot express it."""

_REF = re.compile(r"(?:ref|source)\(\s*(?:['\"][^'\"]+['\"]\s*,\s*)?['\"]([^'\"]+)['\"]\s*\)")
_IDENTIFIER = re.compile(r"[A-Za-z0-9_]+")
_CONDITIONAL_KEYS = ("where", "severity", "warn_if", "error_if", "limit", "enabled")


def apply_constraint(field: Field, name: str, arguments: Mapping[str, Any]) -> Field | None:
    """Apply a constraint or data test by name; None if a contract cannot express it."""
    known = CONSTRAINTS.get(name)
    config = arguments.get("config")
    partly = config if isinstance(config, Mapping) else arguments
    if known is None or any(key in partly for key in _CONDITIONAL_KEYS):
        return None
    inner = arguments.get("arguments")
    return known(field, inner if isinstance(inner, Mapping) else arguments)


def parse_data_test(rule: Json) -> tuple[str, Mapping[str, Any]]:
    """Return the name and arguments of a data test in any of its notations."""
    if isinstance(rule, str):
        return rule, {}
    if isinstance(rule, Mapping):
        if isinstance(rule.get("test_name"), str):
            return rule["test_name"], rule
        for name, arguments in rule.items():
            if name not in ("name", "config", "description"):
                return str(name), arguments if isinstance(arguments, Mapping) else {}
    return str(rule), {}


def _values(field: Field, arguments: Mapping[str, Any]) -> Field | None:
    values = arguments.get("values")
    if not isinstance(values, list) or not values or any(isinstance(value, (list, dict)) for value in values):
        return None
    return replace(field, enum=tuple(FrozenMap({"value": value}) for value in values))


def _relation(field: Field, arguments: Mapping[str, Any]) -> Field | None:
    target = _REF.search(str(arguments.get("to")))
    columns = arguments.get("to_columns")
    column = arguments.get("field", columns[0] if isinstance(columns, list) and len(columns) == 1 else None)
    if target is None or not _IDENTIFIER.fullmatch(target[1]) or not _IDENTIFIER.fullmatch(str(column)):
        return None
    relation = FrozenMap({"type": "foreignKey", "to": f"{target[1]}.{column}"})
    return (
        field
        if relation in (field.relationships or ())
        else replace(field, relationships=(*(field.relationships or ()), relation))
    )


def _range(field: Field, arguments: Mapping[str, Any]) -> Field | None:
    low, high = arguments.get("min_value"), arguments.get("max_value")
    if field.logical_type not in ("integer", "number") or not all(
        type(one) in (int, float, type(None)) for one in (low, high)
    ):
        return None
    is_exclusive = arguments.get("inclusive") is False
    names = ("exclusiveMinimum", "exclusiveMaximum") if is_exclusive else ("minimum", "maximum")
    bounds = {name: value for name, value in zip(names, (low, high), strict=True) if value is not None}
    return replace(field, options=FrozenMap({**(field.options or EMPTY), **bounds}))


def _pattern(field: Field, arguments: Mapping[str, Any]) -> Field | None:
    regex = arguments.get("regex")
    if not isinstance(regex, str) or field.logical_type != "string" or PatternCheck().problem(regex):
        return None
    return replace(field, options=FrozenMap({**(field.options or EMPTY), "pattern": regex}))


def _check(field: Field, arguments: Mapping[str, Any]) -> Field | None:
    try:
        return apply_check(field, sqlglot.parse_one(str(arguments.get("expression"))))
    except (SqlglotError, RecursionError):
        return None


CONSTRAINTS: dict[str, ConstraintReader] = {
    "not_null": lambda field, _: replace(field, required=True),
    "unique": lambda field, _: replace(field, unique=True),
    "primary_key": lambda field, _: replace(field, primary_key=True),
    "accepted_values": _values,
    "relationships": _relation,
    "foreign_key": _relation,
    "check": _check,
    "dbt_utils.accepted_range": _range,
    "dbt_expectations.expect_column_values_to_be_between": _range,
    "dbt_expectations.expect_column_values_to_match_regex": _pattern,
}
"""Supported constraints and data tests by name."""
