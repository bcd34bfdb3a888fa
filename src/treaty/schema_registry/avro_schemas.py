"""Avro schemas: parsed by the `avro` package, written as compact JSON with attributes in a fixed order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import avro.constants
import avro.errors
import avro.name
import avro.schema

from treaty.contracts.text.json_reader import read as read_json
from treaty.contracts.text.limits import Limits
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, ReferencedSchema, SchemaType, all_references

JSON_LIMITS = Limits(depth=200)
_NAMED = ("record", "error", "enum", "fixed")
_TYPE_KEYS = ("type", "name", "namespace", "doc", "size", "symbols", "items", "values", "fields", "aliases")
_FIELD_KEYS = ("name", "type", "doc", "default", "order", "aliases")


def parse(text: str, references: tuple[ReferencedSchema, ...]) -> ParsedSchema:
    """Parse an Avro schema; names that it does not define come from its references."""
    data = read_data(text)
    names = avro.name.Names()
    try:
        for one in all_references(references):
            _define(read_data(one.schema.text), names)
        model = _define(data, names)
    except (avro.errors.AvroException, AttributeError, TypeError, ValueError, KeyError) as error:
        raise InvalidSchema(f"the Avro schema is not valid: {_short(error)}") from None
    except RecursionError:
        raise InvalidSchema("the Avro schema is nested too deeply; use named types") from None
    return ParsedSchema(SchemaType.AVRO, _dump(_canonical(data, "")), references, model)


def canonical(schema: ParsedSchema) -> str:
    """Return the schema as compact JSON with the attributes of each type in a fixed order."""
    return _dump(_canonical(read_data(schema.text), ""))


def normalized(schema: ParsedSchema) -> str:
    """Return the canonical form with full names in references and custom attributes sorted."""
    return _dump(_canonical(read_data(schema.text), "", _known_names(schema)))


def read_data(text: str) -> Json:
    """Read the JSON of a schema; a bare name such as `string` is a schema too."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "[", '"') and all(part.isidentifier() for part in stripped.split(".")):
        return stripped
    try:
        return read_json(text, "schema", JSON_LIMITS)[0]
    except InvalidDocument as error:
        raise InvalidSchema(str(error)) from None


def _define(data: Json, names: avro.name.Names) -> Any:
    """Build the schema object and add the types that it defines to the names."""
    if isinstance(data, str) and data not in avro.constants.PRIMITIVE_TYPES:
        if not names.has_name(data, None):
            raise InvalidSchema(
                f"the Avro schema is not valid: the type {data!r} is not defined; add a reference to it"
            )
        return names.get_name(data, None)
    return avro.schema.make_avsc_object(_without_logical_types(data), names)


def _without_logical_types(node: Json) -> Json:
    """Leave logical types out: they do not affect whether readers and writers fit, and unknown ones cause warnings."""
    if isinstance(node, list):
        return [_without_logical_types(one) for one in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: value if key in ("default", "doc", "symbols", "aliases") else _without_logical_types(value)
        for key, value in node.items()
        if key != "logicalType"
    }


def _known_names(schema: ParsedSchema) -> frozenset[str]:
    names: set[str] = set()
    for text in [*(one.schema.text for one in all_references(schema.references)), schema.text]:
        _collect_names(read_data(text), "", names)
    return frozenset(names)


def _collect_names(node: Json, namespace: str, names: set[str]) -> None:
    if isinstance(node, list):
        for one in node:
            _collect_names(one, namespace, names)
    elif isinstance(node, Mapping):
        if node.get("type") in _NAMED:
            name = _full_name(node, namespace)
            names.add(name)
            namespace = name.rpartition(".")[0]
        for key in ("type", "items", "values", "fields"):
            _collect_names(node.get(key), namespace, names)


def _full_name(node: Mapping[str, Any], namespace: str) -> str:
    name = str(node.get("name", ""))
    space = node.get("namespace", namespace)
    return name if "." in name or not space else f"{space}.{name}"


def _canonical(node: Json, namespace: str, known: frozenset[str] = frozenset()) -> Json:
    if isinstance(node, str):
        full = f"{namespace}.{node}" if namespace else node
        return full if "." not in node and full in known else node
    if isinstance(node, list):
        return [_canonical(one, namespace, known) for one in node]
    if not isinstance(node, Mapping):
        return node
    if isinstance(node.get("type"), (Mapping, list)) and len(node) == 1:
        return _canonical(node["type"], namespace, known)
    if len(node) == 1 and isinstance(node.get("type"), str) and node["type"] not in ("record", "array", "map"):
        return _canonical(node["type"], namespace, known)
    return _canonical_type(node, namespace, known)


def _canonical_type(node: Mapping[str, Any], namespace: str, known: frozenset[str]) -> Json:
    parts: dict[str, Any] = dict(node)
    if node.get("type") in _NAMED:
        full = _full_name(node, namespace)
        own, _, short = full.rpartition(".")
        parts["name"] = short
        parts.pop("namespace", None)
        if own != namespace or known:
            parts["namespace"] = own
        if not parts.get("namespace", own):
            parts.pop("namespace", None)
        namespace = own
    for key in ("items", "values"):
        if key in parts:
            parts[key] = _canonical(parts[key], namespace, known)
    if isinstance(parts.get("fields"), list):
        parts["fields"] = [_canonical_field(one, namespace, known) for one in parts["fields"]]
    if parts.get("type") not in (*_NAMED, "array", "map"):
        parts["type"] = _canonical(parts["type"], namespace, known) if "type" in parts else None
    return _ordered(parts, _TYPE_KEYS, known)


def _canonical_field(node: Json, namespace: str, known: frozenset[str]) -> Json:
    if not isinstance(node, Mapping):
        return node
    parts = {**node, "type": _canonical(node.get("type"), namespace, known)}
    if parts.get("order") == "ascending":
        del parts["order"]
    return _ordered(parts, _FIELD_KEYS, known)


def _ordered(parts: Mapping[str, Any], keys: Sequence[str], known: frozenset[str]) -> dict[str, Any]:
    others = [key for key in parts if key not in keys]
    return {key: parts[key] for key in (*(key for key in keys if key in parts), *(sorted(others) if known else others))}


def _dump(data: Json) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def _short(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text if len(text) <= 500 else f"{text[:500]}…"
