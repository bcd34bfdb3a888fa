"""Protobuf values as JSON, by the `protobuf` package in one pass over Arrow batches.

Spark has no reader for Protobuf here, so that this is the only Python between raw rows and events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from treaty.pipeline.layers.decoding.decoded_rows import DETAIL, FAILURE, PAYLOAD, Failure
from treaty.pipeline.layers.decoding.writer_schemas import WriterSchema

_SHOWN_BYTES = 16
_PLAIN = -1
"""The place of the schema of values without a header."""


def decode_protobuf(rows: DataFrame, writers: Mapping[int, WriterSchema], plain: WriterSchema | None) -> DataFrame:
    """Return rows with payloads as JSON; values without a header are the first message of the schema `plain`."""
    schemas = {number: one.descriptors for number, one in writers.items() if one.failure is None}
    if plain is not None:
        schemas[_PLAIN] = plain.descriptors
    has_header = plain is None

    def convert(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        decoder = _Decoder(schemas, has_header)
        for batch in batches:
            yield decoder.convert(batch)

    changed = {PAYLOAD: spark.BinaryType(), FAILURE: spark.StringType(), DETAIL: spark.StringType()}
    structure = [spark.StructField(field.name, changed.get(field.name, field.dataType)) for field in rows.schema]
    return rows.mapInArrow(convert, spark.StructType(structure))


class _Decoder:
    """Decodes the batches of one task; the message types of a schema are built when they are first needed."""

    def __init__(self, schemas: Mapping[int, bytes], has_header: bool) -> None:
        self._schemas = schemas
        self._has_header = has_header
        self._types: dict[tuple[int, tuple[int, ...]], Any] = {}

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch with decoded payloads."""
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        payloads, failures, details = (columns[name].to_pylist() for name in (PAYLOAD, FAILURE, DETAIL))
        for place, payload in enumerate(payloads):
            if payload is None or failures[place] is not None:
                payloads[place] = None
                continue
            payloads[place], failures[place], details[place] = self._decode(payload)
        columns[PAYLOAD] = pa.array(payloads, pa.binary())
        columns[FAILURE] = pa.array(failures, pa.string())
        columns[DETAIL] = pa.array(details, pa.string())
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def _decode(self, payload: bytes) -> tuple[bytes | None, str | None, str | None]:
        from google.protobuf.json_format import Error, MessageToJson
        from google.protobuf.message import DecodeError

        from treaty.schema_registry.wire_header import InvalidHeader, WireHeader, decode_header

        header = WireHeader(_PLAIN, 0, (0,))
        if self._has_header:
            try:
                header = decode_header(payload, has_message_indexes=True)
            except InvalidHeader as error:
                return None, error.problem.value, f"0x{payload[:_SHOWN_BYTES].hex()}"
        message_type = self._type(header.schema_id, header.message_indexes)
        if message_type is None:
            return None, Failure.INVALID_PROTOBUF.value, f"message indexes {list(header.message_indexes)}"
        try:
            message = message_type.FromString(payload[header.size :])
            text = MessageToJson(
                message, indent=None, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
            )
        except (DecodeError, Error, ValueError, OverflowError):
            return None, Failure.INVALID_PROTOBUF.value, f"0x{payload[:_SHOWN_BYTES].hex()}"
        return text.encode(), None, None

    def _type(self, number: int, indexes: tuple[int, ...]) -> Any:
        key = (number, indexes)
        if key not in self._types:
            self._types[key] = message_type(self._schemas[number], indexes)
        return self._types[key]


def message_type(descriptors: bytes, indexes: tuple[int, ...]) -> Any:
    """Return the class of a message of the last file of a descriptor set; None if there is no such message."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    pool = DescriptorPool()
    files = FileDescriptorSet.FromString(descriptors).file
    for file in files:
        pool.Add(file)
    messages = pool.FindFileByName(files[-1].name).message_types_by_name
    found: Any = None
    candidates = [messages[message.name] for message in files[-1].message_type]
    for index in indexes:
        if not 0 <= index < len(candidates):
            return None
        found = candidates[index]
        candidates = list(found.nested_types)
    return None if found is None else GetMessageClass(found)
