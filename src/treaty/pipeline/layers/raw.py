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
TOPIC_PARTITION = "#"
"""What separates topic and partition in the column `file` of Kafka records."""

RAW = spark.StructType(
    [
        spark.StructField("payload", spark.BinaryType(), True, {"comment": "The bytes of the line or record."}),
        spark.StructField("source", spark.StringType(), True, {"comment": "The source that it came from."}),
        spark.StructField(
            "file", spark.StringType(), True, {"comment": "The file, the table of a database, or TOPIC#PARTITION."}
        ),
        spark.StructField(
            "file_size", spark.LongType(), True, {"comment": "The file's size in bytes when it was read."}
        ),
        spark.StructField("file_modified", spark.TimestampType(), True, {"comment": "When the file was last changed."}),
        spark.StructField(
            "position",
            spark.LongType(),
            True,
            {"comment": "The number of the line or record in the file; the offset in a partition."},
        ),
        spark.StructField(
            "headers",
            spark.MapType(spark.StringType(), spark.StringType()),
            True,
            {"comment": "Headers of the payload."},
        ),
        spark.StructField("key", spark.BinaryType(), True, {"comment": "The key of a Kafka record."}),
        spark.StructField("topic", spark.StringType(), True, {"comment": "The Kafka topic."}),
        spark.StructField("partition", spark.IntegerType(), True, {"comment": "The partition of the topic."}),
        spark.StructField("broker_time", spark.TimestampType(), True, {"comment": "The timestamp of the record."}),
        spark.StructField(
            "record_headers",
            spark.ArrayType(
                spark.StructType(
                    [
                        spark.StructField("key", spark.StringType(), True),
                        spark.StructField("value", spark.BinaryType(), True),
                    ]
                )
            ),
            True,
            {"comment": "The headers of a Kafka record, in their order."},
        ),
        spark.StructField("arrived_at", spark.TimestampType(), True, {"comment": "When it was read."}),
        spark.StructField("_run", spark.LongType(), True, {"comment": "The run that wrote it."}),
    ]
)
"""The columns of every raw table."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def raw_rows(records: DataFrame, source: str, run: int, arrived_at: datetime) -> DataFrame:
    """Return records with payload, file, position and headers as raw rows of a run; columns of topics are optional."""
    added: Mapping[str, Column] = {
        "source": F.lit(source),
        "arrived_at": F.timestamp_micros(F.lit((arrived_at - _EPOCH) // _MICROSECOND).cast("long")),
        "_run": F.lit(run).cast("long"),
    }
    given = {**{name: F.col(name) for name in records.columns}, **added}
    columns = [given.get(column.name, F.lit(None)).cast(column.dataType).alias(column.name) for column in RAW]
    return records.select(*columns)
