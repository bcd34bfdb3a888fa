"""JSON Schemas: checked against the metaschema of their draft, with references that are never fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import jsonschema_rs

from treaty.contracts.text.json_reader import read as read_json
from treaty.contracts.text.limits import Limits
from treaty.contracts.values import Json
from treaty.errors import InvalidDocument
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, ReferencedSchema, SchemaType, all_references

JSON_LIMITS = Limits(depth=200)
DRAFTS = {
    "http://json-schema.org/draft-04/schema": 4,
    "http://json-schema.org/draft-06/schema": 6,
    "http://json-schema.org/draft-07/schema": 7,
    "https://json-schema.org/draft/2019-09/schema": 2019,
    "https://json-schema.org/draft/2020-12/schema": 2020,
}
DEFAULT_DRAFT = "http://json-schema.org/draft-07/schema"
_DATA_KEYWORDS = frozenset({"enum", "const", "default", "examples"})


@dataclass(frozen=True)
class JsonSchemaModel:
    """The data of a schema, the URI of its draft, and the data of referenced schemas by the name of the reference."""

    data: Json
    draft: str
    documents: Mapping[str, Json]


def parse(text: str, references: tuple[ReferencedSchema, ...]) -> ParsedSchema:
    """Parse a JSON Schema; a reference to another document must be the name of one of its references."""
    data = read_data(text)
    if not isinstance(data, (Mapping, bool)):
        raise InvalidSchema("a JSON Schema is an object, true or false")
    draft = _draft(data)
    _check_metaschema(data, draft)
    documents = {one.reference.name: read_data(one.schema.text) for one in all_references(references)}
    _check_references(data, documents)
    return ParsedSchema(SchemaType.JSON, _dump(data), references, JsonSchemaModel(data, draft, documents))


def canonical(schema: ParsedSchema) -> str:
    """Return the schema as compact JSON, with keys in the order of the text."""
    return _dump(read_data(schema.text))


def normalized(schema: ParsedSchema) -> str:
    """Return the schema as compact JSON with sorted keys."""
    return json.dumps(read_data(schema.text), separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def read_data(text: str) -> Json:
    """Read the JSON of a schema."""
    try:
        return read_json(text, "schema", JSON_LIMITS)[0]
    except InvalidDocument as error:
        raise InvalidSchema(str(error)) from None


def _draft(data: Json) -> str:
    stated = data.get("$schema") if isinstance(data, Mapping) else None
    if stated is None:
        return DEFAULT_DRAFT
    draft = stated.rstrip("#") if isinstance(stated, str) else ""
    secure = draft.replace("https://json-schema.org/draft-", "http://json-schema.org/draft-")
    if secure not in DRAFTS:
        raise InvalidSchema(f"unknown draft {stated!r} in '$schema'; use one of: {', '.join(DRAFTS)}")
    return secure


def _check_metaschema(data: Json, draft: str) -> None:
    checked = {**data, "$schema": draft} if isinstance(data, Mapping) else data
    try:
        jsonschema_rs.meta.validate(checked)
    except jsonschema_rs.ValidationError as error:
        place = "/".join(map(str, error.instance_path)) or "the schema"
        raise InvalidSchema(f"the JSON Schema is not valid at {place}: {str(error.message)[:500]}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidSchema(f"the JSON Schema is not valid: {str(error)[:500]}") from None


def _check_references(data: Json, documents: Mapping[str, Json]) -> None:
    """Check that each `$ref` points into the schema or to a document among its references."""
    identifiers = dict(_identifiers(data, ""))
    for base, reference in _references(data, ""):
        target, fragment = urldefrag(urljoin(base, reference) if base else reference)
        written = urldefrag(reference).url
        if not written or target in identifiers or target == base:
            document: Json = identifiers.get(target, data) if target else data
        else:
            names = (written, target, reference)
            document = next((documents[name] for name in names if name in documents), None)
            if document is None and not _is_metaschema(target):
                raise InvalidSchema(
                    f"'$ref' {reference!r} is not in the schema and not among its references; "
                    "remote schemas are not fetched"
                )
        if document is not None and fragment.startswith("/") and not _points_to_something(document, fragment):
            raise InvalidSchema(f"'$ref' {reference!r} points to nothing; define it, for example under '$defs'")


def _is_metaschema(uri: str) -> bool:
    return uri.rstrip("#") in DRAFTS


def _references(node: Json, base: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for one in node:
            yield from _references(one, base)
    elif isinstance(node, Mapping):
        base = _base(node, base)
        for key, value in node.items():
            if key in ("$ref", "$dynamicRef") and isinstance(value, str):
                yield base, value
            elif key not in _DATA_KEYWORDS:
                yield from _references(value, base)


def _identifiers(node: Json, base: str) -> Iterator[tuple[str, Json]]:
    if isinstance(node, list):
        for one in node:
            yield from _identifiers(one, base)
    elif isinstance(node, Mapping):
        inner = _base(node, base)
        if inner != base:
            yield urldefrag(inner).url, node
        for key, value in node.items():
            if key not in _DATA_KEYWORDS:
                yield from _identifiers(value, inner)


def _base(node: Mapping[str, Any], base: str) -> str:
    identifier = node.get("$id", node.get("id"))
    return urldefrag(urljoin(base, identifier)).url if isinstance(identifier, str) and identifier[:1] != "#" else base


def _points_to_something(node: Json, pointer: str) -> bool:
    for step in unquote(pointer).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return False
    return True


def _dump(data: Json) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)
