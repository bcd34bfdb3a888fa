"""Raw rows: what arrived, byte for byte, from whom and when; each enters once and stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

ENCODING = "encoding"
"""The header that says how a record was written down that was no line: as JSON, or as the text that it was."""
COLUMNS = "columns"
"""The header with the names of a CSV line's values, as the first line of its file has them."""

RAW = spark.StructType(
    [
        spark.StructField("payload", spark.BinaryType(), True, {"comment": "The bytes of the line or record."}),
        spark.StructField("source", spark.StringType(), True, {"comment": "The source that it came from."}),
        spark.StructField("file", spark.StringType(), True, {"comment": "The file, or the table of a database."}),
        spark.StructField("file_size", spark.LongType(), True, {"comment": "The file's bytes when it was read."}),
        spark.StructField("file_modified", spark.TimestampType(), True, {"comment": "When the file was last changed."}),
        spark.StructField("position", spark.LongType(), True, {"comment": "Its place in the file; with gaps."}),
        spark.StructField(
            "headers",
            spark.MapType(spark.StringType(), spark.StringType()),
            True,
            {"comment": "What came along with the payload."},
        ),
        spark.StructField("arrived_at", spark.TimestampType(), True, {"comment": "When it was read."}),
        spark.StructField("_run", spark.LongType(), True, {"comment": "The run that wrote it."}),
    ]
)
"""The columns of every raw table."""

FILES = spark.StructType(
    [
        *(RAW[name] for name in ("file", "file_size", "file_modified")),
        spark.StructField("rows", spark.LongType(), True, {"comment": "How many raw rows it gave."}),
        RAW["_run"],
    ]
)
"""The columns of the list of files that arrived."""

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def raw_rows(records: DataFrame, source: str, run: int, arrived_at: datetime) -> DataFrame:
    """Return records, which have a payload, its file, position and headers, as raw rows of a run."""
    given: Mapping[str, Column] = {
        "source": F.lit(source),
        "arrived_at": F.timestamp_micros(F.lit((arrived_at - _START) // _MICROSECOND).cast("long")),
        "_run": F.lit(run).cast("long"),
    }
    columns = [given.get(item.name, F.col(item.name)).cast(item.dataType).alias(item.name) for item in RAW]
    return records.select(*columns)


def files_in(raw: DataFrame) -> DataFrame:
    """Return the files that raw rows came from; all rows of a file are of one run."""
    return raw.groupBy("file").agg(
        F.max("file_size").alias("file_size"),
        F.max("file_modified").alias("file_modified"),
        F.count("*").alias("rows"),
        F.max("_run").alias("_run"),
    )
