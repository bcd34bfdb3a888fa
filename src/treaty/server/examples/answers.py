"""Examples in the description of the API: every request and every answer shows what it may look like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from treaty.server.examples.errors import error_example
from treaty.server.examples.meanings import Told, told_by
from treaty.server.examples.values import VALUES

Schema = dict[str, Any]
UNTOLD = "…"
"""Stands where no table has a value."""

_ANY: dict[str | None, Any] = {"integer": 1, "number": 1.0, "boolean": True}
_NULL = {"type": "null"}
_FIRST_ERROR = 400


def with_examples(description: dict[str, Any]) -> dict[str, Any]:
    """Add an example to every body that has none."""
    schemas = description["components"]["schemas"]
    for path, operation in _operations(description):
        told = told_by(operation["operationId"])
        for content in _without_example(operation.get("requestBody", {})):
            content["example"] = example_of(_inlined(content["schema"], schemas), told)
        for status, answer in operation["responses"].items():
            for content in _without_example(answer):
                if int(status) >= _FIRST_ERROR:
                    content["example"] = error_example(path, operation, int(status))
                else:
                    content["example"] = example_of(_inlined(content["schema"], schemas), told)
    return description


def example_of(schema: Schema, told: Told, owner: str = "", name: str = "") -> Any:
    """Return what a schema shows itself, what is told of a property that it fits, or what it is made of."""
    if "examples" in schema:
        return schema["examples"][0]
    for table in (told.get(owner, {}), VALUES):
        if name in table and jsonschema_rs.is_valid(schema, table[name], validate_formats=True):
            return table[name]
    return _made(schema, told, owner, name)


def _made(schema: Schema, told: Told, owner: str, name: str) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        one = next(option for option in schema["anyOf"] if option != _NULL)
        return example_of(one, told, owner, name)
    if schema.get("type") == "array":
        return [example_of(schema["items"], told, owner, name)]
    if schema.get("type") == "object":
        return _object(schema, told)
    return schema.get("const", _ANY.get(schema.get("type"), UNTOLD))


def _object(schema: Schema, told: Told) -> dict[str, Any]:
    title = schema.get("title", "")
    if "properties" not in schema:
        return dict(told.get(title, {}))
    return {name: example_of(one, told, title, name) for name, one in schema["properties"].items()}


def _inlined(part: Any, schemas: dict[str, Schema]) -> Any:
    """Put what a schema refers to in its place, so that each part of it can be looked at alone."""
    if isinstance(part, list):
        return [_inlined(one, schemas) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**schemas[part["$ref"].rpartition("/")[2]], **{key: part[key] for key in part if key != "$ref"}}
    return {key: _inlined(one, schemas) for key, one in part.items()}


def _operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, one) for path, methods in description["paths"].items() for one in methods.values())


def _without_example(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [content for content in body.get("content", {}).values() if "example" not in content]
