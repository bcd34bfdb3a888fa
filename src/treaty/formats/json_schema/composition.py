"""Combine `$ref`, `allOf` and null alternatives of a JSON Schema node into one node that accepts the same values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from treaty.contracts.values import Json, json_equal
from treaty.formats.flat_terms import as_mapping
from treaty.formats.json_schema.documents import Node, SchemaDocuments, UnresolvedReference
from treaty.formats.json_schema.types import ASSERTIONS, UNCONSTRAINED

Trail = tuple[str, ...]
"""The references that led to a node; a reference that occurs twice is recursive."""
MAX_FOLLOWED_REFERENCES = 3_000
"""References beyond this number are kept by name: definitions that use each other multiply."""

MAX_REFERENCE_DEPTH = 16
"""References inside each other beyond this depth are kept by name: a document is at most 64 levels deep."""

_NULL = "null"
_DEPENDS_ON_PROPERTIES = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_TIGHTER: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}
_SEES_PARTS = ("unevaluatedProperties", "unevaluatedItems")
"""Keywords that take the parts of `allOf` and `$ref` into account."""
_APPLY_TO_NULL = frozenset({"type", "enum", "const", "not", "anyOf", "oneOf", "allOf", "if", "$ref"})
"""Keywords that can reject null; the others concern texts, numbers, arrays or objects only."""


class Composition:
    """Resolves the nodes of one schema; lists references that lead nowhere and those that it keeps by name.

    `cut` counts references that were kept by name, `deepest` is the longest trail so far.
    """

    def __init__(self, documents: SchemaDocuments) -> None:
        self.documents = documents
        self.unresolved: dict[str, None] = {}
        self.kept: dict[str, str] = {}
        self.followed = 0
        self.cut = 0
        self.deepest = 0

    def resolve(self, node: Json, trail: Trail = (), *, keeps_title: bool = False) -> tuple[dict[str, Any], Trail]:
        """Return a node combined with its `$ref` and `allOf`, and the trail inside it.

        A recursive or unresolved reference stays as `$ref` with its short name.
        """
        if not isinstance(node, Mapping):
            return ({"not": {}} if node is False else {}), trail
        own = {key: value for key, value in node.items() if key not in ("$ref", "allOf", *_SEES_PARTS)}
        combined, inside = self._target(node, trail, keeps_title=keeps_title)
        parts = node.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            resolved, further = self.resolve(part, trail)
            inside = (*inside, *(reference for reference in further if reference not in inside))
            combined = conjoin(combined, resolved)
        combined = conjoin(combined, own) | {key: node[key] for key in _SEES_PARTS if key in node}
        return drop_unconstrained(combined), inside

    def _target(self, node: Node, trail: Trail, *, keeps_title: bool) -> tuple[dict[str, Any], Trail]:
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {}, trail
        name = self.documents.short_name(reference)
        try:
            target = self.documents.resolve(reference)
        except UnresolvedReference:
            self.unresolved[name] = None
            self.cut += 1
            return {"$ref": name}, trail
        self.followed += 1
        if reference in trail:
            self.cut += 1
            return {"$ref": name}, trail
        if self.followed > MAX_FOLLOWED_REFERENCES or len(trail) > MAX_REFERENCE_DEPTH:
            self.kept[name] = reference
            self.cut += 1
            return {"$ref": name}, trail
        self.deepest = max(self.deepest, len(trail) + 1)
        resolved, inside = self.resolve(target, (*trail, reference))
        if not keeps_title:
            resolved.pop("title", None)  # the title belongs to the definition, not to the field that refers to it
        return resolved, inside

    def split_null(self, node: dict[str, Any], trail: Trail) -> tuple[dict[str, Any], Trail, bool]:
        """Return the node without its null alternative, and whether null is allowed."""
        for key in ("anyOf", "oneOf"):
            node, trail, nullable = self._split_choice(node, key, trail)
            if nullable:
                return node, trail, True
        types = node.get("type")
        values = node["enum"] if isinstance(node.get("enum"), list) else [node["const"]] if "const" in node else None
        lists_null = values is not None and any(value is None for value in values)
        if isinstance(types, list) and _NULL in types:
            rest = [name for name in types if name != _NULL]
            node = {**node, "type": rest[0] if len(rest) == 1 else rest} if rest else {**node, "type": _NULL}
            nullable = bool(rest) and (values is None or lists_null)
        else:
            nullable = "type" not in node and lists_null and bool(values and len(values) > 1)
        if lists_null and values is not None and len(values) > 1:
            node = {**node, "enum": [value for value in values if value is not None]}
        return node, trail, nullable

    def _split_choice(self, node: dict[str, Any], key: str, trail: Trail) -> tuple[dict[str, Any], Trail, bool]:
        choices = node.get(key)
        if not isinstance(choices, list):
            return node, trail, False
        rest = {name: value for name, value in node.items() if name != key}
        values = [choice for choice in choices if not _is_null(choice)]
        has_null = len(values) < len(choices)
        if has_null and rest.keys() & _APPLY_TO_NULL:
            return node, trail, False
        if len(values) == 1:
            resolved, inside = self.resolve(values[0], trail)
            if not has_null:
                return drop_unconstrained(conjoin(resolved, rest)), inside, False
            if _rejects_null(resolved):
                return drop_unconstrained(conjoin(resolved, rest)), inside, True
            return node, trail, False
        types = _plain_types(values)
        if (
            types
            and not rest.keys() & {"type", "enum", "const"}
            and (key == "anyOf" or not {"integer", "number"} <= types)
        ):
            return {**rest, "type": sorted(types)}, trail, has_null
        if has_null and key == "anyOf":
            return {**rest, key: values}, trail, True
        return node, trail, False


def _is_null(choice: Json) -> bool:
    return isinstance(choice, Mapping) and choice.get("type") == _NULL and not choice.keys() & (ASSERTIONS - {"type"})


def _rejects_null(node: Node) -> bool:
    types = node.get("type")
    return (isinstance(types, str) and types != _NULL) or (isinstance(types, list) and _NULL not in types)


def _plain_types(choices: list[Any]) -> set[str]:
    """Return the types of alternatives that state nothing but a type, or nothing if one states more."""
    types: set[str] = set()
    for choice in choices:
        if not isinstance(choice, Mapping) or choice.keys() - {"type", "title", "description"}:
            return set()
        if not isinstance(choice.get("type"), str):
            return set()
        types.add(choice["type"])
    return types


def conjoin(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node that accepts what both nodes accept; annotations come from `above`.

    Parts that cannot be combined stay apart, in `allOf`.
    """
    if not below:
        return dict(above)
    apart = [*_list(below, "allOf"), *_list(above, "allOf")]
    below = {key: value for key, value in below.items() if key != "allOf"}
    merged = _combine(below, {key: value for key, value in above.items() if key != "allOf"})
    if merged is None:
        apart.append({key: value for key, value in below.items() if key in ASSERTIONS or key == "$ref"})
        kept = {key: value for key, value in below.items() if key not in ASSERTIONS and key != "$ref"}
        merged = {**kept, **above}
    return {**merged, "allOf": apart} if apart else merged


