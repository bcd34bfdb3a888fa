"""JSON lines: every value with its own digits, every key, every line kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.contracts.model import SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.preparing import MALFORMED, named
from treaty.spark.reading.listing import Listed
from treaty.spark.reading.partitions import partition_names
from treaty.spark.reading.structures import TEXT, refuse_twins, with_declared
from treaty.spark.reading.variant_types import variant_type
from treaty.spark.reading.whole_rows import whole
from treaty.spark.settling import settled

_STRICT = {"allowSingleQuotes": "false"}
_OPTIONS = {**_STRICT, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}


@dataclass(frozen=True)
class _Seen:
    """What the lines of files hold."""

    structure: spark_types.StructType
    lines: int
    records: int
    too_much: int


def read_json_lines(
    spark: SparkSession, files: Listed, declared: SchemaObject | None, options: Mapping[str, str]
) -> DataFrame:
    """Read JSON lines with what is declared of them as texts, and with what else is in them; or as they are.

    A first pass looks at all lines: Spark drops the keys that a schema does not have, and what stands in a line after
    its record. Its own first pass would not do: it takes keys that differ in case for one, and fails on a key that a
    record has twice (of which, as everywhere, the last one counts).
    """
    seen = _look(spark, files)
    _refuse_what_is_no_record(seen, files)
    same = str if spark.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    refuse_twins(seen.structure, same)
    structure = seen.structure if declared is None else with_declared(declared.fields, seen.structure, same)
    if MALFORMED in structure.names:
        raise InvalidDocument(
            f"{files.shown} has records with {MALFORMED!r}, a name that Spark needs itself; rename it"
        )
    fields = {item.name: item.dataType for item in structure}
    fields.update(dict.fromkeys([*partition_names(spark, files.path), MALFORMED], TEXT))
    if len(fields) == 1:
        raise InvalidDocument(f"{files.shown} has no records, and nothing says what they would be")
    schema = spark_types.StructType([spark_types.StructField(name, kind) for name, kind in fields.items()])
    if seen.too_much:
        return _line_by_line(spark, files, structure, schema, {**_OPTIONS, **options})
    return whole(spark.read.schema(schema).options(**{**_OPTIONS, **options}).json(files.path))


def _line_by_line(
    spark: SparkSession,
    files: Listed,
    structure: spark_types.StructType,
    schema: spark_types.StructType,
    options: Mapping[str, str],
) -> DataFrame:
    """Read files in which a line holds more than a record: such a line is malformed, not several rows or a part of one.

    Spark's reader of files would make rows of a list. Parsing text by text, numbers may lose zeros that say nothing.
    """
    marked = spark_types.StructType([*structure.fields, spark_types.StructField(MALFORMED, TEXT)])
    lines = _lines(spark, files)
    parsed = F.from_json("line", marked.json(), dict(options))
    read = lines.select("*", settled(parsed).alias("read"), settled(_too_much()).alias("much"))
    inside = set(structure.names)
    columns = [
        F.when(~F.col("much"), F.col("read").getField(name)).alias(name) if name in inside else named(name)
        for name in schema.names
        if name != MALFORMED
    ]
    line = F.when(F.col("much"), F.col("line")).otherwise(F.col("read").getField(MALFORMED))
    return read.select(*columns, line.alias(MALFORMED))


def _lines(spark: SparkSession, files: Listed) -> DataFrame:
    """Return the lines that hold something, beside the columns that folders give."""
    line = F.when(F.startswith("value", F.lit("\ufeff")), F.substr("value", F.lit(2))).otherwise(F.col("value"))
    return spark.read.text(files.path).withColumn("line", F.trim(line)).drop("value").where("line != ''")


def _wrapped() -> Column:
    return F.concat(F.lit('{"record":'), "line", F.lit(',"end":1}'))


def _too_much() -> Column:
    """Tell whether a line is a list, or goes on after its record."""
    both = F.from_json(_wrapped(), "record VARIANT, end STRING", _STRICT)
    ends = both["end"].isNotNull() | F.from_json(_wrapped(), "end STRING", _STRICT)["end"].isNotNull()
    is_list = F.startswith("line", F.lit("[")) & F.endswith("line", F.lit("]"))
    return is_list | (~ends & F.from_json("line", "MAP<STRING, STRING>", _STRICT).isNotNull())


def _look(spark: SparkSession, files: Listed) -> _Seen:
    whole_line = F.from_json(_wrapped(), "record VARIANT, end STRING", _STRICT).alias("parsed")
    parsed = _lines(spark, files).select("line", whole_line, _too_much().alias("much"))
    too_much = F.col("much")
    record = F.when(F.startswith("line", F.lit("{")), F.col("parsed.record"))
    found = parsed.agg(
        F.schema_of_variant_agg(record).alias("structure"),
        F.count("line").alias("lines"),
        F.count(record).alias("records"),
        F.count_if(too_much).alias("too_much"),
    ).collect()[0]
    structure = variant_type(found["structure"])
    known = structure if isinstance(structure, spark_types.StructType) else spark_types.StructType()
    return _Seen(known, found["lines"], found["records"], found["too_much"])


def _refuse_what_is_no_record(seen: _Seen, files: Listed) -> None:
    if seen.lines and not seen.records:
        raise InvalidDocument(
            f"{files.shown} has no JSON record on any line; if it is one document with a list, write each record on a "
            "line of its own, as in: jq -c '.[]' in.json > out.jsonl"
        )
