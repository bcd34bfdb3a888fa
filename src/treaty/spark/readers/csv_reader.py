"""Read CSV files: all values are text, and malformed lines are kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import types as spark_types

from treaty.contracts.model import SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.columns import MALFORMED_COLUMN, keep_malformed_rows
from treaty.spark.readers.files import FileListing, partition_columns

_OPTIONS = {
    "header": "true",
    "multiLine": "true",  # quoted text may span lines
    "escape": '"',  # quotes within quotes are doubled
    "nullValue": "\u0000",  # an empty value stays null and "" an empty text; by default, Spark reads both as null
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": MALFORMED_COLUMN,
    "columnPruning": "false",
}

_CHECKED_ROWS = 100
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f]")
_UNDECODABLE = "\ufffd"
"""What Spark returns for bytes that are invalid in the encoding."""


def read_csv(
    spark: SparkSession, files: FileListing, declared: SchemaObject | None, options: Mapping[str, str]
) -> DataFrame:
    """Read CSV files with a header as text; rows with too few or too many values keep their line."""
    separator = {} if files.kind.separator is None else {"sep": files.kind.separator}
    read_options = {**_OPTIONS, **separator, **options}
    # with multiLine, Spark would treat an escaped name such as a[1].csv as a glob again
    header_options = {"header": "false", **({"multiLine": "false"} if "\\" in files.path else {})}
    first_rows = spark.read.options(**{**read_options, **header_options}).csv(files.path).head(_CHECKED_ROWS)
    if declared is None:
        _refuse_binary(first_rows, files)
    header = first_rows[0] if first_rows else None
    partitions = partition_columns(spark, files.path)
    named = [] if header is None else list(header[: len(header) - len(partitions)])
    names = _names(named, files, case_sensitive=spark.conf.get("spark.sql.caseSensitive") == "true")
    # if all columns have names, a file with other columns is an error; otherwise columns match by position
    strict = {"enforceSchema": "false" if all(named) else "true"}
    schema = spark_types.StructType(
        [spark_types.StructField(name, spark_types.StringType()) for name in (*names, *partitions, MALFORMED_COLUMN)]
    )
    return keep_malformed_rows(
        spark.read.schema(schema).options(**{**read_options, **strict, **options}).csv(files.path)
    )


def _refuse_binary(rows: Sequence[Row], files: FileListing) -> None:
    """Refuse files without text, whose columns would be guesses about noise.

    Control characters are refused in any of the rows; undecodable bytes only in the header, because a text may have a
    few damaged values.
    """
    for number, row in enumerate(rows, 1):
        text = "".join(value for value in row if isinstance(value, str))
        if _CONTROL_CHARACTER.search(text) or (number == 1 and _UNDECODABLE in text):
            place = "its header" if number == 1 else f"row {number}"
            raise InvalidDocument(
                f"{files.display_path} is not CSV text: {place} contains bytes that are no characters;"
                " check the file, or state its data format or its encoding (option encoding)"
            )


def _names(header: list[str | None], files: FileListing, *, case_sensitive: bool) -> list[str]:
    if not header:
        raise InvalidDocument(f"{files.display_path} is empty: a CSV file needs at least a header with column names")
    names = [name or f"_c{place}" for place, name in enumerate(header)]
    if files.count > 1 and not all(header):
        place = header.index(None) + 1
        raise InvalidDocument(
            f"{files.display_path}: column {place} of the header has no name, so the files cannot be compared; add one"
        )
    counts = Counter(name if case_sensitive else name.lower() for name in (*names, MALFORMED_COLUMN))
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise InvalidDocument(f"{files.display_path} has several columns named {twice!r}; rename them in the header")
    return names
