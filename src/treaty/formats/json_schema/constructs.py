"""What a node states beyond the terms of its field, as foreign constructs with normalised texts.

A node and the node that the writer would write for the field that was read from it are compared keyword by keyword.
Whatever differs is a construct. Two nodes with equal fields and equal constructs therefore accept the same values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from treaty.contracts.foreign import ForeignConstruct
from treaty.contracts.values import Json, canonical_json, json_equal
from treaty.formats.json_schema.composition import Composition, Trail
from treaty.formats.json_schema.types import ASSERTIONS

FORMAT = "json_schema"
ANY = "any"
"""The text of a keyword that the node does not have, although its field implies it."""

_SCHEMA_KEYWORDS = frozenset(
    {"not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "items"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)
_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAP_KEYWORDS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_UNORDERED = frozenset({"allOf", "anyOf", "oneOf", "required", "enum", "type"})


class Normalizer:
    """Returns schemas with references resolved, annotations dropped and unordered lists sorted."""

    def __init__(self, composition: Composition) -> None:
        self.composition = composition

    def keyword(self, key: str, value: Json, trail: Trail) -> Json:
        """Return the value of a keyword."""
        if key in _SCHEMA_KEYWORDS:
            value = self.schema(value, trail)
        elif key in _LIST_KEYWORDS and isinstance(value, list):
            value = [self.schema(part, trail) for part in value]
        elif key in _MAP_KEYWORDS and isinstance(value, Mapping):
            value = {name: self.schema(part, trail) for name, part in value.items()}
        elif key == "dependentRequired" and isinstance(value, Mapping):
            return {name: _sorted(names) for name, names in value.items()}
        return _sorted(value) if key in _UNORDERED else value

    def schema(self, node: Json, trail: Trail) -> Json:
        """Return a schema; true accepts everything, false nothing."""
        if isinstance(node, bool):
            return node
        resolved, inside = self.composition.resolve(node, trail)
        if "const" in resolved:
            resolved["enum"] = [resolved.pop("const")]
        kept = {key: value for key, value in resolved.items() if key in ASSERTIONS or key == "$ref"}
        return {key: self.keyword(key, kept[key], inside) for key in sorted(kept)} or True


def find_constructs(
    node: Mapping[str, Any], expected: Mapping[str, Any], normalizer: Normalizer, trail: Trail, modelled: Iterable[str]
) -> Iterator[ForeignConstruct]:
    """Yield the keywords in which a node differs from the expected one; `modelled` keywords are left out."""
    left_out = frozenset(modelled)
    for key in sorted((node.keys() | expected.keys()) & (ASSERTIONS | {"$ref"})):
        if key in left_out:
            continue
        value = normalizer.keyword(key, node[key], trail) if key in node else None
        wanted = normalizer.keyword(key, expected[key], ()) if key in expected else None
        if key not in node:
            yield ForeignConstruct(FORMAT, key, ANY)
        elif key not in expected or not json_equal(value, wanted):
            yield ForeignConstruct.of(FORMAT, key, value)


def apply_constructs(node: dict[str, Any], constructs: Iterable[ForeignConstruct]) -> dict[str, Any]:
    """Return the node with the keywords of constructs that were read from a JSON Schema.

    Constructs that refer to other schemas by name cannot be written: the definitions are not known.
    """
    written = dict(node)
    for construct in constructs:
        if construct.format != FORMAT or construct.name not in ASSERTIONS or '"$ref"' in construct.text:
            continue
        if construct.text == ANY:
            written.pop(construct.name, None)
        else:
            written[construct.name] = json.loads(construct.text)
    return written


def _sorted(value: Json) -> Json:
    return sorted(value, key=canonical_json) if isinstance(value, list) else value
