"""Avro values as JSON, by Spark's own reader, with one branch for each writer's schema of a batch.

Spark's reader returns a record of nulls for bytes that it cannot read, and does not notice bytes after the record.
Values are therefore read as a record with two fields: the value, and a mark that is appended to the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.pipeline.layers.decoding.decoded_rows import DETAIL, FAILURE, PAYLOAD, Failure, byte_text
from treaty.pipeline.layers.decoding.wire_columns import schema_id, value_after_header
from treaty.pipeline.layers.decoding.writer_schemas import WriterSchema
from treaty.spark.columns import INTERNAL_PREFIX, evaluate_once, quoted_col
from treaty.spark.json_texts import LOSSLESS_JSON

_MARK = b"\x8f\x01treaty"
_RECORD, _END = "record", "end"
_READ = f"{INTERNAL_PREFIX}avro_"
_PERMISSIVE = {"mode": "PERMISSIVE"}
_SHOWN_BYTES = 16


def find_unreadable(spark: SparkSession, text: str) -> str | None:
    """Return why Spark cannot read a schema, for example because it refers to itself; None if it can."""
    try:
        spark.range(0).select(_read(F.lit(b""), text)).schema  # noqa: B018  the plan is analysed, nothing is read
    except (PySparkException, Py4JError) as error:
        raised = getattr(error, "java_exception", None)
        return str(error if raised is None else raised.getMessage()).strip().splitlines()[0]
    return None


def decode_avro(rows: DataFrame, writers: Mapping[int, WriterSchema], plain: WriterSchema | None) -> DataFrame:
    """Return rows with payloads as JSON; values without a header are of the schema `plain`."""
    names = list(rows.columns)
    payload, fine = quoted_col(PAYLOAD), quoted_col(FAILURE).isNull() & quoted_col(PAYLOAD).isNotNull()
    body = payload if plain is not None else value_after_header(payload)
    schemas = [plain] if plain is not None else [one for one in writers.values() if one.failure is None]
    numbers = [number for number, one in writers.items() if one.failure is None]
    chosen = [fine] if plain is not None else [fine & (schema_id(payload) == F.lit(number)) for number in numbers]
    read = {
        f"{_READ}{place}": evaluate_once(F.when(is_chosen, _read(F.concat(body, F.lit(_MARK)), schema.text)))
        for place, (is_chosen, schema) in enumerate(zip(chosen, schemas, strict=True))
    }
    text = F.coalesce(F.lit(None).cast("string"), *map(_json_of, read))
    failed = fine & text.isNull()
    return rows.withColumns(read).select(
        *[quoted_col(name) for name in names if name not in (PAYLOAD, FAILURE, DETAIL)],
        text.cast("binary").alias(PAYLOAD),
        F.when(failed, F.lit(Failure.INVALID_AVRO.value)).otherwise(quoted_col(FAILURE)).alias(FAILURE),
        F.when(failed, byte_text(payload, _SHOWN_BYTES)).otherwise(quoted_col(DETAIL)).alias(DETAIL),
    )


def _read(body: Column, text: str) -> Column:
    fields = [
        {"name": _RECORD, "type": json.loads(text)},
        {"name": _END, "type": {"type": "fixed", "name": f"{INTERNAL_PREFIX}mark", "size": len(_MARK)}},
    ]
    marked = {"type": "record", "name": f"{INTERNAL_PREFIX}value", "fields": fields}
    return from_avro(body, json.dumps(marked), _PERMISSIVE)


def _json_of(name: str) -> Column:
    read = quoted_col(name)
    is_whole = read.getField(_RECORD).isNotNull() & (read.getField(_END) == F.lit(_MARK))
    return F.when(is_whole, F.to_json(read.getField(_RECORD), LOSSLESS_JSON))
