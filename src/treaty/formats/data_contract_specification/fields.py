"""Read the fields of a model, with their types, constraints, definitions and quality rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from treaty.contracts.foreign import FOREIGN_KEY
from treaty.contracts.patterns import PatternCheck
from treaty.contracts.values import Json, abbreviate
from treaty.formats.contract_documents import (
    custom_properties,
    read_type,
    rename_keys,
    valid_rule,
    with_custom_properties,
)
from treaty.formats.flat_terms import as_list, as_mapping
from treaty.formats.results import Loss

ENGINE = "data-contract-specification"
MAX_REFERENCE_DEPTH = 20

_KEYS = {
    "title": "businessName",
    "description": "description",
    "required": "required",
    "unique": "unique",
    "primary": "primaryKey",
    "primaryKey": "primaryKey",
    "classification": "classification",
    "tags": "tags",
    "examples": "examples",
}
_READ = (
    *_KEYS,
    "type",
    "$ref",
    "fields",
    "items",
    "keys",
    "values",
    "references",
    "enum",
    "links",
    "quality",
    "example",
)
_OF_DEFINITIONS = ("domain", "name")
_TYPES: dict[str, tuple[str | None, dict[str, Json]]] = {
    **dict.fromkeys(("string", "text", "varchar"), ("string", {})),
    **dict.fromkeys(("int", "integer"), ("integer", {})),
    **dict.fromkeys(("long", "bigint"), ("integer", {"format": "i64"})),
    **dict.fromkeys(("timestamp", "timestamp_tz"), ("timestamp", {})),
    **dict.fromkeys(("object", "record", "struct"), ("object", {})),
    "float": ("number", {"format": "f32"}),
    "double": ("number", {"format": "f64"}),
    "timestamp_ntz": ("timestamp", {"timezone": False}),
    "boolean": ("boolean", {}),
    "date": ("date", {}),
    "time": ("time", {}),
    "array": ("array", {}),
}
"""The logical type and its options."""
_DECIMALS = ("number", "decimal", "numeric")
_PHYSICAL = {"bytes": (None, "binary"), "variant": ("object", "variant"), "json": ("object", "json")}
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OPTIONS = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": _BOUNDS,
    "number": _BOUNDS,
    "date": ("format",),
    "timestamp": ("format",),
    "time": ("format",),
}
_ALL_OPTIONS = ("minLength", "maxLength", "pattern", "format", *_BOUNDS)
_REFERENCE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+")
_METRICS = {
    "nullCheck": "nullValues",
    "nullCount": "nullValues",
    "missingCount": "missingValues",
    "invalidCount": "invalidValues",
    "duplicateCount": "duplicateValues",
    "duplicatePercent": "duplicateValues",
    "rowCount": "rowCount",
    "countCheck": "rowCount",
}
"""The metric of ODCS 3.1 for a library rule of ODCS 3.0."""
_OPERATORS = {"mustBeGreaterThanOrEqualTo": "mustBeGreaterOrEqualTo", "mustBeLessThanOrEqualTo": "mustBeLessOrEqualTo"}


class FieldReader:
    """Reads the fields of one document, follows references to its definitions, and collects the losses."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self.used: set[str] = set()
        self.losses: list[Loss] = []
        self.patterns = PatternCheck()

    def fields(self, fields: Mapping[str, Any], path: str) -> list[dict[str, Json]]:
        """Read named fields."""
        return [{"name": str(name)} | self.field(as_mapping(field), f"{path}.{name}") for name, field in fields.items()]

    def field(self, stated: Mapping[str, Any], path: str, depth: int = 0) -> dict[str, Json]:
        """Read a field, an array element, or the key or value of a map, without its name."""
        data = self._resolve(stated, path)
        if depth > MAX_REFERENCE_DEPTH:
            self.add_loss(path, "the fields inside", "the definition refers to itself")
            data = {key: value for key, value in data.items() if key not in ("fields", "items", "keys", "values")}
        field: dict[str, Json] = self._type(data, path, depth)
        field |= rename_keys(data, _KEYS)
        if "example" in data and "examples" not in data:
            field["examples"] = [data["example"]]
        if values := as_list(data.get("enum")):
            field["enum"] = [{"value": value} for value in values]
        field |= self._references(data, path)
        parts = {
            "authoritativeDefinitions": links(data.get("links")),
            "quality": [quality_rule(rule) for rule in as_list(data.get("quality"))],
        }
        field |= {key: value for key, value in parts.items() if value}
        read = (*_READ, *_ALL_OPTIONS, "precision", "scale", *(_OF_DEFINITIONS if "$ref" in stated else ()))
        return with_custom_properties(field, [*custom_properties(data, without=read), *self._unread_rules(data)])

    def _unread_rules(self, data: Mapping[str, Any]) -> list[Json]:
        """Return the rules that are lost as foreign constructs, so that a change of them is detected."""
        rules = {"$ref": data["$ref"]} if "$ref" in data else {}
        pattern = data.get("pattern")
        if isinstance(pattern, str) and self.patterns.problem(pattern):
            rules["pattern"] = pattern
        constructs = [{"format": ENGINE, "name": name, "text": str(text)} for name, text in sorted(rules.items())]
        return [{"property": FOREIGN_KEY, "value": constructs}] if constructs else []

    def add_loss(self, path: str, what: str, why: str) -> None:
        """Record a loss."""
        self.losses.append(Loss(path, what, why))

    def report_unused_definitions(self) -> None:
        """Record a loss for each definition that no field refers to."""
        for name in self.definitions:
            if name not in self.used:
                self.add_loss("", f"definition {name}", "no field refers to it")

    def _resolve(self, stated: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Return a field with the keys of the definition that it refers to; its own keys win."""
        data = dict(stated)
        for _ in range(MAX_REFERENCE_DEPTH):
            reference = data.pop("$ref", None)
            if reference is None:
                return data
            name = str(reference).removeprefix("#/definitions/")
            if name not in self.definitions:
                self.add_loss(path, f"$ref {reference}", "only definitions of the same file are read")
                return data | {"$ref": reference}
            self.used.add(name)
            data = {**as_mapping(self.definitions[name]), **data}
        self.add_loss(path, f"$ref {stated.get('$ref')}", "the definition refers to itself")
        return data

    def _type(self, data: Mapping[str, Any], path: str, depth: int) -> dict[str, Json]:
        name = data.get("type")
        if name is None and not any(key in data for key in ("fields", "items", "keys", "values")):
            return {}
        kind = str(
            name if name is not None else "object" if "fields" in data else "array" if "items" in data else "map"
        )
        if kind == "map":
            return self._map(data, path, depth)
        if kind in _DECIMALS:
            digits = data.get("precision"), data.get("scale")
            amount = "" if digits == (None, None) else f"({digits[0] or 38},{digits[1] or 0})"
            return self._constrain({"logicalType": "number", "physicalType": f"decimal{amount}"}, {}, data, path)
        if kind in _PHYSICAL:
            logical, physical = _PHYSICAL[kind]
            return self._constrain(
                ({"logicalType": logical} if logical else {}) | {"physicalType": physical}, {}, data, path
            )
        if kind not in _TYPES:
            return self._constrain(read_type(kind), {}, data, path)
        logical, options = _TYPES[kind]
        field = self._constrain({"logicalType": logical}, options, data, path)
        if kind == "array" and isinstance(data.get("items"), Mapping):
            field["items"] = self.field(data["items"], f"{path}[]", depth + 1)
        elif logical == "object" and isinstance(data.get("fields"), Mapping):
            field["properties"] = [
                {"name": str(key)} | self.field(as_mapping(part), f"{path}.{key}", depth + 1)
                for key, part in data["fields"].items()
            ]
        return field

    def _map(self, data: Mapping[str, Any], path: str, depth: int) -> dict[str, Json]:
        key, value = (as_mapping(data.get(name)) for name in ("keys", "values"))
        return {
            "logicalType": "map",
            "map": {
                "key": self.field(key or {"type": "string"}, f"{path}{{key}}", depth + 1),
                "value": self.field(value, f"{path}{{}}", depth + 1),
            },
        }

    def _constrain(
        self, field: dict[str, Json], options: dict[str, Json], data: Mapping[str, Any], path: str
    ) -> dict[str, Json]:
        """Return a field with the options of its type; other constraints are lost."""
        options = dict(options)
        allowed = _OPTIONS.get(str(field.get("logicalType")), ())
        for name in _ALL_OPTIONS:
            value = data.get(name)
            if value is None:
                continue
            problem = self.patterns.problem(value) if name == "pattern" and isinstance(value, str) else None
            if name in allowed and not problem:
                options[name] = value
            else:
                why = f"the pattern is invalid: {problem}" if problem else "it does not apply to this type"
                self.add_loss(path, f"{name} {abbreviate(value)}", why)
        return field | ({"logicalTypeOptions": options} if options else {})

    def _references(self, data: Mapping[str, Any], path: str) -> dict[str, Json]:
        target = data.get("references")
        if target is None:
            return {}
        if isinstance(target, str) and _REFERENCE.fullmatch(target):
            return {"relationships": [{"type": "foreignKey", "to": target}]}
        self.add_loss(path, f"references {abbreviate(target)}", "a contract refers to object.field")
        return {}


def links(data: Json) -> list[Json]:
    """Return links by name as authoritative definitions."""
    return [{"url": str(url), "type": str(name)} for name, url in as_mapping(data).items()]


def quality_rule(rule: Json) -> dict[str, Json]:
    """Return a quality rule as a rule of ODCS, or as a custom rule if ODCS does not have it."""
    data = as_mapping(rule)
    known = {_OPERATORS.get(key, key): value for key, value in data.items() if key != "dialect"}
    if known.get("type") == "library" and "metric" not in known:
        known["metric"] = _METRICS.get(str(known.pop("rule", "")))
        if data.get("rule") == "duplicatePercent":
            known["unit"] = "percent"
    if "dialect" in data:
        known = with_custom_properties(known, custom_properties({"dialect": data["dialect"]}, without=()))
    return valid_rule(known, rule, ENGINE)
