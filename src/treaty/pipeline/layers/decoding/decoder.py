"""Decoding of raw rows: the header is read, the value becomes JSON, and envelopes of change feeds are opened.

Nothing fails on a bad value: its row keeps the reason, and its bytes stay in the raw table.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.contracts.model import Contract
from treaty.pipeline.layers.decoding.avro_values import decode_avro
from treaty.pipeline.layers.decoding.change_feeds import open_envelopes
from treaty.pipeline.layers.decoding.decoded_rows import (
    DETAIL,
    FAILURE,
    FAILURE_RULES,
    IDENTITY,
    PAYLOAD,
    DecodedRows,
    Failure,
)
from treaty.pipeline.layers.decoding.protobuf_values import decode_protobuf
from treaty.pipeline.layers.decoding.wire_columns import (
    unusable_key,
    value_after_header,
    with_header_problems,
    with_value_problems,
)
from treaty.pipeline.layers.decoding.writer_schemas import WriterSchema
from treaty.pipeline.project.declarations import Codec, Framing, Source, ValueFormat
from treaty.spark.columns import quoted_col
from treaty.spark.rules import Rule
from treaty.spark.schema import select_object


def names_schema_ids(source: Source) -> bool:
    """Tell whether the values of a source name the schemas that they were written with."""
    return source.codec is not None and source.codec.framing is Framing.CONFLUENT


def decode(
    raw: DataFrame,
    source: Source,
    contract: Contract,
    writers: Mapping[int, WriterSchema] | None = None,
    plain: WriterSchema | None = None,
) -> DecodedRows:
    """Return raw rows with a JSON record as payload, or the reason why there is none.

    `writers` are the schemas by the ids in the headers of these rows, `plain` is that of Avro and Protobuf values
    without a header. Rows of files that are no change feed need no decoding and stay as they are.
    """
    if source.codec is None and source.change_feed is None:
        return DecodedRows(raw)
    known = dict(writers or {})
    rows = with_value_problems(raw.withColumn(IDENTITY, quoted_col(PAYLOAD)), is_feed=source.change_feed is not None)
    if names_schema_ids(source):
        rows = with_header_problems(rows, known)
    if source.codec is not None:
        rows = _decode_values(rows, source.codec, known, plain)
    if source.change_feed is not None:
        ordering = contract.treaty.ordering
        has_sequence = ordering is not None and ordering.sequence is not None
        rows = open_envelopes(rows, source.change_feed, select_object(contract), has_sequence=has_sequence)
    return DecodedRows(rows, _rules(known))


def _decode_values(
    rows: DataFrame, codec: Codec, writers: Mapping[int, WriterSchema], plain: WriterSchema | None
) -> DataFrame:
    if codec.format is ValueFormat.AVRO:
        return decode_avro(rows, writers, plain)
    if codec.format is ValueFormat.PROTOBUF:
        return decode_protobuf(rows, writers, plain)
    return _decode_json(rows, codec)


def _decode_json(rows: DataFrame, codec: Codec) -> DataFrame:
    payload, known = quoted_col(PAYLOAD), quoted_col(FAILURE)
    body = value_after_header(payload) if codec.framing is Framing.CONFLUENT else payload
    invalid = known.isNull() & ~F.is_valid_utf8(body.cast("string"))
    failure = F.when(invalid, F.lit(Failure.INVALID_UTF8.value)).otherwise(known)
    decoded = F.when(failure.isNull(), body)
    return rows.withColumns({PAYLOAD: decoded, FAILURE: failure, DETAIL: quoted_col(DETAIL)})


def _rules(writers: Mapping[int, WriterSchema]) -> dict[str, Rule]:
    unusable = {unusable_key(number): one.rule for number, one in writers.items()}
    return {**FAILURE_RULES, **{key: rule for key, rule in unusable.items() if rule is not None}}
