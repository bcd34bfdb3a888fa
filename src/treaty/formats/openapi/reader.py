"""Read contracts from OpenAPI documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from treaty.contracts.foreign import ForeignConstruct, add_constructs
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.operations import METHODS, HttpOperation, Part
from treaty.contracts.paths import FieldPath
from treaty.contracts.text import read_document_with_number_keys
from treaty.contracts.values import Json, abbreviate
from treaty.formats.api_documents import ApiReader
from treaty.formats.flat_terms import as_list, as_mapping
from treaty.formats.json_schema.documents import OPENAPI_3_0_DRAFT, Vocabulary
from treaty.formats.results import FileReader, ReadResult, no_contract, read_no_files

FORMAT = "openapi"
IMPLIED = "implied"
"""Marks a parameter that a written document needs for its path, and that no contract states."""
_NAMED_PARTS = frozenset(
    {"schemas", "responses", "parameters", "requestBodies", "headers", "callbacks", "pathItems", "paths", "content"}
)
_VERSION = re.compile(r"3\.([01])(?:\.\d+)?")
_STATUS = re.compile(r"[1-5](?:[0-9]{2}|XX)|default")
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that OpenAPI ignores, because other parts of the document describe them."""
_DEFAULT_STYLES = {"query": "form", "path": "simple", "header": "simple", "cookie": "form"}
_CONTRACTS_DESCRIBE = "a contract describes parameters and bodies"


def read(text: str, name: str, files: FileReader = read_no_files) -> ReadResult:
    """Read the operations of an OpenAPI document as the objects of one contract."""
    return Reader(name, read_document_with_number_keys(text, name).data, files).result()


def status_phrase(status: str) -> str:
    """Return the words that describe a response if nothing else does."""
    return HTTPStatus(int(status)).phrase if status in {str(one.value) for one in HTTPStatus} else "Response"


