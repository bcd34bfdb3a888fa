"""Payloads as rows of texts, whatever they are written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field, SchemaObject
from treaty.pipeline.declarations import Files, Format, Source
from treaty.pipeline.layers.events.closed_content import unknown_in
from treaty.pipeline.layers.events.columns import ARRIVED_AT, FILE, POSITION, RAW_RUN
from treaty.pipeline.layers.events.csv_payloads import CsvPayloads
from treaty.pipeline.layers.events.json_payloads import json_records, without_mark
from treaty.spark.columns import named
from treaty.spark.schema import column_name, spark_type

PAYLOAD, HEADERS = "payload", "headers"
POINTERS = {FILE: "file", POSITION: "position", ARRIVED_AT: "arrived_at", RAW_RUN: "_run"}
"""Columns that lead from an event back to what arrived, and what they are called there."""


def parsed(
    raw: DataFrame,
    source: Source,
    schema: SchemaObject,
    wanted: Sequence[str] | None = None,
    beside: tuple[Column, ...] = (),
) -> DataFrame:
    """Return fields (all, or those wanted) as texts, what is malformed beside them, and pointers to the raw rows."""
    kept = [*(named(name).alias(alias) for alias, name in POINTERS.items()), *beside]
    chosen = [field for field in schema.fields if wanted is None or column_name(field) in wanted]
    if (csv := _csv(source, schema)) is not None:
        return csv.records(raw, [column_name(field) for field in chosen], kept)
    records = json_records(raw, PAYLOAD, replace(schema, properties=tuple(chosen)), kept)
    return records if _is_text(source) else _with_bytes(records, chosen)


def _with_bytes(records: DataFrame, fields: Sequence[Field]) -> DataFrame:
    """Return records that had types when they arrived, and were written down as JSON: bytes stand there in base64."""
    binary = {column_name(field) for field in fields if isinstance(spark_type(field), spark.BinaryType)}
    columns = [_as_bytes(named(name)).alias(name) if name in binary else named(name) for name in records.columns]
    return records.select(*columns)


def _as_bytes(text: Column) -> Column:
    """Return the bytes that a text stands for; what was a text all along gives its own."""
    return F.coalesce(F.try_to_binary(text, F.lit("base64")), text.cast("binary"))


def _is_text(source: Source) -> bool:
    return isinstance(source.origin, Files) and source.origin.format in (Format.JSONL, Format.CSV)


def unknown_names_in(source: Source, schema: SchemaObject) -> Column:
    """Return the names in a raw row's payload that no field stands for."""
    csv = _csv(source, schema)
    return unknown_in(without_mark(named(PAYLOAD)), schema.fields) if csv is None else csv.unknown()


def _csv(source: Source, schema: SchemaObject) -> CsvPayloads | None:
    if not isinstance(source.origin, Files) or source.origin.format is not Format.CSV:
        return None
    options = source.origin.options
    if options.get("multiline") == "true":
        return None
    separator = options.get("separator", ",")
    return CsvPayloads(PAYLOAD, HEADERS, separator, tuple(map(column_name, schema.fields)))
