"""Compare two documents as a schema registry does: by the rules of Protobuf or JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treaty.cli.inputs import foreign_format
from treaty.cli.registry_connection import requires_extra
from treaty.compatibility import Semantics
from treaty.errors import InvalidDocument

if TYPE_CHECKING:
    from treaty.cli.inputs import Source
    from treaty.compatibility import Changes, Mode, Verdict
    from treaty.contracts import LoadedContract

    Document = tuple[Source, list[LoadedContract]]


def judge_documents(changes: Changes, mode: Mode, semantics: Semantics, before: Document, after: Document) -> Verdict:
    """Judge two documents; a contract is written as a schema of the format first."""
    from treaty.compatibility.schema_verdict import judge_schemas

    with requires_extra("server"):
        from treaty.schema_registry.compatibility import find_differences
        from treaty.schema_registry.model import SchemaType
        from treaty.schema_registry.schemas import parse_schema

        kind = SchemaType.PROTOBUF if semantics is Semantics.PROTOBUF else SchemaType.JSON
        old, new = (parse_schema(kind, _schema_text(semantics, *document)) for document in (before, after))
        return judge_schemas(changes, mode, semantics, find_differences(new, old), find_differences(old, new))


def _schema_text(semantics: Semantics, source: Source, contracts: list[LoadedContract]) -> str:
    """Return the text of a schema, or the contract as one."""
    from treaty.formats import get_format

    form, text = foreign_format(source), source.content.decode("utf-8", "replace")
    is_json = text.lstrip().startswith("{") or semantics is not Semantics.JSON_SCHEMA
    if form is not None and form.name == semantics.value and is_json:
        return text
    if len(contracts) != 1:
        raise InvalidDocument(
            f"{source.name} has {len(contracts)} contracts; select the one to compare as {semantics} with FILE#ID"
        )
    return get_format(semantics.value).write(contracts[0].contract).text
