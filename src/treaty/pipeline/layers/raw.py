"""Raw rows: what arrived, byte for byte, with its source, file and time. They are appended once and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

ENCODING = "encoding"
"""The header with the encoding of a record that was not a line: `json`, or `text` if it could not be parsed."""
COLUMNS = "columns"
"""The header with the column names of a CSV line, from the first line of its file."""

RAW = spark.StructType(
    [
        spark.StructField("payload", spark.BinaryType(), True, {"comment": "The bytes of the line or record."}),
        spark.StructField("source", spark.StringType(), True, {"comment": "The source that it came from."}),
        spark.StructField("file", spark.StringType(), True, {"comment": "The file, or the table of a database."}),
        spark.StructField(
            "file_size", spark.LongType(), True, {"comment": "The file's size in bytes when it was read."}
        ),
        spark.StructField("file_modified", spark.TimestampType(), True, {"comment": "When the file was last changed."}),
        spark.StructField(
            "position", spark.LongType(), True, {"comment": "The number of the line or record in the file."}
        ),
        spark.StructField(
            "headers",
            spark.MapType(spark.StringType(), spark.StringType()),
            True,
            {"comment": "Headers of the payload."},
        ),
        spark.StructField("arrived_at", spark.TimestampType(), True, {"comment": "When it was read."}),
        spark.StructField("_run", spark.LongType(), True, {"comment": "The run that wrote it."}),
    ]
)
"""The columns of every raw table."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def raw_rows(records: DataFrame, source: str, run: int, arrived_at: datetime) -> DataFrame:
    """Return records with payload, file, position and headers as raw rows of a run."""
    added: Mapping[str, Column] = {
        "source": F.lit(source),
        "arrived_at": F.timestamp_micros(F.lit((arrived_at - _EPOCH) // _MICROSECOND).cast("long")),
        "_run": F.lit(run).cast("long"),
    }
    columns = [added.get(column.name, F.col(column.name)).cast(column.dataType).alias(column.name) for column in RAW]
    return records.select(*columns)
