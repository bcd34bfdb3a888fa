"""The OpenAPI document of one publication: its paths, filters and rows, with the meanings of its contract."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from treaty.contracts.model import Contract, Field
from treaty.contracts.versions import Line
from treaty.formats.json_schema.writer import write
from treaty.serving.conditions import Comparison
from treaty.serving.encoding import ARROW, CSV, JSON, PARQUET

_NOTES = "x-treaty"
_HEADERS = {
    "Treaty-Contract": "The contract of the rows.",
    "Treaty-Version": "The version of the contract that the rows were published under.",
    "Treaty-Run": "The run that published the rows.",
    "Treaty-Snapshot": "The snapshot of the table.",
    "Deprecation": "The day on which the end of the line was announced (RFC 9745).",
    "Sunset": "The day after which the line may be retired (RFC 8594).",
    "Link": "The next page, the guide of a deprecation, or what replaces the line.",
}
_REFUSALS = {
    "401": "No credentials, or none that are valid.",
    "403": "No subscription, or a field, filter, purpose or region that the consumer may not have.",
    "404": "There are no such rows.",
    "410": "The line is retired; the message names what replaces it.",
    "422": "A parameter is not valid.",
    "503": "Temporarily unavailable.",
}


def publication_openapi(
    line: Line, contract: Contract, key: tuple[str, ...], indexed: tuple[str, ...]
) -> dict[str, Any]:
    """Return the document of a publication."""
    fields = {field.physical_name or field.name or "": field for field in contract.schema[0].fields}
    path = f"/data/{quote(str(line), safe='/@')}"
    row = _row_schema(contract)
    described = contract.description
    return {
        "openapi": "3.1.0",
        "info": {
            "title": contract.name or contract.id,
            "version": contract.version,
            "description": "\n\n".join(text for text in (_text(described, one) for one in _PARTS) if text),
        },
        "paths": {
            path: {"get": _list_operation(fields, (*key, *indexed))},
            f"{path}/{'/'.join('{' + name + '}' for name in key)}": {"get": _row_operation(fields, key)},
        },
        "components": {
            "schemas": {"Row": row},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


_PARTS = ("purpose", "usage", "limitations")


def _text(description: Any, part: str) -> str | None:
    value = description.get(part) if isinstance(description, Mapping) else None
    return str(value) if value else None


def _row_schema(contract: Contract) -> dict[str, Any]:
    document: dict[str, Any] = _without_notes(json.loads(write(contract).text))
    document.pop("$schema", None)
    document.pop("$id", None)
    document.pop("required", None)  # a consumer gets the fields of its subscription
    document["description"] = (
        "A row, with the fields of the caller's subscription. Values may be masked for the purpose of the caller."
    )
    return document


def _without_notes(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_notes(inner) for name, inner in value.items() if not name.startswith(_NOTES)}
    return [_without_notes(inner) for inner in value] if isinstance(value, list) else value


def _list_operation(fields: Mapping[str, Field], filterable: tuple[str, ...]) -> dict[str, Any]:
    return {
        "operationId": "list_rows",
        "summary": "List rows.",
        "parameters": [*_common_parameters(), *_page_parameters(), *_filter_parameters(fields, filterable)],
        "responses": _responses({"type": "array", "items": {"$ref": "#/components/schemas/Row"}}),
    }


def _row_operation(fields: Mapping[str, Field], key: tuple[str, ...]) -> dict[str, Any]:
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "description": _meaning(fields, name),
        }
        for name in key
    ]
    return {
        "operationId": "get_row",
        "summary": "Get the row with a key.",
        "parameters": [*parameters, *_common_parameters()],
        "responses": _responses({"type": "array", "items": {"$ref": "#/components/schemas/Row"}, "maxItems": 1}),
    }


def _meaning(fields: Mapping[str, Field], name: str) -> str:
    field = fields.get(name)
    return (field.description if field is not None else None) or name


def _parameter(name: str, description: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}


def _common_parameters() -> Iterator[dict[str, Any]]:
    texts = {"type": "array", "items": {"type": "string"}}
    yield _parameter("fields", "The fields of the answer, separated by commas.", texts, style="form", explode=False)
    yield _parameter(
        "as_of", "The number of a run or a time with a zone: the rows as they were then.", {"type": "string"}
    )
    yield _parameter("consumer", "The consumer to read as, if the caller is several.", {"type": "string"})


def _page_parameters() -> Iterator[dict[str, Any]]:
    limit = {"oneOf": [{"type": "integer", "minimum": 1, "maximum": 10_000}, {"const": "all"}], "default": 1_000}
    yield _parameter("limit", "The rows of a page, or `all` for a stream of all rows.", limit)
    yield _parameter("cursor", "The `next` value of the previous page.", {"type": "string"})


def _filter_parameters(fields: Mapping[str, Field], filterable: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for name in filterable:
        meaning = _meaning(fields, name)
        texts = {"type": "array", "items": {"type": "string"}}
        yield _parameter(name, f"{meaning} Rows with any of the values.", texts)
        for comparison in tuple(Comparison)[1:]:
            yield _parameter(f"{name}.{comparison}", f"{meaning} ({comparison})", {"type": "string"})


def _responses(items: dict[str, Any]) -> dict[str, Any]:
    envelope = {
        "type": "object",
        "required": ["contract", "version", "run", "snapshot", "items", "next"],
        "properties": {
            "contract": {"type": "string"},
            "version": {"type": "string"},
            "run": {"type": "integer"},
            "snapshot": {"type": "string"},
            "items": items,
            "next": {"type": ["string", "null"]},
        },
    }
    binary = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}
    content = {JSON: {"schema": envelope}, CSV: {"schema": {"type": "string"}}, ARROW: binary, PARQUET: binary}
    headers = {name: {"description": text, "schema": {"type": "string"}} for name, text in _HEADERS.items()}
    refusals = {status: {"description": text} for status, text in _REFUSALS.items()}
    return {"200": {"description": "Rows.", "headers": headers, "content": content}, **refusals}
