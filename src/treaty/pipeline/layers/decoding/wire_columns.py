"""The wire header as columns: the id of the schema, the value behind it, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.decoding.decoded_rows import DETAIL, FAILURE, PAYLOAD, Failure, byte_text
from treaty.pipeline.layers.decoding.writer_schemas import WriterSchema
from treaty.schema_registry.wire_header import ID_END, MAGIC_BYTE
from treaty.spark.columns import quoted_col

_ID_BYTES = ID_END - 1


def schema_ids(raw: DataFrame) -> DataFrame:
    """Return the distinct schema ids in the headers of raw rows, in a column `id`."""
    payload = quoted_col(PAYLOAD)
    return raw.where(_has_header(payload)).select(schema_id(payload).alias("id")).distinct()


def schema_id(payload: Column) -> Column:
    """Return the schema id of a value with a header."""
    return F.conv(F.hex(F.substring(payload, 2, _ID_BYTES)), 16, 10).cast("long")


def value_after_header(payload: Column) -> Column:
    """Return the value behind the header of Avro and JSON values."""
    return F.substr(payload, F.lit(ID_END + 1))


def with_value_problems(rows: DataFrame, *, is_feed: bool) -> DataFrame:
    """Add the failure of values that are missing or empty; a change feed may have tombstones."""
    payload = quoted_col(PAYLOAD)
    missing = F.when(payload.isNull(), F.lit(Failure.TOMBSTONE.value)) if not is_feed else F.when(F.lit(False), "")
    empty = missing.when(F.length(payload) == F.lit(0), F.lit(Failure.EMPTY_VALUE.value))
    return rows.withColumn(FAILURE, empty).withColumn(DETAIL, F.lit(None).cast("string"))


def with_header_problems(rows: DataFrame, writers: Mapping[int, WriterSchema]) -> DataFrame:
    """Add the failure of values without a header, or with a schema that cannot be used."""
    payload, known = quoted_col(PAYLOAD), quoted_col(FAILURE)
    number = schema_id(payload)
    unusable = [(one, schema.failure) for one, schema in writers.items() if schema.failure is not None]
    found = (
        F.when(known.isNotNull() | payload.isNull(), known)
        .when(F.substring(payload, 1, 1) != F.lit(bytes([MAGIC_BYTE])), F.lit(Failure.WRONG_MAGIC_BYTE.value))
        .when(F.length(payload) < F.lit(ID_END), F.lit(Failure.TRUNCATED_HEADER.value))
    )
    for one, _ in unusable:
        found = found.when(number == F.lit(one), F.lit(unusable_key(one)))
    detail = (
        F.when(known.isNotNull() | payload.isNull(), quoted_col(DETAIL))
        .when(F.substring(payload, 1, 1) != F.lit(bytes([MAGIC_BYTE])), byte_text(payload, 1))
        .when(F.length(payload) < F.lit(ID_END), byte_text(payload, ID_END))
    )
    if unusable:
        detail = detail.when(number.isin(*[one for one, _ in unusable]), number.cast("string"))
    return rows.withColumns({FAILURE: found, DETAIL: detail})


def unusable_key(number: int) -> str:
    """Return the key of the rule that values of an unusable schema violate."""
    return f"schema {number}"


def _has_header(payload: Column) -> Column:
    return (F.length(payload) >= F.lit(ID_END)) & (F.substring(payload, 1, 1) == F.lit(bytes([MAGIC_BYTE])))
