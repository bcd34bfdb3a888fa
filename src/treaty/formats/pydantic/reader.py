"""Pydantic models to contracts, through the JSON schema that each model gives of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treaty.contracts.findings import Place
from treaty.contracts.text.limits import refuse
from treaty.errors import InvalidDocument
from treaty.formats.json_schema.reader import Reader
from treaty.formats.json_schema.reader import read as read_schema
from treaty.formats.notes import SchemaPart, assemble_contracts
from treaty.formats.results import Loss, ReadResult

if TYPE_CHECKING:
    from pydantic import BaseModel

_HOW = (
    "print its schema, and convert that: "
    'python -c "import json; from MODULE import MODEL; print(json.dumps(MODEL.model_json_schema()))"'
)


def read(text: str, name: str) -> ReadResult:
    """Read the JSON schema of a model; Python files are not run, so they are refused with what to do instead."""
    if name.lower().endswith(".py") or not text.lstrip().startswith("{"):
        raise refuse("Python code is not run to read the models in it", Place(name), _HOW)
    return read_schema(text, name)


def read_model(model: type[BaseModel]) -> ReadResult:
    """Read a model class that is loaded already."""
    part, losses = read_model_part(model)
    return ReadResult(assemble_contracts([part], model.__name__), losses)


def read_model_part(model: type[BaseModel]) -> tuple[SchemaPart, tuple[Loss, ...]]:
    """Return the object that a model describes, before its note is read."""
    from pydantic.errors import PydanticUserError

    try:
        schema: dict[str, Any] = model.model_json_schema()
    except PydanticUserError as error:
        raise InvalidDocument(f"{model.__name__} has no JSON schema: {str(error).splitlines()[0]}") from None
    reader = Reader(model.__name__, schema)
    return reader.part(schema), tuple(reader.fields.losses)
