"""Rows that hold a key: in tables by their columns, in raw tables by the fields of their payloads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract
from treaty.pipeline.layers.events.event_table import FILE, POSITION, RAW_RUN
from treaty.pipeline.layers.events.payloads import parse_payloads
from treaty.pipeline.project.declarations import Source
from treaty.spark.columns import MALFORMED_COLUMN, quoted_col
from treaty.spark.schema import find_struct_field, select_object, struct_type

RAW_POINTER = {"file": FILE, "position": POSITION, "_run": RAW_RUN}
"""The columns of a raw table that identify a row, and their names in parsed payloads."""
_BOUNDARY = r"[A-Za-z0-9_]"


def key_condition(columns: Mapping[str, Sequence[str]], values: Mapping[str, str], rows: spark.StructType) -> Column:
    """Return the condition that a row holds the key: each field in at least one of its columns."""
    fields = [
        reduce(or_, [_is_value(path, _type_at(rows, path), values[field]) for path in paths])
        for field, paths in columns.items()
    ]
    return F.coalesce(reduce(and_, fields), F.lit(False))


def raw_rows_with_key(
    raw: DataFrame, source: Source, contract: Contract, columns: Mapping[str, Sequence[str]], values: Mapping[str, str]
) -> DataFrame:
    """Return the file, position and run of raw rows that hold the key.

    A payload that cannot be parsed holds the key if it contains the value of every field as a word of its own.
    """
    schema = select_object(contract)
    fields = {path.partition(".")[0] for paths in columns.values() for path in paths}
    parsed = parse_payloads(raw, source, schema, sorted(fields))
    is_held = key_condition(columns, values, struct_type(schema))
    condition = is_held | contains_values(quoted_col(MALFORMED_COLUMN), values)
    return parsed.where(condition).select(*[quoted_col(name).alias(column) for column, name in RAW_POINTER.items()])


def contains_values(text: Column, values: Mapping[str, str]) -> Column:
    """Return the condition that a text contains every value as a word of its own."""
    return F.coalesce(reduce(and_, [_contains_word(text, value) for value in values.values()]), F.lit(False))


def _contains_word(text: Column, value: str) -> Column:
    word = re.escape(value)
    return F.rlike(text, F.lit(f"(?<!{_BOUNDARY}){word}(?!{_BOUNDARY})"))


def _is_value(path: str, kind: spark.DataType | None, value: str) -> Column:
    """Compare a column with a value as texts, and by its type: `7.0` is the number 7."""
    column = F.col(".".join(f"`{name}`" for name in path.split(".")))
    is_same = column.cast("string") == F.lit(value)
    if kind is None or isinstance(kind, (spark.StringType, spark.StructType, spark.ArrayType, spark.MapType)):
        return F.coalesce(is_same, F.lit(False))
    typed = column.try_cast(kind) == F.lit(value).try_cast(kind)
    return F.coalesce(is_same, F.lit(False)) | F.coalesce(typed, F.lit(False))


def _type_at(rows: spark.StructType, path: str) -> spark.DataType | None:
    kind: spark.DataType = rows
    for name in path.split("."):
        field = find_struct_field(kind, name) if isinstance(kind, spark.StructType) else None
        if field is None:
            return None
        kind = field.dataType
    return kind
