"""The parts of a JSON Schema as typed nodes: references resolved, implied combinations made explicit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from treaty.contracts.values import Json

DRAFT_2019, DRAFT_2020 = 2019, 2020
_ANNOTATIONS = frozenset({"title", "description", "$comment", "examples", "$id"})
_DATA_KEYWORDS = frozenset({"enum", "const", "default", "examples"})


class NodeKind(StrEnum):
    """What a schema constrains."""

    ANYTHING = "anything"
    NOTHING = "nothing"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    OBJECT = "object"
    ARRAY = "array"
    ENUM = "enum"
    NOT = "not"
    CONDITION = "condition"
    COMBINED = "combined"


class Criterion(StrEnum):
    """How many of the schemas of a combination a value must satisfy."""

    ALL = "allOf"
    ANY = "anyOf"
    ONE = "oneOf"


_TYPES = {
    "string": NodeKind.STRING,
    "number": NodeKind.NUMBER,
    "integer": NodeKind.NUMBER,
    "boolean": NodeKind.BOOLEAN,
    "null": NodeKind.NULL,
    "object": NodeKind.OBJECT,
    "array": NodeKind.ARRAY,
}
_KEYWORDS = {
    NodeKind.STRING: frozenset({"minLength", "maxLength", "pattern"}),
    NodeKind.NUMBER: frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    NodeKind.ARRAY: frozenset(
        {"items", "prefixItems", "additionalItems", "unevaluatedItems", "minItems", "maxItems", "uniqueItems"}
    ),
    NodeKind.OBJECT: frozenset(
        {
            "properties",
            "required",
            "additionalProperties",
            "unevaluatedProperties",
            "patternProperties",
            "minProperties",
            "maxProperties",
            "dependencies",
            "dependentRequired",
            "dependentSchemas",
        }
    ),
}
"""The keywords that imply a type where none is stated."""


@dataclass(frozen=True, eq=False)
class Node:
    """A schema of one kind; `children` are those of a combination."""

    kind: NodeKind
    data: Mapping[str, Any]
    document: Document
    base: str
    type: str | None = None
    criterion: Criterion | None = None
    children: tuple[Node, ...] = ()

    def part(self, keyword: str) -> Node | None:
        """Return the schema at a keyword."""
        return self.child(self.data[keyword]) if keyword in self.data else None

    def child(self, data: Json) -> Node:
        """Return the node of a schema below this one."""
        return self.document.node(data, self.base)


@dataclass(frozen=True)
class _Target:
    data: Json
    document: Document
    base: str


class Document:
    """A JSON Schema document, with those that it refers to by name."""

    def __init__(self, data: Json, draft: int, others: Mapping[str, Json]) -> None:
        self._data = data
        self._draft = draft
        self._nodes: dict[tuple[int, str], Node] = {}
        self._others = {name: Document(one, draft, {}) for name, one in others.items()}
        for document in self._others.values():
            document._others = self._others
        self._targets = dict(self._index(data, ""))

    @property
    def root(self) -> Node:
        """The node of the whole document."""
        return self.node(self._data, "")

    def node(self, data: Json, base: str) -> Node:
        """Return the node of a schema in this document; the same schema gives the same node."""
        key = (id(data), base)
        if key not in self._nodes:
            self._nodes[key] = self._build(data, base)
        return self._nodes[key]

    def _build(self, data: Json, base: str) -> Node:
        if not isinstance(data, Mapping):
            return Node(NodeKind.NOTHING if data is False else NodeKind.ANYTHING, {}, self, base)
        base = _join_base(base, data)
        parts = list(self._parts(data, base))
        if not parts:
            return Node(NodeKind.ANYTHING, data, self, base)
        if len(parts) == 1:
            return parts[0]
        return Node(NodeKind.COMBINED, data, self, base, criterion=Criterion.ALL, children=tuple(parts))

    def _parts(self, data: Mapping[str, Any], base: str) -> Iterator[Node]:
        """Yield what a schema consists of; before 2019-09, nothing counts next to `$ref`."""
        reference = data.get("$ref", data.get("$dynamicRef"))
        if isinstance(reference, str):
            yield self._resolve(reference, base)
            if self._draft < DRAFT_2019:
                return
        if "enum" in data or "const" in data:
            yield Node(NodeKind.ENUM, data, self, base)
        for criterion in Criterion:
            if isinstance(data.get(criterion), list):
                children = tuple(self.node(one, base) for one in data[criterion])
                yield Node(NodeKind.COMBINED, data, self, base, criterion=criterion, children=children)
        if "not" in data:
            yield Node(NodeKind.NOT, data, self, base)
        if "if" in data:
            yield Node(NodeKind.CONDITION, data, self, base)
        yield from self._typed(data, base)

    def _typed(self, data: Mapping[str, Any], base: str) -> Iterator[Node]:
        stated = data.get("type")
        if isinstance(stated, str):
            yield Node(_TYPES[stated], data, self, base, type=stated)
        elif isinstance(stated, list):
            children = tuple(Node(_TYPES[name], data, self, base, type=name) for name in stated)
            yield Node(NodeKind.COMBINED, data, self, base, criterion=Criterion.ANY, children=children)
        else:
            for kind, keywords in _KEYWORDS.items():
                if not keywords.isdisjoint(data):
                    yield Node(kind, data, self, base)

    def _resolve(self, reference: str, base: str) -> Node:
        """Follow a reference; references that only refer to each other accept anything."""
        seen: set[tuple[int, str]] = set()
        target = self._target(reference, base)
        while target is not None:
            data, document = target.data, target.document
            is_alias = isinstance(data, Mapping) and set(data) == {"$ref"} and isinstance(data["$ref"], str)
            if not is_alias:
                return document._lazy(data, target.base)
            key = (id(data), target.base)
            if key in seen:
                break
            seen.add(key)
            target = document._target(data["$ref"], target.base)
        return Node(NodeKind.ANYTHING, {}, self, base)

    def _lazy(self, data: Json, base: str) -> Node:
        """Return the node of a referenced schema, which may be the one that is being built."""
        key = (id(data), base)
        if key in self._nodes:
            return self._nodes[key]
        if isinstance(data, Mapping) and ("$ref" in data or any(one in data for one in Criterion)):
            return _Deferred(self, data, base)
        return self.node(data, base)

    def _target(self, reference: str, base: str) -> _Target | None:
        uri = urljoin(base, reference) if base else reference
        name, fragment = urldefrag(uri)
        written = urldefrag(reference).url
        if uri in self._targets:
            return self._targets[uri]
        if not name or name == base or name in self._targets:
            start = self._targets.get(name) if name else None
            start = start or _Target(self._data, self, "")
        else:
            document = next((self._others[one] for one in (written, name, reference) if one in self._others), None)
            if document is None:
                return None
            if fragment and not fragment.startswith("/"):
                return document._anchor(fragment)
            start = _Target(document._data, document, "")
        return _follow(start, fragment)

    def _anchor(self, fragment: str) -> _Target | None:
        return next((one for uri, one in self._targets.items() if uri.endswith(f"#{fragment}")), None)

    def _index(self, data: Json, base: str) -> Iterator[tuple[str, _Target]]:
        """Yield the parts that have an identifier or an anchor."""
        if isinstance(data, list):
            for one in data:
                yield from self._index(one, base)
        elif isinstance(data, Mapping):
            inner = _join_base(base, data)
            target = _Target(data, self, base)
            if inner != base:
                yield inner, target
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(data.get(keyword), str):
                    yield f"{inner}#{data[keyword]}", target
            identifier = data.get("$id", data.get("id"))
            if isinstance(identifier, str) and identifier.startswith("#"):
                yield f"{inner}{identifier}", target
            for keyword, value in data.items():
                if keyword not in _DATA_KEYWORDS:
                    yield from self._index(value, inner)


class _Deferred(Node):
    """A referenced schema whose node is built when it is needed, because schemas may contain themselves."""

    def __init__(self, document: Document, data: Mapping[str, Any], base: str) -> None:
        super().__init__(NodeKind.ANYTHING, data, document, base)


def settle(node: Node) -> Node:
    """Return the node that a reference leads to."""
    seen: set[int] = set()
    while isinstance(node, _Deferred):
        if id(node.data) in seen:
            return Node(NodeKind.ANYTHING, {}, node.document, node.base)
        seen.add(id(node.data))
        node = node.document.node(node.data, node.base)
    return node


def fingerprint(node: Node) -> str | None:
    """Return a text that equal schemas have in common; None if they contain references."""
    parts = {key: value for key, value in node.data.items() if key not in _ANNOTATIONS}
    text = json.dumps([node.kind, node.type, node.criterion, parts], sort_keys=True)
    return None if '"$ref"' in text or '"$dynamicRef"' in text else text


def _follow(start: _Target, fragment: str) -> _Target | None:
    """Follow a JSON pointer; identifiers on the way change the base."""
    node, base = start.data, start.base
    for step in unquote(fragment).split("/")[1:]:
        if isinstance(node, Mapping):
            base = _join_base(base, node)
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return _Target(node, start.document, base)


def _join_base(base: str, data: Mapping[str, Any]) -> str:
    identifier = data.get("$id", data.get("id"))
    is_uri = isinstance(identifier, str) and not identifier.startswith("#")
    return urldefrag(urljoin(base, identifier)).url if is_uri else base
