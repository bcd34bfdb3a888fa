"""Rules of protovalidate and protoc-gen-validate, which are written as field options."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from treaty.contracts.model import Field
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.values import EMPTY, FrozenMap

_RULE = re.compile(r"\((?:buf\.validate\.field|validate\.rules)\)\.(?:(?P<kind>[a-z0-9_]+)\.)?(?P<rule>[a-z_0-9]+)")
_OPTIONS = {
    "min_len": "minLength",
    "max_len": "maxLength",
    "pattern": "pattern",
    "gte": "minimum",
    "gt": "exclusiveMinimum",
    "lte": "maximum",
    "lt": "exclusiveMaximum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unique": "uniqueItems",
}
_FORMATS = frozenset({"email", "uuid", "uri", "hostname", "ipv4", "ipv6"})
_TYPES = {"string": ("string",), "repeated": ("array",)}


def apply_validation_rules(field: Field, options: dict[str, Any]) -> tuple[Field, dict[str, Any]]:
    """Apply protovalidate and protoc-gen-validate rules; also return the options that are not such rules."""
    rest: dict[str, Any] = {}
    terms = dict(field.options or EMPTY)
    required, enum = field.required, field.enum
    for name, value in options.items():
        found = _RULE.fullmatch(name)
        fits = found is not None and _applies_to(found["kind"], field)
        rule = found["rule"] if found and fits else ""
        if found and found["kind"] is None and found["rule"] == "required" and value is True:
            required = True
        elif rule in _OPTIONS and not (rule == "pattern" and PatternCheck().problem(str(value))):
            terms[_OPTIONS[rule]] = value
        elif rule in _FORMATS and value is True:
            terms["format"] = rule
        elif rule == "in" and isinstance(value, list) and value:
            enum = tuple(FrozenMap({"value": one}) for one in value)
        else:
            rest[name] = value
    return replace(field, required=required, enum=enum, options=FrozenMap(terms) if terms else None), rest


def _applies_to(kind: str | None, field: Field) -> bool:
    """Whether a rule applies to the type of the field."""
    return kind is not None and field.logical_type in _TYPES.get(kind, ("integer", "number"))
