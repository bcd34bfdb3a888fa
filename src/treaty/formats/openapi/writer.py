"""Write contracts as OpenAPI 3.1 documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.contracts.foreign import ForeignConstruct, add_constructs, remove_constructs
from treaty.contracts.model import Contract, Field, MissingAs, SchemaObject
from treaty.contracts.operations import DEFAULT_MEDIA_TYPE, HttpOperation, Part, operation_in
from treaty.contracts.values import Json, abbreviate
from treaty.formats.api_documents import NOTES_KEY, ApiWriter, make_id, start_notes, write_document, write_head
from treaty.formats.flat_terms import as_mapping
from treaty.formats.naming import unique_name
from treaty.formats.openapi.reader import FORMAT, IMPLIED, Reader, status_phrase
from treaty.formats.results import Loss, WriteResult

TITLE = "OpenAPI"
VERSION = "3.1.0"
_TEMPLATE = re.compile(r"\{([^{}]+)\}")
_SUCCESS = "200"
_PARAMETER = (FORMAT, "parameter")
_SECURITY = (FORMAT, "security")
_REQUIRED_BODY = ForeignConstruct(FORMAT, "body", "required")


def write(contract: Contract) -> WriteResult:
    """Write a contract as a document with one operation for each object whose operation is not known."""
    return write_document(contract, TITLE, _Writer, Reader)


@dataclass(frozen=True)
class _Body:
    """The objects that are written as one body, and their operation."""

    operation: HttpOperation
    indexes: tuple[int, ...]


class _Writer(ApiWriter):
    """Writes one contract."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract)
        self._documents: dict[str, dict[str, Any]] = {}

    def document(self) -> dict[str, Json]:
        """Return the document without the notes on its objects."""
        for body in self._bodies():
            operation = self._operation(body.operation)
            match body.operation.part:
                case Part.PARAMETERS:
                    operation["parameters"] = self._parameters(body)
                case Part.REQUEST:
                    self._add_request(operation, body)
                case Part.RESPONSE:
                    self._add_response(operation, body)
        for path, item in self._documents.items():
            for operation in item.values():
                _imply_parameters(path, operation)
        return {
            "openapi": VERSION,
            "info": write_head(self.contract),
            "paths": self._documents,
            **self.components(),
            NOTES_KEY: start_notes(self.contract),
        }

    def carried_terms(self) -> Iterator[Loss]:
        """Yield the security requirements, of which the document has only a note."""
        for item in self.contract.schema:
            for one in item.foreign:
                if (one.format, one.name) == _SECURITY:
                    why = "the names of the schemes are not known; add them to the document"
                    yield Loss(item.name, f"security {abbreviate(one.text)}", why, is_carried=True)

    def _bodies(self) -> Sequence[_Body]:
        """Return the operations of all objects; several objects of one body are its alternatives."""
        stated = [operation_in(item.custom_properties) for item in self.contract.schema]
        paths = {operation.path for operation in stated if operation}
        bodies: dict[tuple[Any, ...], _Body] = {}
        for index, (item, known) in enumerate(zip(self.contract.schema, stated, strict=True)):
            operation = self._fitting(item, known) if known else None
            other = bodies.get(_body_key(operation)) if operation else None
            if operation is None or (other and (operation.wrapped or operation.empty or not _has_media(operation))):
                path = unique_name(f"/{make_id(item.name) or 'object'}", paths, "-")
                paths.add(path)
                operation, other = HttpOperation("get", path, Part.RESPONSE, _SUCCESS, DEFAULT_MEDIA_TYPE), None
            bodies[_body_key(operation)] = _Body(operation, (*(other.indexes if other else ()), index))
        return list(bodies.values())

    def _fitting(self, item: SchemaObject, operation: HttpOperation) -> HttpOperation:
        """Return the operation of an object, as an object if it is no longer the single value or the empty body."""
        wrapped = operation.wrapped and self.bodies.is_value(item)
        empty = operation.empty and not item.fields
        media_type = operation.media_type or (None if empty or not _has_media(operation) else DEFAULT_MEDIA_TYPE)
        return replace(operation, wrapped=wrapped, empty=empty, media_type=media_type)

    def _operation(self, about: HttpOperation) -> dict[str, Any]:
        operation: dict[str, Any] = self._documents.setdefault(about.path, {}).setdefault(about.method, {})
        used = {one.get("operationId") for item in self._documents.values() for one in item.values()}
        if about.operation_id and about.operation_id not in used:
            operation["operationId"] = about.operation_id
        return operation

    def _add_request(self, operation: dict[str, Any], body: _Body) -> None:
        request = operation.setdefault("requestBody", {"content": {}})
        items = [self.contract.schema[index] for index in body.indexes]
        if any(_REQUIRED_BODY in item.foreign for item in items):
            request["required"] = True
        request["content"][body.operation.media_type or DEFAULT_MEDIA_TYPE] = self._media(body)

    def _add_response(self, operation: dict[str, Any], body: _Body) -> None:
        status = body.operation.status or _SUCCESS
        words = self.contract.schema[body.indexes[0]].description or status_phrase(status)
        response = operation.setdefault("responses", {}).setdefault(status, {"description": words})
        if body.operation.media_type is None:
            self._name(body, body.operation.name)
        else:
            response.setdefault("content", {})[body.operation.media_type] = self._media(body)

    def _media(self, body: _Body) -> dict[str, Json]:
        """Return the schema of a body: a reference to its component, or to those of its alternatives."""
        items = [self.contract.schema[index] for index in body.indexes]
        if body.operation.empty:
            self._name(body, body.operation.name)
            return {}
        if body.operation.wrapped:
            self._name(body, body.operation.name)
            return {"schema": self.bodies.write_value(items[0])}
        schema, names = self.bodies.write(body.operation.name, items)
        for index, name in zip(body.indexes, names, strict=True):
            self.native_names[index] = name
        return {"schema": schema}

    def _parameters(self, body: _Body) -> list[Json]:
        self._name(body, body.operation.name)
        (index,) = body.indexes
        return [self._parameter(field) for field in self.contract.schema[index].fields]

    def _parameter(self, field: Field) -> dict[str, Json]:
        stated = _stated_parameter(field)
        others = [one for one in field.foreign if (one.format, one.name) != _PARAMETER]
        schema = self.bodies.schemas.field(
            replace(field, custom_properties=add_constructs(remove_constructs(field.custom_properties), others))
        )
        parameter: dict[str, Json] = {"name": stated.get("name", field.name), "in": stated.get("in", "query")}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        if field.is_required or field.missing_as is MissingAs.NULL or parameter["in"] == "path":
            parameter["required"] = True
        parameter |= {key: stated[key] for key in ("style", "explode") if key in stated}
        content = stated.get("content")
        return parameter | ({"content": {content: {"schema": schema}}} if content else {"schema": schema})

    def _name(self, body: _Body, name: str) -> None:
        for index in body.indexes:
            self.native_names[index] = name


def _has_media(operation: HttpOperation) -> bool:
    return operation.part is not Part.PARAMETERS


def _body_key(operation: HttpOperation) -> tuple[Any, ...]:
    return (operation.method, operation.path, operation.part, operation.status, operation.media_type)


def _stated_parameter(field: Field) -> Mapping[str, Any]:
    """Return where a parameter is sent, as the document stated from which it was read."""
    texts = [one.text for one in field.foreign if (one.format, one.name) == _PARAMETER]
    stated: Mapping[str, Any] = as_mapping(json.loads(texts[0])) if len(texts) == 1 else {}
    return stated


def _imply_parameters(path: str, operation: dict[str, Any]) -> None:
    """Add the parameters that the path needs and the operation does not state, in place."""
    stated = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
    missing = [name for name in dict.fromkeys(_TEMPLATE.findall(path)) if name not in stated]
    implied = {"in": "path", "required": True, "schema": {"type": "string"}, NOTES_KEY: IMPLIED}
    if missing:
        operation["parameters"] = [*operation.get("parameters", ()), *({"name": name, **implied} for name in missing)]