def _list(node: Node, key: str) -> list[Any]:
    value = node.get(key)
    return value if isinstance(value, list) else []


def _combine(below: Node, above: Node) -> dict[str, Any] | None:
    """Merge two nodes keyword by keyword; None if that would change what they accept."""
    merged = {**below, **above}
    if not _are_independent(below, above) or not _are_independent(above, below):
        return None
    for key in below.keys() & above.keys():
        one, other = below[key], above[key]
        if json_equal(one, other) or (key not in ASSERTIONS and key != "$ref"):
            continue
        if key == "required" and isinstance(one, list) and isinstance(other, list):
            merged[key] = [*one, *(name for name in other if name not in one)]
        elif key == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
            merged[key] = {**one, **{name: _merge_property(one, other, name) for name in other}}
        elif key == "type":
            types = _common_types(one, other)
            if not types:
                return None
            merged[key] = types[0] if len(types) == 1 else types
        elif key == "format" and other == f"{one}-local":
            merged[key] = other  # the same type without a time zone
        elif key in _TIGHTER and all(isinstance(bound, (int, float)) for bound in (one, other)):
            merged[key] = _TIGHTER[key](one, other)
        else:
            return None
    return merged


def _are_independent(one: Node, other: Node) -> bool:
    """Whether no keyword of one node depends on properties or branches that only the other node has."""
    if any(key in one for key in ("if", "then", "else")) and any(key in other for key in ("if", "then", "else")):
        return False
    if any(key in one for key in ("prefixItems", "contains")) and any(key in other for key in ("items", "contains")):
        return False
    if not any(key in one and not json_equal(one[key], True) for key in _DEPENDS_ON_PROPERTIES):
        return True
    own, others = as_mapping(one.get("properties")), as_mapping(other.get("properties"))
    return others.keys() <= own.keys() and not any(key in other for key in _DEPENDS_ON_PROPERTIES)


def _merge_property(one: Mapping[str, Any], other: Mapping[str, Any], name: str) -> Json:
    if name not in one or json_equal(one[name], other[name]):
        return other[name]
    return {"allOf": [one[name], other[name]]}


def _common_types(one: Json, other: Json) -> list[str]:
    listed = [value if isinstance(value, list) else [value] for value in (one, other)]
    common = [name for name in listed[0] if name in listed[1]]
    for first, second in (listed, reversed(listed)):
        common += ["integer"] if "integer" in first and "number" in second and "integer" not in common else []
    return common


def drop_unconstrained(node: dict[str, Any]) -> dict[str, Any]:
    """Return the node without keywords that restrict nothing."""
    plain = {
        key: value
        for key, value in node.items()
        if not (key in UNCONSTRAINED and (json_equal(value, UNCONSTRAINED[key]) or (value == {} and key != "enum")))
    }
    if plain.get("unevaluatedProperties") is False and not plain.keys() & _BRANCHES:
        plain["additionalProperties"] = plain.pop("unevaluatedProperties")
    if isinstance(plain.get("type"), list) and len(plain["type"]) == 1:
        plain["type"] = plain["type"][0]
    return plain


_BRANCHES = frozenset(
    {"additionalProperties", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "$ref"}
)
"""Keywords whose properties `unevaluatedProperties` takes into account, but `additionalProperties` does not."""
