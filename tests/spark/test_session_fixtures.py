"""The Spark fixtures of the tests: one JVM, used directly and through Connect."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def test_both_sessions_run_queries(any_spark: SparkSession) -> None:
    doubled = any_spark.range(3).withColumn("twice", F.col("id") * 2)

    assert [row.twice for row in doubled.collect()] == [0, 2, 4]


def test_both_sessions_see_iceberg_tables(any_spark: SparkSession) -> None:
    any_spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.ground")
    any_spark.range(3).writeTo("lake.ground.numbers").createOrReplace()

    assert any_spark.table("lake.ground.numbers").count() == 3


def test_functions_use_the_session_of_the_test(connect_spark: SparkSession, spark: SparkSession) -> None:
    assert type(connect_spark.range(1)).__module__.startswith("pyspark.sql.connect")
    assert SparkSession.getActiveSession() is connect_spark
    assert type(F.col("id")).__module__.startswith("pyspark.sql.connect")