class Reader(ApiReader):
    """Reads one document."""

    title = "OpenAPI"

    def __init__(self, source: str, data: Mapping[str, Any], files: FileReader = read_no_files) -> None:
        stated = _VERSION.fullmatch(str(data.get("openapi")))
        if stated is None:
            message = f"OpenAPI {abbreviate(str(data.get('openapi')))!r} is not read, only 3.0 and 3.1"
            raise no_contract(message, source, "convert the document to OpenAPI 3")
        draft = {"0": OPENAPI_3_0_DRAFT, "1": Vocabulary().draft}[stated[1]]
        super().__init__(source, data, files, Vocabulary(draft, _NAMED_PARTS))

    def objects(self) -> tuple[SchemaObject, ...]:
        """Read the objects of the document; raise NoContract if there are none."""
        items = tuple(item for path, method, one in self._operations() for item in self._operation(path, method, one))
        if not items:
            raise no_contract("the document has no operations", self.source, "add paths with operations")
        if self.data.get("webhooks"):
            self.lose("", f"webhooks {', '.join(as_mapping(self.data['webhooks']))}", "a contract describes operations")
        return items

    def _operations(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield the path, the method and the operation with the parameters of its path."""
        for path, value in as_mapping(self.data.get("paths")).items():
            item = self.resolve(value, path)
            for method in METHODS:
                if path.startswith("/") and isinstance(item.get(method), Mapping):
                    shared = [*as_list(item.get("parameters")), *as_list(item[method].get("parameters"))]
                    yield path, method, {**item[method], "parameters": shared}

    def _operation(self, path: str, method: str, operation: Mapping[str, Any]) -> Iterator[SchemaObject]:
        identifier = operation.get("operationId")
        about = HttpOperation(
            method, path, Part.PARAMETERS, operation_id=identifier if isinstance(identifier, str) else None
        )
        yield from self._parameters(about, operation["parameters"])
        yield from self._request(replace(about, part=Part.REQUEST), operation.get("requestBody"))
        security = self._security(operation)
        for status, value in as_mapping(operation.get("responses")).items():
            if status.startswith("x-"):
                continue
            if not _STATUS.fullmatch(status):
                raise self.invalid(f"{method.upper()} {path}: {abbreviate(status)!r} is not a status code")
            for item in self._response(replace(about, part=Part.RESPONSE, status=status), value):
                yield replace(item, custom_properties=add_constructs(item.custom_properties, security))
                security = []
        if operation.get("callbacks"):
            self.lose(f"{method.upper()} {path}", "callbacks", _CONTRACTS_DESCRIBE)

    def _response(self, operation: HttpOperation, value: Json) -> Iterator[SchemaObject]:
        response = self.resolve(value, operation.name)
        for key in ("headers", "links"):
            if response.get(key):
                self.lose(operation.name, f"{key} {', '.join(as_mapping(response[key]))}", _CONTRACTS_DESCRIBE)
        words = response.get("description")
        description = words if words and words != status_phrase(operation.status or "") else None
        yield from self._content(operation, response, description)

    def _request(self, operation: HttpOperation, value: Json) -> Iterator[SchemaObject]:
        if value is None:
            return
        request = self.resolve(value, operation.name)
        presence = ForeignConstruct(FORMAT, "body", "required" if request.get("required") is True else "optional")
        for item in self._content(operation, request, request.get("description")):
            yield replace(item, custom_properties=add_constructs(item.custom_properties, [presence]))

    def _content(self, operation: HttpOperation, part: Mapping[str, Any], words: Json) -> Iterator[SchemaObject]:
        """Yield the bodies of a request or response, one for each media type."""
        content = as_mapping(part.get("content"))
        for media_type, value in content.items():
            media = self.resolve(value, operation.name)
            of_type = replace(operation, media_type=media_type)
            if media.get("encoding"):
                self.lose(of_type.name, "encoding", _CONTRACTS_DESCRIBE)
            for item in self._body(of_type, media["schema"]) if "schema" in media else [self._empty(of_type)]:
                yield _described(item, words)
        if not content:
            yield _described(self._empty(operation), words)

    def _empty(self, operation: HttpOperation) -> SchemaObject:
        name = self.bodies.free_name(operation.name)
        return SchemaObject(name, custom_properties=(replace(operation, empty=True).as_property(),))

    def _body(self, operation: HttpOperation, schema: Json) -> Iterator[SchemaObject]:
        """Yield the object that a body is, or each of its alternatives."""
        hidden = "writeOnly" if operation.part is Part.RESPONSE else "readOnly"
        for body in self.bodies.read(operation.name, schema, hidden):
            stated = replace(operation, wrapped=body.wrapped).as_property()
            yield replace(body.item, custom_properties=(stated, *(body.item.custom_properties or ())))

    def _parameters(self, operation: HttpOperation, values: list[Json]) -> Iterator[SchemaObject]:
        parameters: dict[tuple[str, str], Mapping[str, Any]] = {}
        for value in values:
            parameter = self.resolve(value, operation.name)
            name, place = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or place not in _DEFAULT_STYLES:
                raise self.invalid(f"{operation.name}: {abbreviate(parameter)!r} is not a parameter")
            is_ignored = place == "header" and name.lower() in _IGNORED_HEADERS
            if not is_ignored and parameter.get("x-treaty") != IMPLIED:
                parameters[name, place] = parameter
        if not parameters:
            return
        self.bodies.fields.hidden = None
        name = self.bodies.free_name(operation.name)
        read = [self._parameter(name, one, parameters) for one in parameters.values()]
        yield SchemaObject(name, properties=tuple(read), custom_properties=(operation.as_property(),))

    def _parameter(self, owner: str, parameter: Mapping[str, Any], others: Mapping[tuple[str, str], Json]) -> Field:
        name, place = parameter["name"], parameter["in"]
        twins = [one for one in others if one[0] == name]
        field_name = name if twins[0] == (name, place) else f"{place}.{name}"
        media: Json = next(iter(as_mapping(parameter.get("content")).values()), None)
        schema = parameter.get("schema", as_mapping(media).get("schema", {}))
        extra = {key: parameter[key] for key in ("description", "deprecated") if key in parameter}
        node = {**schema, **extra} if isinstance(schema, Mapping) else schema
        required = parameter.get("required") is True or place == "path"
        path = FieldPath(object=owner).field(field_name)
        field = self.bodies.fields.field(field_name, node, path, required=required)
        constructs = [ForeignConstruct.of(FORMAT, "parameter", _describe_parameter(parameter))]
        return replace(field, custom_properties=add_constructs(field.custom_properties, constructs))

    def _security(self, operation: Mapping[str, Any]) -> list[ForeignConstruct]:
        """Return what clients need to call an operation: the alternatives of schemes, with their kinds."""
        wanted = as_list(operation.get("security", self.data.get("security")))
        known = as_mapping(as_mapping(self.data.get("components")).get("securitySchemes"))
        stated = []
        for requirement in wanted:
            schemes = []
            for name, scopes in as_mapping(requirement).items():
                scheme = self.resolve(known.get(name), f"security {name}") if name in known else {}
                kind = {key: scheme[key] for key in ("type", "in", "name", "scheme") if key in scheme}
                schemes.append({**kind, "scopes": sorted(map(str, as_list(scopes)))})
            stated.append(schemes)
        if not any(stated) or any(not one for one in stated):
            return []
        return [ForeignConstruct.of(FORMAT, "security", stated)]


def _described(item: SchemaObject, words: Json) -> SchemaObject:
    is_text = isinstance(words, str) and bool(words)
    return replace(item, description=words) if is_text and item.description is None else item


def _describe_parameter(parameter: Mapping[str, Any]) -> dict[str, Json]:
    """Return where a parameter is sent and how it is written; defaults are left out."""
    place = parameter["in"]
    style = parameter.get("style", _DEFAULT_STYLES[place])
    stated: dict[str, Json] = {"in": place, "name": parameter["name"]}
    if style != _DEFAULT_STYLES[place]:
        stated["style"] = style
    if parameter.get("explode", style == "form") != (style == "form"):
        stated["explode"] = parameter["explode"]
    content = as_mapping(parameter.get("content"))
    return stated | ({"content": next(iter(content))} if content else {})
