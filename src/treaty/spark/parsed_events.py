"""Events of one contract parsed from their texts, with what they leak and the timestamps that lack an offset."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.events.checks import states_time_zone
from treaty.events.exclusions import excluded_words, find_excluded, text_pattern
from treaty.spark.columns import MALFORMED_COLUMN, any_of, evaluate_once, quoted_col
from treaty.spark.event_records import ARRIVAL, ARRIVED_AT, CODE, PARTITION, PAYLOAD
from treaty.spark.field_paths import ReachedField, reached_fields, unknown_fields
from treaty.spark.json_texts import is_complete, parse_json, record_of
from treaty.spark.readers.json_reader import merge_declared, refuse_ambiguous_names
from treaty.spark.schema import column_name

UNDECLARED, EXCLUDED, WITHOUT_OFFSET = "_undeclared", "_excluded", "_without_offset"
"""Columns of an event with the paths of undeclared fields, an excluded field or label, and a timestamp."""
TRANSPORTED = (CODE, ARRIVAL, ARRIVED_AT, PARTITION)
_PARSED, _LOWER = "_parsed", "_lower"


def parse_events(
    texts: DataFrame, contract: Contract, schema: SchemaObject, structure: spark.StructType, type_field: str | None
) -> DataFrame:
    """Return the declared fields of events and all others in their structure, with what was found in each event."""
    found = _structure_of(texts, schema, structure, type_field)
    parsed = texts.withColumn(_PARSED, evaluate_once(parse_json(F.col(PAYLOAD), found)))
    complete, record = is_complete(F.col(_PARSED)), record_of(F.col(_PARSED))
    frame = parsed.select(
        *[F.when(complete, record.getField(name)).alias(name) for name in found.names],
        F.when(~complete, F.col(PAYLOAD)).alias(MALFORMED_COLUMN),
        PAYLOAD,
        evaluate_once(F.lower(PAYLOAD)).alias(_LOWER),
        *TRANSPORTED,
    )
    undeclared, excluded = _leaks(contract, schema, found)
    return frame.select(
        *map(quoted_col, (*found.names, MALFORMED_COLUMN)),
        *TRANSPORTED,
        undeclared.alias(UNDECLARED),
        excluded.alias(EXCLUDED),
        _without_offset(schema.fields, found).alias(WITHOUT_OFFSET),
    )


def _structure_of(
    texts: DataFrame, schema: SchemaObject, structure: spark.StructType, type_field: str | None
) -> spark.StructType:
    """Return the declared fields and those of the data, without a field that only names the type."""
    name_key: Any = str if texts.sparkSession.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    refuse_ambiguous_names(structure, name_key)
    merged = merge_declared(schema.fields, structure, name_key)
    if type_field is None or type_field in map(column_name, schema.fields):
        return merged
    return spark.StructType([one for one in merged if one.name != type_field])


def _leaks(contract: Contract, schema: SchemaObject, found: spark.StructType) -> tuple[Column, Column]:
    """Return the undeclared fields of an event, and those of them or the labels in texts that are excluded."""
    known = excluded_words(contract)
    undeclared = list(unknown_fields(schema.fields, found))
    excluded = [one for one in undeclared if any(find_excluded(name, known) for name in one.names)]
    others = [one for one in undeclared if one not in excluded]
    leak = _present_names(excluded)
    if (pattern := text_pattern(known)) is not None:
        words = sorted({word for one in known for word in one.words})  # looking for them costs less than the pattern
        may_leak = any_of(F.contains(_LOWER, F.lit(word)) for word in words)
        label = F.nullif(F.regexp_extract(F.col(PAYLOAD), pattern, 0), F.lit(""))
        leak = F.coalesce(leak, F.when(may_leak, label))
    return _present_names(others if contract.treaty.content == "closed" else []), leak


def _present_names(fields: list[ReachedField]) -> Column:
    names = [F.when(one.any_value(Column.isNotNull), F.lit(one.path)) for one in fields]
    nothing = F.lit(None).cast("string")
    return F.nullif(F.concat_ws(", ", *names), F.lit("")) if names else nothing


def _without_offset(fields: tuple[Field, ...], found: spark.StructType) -> Column:
    """Return the first timestamp that has to state an offset and does not."""
    reached = (one for one in reached_fields(fields, found) if states_time_zone(one.field))
    return F.coalesce(
        F.lit(None).cast("string"),
        *[F.when(one.any_value(_lacks_offset), F.lit(one.path)) for one in reached],
    )


def _lacks_offset(value: Column) -> Column:
    """Whether a text ends neither with Z nor with an offset, as in +02:00, +0200 or +02."""
    signs = [F.substring(value, place, 1).isin("+", "-") for place in (-6, -5, -3)]
    is_time = F.length(value) > F.lit(10)
    has_sign = (is_time & (signs[0] | signs[1])) | ((F.length(value) > F.lit(16)) & signs[2])
    return value.isNotNull() & ~(F.endswith(F.upper(value), F.lit("Z")) | has_sign)
