"""A node of a JSON Schema, with what it refers to and what stands beside it as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from treaty.contracts.values import Json

Node = Mapping[str, Any]
_NULL = "null"


class UnresolvedReference(Exception):
    """A reference leads out of the file, or to nothing in it."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference


class CircularReference(Exception):
    """A reference leads back to a schema that it stands in."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference


def resolve_reference(root: Json, reference: str) -> Json:
    """Return what a reference inside the file points at."""
    if not reference.startswith("#"):
        raise UnresolvedReference(reference)
    found = root
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise UnresolvedReference(reference)
    if len(reference) > 1 and not reference.startswith("#/"):
        raise UnresolvedReference(reference)
    return found


def resolve_node(
    root: Json, node: Node, seen: tuple[str, ...] = (), *, keeps_title: bool = False
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Lay a node over what it refers to and what it is all of; also return the references that were followed."""
    merged: dict[str, Any] = {}
    followed = seen
    if isinstance(reference := node.get("$ref"), str):
        if reference in seen:
            raise CircularReference(reference)
        pointed = resolve_reference(root, reference)
        if not isinstance(pointed, Mapping):
            raise UnresolvedReference(reference)
        merged, followed = resolve_node(root, pointed, (*seen, reference))
        if not keeps_title:
            merged.pop("title", None)  # it names the definition, not what refers to it
    parts = node.get("allOf")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping):
            laid, more = resolve_node(root, part, seen)
            merged = merge_nodes(merged, laid)
            followed = (*followed, *(one for one in more if one not in followed))
    return merge_nodes(merged, {key: value for key, value in node.items() if key not in ("$ref", "allOf")}), followed


def merge_nodes(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return both as one: fields and required names add up, anything else is as the upper one says."""
    joined = {**below, **above}
    for key in ("properties",):
        if isinstance(below.get(key), Mapping) and isinstance(above.get(key), Mapping):
            joined[key] = {**below[key], **above[key]}
    if isinstance(below.get("required"), list) and isinstance(above.get("required"), list):
        joined["required"] = [*below["required"], *above["required"]]
    return joined


def split_null(root: Json, node: dict[str, Any], seen: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...], bool]:
    """Return the node as it is where there is a value, and whether null is allowed too."""
    nullable = node.get("nullable") is True
    followed = seen
    for key in ("anyOf", "oneOf"):
        choices = node.get(key)
        if isinstance(choices, list):
            values = [one for one in choices if not (isinstance(one, Mapping) and one.get("type") == _NULL)]
            nullable = nullable or len(values) < len(choices)
            rest = {name: value for name, value in node.items() if name != key}
            if len(values) == 1 and isinstance(values[0], Mapping):
                laid, followed = resolve_node(root, values[0], seen)
                node = merge_nodes(laid, rest)
            elif len(values) < len(choices):
                node = {**rest, key: values}
    kinds = node.get("type")
    if isinstance(kinds, list) and _NULL in kinds:
        nullable, left = True, [kind for kind in kinds if kind != _NULL]
        node = {**node, "type": left[0] if len(left) == 1 else left}
    if nullable and isinstance(node.get("enum"), list):
        node = {**node, "enum": [value for value in node["enum"] if value is not None]}
    return node, followed, nullable
