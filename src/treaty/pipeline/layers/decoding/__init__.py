"""From the bytes of raw rows to JSON records: wire headers, Avro, Protobuf, and the envelopes of change feeds."""

from treaty.pipeline.layers.decoding.decoded_rows import DETAIL, FAILURE, IDENTITY, OPERATION, DecodedRows, Operation
from treaty.pipeline.layers.decoding.decoder import decode, names_schema_ids
from treaty.pipeline.layers.decoding.wire_columns import schema_ids
from treaty.pipeline.layers.decoding.writer_schemas import WriterSchema

__all__ = [
    "DETAIL",
    "FAILURE",
    "IDENTITY",
    "OPERATION",
    "DecodedRows",
    "Operation",
    "WriterSchema",
    "decode",
    "names_schema_ids",
    "schema_ids",
]
