"""JSON lines: every value with its own digits, every key, every line kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.contracts.model import SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.reading.listing import Listed
from treaty.spark.reading.partitions import partition_names
from treaty.spark.reading.structures import TEXT, refuse_twins, with_declared
from treaty.spark.reading.variant_types import variant_type
from treaty.spark.reading.whole_rows import MALFORMED, whole

_STRICT = {"allowSingleQuotes": "false"}
_OPTIONS = {**_STRICT, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
_SHOWN = 80


@dataclass(frozen=True)
class _Seen:
    """What the lines of files hold."""

    structure: spark_types.StructType
    lines: int
    records: int
    too_much: int
    example: str | None


def read_json_lines(
    spark: SparkSession, files: Listed, declared: SchemaObject | None, options: Mapping[str, str]
) -> DataFrame:
    """Read JSON lines with what is declared of them as texts, and with what else is in them; or as they are.

    A first pass looks at all lines: Spark drops the keys that a schema does not have, and what stands in a line after
    its record. Its own first pass would not do: it takes keys that differ in case for one, and fails on a key that a
    record has twice (of which, as everywhere, the last one counts).
    """
    seen = _look(spark, files)
    _refuse_what_would_be_lost(seen, files)
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
    return whole(spark.read.schema(schema).options(**{**_OPTIONS, **options}).json(files.path))


def _look(spark: SparkSession, files: Listed) -> _Seen:
    line = F.when(F.startswith("value", F.lit("\ufeff")), F.substr("value", F.lit(2))).otherwise(F.col("value"))
    lines = spark.read.text(files.path).select(F.trim(line).alias("line")).where("line != ''")
    wrapped = F.concat(F.lit('{"record":'), "line", F.lit(',"end":1}'))
    parsed = lines.select("line", F.from_json(wrapped, "record VARIANT, end STRING", _STRICT).alias("parsed"))
    ends = F.col("parsed.end").isNotNull() | F.from_json(wrapped, "end STRING", _STRICT)["end"].isNotNull()
    is_list = F.startswith("line", F.lit("[")) & F.endswith("line", F.lit("]"))
    too_much = is_list | (~ends & F.from_json("line", "MAP<STRING, STRING>", _STRICT).isNotNull())
    record = F.when(F.startswith("line", F.lit("{")), F.col("parsed.record"))
    found = parsed.agg(
        F.schema_of_variant_agg(record).alias("structure"),
        F.count("line").alias("lines"),
        F.count(record).alias("records"),
        F.count_if(too_much).alias("too_much"),
        F.min(F.when(too_much, F.substr("line", F.lit(1), F.lit(_SHOWN)))).alias("example"),
    ).collect()[0]
    structure = variant_type(found["structure"])
    known = structure if isinstance(structure, spark_types.StructType) else spark_types.StructType()
    return _Seen(known, found["lines"], found["records"], found["too_much"], found["example"])


def _refuse_what_would_be_lost(seen: _Seen, files: Listed) -> None:
    if seen.too_much:
        raise InvalidDocument(
            f"{files.shown} has more than one record on {seen.too_much:,} of {seen.lines:,} lines, such as "
            f"{seen.example!r}; write each record on a line of its own"
        )
    if seen.lines and not seen.records:
        raise InvalidDocument(
            f"{files.shown} has no JSON record on any line; if it is one document with a list, write each record on a "
            "line of its own, as in: jq -c '.[]' in.json > out.jsonl"
        )
