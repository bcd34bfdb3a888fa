"""A small table of orders with a key of two columns, one of which is nullable."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from treaty.pipeline.tables import NewStamp, Tables

COLUMNS = StructType(
    [
        StructField("order_id", StringType(), False),
        StructField("part", LongType()),
        StructField("state", StringType()),
        StructField("_run", LongType(), False),
    ]
)


def place_of(request: pytest.FixtureRequest) -> str:
    """Return a namespace that only this test uses."""
    return "lake." + re.sub(r"\W", "_", request.node.name)


def made(spark: SparkSession, request: pytest.FixtureRequest) -> Tables:
    """Return the tables, with an empty one for orders."""
    tables = Tables(spark, place_of(request))
    tables.ensure("products.orders", COLUMNS, {})
    return tables


def orders(spark: SparkSession, run: int, *rows: tuple[str, int | None, str]) -> DataFrame:
    """Return the orders that a run writes."""
    listed = ", ".join(
        f"('{key}', CAST({'NULL' if part is None else part} AS BIGINT), '{state}')" for key, part, state in rows
    )
    frame = spark.sql(f"SELECT * FROM VALUES {listed} AS given(order_id, part, state)")  # noqa: S608
    return frame.withColumn("_run", F.lit(run).cast("long"))


def stamp(run: int) -> NewStamp:
    """Return the stamp of a run."""
    return NewStamp(run, {"events.order_placed": run - 1}, "orders 1.2.0", f"d{run}", {"written": 3}, {"highest": "7"})


def states(frame: DataFrame) -> dict[tuple[str, int | None], str]:
    """Return the state of each order."""
    return {(row["order_id"], row["part"]): row["state"] for row in frame.collect()}
