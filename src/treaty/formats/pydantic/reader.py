"""Read contracts from Pydantic models through their JSON schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treaty.contracts.findings import Place
from treaty.contracts.text import read_document
from treaty.contracts.text.limits import invalid_document
from treaty.errors import InvalidDocument
from treaty.formats.json_schema.reader import Reader
from treaty.formats.notes import SchemaPart, assemble_contracts
from treaty.formats.results import Loss, ReadResult

if TYPE_CHECKING:
    from pydantic import BaseModel

_HINT = (
    "print the schema of the model and convert that: "
    'python -c "import json; from MODULE import MODEL; print(json.dumps(MODEL.model_json_schema()))"'
)


def read(text: str, name: str) -> ReadResult:
    """Read the JSON schema of a model. Python files are refused, because they would have to be executed."""
    if name.lower().endswith(".py") or not text.lstrip().startswith("{"):
        raise invalid_document("Python files are not executed, so their models cannot be read", Place(name), _HINT)
    reader = model_reader(name, read_document(text, name).data)
    parts = reader.parts()
    return ReadResult(assemble_contracts(parts, name), reader.losses())


def model_reader(name: str, schema: dict[str, Any]) -> Reader:
    """Return a reader of the JSON schema of a model."""
    reader = Reader(name, schema)
    reader.fields.reads_models = True
    return reader


def read_model(model: type[BaseModel]) -> ReadResult:
    """Read a model class."""
    part, losses = read_model_part(model)
    return ReadResult(assemble_contracts([part], model.__name__), losses)


def read_model_part(model: type[BaseModel]) -> tuple[SchemaPart, tuple[Loss, ...]]:
    """Return the object that a model describes, with its note not yet applied, and the losses."""
    from pydantic.errors import PydanticUserError

    try:
        schema: dict[str, Any] = model.model_json_schema()
    except PydanticUserError as error:
        raise InvalidDocument(f"{model.__name__} has no JSON schema: {str(error).splitlines()[0]}") from None
    reader = model_reader(model.__name__, schema)
    (part,) = reader.parts()
    return part, reader.losses()
