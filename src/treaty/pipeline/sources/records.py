"""Records that are no lines, written down as JSON so that no value loses anything."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.raw import ENCODING
from treaty.spark.columns import named

_EXACT = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ignoreNullFields": "false",
}


def json_payload(frame: DataFrame, without: str | None = None) -> Column:
    """Return each row as the bytes of a JSON object: numbers with all their digits, moments to the microsecond, bytes
    in base64.
    """
    columns = [named(name) for name in frame.columns if name != without]
    return F.to_json(F.struct(*columns), _EXACT).cast("binary")


def encoded_as(encoding: str) -> Column:
    """Return the headers of records that were written down in some way."""
    return F.create_map(F.lit(ENCODING), F.lit(encoding))
