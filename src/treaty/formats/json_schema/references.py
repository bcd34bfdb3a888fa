"""Resolve `$ref`, `allOf` and null alternatives of a JSON Schema node into one node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from treaty.contracts.values import Json

Node = Mapping[str, Any]
_NULL = "null"


class UnresolvedReference(Exception):
    """A reference points outside the file or to nothing in it."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference


class CircularReference(Exception):
    """A reference points back to a schema that contains it."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference


def resolve_reference(root: Json, reference: str) -> Json:
    """Return the target of a reference within the file."""
    if not reference.startswith("#"):
        raise UnresolvedReference(reference)
    node = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            raise UnresolvedReference(reference)
    if len(reference) > 1 and not reference.startswith("#/"):
        raise UnresolvedReference(reference)
    return node


def resolve_node(
    root: Json, node: Node, seen: tuple[str, ...] = (), *, keeps_title: bool = False
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Merge a node with its `$ref` and `allOf`; also return the references that were followed."""
    merged: dict[str, Any] = {}
    followed = seen
    if isinstance(reference := node.get("$ref"), str):
        if reference in seen:
            raise CircularReference(reference)
        target = resolve_reference(root, reference)
        if not isinstance(target, Mapping):
            raise UnresolvedReference(reference)
        merged, followed = resolve_node(root, target, (*seen, reference))
        if not keeps_title:
            merged.pop("title", None)  # the title belongs to the definition, not to the field that refers to it
    parts = node.get("allOf")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping):
            resolved, more = resolve_node(root, part, seen)
            merged = merge_nodes(merged, resolved)
            followed = (*followed, *(one for one in more if one not in followed))
    return merge_nodes(merged, {key: value for key, value in node.items() if key not in ("$ref", "allOf")}), followed


def merge_nodes(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two nodes: `properties` and `required` are combined, other keywords come from `above`."""
    joined = {**below, **above}
    for key in ("properties",):
        if isinstance(below.get(key), Mapping) and isinstance(above.get(key), Mapping):
            joined[key] = {**below[key], **above[key]}
    if isinstance(below.get("required"), list) and isinstance(above.get("required"), list):
        joined["required"] = [*below["required"], *above["required"]]
    return joined


def split_null(root: Json, node: dict[str, Any], seen: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...], bool]:
    """Return the node without its null alternative, and whether null is allowed."""
    nullable = node.get("nullable") is True
    followed = seen
    for key in ("anyOf", "oneOf"):
        choices = node.get(key)
        if isinstance(choices, list):
            values = [one for one in choices if not (isinstance(one, Mapping) and one.get("type") == _NULL)]
            nullable = nullable or len(values) < len(choices)
            rest = {name: value for name, value in node.items() if name != key}
            if len(values) == 1 and isinstance(values[0], Mapping):
                resolved, followed = resolve_node(root, values[0], seen)
                node = merge_nodes(resolved, rest)
            elif len(values) < len(choices):
                node = {**rest, key: values}
    kinds = node.get("type")
    if isinstance(kinds, list) and _NULL in kinds:
        nullable, left = True, [kind for kind in kinds if kind != _NULL]
        node = {**node, "type": left[0] if len(left) == 1 else left}
    if nullable and isinstance(node.get("enum"), list):
        node = {**node, "enum": [value for value in node["enum"] if value is not None]}
    return node, followed, nullable
