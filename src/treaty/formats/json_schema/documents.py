"""The documents of a JSON Schema: the file itself, the files beside it, their identifiers and anchors.

Each document is brought to the vocabulary of draft 2020-12 when it is loaded, and its references are made absolute, so
that the readers know one draft only and need no base URI.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from treaty.contracts.text import read_document_with_number_keys
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument
from treaty.formats.json_schema.types import ANNOTATIONS, ASSERTIONS
from treaty.formats.notes import NOTE_KEY
from treaty.formats.results import FileReader, read_no_files

Node = Mapping[str, Any]

_FILE_BASE = "file:///"
_DATA_KEYWORDS = frozenset({"enum", "const", "default", "example", "examples", NOTE_KEY})
"""Keywords whose values are data, not schemas."""
_NAMED_SCHEMAS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_DRAFTS = (("draft-03", 3), ("draft-04", 4), ("draft-06", 6), ("draft-07", 7), ("2019-09", 2019), ("2020-12", 2020))
_LATEST_DRAFT = 2020
MAX_DOCUMENTS = 200


@dataclass(frozen=True)
class Vocabulary:
    """What the schemas of a document are written in.

    `draft` is that of documents that state none. `named_parts` are keys around the schemas whose values are mappings of
    arbitrary names, such as `responses` in an OpenAPI document. `foreign_parts` returns the keys of a mapping whose
    values are written in another schema language, and left as they are.
    """

    draft: int = _LATEST_DRAFT
    named_parts: frozenset[str] = frozenset()
    foreign_parts: Callable[[Node], frozenset[str]] = lambda node: frozenset()


JSON_SCHEMA = Vocabulary()
OPENAPI_3_0_DRAFT = 5
"""The schemas of OpenAPI 3.0 extend draft 5 by `nullable` and `example`."""


class UnresolvedReference(Exception):
    """A reference points to a file that is not there, or to nothing in it."""


class SchemaDocuments:
    """All schemas that one file can refer to, by absolute URI."""

    def __init__(
        self, source: str, data: Json, files: FileReader = read_no_files, vocabulary: Vocabulary = JSON_SCHEMA
    ) -> None:
        self.files = files
        self.vocabulary = vocabulary
        self.base = urljoin(_FILE_BASE, posixpath.basename(source.replace("\\", "/")) or "schema")
        identifier = _own_identifier(data)
        self.identifier = urldefrag(_join(self.base, identifier)).url if identifier else self.base
        self._schemas: dict[str, Json] = {}
        self._missing: set[str] = set()
        self.root = self._add(data, self.identifier, frozenset({self.base}))

    def resolve(self, reference: str) -> Json:
        """Return the schema with an absolute URI."""
        uri, fragment = urldefrag(reference)
        if uri not in self._schemas and not self._load(uri):
            raise UnresolvedReference(reference)
        if not fragment or fragment.startswith("/"):
            return _follow_pointer(self._schemas[uri], fragment, reference)
        if reference not in self._schemas:
            raise UnresolvedReference(reference)
        return self._schemas[reference]

    def short_name(self, reference: str) -> str:
        """Return a reference as it is written in the file: relative to it if possible."""
        uri, fragment = urldefrag(reference)
        for base in (self.identifier, self.base):
            if uri == base:
                return f"#{fragment}"
        relative = self._relative_path(uri)
        return (relative or uri) + (f"#{fragment}" if fragment else "")

    def _relative_path(self, uri: str) -> str | None:
        """Return the path of a document from the folder of the file, if both are in one place."""
        for base in (self.identifier, self.base):
            one, other = urlsplit(base), urlsplit(uri)
            if one[:2] == other[:2] and other.path:
                return posixpath.relpath(unquote(other.path), posixpath.dirname(unquote(one.path)) or "/")
        return None

    def _load(self, uri: str) -> bool:
        """Read a document beside the file; a document with another identifier is found by its file name."""
        if uri in self._missing or len(self._schemas) >= MAX_DOCUMENTS:
            return False
        paths = [path for path in (self._relative_path(uri), posixpath.basename(urlsplit(uri).path)) if path]
        for path in dict.fromkeys(paths):
            text = self.files(path)
            if text is None:
                continue
            try:
                data = read_document_with_number_keys(text, path).data
            except InvalidDocument:
                continue
            self._add(data, urldefrag(_join(uri, _own_identifier(data) or "")).url, frozenset({uri}))
            return True
        self._missing.add(uri)
        return False

    def _add(self, data: Json, base: str, other_names: frozenset[str]) -> Json:
        schema = _Normalizer(self._schemas, _draft(data, self.vocabulary.draft), self.vocabulary).schema(data, base)
        for name in (base, *other_names):
            self._schemas[name] = schema
        return schema


def _own_identifier(data: Json) -> str | None:
    if not isinstance(data, Mapping):
        return None
    identifier = data.get("id" if _draft(data) <= 4 and "$id" not in data else "$id")
    return identifier if isinstance(identifier, str) else None


def _join(base: str, reference: str) -> str:
    """Return a reference as an absolute URI; fragments work with any scheme, such as `urn:`."""
    if reference.startswith("#") or not reference:
        return base + (reference if len(reference) > 1 else "")
    return urljoin(base, reference)


def _draft(data: Json, default: int = _LATEST_DRAFT) -> int:
    uri = data.get("$schema") if isinstance(data, Mapping) else None
    return next((year for name, year in _DRAFTS if isinstance(uri, str) and name in uri), default)


def _follow_pointer(node: Json, fragment: str, reference: str) -> Json:
    for step in unquote(fragment).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            raise UnresolvedReference(reference)
    return node


class _Normalizer:
    """Brings the schemas of one document to draft 2020-12 and registers identifiers and anchors."""

    def __init__(self, schemas: dict[str, Json], draft: int, vocabulary: Vocabulary) -> None:
        self.schemas = schemas
        self.draft = draft
        self.named = _NAMED_SCHEMAS | vocabulary.named_parts
        self.foreign_parts = vocabulary.foreign_parts

    def schema(self, node: Json, base: str) -> Json:
        """Return a schema, with all schemas in it, with absolute references."""
        if not isinstance(node, Mapping):
            return [self.schema(one, base) for one in node] if isinstance(node, list) else node
        base, names = self._names(node, base)
        foreign = self.foreign_parts(node)
        changed = {key: value if key in foreign else self._value(key, value, base) for key, value in node.items()}
        self._rename_keywords(changed, base)
        for name in names:
            self.schemas[name] = changed
        return changed

    def _names(self, node: Node, base: str) -> tuple[str, list[str]]:
        """Return the base URI inside a schema, and the URIs under which it can be referred to."""
        names: list[str] = []
        identifier = node.get("$id" if self.draft > 4 or "$id" in node else "id")
        if isinstance(identifier, str) and (self.draft > 7 or "$ref" not in node) and _looks_like_schema(node):
            full = _join(base, identifier)
            names.append(full.rstrip("#") if full.endswith("#") else full)
            base = urldefrag(full).url
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(node.get(key), str):
                names.append(f"{base}#{node[key]}")
        return base, names

    def _value(self, key: str, value: Json, base: str) -> Json:
        if key in _DATA_KEYWORDS or key.startswith("x-"):
            return value
        if key in self.named and isinstance(value, Mapping):
            return {name: self.schema(one, base) for name, one in value.items()}
        if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(value, str):
            return _join(base, value)
        return self.schema(value, base)

    def _rename_keywords(self, node: dict[str, Any], base: str) -> None:
        """Replace the keywords of earlier drafts, in place."""
        if self.draft == OPENAPI_3_0_DRAFT:
            _replace_openapi_keywords(node)
        for key in ("$dynamicRef", "$recursiveRef"):
            if isinstance(node.get(key), str):
                node.setdefault("$ref", node.pop(key))
        if self.draft <= 7 and isinstance(node.get("$ref"), str):  # siblings of a reference have no effect
            for key in [key for key in node if key in ASSERTIONS]:
                del node[key]
        for closed, opened in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(node.get(opened), bool) and node.pop(opened) and closed in node:
                node[opened] = node.pop(closed)
        if isinstance(node.get("items"), list):
            node["prefixItems"] = node.pop("items")
            if "additionalItems" in node:
                node["items"] = node["additionalItems"]
        node.pop("additionalItems", None)
        if isinstance(dependencies := node.get("dependencies"), Mapping):
            del node["dependencies"]
            names = {key: value for key, value in dependencies.items() if isinstance(value, list)}
            schemas = {key: value for key, value in dependencies.items() if not isinstance(value, list)}
            for key, found in (("dependentRequired", names), ("dependentSchemas", schemas)):
                if found:
                    node[key] = {**node.get(key, {}), **found} if isinstance(node.get(key, {}), Mapping) else found


def _replace_openapi_keywords(node: dict[str, Any]) -> None:
    """Replace what OpenAPI 3.0 adds to its draft, in place; `nullable` has no effect on a node without a type."""
    if isinstance(node.get("type"), str) and isinstance(node.get("nullable"), bool) and node.pop("nullable"):
        node["type"] = [node["type"], "null"]
    if "example" in node and _looks_like_schema(node):
        node.setdefault("examples", [node.pop("example")])


def _looks_like_schema(node: Node) -> bool:
    return any(key in ASSERTIONS or key in ANNOTATIONS or key in _NAMED_SCHEMAS or key == "$ref" for key in node)
