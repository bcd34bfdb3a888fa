"""Records of Parquet and Avro files as JSON, without losing values; files with the same columns are read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.pipeline.project.declarations import Format
from treaty.pipeline.sources.arrivals import encoded_as, json_payload
from treaty.pipeline.sources.file_listing import ListedFile
from treaty.pipeline.sources.record_numbers import NumberedFile, Survey, number_records, with_record_ids
from treaty.spark.columns import quoted_col
from treaty.spark.readers.read_errors import explain_error

_NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"
_NANOSECONDS = 1_000


@dataclass(frozen=True)
class TypedGroup:
    """Files with the same columns, and the frame that reads them."""

    files: tuple[ListedFile, ...]
    frame: DataFrame


def group_by_schema(
    spark: SparkSession, kind: Format, files: Sequence[ListedFile]
) -> tuple[list[TypedGroup], dict[ListedFile, str]]:
    """Group files with the same columns, and return why others cannot be read.

    Read with the columns of another file, columns would be lost.
    """
    nanos = {file: _nanosecond_columns(file) if kind is Format.PARQUET else frozenset[str]() for file in files}
    if any(nanos.values()):
        spark.conf.set(_NANOS_AS_LONG, "true")  # Spark refuses these files otherwise
    if kind is Format.PARQUET and len(set(nanos.values())) == 1:
        merged = _open(spark, kind, files)
        if merged is not None:
            return [TypedGroup(tuple(files), _with_timestamps(merged, next(iter(nanos.values()))))], {}
    groups: dict[tuple[str, frozenset[str]], list[ListedFile]] = {}
    problems: dict[ListedFile, str] = {}
    for file in files:
        try:
            schema = _load(spark, kind, [file]).schema.json()
        except (PySparkException, Py4JError) as error:
            problems[file] = str(explain_error(str(error), "it"))
            continue
        groups.setdefault((schema, nanos[file]), []).append(file)
    frames = [
        TypedGroup(tuple(group), _with_timestamps(_load(spark, kind, group), columns))
        for (_, columns), group in groups.items()
    ]
    return frames, problems


def _open(spark: SparkSession, kind: Format, files: Sequence[ListedFile]) -> DataFrame | None:
    """Return a frame over files, or None if their schemas do not fit together or one cannot be read."""
    try:
        frame = _load(spark, kind, files)
        frame.schema  # noqa: B018  over Connect, the files are opened only now
    except (PySparkException, Py4JError):
        return None
    return frame


def _load(spark: SparkSession, kind: Format, files: Sequence[ListedFile]) -> DataFrame:
    options = {"recursiveFileLookup": "true", **({"mergeSchema": "true"} if kind is Format.PARQUET else {})}
    return spark.read.format(kind.value).options(**options).load([file.pattern for file in files])


def identify_records(group: TypedGroup, kind: Format) -> DataFrame:
    """Return the payloads of a group with their file and block."""
    columns = [json_payload(group.frame).alias("payload")]
    if kind is Format.PARQUET:
        columns.append(group.frame.metadataColumn("_metadata")["row_index"].alias("row_index"))
    return with_record_ids(group.frame, *columns)


def typed_records(records: DataFrame, kind: Format, surveyed: Survey, files: Mapping[str, NumberedFile]) -> DataFrame:
    """Return the records of files, by address, as raw records."""
    numbered = number_records(records, surveyed, files).withColumn("headers", encoded_as("json"))
    if kind is not Format.PARQUET:
        return numbered
    return numbered.withColumn("position", F.col("row_index") + F.lit(1)).drop("row_index")


def _nanosecond_columns(file: ListedFile) -> frozenset[str]:
    """Return the columns of a local Parquet file that hold timestamps in nanoseconds, as pandas writes them.

    A name ends in `Z` after a space if its times are in UTC. Files elsewhere are left to Spark.
    """
    import pyarrow as arrow  # type: ignore[import-untyped]
    import pyarrow.parquet  # type: ignore[import-untyped]

    if not file.is_local:
        return frozenset()
    try:
        schema = pyarrow.parquet.read_schema(file.path)
    except (OSError, arrow.ArrowException):
        return frozenset()  # Spark reports what is wrong with the file
    return frozenset(
        f"{column.name}{' Z' if column.type.tz else ''}"
        for column in schema
        if arrow.types.is_timestamp(column.type) and column.type.unit == "ns"
    )


def _with_timestamps(frame: DataFrame, nanosecond_columns: frozenset[str]) -> DataFrame:
    """Return a frame with timestamps in nanoseconds, which Spark reads as numbers, as texts with all digits."""
    if not nanosecond_columns:
        return frame
    utc = {name.removesuffix(" Z"): name.endswith(" Z") for name in nanosecond_columns}
    for field in frame.schema:
        if field.name in utc and isinstance(field.dataType, spark_types.LongType):
            frame = frame.withColumn(field.name, _timestamp_text(quoted_col(field.name), is_utc=utc[field.name]))
    return frame


def _timestamp_text(nanos: Column, *, is_utc: bool) -> Column:
    """Return nanoseconds since 1970 as a timestamp; digits beyond microseconds only if there are any."""
    rest = F.pmod(nanos, F.lit(_NANOSECONDS))
    micros = ((nanos - rest).cast("decimal(19,0)") / F.lit(_NANOSECONDS)).cast("long")
    text = F.date_format(F.timestamp_micros(micros), "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")
    digits = F.when(rest == 0, F.lit("")).otherwise(F.lpad(rest.cast("string"), 3, "0"))
    return F.concat(text, digits, F.lit("Z" if is_utc else ""))
