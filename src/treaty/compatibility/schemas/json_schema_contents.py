"""Content models of JSON Schema: what objects and arrays allow besides what they declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import re2

from treaty.compatibility.schemas.json_schema_nodes import DRAFT_2020, Node
from treaty.contracts.values import Json


class ObjectContent:
    """Which properties an object allows besides those that it declares."""

    def __init__(self, node: Node) -> None:
        data = node.data
        is_unevaluated = "additionalProperties" not in data and "unevaluatedProperties" in data
        self.keyword = "unevaluatedProperties" if is_unevaluated else "additionalProperties"
        value = data.get(self.keyword, True)
        self.is_closed = value is False
        self.schema = None if isinstance(value, bool) else node.child(value)
        patterns: Mapping[str, Json] = data.get("patternProperties") or {}
        self.patterns = [(_compiled(pattern), schema) for pattern, schema in patterns.items()]
        self._node = node
        self.is_open = not self.patterns and self.schema is None and not self.is_closed

    def covering(self, name: str) -> Node | None:
        """Return the schema that an undeclared property of this name must satisfy."""
        for pattern, schema in self.patterns:
            if pattern is not None and pattern.search(name) is not None:
                return self._node.child(schema)
        return self.schema


class ArrayItems:
    """The items of an array: a schema for every one, or one for each of the first, and what follows them."""

    def __init__(self, node: Node, draft: int) -> None:
        data = node.data
        first, rest = ("prefixItems", "items") if draft >= DRAFT_2020 else ("items", "additionalItems")
        listed = data.get(first)
        is_tuple = isinstance(listed, list)
        self.tuple = [node.child(one) for one in listed] if isinstance(listed, list) else []
        self.every = None if is_tuple or "items" not in data else node.part("items")
        following: Any = data.get(rest, data.get("unevaluatedItems", True)) if is_tuple else True
        self.is_closed = following is False
        self.rest = None if isinstance(following, bool) else node.child(following)


def _compiled(pattern: str) -> Any:
    """Compile a pattern; None if RE2 does not know it: such a pattern covers nothing."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None
