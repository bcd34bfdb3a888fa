"""CSV files: every value a text, every line kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark_types

from treaty.contracts.model import SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.columns import MALFORMED_COLUMN
from treaty.spark.readers.file_listing import FileListing, partition_columns
from treaty.spark.readers.malformed_rows import keep_malformed_rows

_OPTIONS = {
    "header": "true",
    "multiLine": "true",  # a text in quotes may have several lines
    "escape": '"',  # a quote within quotes is doubled
    "nullValue": "\u0000",  # so that nothing is null and "" is an empty text; Spark makes both null
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": MALFORMED_COLUMN,
    "columnPruning": "false",
}


def read_csv(
    spark: SparkSession, files: FileListing, declared: SchemaObject | None, options: Mapping[str, str]
) -> DataFrame:
    """Read CSV files with a header: texts, with the line beside those that have too few or too many values."""
    separator = {} if files.kind.separator is None else {"sep": files.kind.separator}
    said = {**_OPTIONS, **separator, **options}
    # to look at a header of several lines, Spark would take a name such as a[1].csv for a pattern again
    alone = {"header": "false", **({"multiLine": "false"} if "\\" in files.path else {})}
    header = spark.read.options(**{**said, **alone}).csv(files.path).head()
    partitions = partition_columns(spark, files.path)
    named = [] if header is None else list(header[: len(header) - len(partitions)])
    names = _names(named, files, case_sensitive=spark.conf.get("spark.sql.caseSensitive") == "true")
    # where all have names, a file with other columns stops the reading; else they would be taken by their place
    strict = {"enforceSchema": "false" if all(named) else "true"}
    schema = spark_types.StructType(
        [spark_types.StructField(name, spark_types.StringType()) for name in (*names, *partitions, MALFORMED_COLUMN)]
    )
    return keep_malformed_rows(spark.read.schema(schema).options(**{**said, **strict, **options}).csv(files.path))


def _names(header: list[str | None], files: FileListing, *, case_sensitive: bool) -> list[str]:
    if not header:
        raise InvalidDocument(f"{files.shown} is empty: a CSV file has at least a header with the names of its columns")
    names = [name or f"_c{place}" for place, name in enumerate(header)]
    if files.count > 1 and not all(header):
        place = header.index(None) + 1
        raise InvalidDocument(
            f"{files.shown}: column {place} has no name, and the files cannot be told to agree; name it"
        )
    counts = Counter(name if case_sensitive else name.lower() for name in (*names, MALFORMED_COLUMN))
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise InvalidDocument(f"{files.shown} has several columns named {twice!r}; rename them in the header")
    return names
