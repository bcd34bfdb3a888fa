"""Parquet and Avro files become JSON without losing values."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pyarrow as arrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.sources.landing import asking, files
from treaty.pipeline.project.declarations import Format
from treaty.pipeline.sources import read_arrivals

EXACT = """SELECT 9007199254740993L AS big, CAST('123456789012345678901234567890.12345678' AS DECIMAL(38,8)) AS amount,
    TIMESTAMP '2024-01-02 03:04:05.123456' AS at, X'00FF' AS bytes, CAST(NULL AS STRING) AS nothing, 0.1D AS share,
    DATE '0001-01-01' AS day, named_struct('file', 'a "quoted" text') AS `_metadata`"""
AS_WRITTEN = {
    "big": 9007199254740993,
    "amount": Decimal("123456789012345678901234567890.12345678"),
    "at": "2024-01-02T03:04:05.123456Z",
    "bytes": "AP8=",
    "nothing": None,
    "share": Decimal("0.1"),
    "day": "0001-01-01",
    "_metadata": {"file": 'a "quoted" text'},
}


@pytest.mark.parametrize("kind", [Format.PARQUET, Format.AVRO])
def test_typed_records_keep_all_digits_and_columns(spark: SparkSession, tmp_path: Path, kind: Format) -> None:
    spark.sql(EXACT).write.format(kind).save(str(tmp_path / "landing" / "1"))
    spark.sql("SELECT 'a text' AS amount, 1 AS other").write.format(kind).save(str(tmp_path / "landing" / "2"))
    (tmp_path / "landing" / f"torn.{kind}").write_bytes(b"PAR1 nonsense")

    found = read_arrivals(spark, files(tmp_path / "landing", kind), asking(tmp_path))

    assert found.rows is not None
    rows = found.rows.collect()
    records = sorted((json.loads(row["payload"], parse_float=Decimal) for row in rows), key=len)
    assert records == [{"amount": "a text", "other": 1}, AS_WRITTEN]
    assert {(row["headers"]["encoding"], row["position"]) for row in rows} == {("json", 1)}
    assert found.new == 2
    assert [entry.file for entry in found.left_out] == [f"landing/torn.{kind}"]
    assert found.left_out[0].reason


def test_records_of_files_read_in_parts_have_their_numbers(spark: SparkSession, tmp_path: Path) -> None:
    for kind in (Format.PARQUET, Format.AVRO):
        numbers = spark.range(1, 2_001, numPartitions=1).selectExpr("id", "repeat(uuid(), 20) AS text")
        numbers.write.format(kind).save(str(tmp_path / kind))
    spark.conf.set("spark.sql.files.maxPartitionBytes", "400000")
    try:
        for kind in (Format.PARQUET, Format.AVRO):
            found = read_arrivals(spark, files(tmp_path / kind, kind), asking(tmp_path))
            assert found.rows is not None
            rows = found.rows.select("payload", "position").collect()
            assert [(json.loads(row["payload"])["id"] - row["position"]) for row in rows] == [0] * 2_000
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


def test_nanoseconds_of_pandas_keep_all_digits(any_spark: SparkSession, tmp_path: Path) -> None:
    moments = [1_700_000_000_123_456_789, 1_700_000_000_000_000_000, -1, None]
    columns = {
        "at": arrow.array(moments, arrow.timestamp("ns", "UTC")),
        "local": arrow.array(moments, arrow.timestamp("ns")),
        "number": arrow.array([1_700_000_000_123_456_789] * 4),
    }
    (tmp_path / "landing").mkdir()
    pyarrow.parquet.write_table(arrow.table(columns), tmp_path / "landing" / "pandas.parquet")
    pyarrow.parquet.write_table(
        arrow.table({"at": arrow.array([1_000], arrow.timestamp("us", "UTC"))}), tmp_path / "landing" / "spark.parquet"
    )

    found = read_arrivals(any_spark, files(tmp_path / "landing", Format.PARQUET), asking(tmp_path))

    assert found.rows is not None
    assert [json.loads(row["payload"]) for row in found.rows.orderBy("file", "position").collect()] == [
        {
            "at": "2023-11-14T22:13:20.123456789Z",
            "local": "2023-11-14T22:13:20.123456789",
            "number": 1_700_000_000_123_456_789,
        },
        {
            "at": "2023-11-14T22:13:20.000000Z",
            "local": "2023-11-14T22:13:20.000000",
            "number": 1_700_000_000_123_456_789,
        },
        {
            "at": "1969-12-31T23:59:59.999999999Z",
            "local": "1969-12-31T23:59:59.999999999",
            "number": 1_700_000_000_123_456_789,
        },
        {"at": None, "local": None, "number": 1_700_000_000_123_456_789},
        {"at": "1970-01-01T00:00:00.001000Z"},
    ]


def test_columns_that_some_files_lack_are_null(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS a, 2 AS b").write.parquet(str(tmp_path / "landing" / "1"))
    spark.sql("SELECT 3 AS a").write.parquet(str(tmp_path / "landing" / "2"))
    found = read_arrivals(spark, files(tmp_path / "landing", Format.PARQUET), asking(tmp_path))
    assert found.rows is not None
    assert sorted(row["payload"] for row in found.rows.collect()) == [b'{"a":1,"b":2}', b'{"a":3,"b":null}']
