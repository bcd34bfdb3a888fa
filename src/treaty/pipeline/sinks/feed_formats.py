"""The file formats of a feed. They are fixed, so that a partner writes a reader once.

CSV is UTF-8 without a byte order mark, with a header line, commas, LF line ends, and quoting as in RFC 4180 (a quote is
doubled). An empty field is null; two quotes with nothing between them are an empty text. Timestamps are ISO 8601 in UTC
with six digits and Z, decimals have no exponent, bytes are Base64, and objects, arrays and maps are JSON. Values are
never changed: a text that begins with = + - or @ is written as it is. Spreadsheets take such a text for a formula, so
import the columns as text there, or use another format.

JSON lines are UTF-8 with one object per line. Every field is always present, and timestamps are written as in CSV.

Parquet has the types of the contract as Spark writes them, timestamps in microseconds, compressed with Snappy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Format
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col

_EMPTY = "\ue000treaty:empty\ue000"
"""Stands for an empty text while a CSV file is read back, to tell it from null."""
_CSV = {
    "header": "true",
    "sep": ",",
    "quote": '"',
    "escape": '"',
    "lineSep": "\n",
    "encoding": "UTF-8",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
    "nullValue": "",
    "compression": "none",
}
_CSV_READ = {"multiLine": "true", "mode": "FAILFAST", "maxCharsPerColumn": "-1", "emptyValue": _EMPTY}
_LINE = "value"
PERIOD = f"{INTERNAL_PREFIX}period"
"""The day of a row, by which the files of an emulated feed are named; it is not written to them."""
_CONVENTIONS = {"header": "header", "sep": "separator", "encoding": "encoding", "nullValue": "null"}


@dataclass(frozen=True)
class FileFormat:
    """How rows are written to files of one format, and how the files are read back for verification."""

    extension: str
    prepare: Callable[[DataFrame], DataFrame]
    write: Callable[[DataFrame, str, Sequence[str]], None]
    """Writes rows to a folder, or to one for each value of the columns that are named."""
    read: Callable[[SparkSession, spark.StructType, str], DataFrame]
    conventions: Mapping[str, str] = field(default_factory=dict)


def file_format_of(kind: Format, dialect: Mapping[str, str] = EMPTY) -> FileFormat:
    """Return the file format of a feed; a dialect changes options of CSV, such as its separator."""
    if kind not in FILE_FORMATS:
        raise InvalidDocument(f"a feed cannot have the format {kind}; use one of: {', '.join(FILE_FORMATS)}")
    if not dialect or kind is not Format.CSV:
        return FILE_FORMATS[kind]
    changed = {_CONVENTIONS[name]: _convention(name, value) for name, value in dialect.items() if name in _CONVENTIONS}
    return replace(
        FILE_FORMATS[kind],
        write=partial(_write_csv, dialect=dialect),
        read=partial(_read_csv, dialect=dialect),
        conventions={**FILE_FORMATS[kind].conventions, **changed},
    )


def _convention(name: str, value: str) -> str:
    return value if name != "header" else "first line" if value == "true" else "none"


def _as_texts(rows: DataFrame) -> DataFrame:
    return rows.select(
        *[plain_text(quoted_col(field.name), field.dataType).alias(field.name) for field in rows.schema.fields]
    )


def _as_lines(rows: DataFrame) -> DataFrame:
    outside = [name for name in rows.columns if name.startswith(INTERNAL_PREFIX)]
    inside = [name for name in rows.columns if name not in outside]
    return rows.select(json_line(*map(quoted_col, inside)).alias(_LINE), *map(quoted_col, outside))


def _unchanged(rows: DataFrame) -> DataFrame:
    return rows


def _write_csv(rows: DataFrame, folder: str, split_by: Sequence[str], dialect: Mapping[str, str] = EMPTY) -> None:
    rows.write.partitionBy(*split_by).options(**{**_CSV, **dialect}, emptyValue='""').csv(folder)


def _read_csv(
    session: SparkSession, schema: spark.StructType, folder: str, dialect: Mapping[str, str] = EMPTY
) -> DataFrame:
    read = session.read.schema(schema).options(**{**_CSV, **_CSV_READ, **dialect}).csv(folder)
    texts = [
        F.when(quoted_col(name) == F.lit(_EMPTY), F.lit("")).otherwise(quoted_col(name)).alias(name)
        for name in schema.names
    ]
    return read.select(*texts, "_metadata")


def _write_lines(rows: DataFrame, folder: str, split_by: Sequence[str]) -> None:
    rows.write.partitionBy(*split_by).options(lineSep="\n", compression="none").text(folder)


def _read_lines(session: SparkSession, schema: spark.StructType, folder: str) -> DataFrame:
    return session.read.schema(schema).options(lineSep="\n").text(folder).select("*", "_metadata")


def _write_parquet(rows: DataFrame, folder: str, split_by: Sequence[str]) -> None:
    rows.write.partitionBy(*split_by).options(compression="snappy").parquet(folder)


def _read_parquet(session: SparkSession, schema: spark.StructType, folder: str) -> DataFrame:
    return session.read.schema(schema).parquet(folder).select("*", "_metadata")


_MOMENTS = "ISO 8601, UTC"
FILE_FORMATS = {
    Format.CSV: FileFormat(
        ".csv",
        _as_texts,
        _write_csv,
        _read_csv,
        {
            "encoding": "UTF-8",
            "header": "first line",
            "separator": ",",
            "quoting": "RFC 4180",
            "line_end": "LF",
            "null": "nothing between the separators",
            "empty_text": '""',
            "timestamps": _MOMENTS,
            "objects_arrays_maps": "JSON",
            "bytes": "Base64",
        },
    ),
    Format.JSONL: FileFormat(
        ".jsonl",
        _as_lines,
        _write_lines,
        _read_lines,
        {"encoding": "UTF-8", "line_end": "LF", "null": "null", "timestamps": _MOMENTS, "bytes": "Base64"},
    ),
    Format.PARQUET: FileFormat(".parquet", _unchanged, _write_parquet, _read_parquet, {"compression": "snappy"}),
}


_STRUCTURES = (spark.StructType, spark.ArrayType, spark.MapType)
_PLAIN_SCALE = 6
"""Decimals with at most this many fraction digits are never written with an exponent."""
MOMENTS = {
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "dateFormat": "yyyy-MM-dd",
}
_JSON = {**MOMENTS, "ignoreNullFields": "false"}


def json_line(*columns: Column) -> Column:
    """Return a row as a JSON object with all columns, also null ones."""
    return F.to_json(F.struct(*columns), _JSON)


def plain_text(value: Column, kind: spark.DataType) -> Column:
    """Return a value as the text of a CSV field."""
    if isinstance(kind, _STRUCTURES):
        return F.to_json(value, _JSON)
    if isinstance(kind, (spark.TimestampType, spark.TimestampNTZType)):
        # to_csv takes the time zone from its options, not from the session
        return F.when(value.isNotNull(), F.to_csv(F.struct(value), MOMENTS))
    if isinstance(kind, spark.BinaryType):
        return F.base64(value)
    if isinstance(kind, spark.DecimalType) and kind.scale > _PLAIN_SCALE:
        return F.translate(F.format_number(value, kind.scale), ",", "")
    return value.cast("string")
