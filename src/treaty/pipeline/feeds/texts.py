"""Values as texts that any program reads the same: moments in UTC, decimals without an exponent."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

_STRUCTURES = (spark.StructType, spark.ArrayType, spark.MapType)
_PLAIN_SCALE = 6
"""A decimal with no more digits than these behind its point is never written with an exponent."""
MOMENTS = {
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "dateFormat": "yyyy-MM-dd",
}
_JSON = {**MOMENTS, "ignoreNullFields": "false"}


def json_line(*columns: Column) -> Column:
    """Return a row as one JSON object with every column, null ones too."""
    return F.to_json(F.struct(*columns), _JSON)


def plain_text(value: Column, kind: spark.DataType) -> Column:
    """Return a value as the text that stands in a CSV field."""
    if isinstance(kind, _STRUCTURES):
        return F.to_json(value, _JSON)
    if isinstance(kind, (spark.TimestampType, spark.TimestampNTZType)):
        # this writer takes its time zone from the options, not from the session
        return F.when(value.isNotNull(), F.to_csv(F.struct(value), MOMENTS))
    if isinstance(kind, spark.BinaryType):
        return F.base64(value)
    if isinstance(kind, spark.DecimalType) and kind.scale > _PLAIN_SCALE:
        return F.translate(F.format_number(value, kind.scale), ",", "")
    return value.cast("string")
