"""Payloads that hold a JSON record: read by the contract, and malformed unless they are one record and nothing else."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field, SchemaObject
from treaty.pipeline.layers.events.exact_numbers import with_exact_numbers
from treaty.spark.columns import MALFORMED, PRIVATE, named, settled
from treaty.spark.schema import column_name, lenient_type

_RECORD, _END, _BAD = "record", "end", "bad"
_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _BAD, "allowSingleQuotes": "false"}
_BYTE_ORDER_MARK = "\ufeff"
_TEXT, _READ = f"{PRIVATE}text", f"{PRIVATE}read"


def json_records(raw: DataFrame, payload: str, schema: SchemaObject, kept: list[Column]) -> DataFrame:
    """Return the fields of the contract as texts, the text of what is malformed, and the columns to keep."""
    text = raw.select(without_mark(named(payload)).alias(_TEXT), *kept)
    others = [name for name in text.columns if name != _TEXT]
    read = text.select("*", settled(_parsed(named(_TEXT), schema)).alias(_READ))
    record = named(_READ).getField(_RECORD)
    fields = [record.getField(name).alias(name) for name in map(column_name, schema.fields)]
    malformed = F.when(~_is_whole(named(_READ)), named(_TEXT)).alias(MALFORMED)
    return read.select(*fields, malformed, *map(named, others))


def without_mark(payload: Column) -> Column:
    """Return bytes as a text, without the mark that some editors put in front."""
    text = payload.cast("string")
    return F.when(F.startswith(text, F.lit(_BYTE_ORDER_MARK)), F.substr(text, F.lit(2))).otherwise(text)


def _parsed(text: Column, schema: SchemaObject) -> Column:
    """Parse a text that holds exactly one record: inside another, whatever follows it would be out of place.

    Spark's parser takes the first of several records and the first of a list, and puts signs for bytes that are no
    text.
    """
    record = lenient_type(Field(logical_type="object", properties=schema.fields))
    kinds = {_RECORD: record, _END: spark.StringType(), _BAD: spark.StringType()}
    structure = spark.StructType([spark.StructField(name, kind) for name, kind in kinds.items()])
    wrapped = F.concat(F.lit(f'{{"{_RECORD}":'), with_exact_numbers(text, schema), F.lit(f',"{_END}":1}}'))
    return F.when(F.is_valid_utf8(text), F.from_json(wrapped, structure.json(), _OPTIONS))


def _is_whole(read: Column) -> Column:
    at_end = read.getField(_END).eqNullSafe(F.lit("1"))
    return at_end & read.getField(_RECORD).isNotNull() & read.getField(_BAD).isNull()
