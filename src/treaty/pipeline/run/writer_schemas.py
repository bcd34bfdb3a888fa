"""The writers' schemas of a batch: resolved by the ids in its headers, judged by the contract, and kept in memory."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from pyspark.sql import SparkSession

from treaty.contracts.model import Contract
from treaty.errors import InvalidDocument, NotAllowed, Unavailable
from treaty.formats.supported_formats import get_format
from treaty.pipeline.layers.decoding import WriterSchema
from treaty.pipeline.layers.decoding.avro_values import find_unreadable
from treaty.pipeline.layers.decoding.decoded_rows import Failure
from treaty.pipeline.project.declarations import Codec, Framing, SchemaRegistryAddress, Source, ValueFormat
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, SchemaType, all_references
from treaty.schema_registry.protobuf_schemas import DEFAULT_NAME, serialize, well_known_file
from treaty.schema_registry.schema_lookup import SchemaSource, load_schema
from treaty.schema_registry.schemas import parse_schema
from treaty.schema_registry.writer_judgement import inline_references, judge_writer

OpenRegistry = Callable[[SchemaRegistryAddress | None], AbstractContextManager[SchemaSource]]
"""Opens the schema registry at an address, or Treaty's own."""
_TYPES = {
    ValueFormat.AVRO: SchemaType.AVRO,
    ValueFormat.JSON: SchemaType.JSON,
    ValueFormat.PROTOBUF: SchemaType.PROTOBUF,
}
_FORMATS = {ValueFormat.AVRO: "avro", ValueFormat.PROTOBUF: "protobuf"}


@dataclass
class SchemaResolver:
    """Resolves schema ids, each once in a process."""

    open_registry: OpenRegistry
    _known: dict[tuple[SchemaRegistryAddress | None, int], ParsedSchema | InvalidSchema] = field(default_factory=dict)

    def resolve(self, source: Source, ids: Iterable[int]) -> Mapping[int, ParsedSchema | InvalidSchema | None]:
        """Return the schemas of ids; None for ids that the registry does not have, which are asked for again."""
        assert source.codec is not None  # noqa: S101  only values with a header have ids
        address = source.codec.registry
        found: dict[int, ParsedSchema | InvalidSchema | None] = {
            identity: self._known[address, identity] for identity in ids if (address, identity) in self._known
        }
        missing = sorted(set(ids) - set(found))
        if not missing:
            return found
        try:
            with self.open_registry(address) as registry:
                for identity in missing:
                    found[identity] = _load(registry, identity)
        except (Unavailable, NotAllowed) as error:
            raise type(error)(_with_setting(str(error), source)) from None
        self._known |= {(address, identity): one for identity in missing if (one := found[identity]) is not None}
        return found


def _load(registry: SchemaSource, identity: int) -> ParsedSchema | InvalidSchema | None:
    try:
        return load_schema(registry, identity)
    except InvalidSchema as error:
        return error


def _with_setting(message: str, source: Source) -> str:
    setting = "schema_registry.url of the source" if source.codec and source.codec.registry else "the setting registry"
    return f"{source.at or source.name}: {message}; check {setting}; nothing of this batch was published"


def writer_schemas(
    spark: SparkSession, source: Source, contract: Contract, schemas: Mapping[int, ParsedSchema | InvalidSchema | None]
) -> dict[int, WriterSchema]:
    """Return what the schemas of a batch stand for: values of unusable ones are quarantined with the reason."""
    return {identity: _writer(spark, source, contract, identity, one) for identity, one in schemas.items()}


def _writer(
    spark: SparkSession, source: Source, contract: Contract, identity: int, schema: ParsedSchema | InvalidSchema | None
) -> WriterSchema:
    assert source.codec is not None  # noqa: S101
    if schema is None:
        return WriterSchema(failure=Failure.UNKNOWN_SCHEMA_ID)
    if isinstance(schema, InvalidSchema):
        return WriterSchema(failure=Failure.UNUSABLE_SCHEMA, why=f"schema {identity}: {schema}")
    if schema.type is not _TYPES[source.codec.format]:
        why = f"schema {identity} is {schema.type.value}, and the source declares {source.codec.format.value}"
        return WriterSchema(failure=Failure.WRONG_SCHEMA_TYPE, why=why)
    usable = _usable(spark, schema, f"schema {identity}")
    reasons = judge_writer(contract, schema, is_envelope=source.change_feed is not None) if not usable.failure else ()
    if reasons:
        return WriterSchema(failure=Failure.INCOMPATIBLE_SCHEMA, why=f"schema {identity}: {'; '.join(reasons)}")
    return usable


def plain_schema(spark: SparkSession, source: Source, contract: Contract) -> WriterSchema | None:
    """Return the schema of Avro and Protobuf values without a header; None if there are none."""
    codec = source.codec
    if codec is None or codec.framing is Framing.CONFLUENT or codec.format is ValueFormat.JSON:
        return None
    schema = parse_schema(_TYPES[codec.format], codec.schema or _write(contract, codec))
    usable = _usable(spark, schema, "the schema")
    reasons = judge_writer(contract, schema, is_envelope=source.change_feed is not None) if not usable.failure else ()
    if why := usable.why or "; ".join(reasons):
        raise InvalidDocument(f"{source.at or source.name}: its values cannot be read by the contract: {why}")
    return usable


def _write(contract: Contract, codec: Codec) -> str:
    return get_format(_FORMATS[codec.format]).write(contract).text


def _usable(spark: SparkSession, schema: ParsedSchema, name: str) -> WriterSchema:
    if schema.type is SchemaType.AVRO:
        text = json.dumps(inline_references(schema))
        problem = find_unreadable(spark, text)
        if problem is not None:
            return WriterSchema(failure=Failure.UNUSABLE_SCHEMA, why=f"{name}: {problem}")
        return WriterSchema(text)
    return WriterSchema(descriptors=descriptors(schema)) if schema.type is SchemaType.PROTOBUF else WriterSchema()


def descriptors(schema: ParsedSchema) -> bytes:
    """Return the files of a Protobuf schema, dependencies first."""
    files: dict[str, FileDescriptorProto] = {}
    for one in all_references(schema.references):
        _add(files, one.reference.name, one.schema)
    _add(files, DEFAULT_NAME, schema)
    return bytes(FileDescriptorSet(file=files.values()).SerializeToString())


def _add(files: dict[str, FileDescriptorProto], name: str, schema: ParsedSchema) -> None:
    file = FileDescriptorProto.FromString(base64.b64decode(serialize(schema)))
    file.name = name
    for needed in file.dependency:
        _add_well_known(files, needed)
    files[name] = file


def _add_well_known(files: dict[str, FileDescriptorProto], name: str) -> None:
    if name in files or (file := well_known_file(name)) is None:
        return
    for needed in file.dependency:
        _add_well_known(files, needed)
    files[name] = file
