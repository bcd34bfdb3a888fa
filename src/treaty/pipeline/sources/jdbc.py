"""A database table as a source: rows above the highest value so far of a column that only increases.

The highest value is stored in the stamp of the raw rows, so that it is committed together with them. A row that another
transaction commits later with a lower value is missed: use a column whose values are assigned in commit order.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from treaty.errors import NotFound
from treaty.pipeline.layers.raw import raw_rows
from treaty.pipeline.project.declarations import Jdbc, Source
from treaty.pipeline.sources.arrivals import ArrivalRequest, Arrivals, encoded_as, json_payload
from treaty.spark.columns import quoted_col
from treaty.spark.readers import Database, resolve_jdbc_url
from treaty.spark.readers.read_errors import explain_errors

HIGHEST = "highest"
"""The key of the highest value in the stamp."""
_FETCH_SIZE = "10000"
_TIMESTAMP_FORMAT = "yyyy-MM-dd HH:mm:ss.SSSSSSXXX"


def new_in_table(spark: SparkSession, source: Source, origin: Jdbc, request: ArrivalRequest) -> Arrivals:
    """Return the rows above the highest value that was read before."""
    what = Database(origin.url, origin.table)
    url = resolve_jdbc_url(origin.url)
    with explain_errors(what):
        table = _open_table(spark, url, origin, request.password)
        column = _find_column(table, origin)
        low = request.before.extra.get(HIGHEST) if request.before else None
        new = table if low is None else table.where(quoted_col(column.name) > F.lit(low).cast(column.dataType))
        high = _highest(new, column)
        if high is None:
            return Arrivals()
        # rows that are committed from now on are left to the next run, so that the value and the rows match
        rows = new.where(quoted_col(column.name) <= F.lit(high).cast(column.dataType))
        records = _records(rows, column, str(what))
    return Arrivals(raw_rows(records, source.name, request.run, request.arrived_at), 1, extra={HIGHEST: high})


def _open_table(spark: SparkSession, url: str, origin: Jdbc, password: str | None) -> DataFrame:
    login = {"user": origin.user, "password": password}
    options = {"url": url, "dbtable": origin.table, "fetchsize": _FETCH_SIZE}
    credentials = {name: value for name, value in login.items() if value is not None}
    return spark.read.format("jdbc").options(**options, **credentials).load()


def _find_column(table: DataFrame, origin: Jdbc) -> spark_types.StructField:
    column = next((field for field in table.schema if field.name.lower() == origin.column.lower()), None)
    if column is None:
        raise NotFound(f"{origin.table} has no column {origin.column!r}; it has: {', '.join(table.columns)}")
    return column


def _highest(new: DataFrame, column: spark_types.StructField) -> str | None:
    highest = F.max(quoted_col(column.name))
    is_timestamp = isinstance(column.dataType, spark_types.TimestampType)
    text = F.date_format(highest, _TIMESTAMP_FORMAT) if is_timestamp else highest.cast("string")
    value: Any = new.agg(text.alias("highest")).collect()[0]["highest"]
    return value if value is None else str(value)


def _records(rows: DataFrame, column: spark_types.StructField, where: str) -> DataFrame:
    is_whole_number = isinstance(column.dataType, spark_types.IntegralType)
    position = quoted_col(column.name).cast("long") if is_whole_number else F.monotonically_increasing_id()
    return rows.select(
        json_payload(rows).alias("payload"),
        F.lit(where).alias("file"),
        F.lit(None).cast("long").alias("file_size"),
        F.lit(None).cast("timestamp").alias("file_modified"),
        position.alias("position"),
        encoded_as("json").alias("headers"),
    )
