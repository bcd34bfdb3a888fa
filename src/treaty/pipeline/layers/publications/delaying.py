"""Rows that become visible some time after a moment they carry, and the keys that do so between two clocks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import InvalidDocument
from treaty.pipeline.declarations import Delay
from treaty.spark.compiling import child_of
from treaty.spark.preparing import named

_MOMENTS = (spark.TimestampType, spark.TimestampNTZType, spark.DateType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible(rows: DataFrame, delay: Delay, now: datetime, at: str = "") -> DataFrame:
    """Return the rows whose moment lies back far enough; a row without a moment is never seen."""
    return rows.where(_moment(rows, delay, at) <= _at(now - delay.duration))


def crossing_keys(
    rows: DataFrame, delay: Delay, key: Sequence[str], since: datetime, now: datetime, at: str = ""
) -> DataFrame:
    """Return the distinct keys of rows that may be seen at one clock and not at the other.

    `rows` needs the columns of the key and the one that the delay counts by: `chosen_rows`, or, where the query hands
    both on as they are, the input they come from, whose files Iceberg skips by that column. A run that adds these keys
    to those of its new rows gives what a rebuild at `now` would, also where the clock went back.
    """
    earlier, later = sorted((since, now))
    moment = _moment(rows, delay, at)
    crossed = (moment > _at(earlier - delay.duration)) & (moment <= _at(later - delay.duration))
    return rows.where(crossed).select(*map(named, key)).distinct()


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
