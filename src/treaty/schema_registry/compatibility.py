"""Whether a new schema fits the earlier schemas of its subject, judged by the rules of its format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from treaty.compatibility.schemas import Party, SchemaDifference, avro, json_schema, protobuf
from treaty.schema_registry.json_schemas import DRAFTS
from treaty.schema_registry.model import CompatibilityLevel, ParsedSchema, SchemaType, all_references

ReaderCheck = Callable[[ParsedSchema, ParsedSchema], list[SchemaDifference]]
"""Takes the reader's and the writer's schema; returns why the reader cannot read, or nothing."""


def check_compatibility(new: ParsedSchema, old: Sequence[ParsedSchema], level: CompatibilityLevel) -> list[str]:
    """Return the reasons why a new schema does not fit the earlier ones, the latest first; none if it fits."""
    if level is CompatibilityLevel.NONE or not old:
        return []
    messages: list[str] = []
    for earlier in reversed(old if level.is_transitive else old[-1:]):
        found = _check_pair(new, earlier, level)
        if found:
            messages += [*found, f"{{oldSchema: '{earlier.text}'}}"]
    return [*messages, f"{{compatibility: '{level}'}}"] if messages else []


def find_differences(reader: ParsedSchema, writer: ParsedSchema) -> list[SchemaDifference]:
    """Return why a reader cannot read what a writer writes; schemas of two types never fit."""
    if reader.type is not writer.type:
        text = f"the type is {reader.type} in the {{reader}} schema and {writer.type} in the {{writer}} schema"
        return [SchemaDifference("TYPE_CHANGED", "", text)]
    return READER_CHECKS[reader.type](reader, writer)


def _check_pair(new: ParsedSchema, old: ParsedSchema, level: CompatibilityLevel) -> list[str]:
    messages: list[str] = []
    if level.checks_new_readers:
        messages += [one.message(Party.NEW) for one in find_differences(new, old)]
    if level.checks_old_readers:
        messages += [one.message(Party.OLD) for one in find_differences(old, new)]
    return messages


def _compare_avro(reader: ParsedSchema, writer: ParsedSchema) -> list[SchemaDifference]:
    return avro.compare(reader.model, writer.model)


def _compare_json(reader: ParsedSchema, writer: ParsedSchema) -> list[SchemaDifference]:
    drafts = DRAFTS[reader.model.draft], DRAFTS[writer.model.draft]
    documents = reader.model.documents, writer.model.documents
    return json_schema.compare(reader.model.data, writer.model.data, drafts, documents)


def _compare_protobuf(reader: ParsedSchema, writer: ParsedSchema) -> list[SchemaDifference]:
    return protobuf.compare(_protobuf_file(reader), _protobuf_file(writer))


def _protobuf_file(schema: ParsedSchema) -> protobuf.ProtobufFile:
    imported = {
        one.reference.name: (one.schema.model, (one.reference.subject, one.reference.version))
        for one in all_references(schema.references)
    }
    return protobuf.ProtobufFile(schema.model, imported)


READER_CHECKS: Mapping[SchemaType, ReaderCheck] = {
    SchemaType.AVRO: _compare_avro,
    SchemaType.JSON: _compare_json,
    SchemaType.PROTOBUF: _compare_protobuf,
}
