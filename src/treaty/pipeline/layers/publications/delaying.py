"""Rows that become visible some time after a moment they carry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Delay
from treaty.spark.columns import named
from treaty.spark.schema import child_of

_MOMENTS = (spark.TimestampType, spark.TimestampNTZType, spark.DateType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible(rows: DataFrame, delay: Delay, now: datetime, at: str = "") -> DataFrame:
    """Return the rows whose moment lies back far enough; a row without a moment is never seen."""
    return rows.where(_moment(rows, delay, at) <= _at(now - delay.duration))


def moment_column(have: spark.StructType, delay: Delay, at: str = "") -> str:
    """Return the column that a delay counts by, which must be a moment."""
    found = child_of(have, delay.by)
    if found is None or not isinstance(found.dataType, _MOMENTS):
        what = "which is not there" if found is None else f"which is {found.dataType.simpleString()}"
        where = f"{at}: " if at else ""
        raise InvalidDocument(f"{where}delay counts by {delay.by!r}, {what}; name a column that is a date or timestamp")
    return found.name


def _moment(rows: DataFrame, delay: Delay, at: str) -> Column:
    return named(moment_column(rows.schema, delay, at)).cast("timestamp")


def _at(moment: datetime) -> Column:
    """Return a moment as a column, whatever the time zone of this process and of the session."""
    return F.timestamp_micros(F.lit((moment - _EPOCH) // timedelta(microseconds=1)).cast("long"))
