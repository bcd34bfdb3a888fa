"""Parquet and Avro files become JSON without losing values."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

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

    found = read_arrivals(spark, files(tmp_path / "landing", kind), asking())

    assert found.rows is not None
    rows = found.rows.collect()
    records = sorted((json.loads(row["payload"], parse_float=Decimal) for row in rows), key=len)
    assert records == [{"amount": "a text", "other": 1}, AS_WRITTEN]
    assert {(row["headers"]["encoding"], row["position"]) for row in rows} == {("json", 0)}
    assert found.new == 2
    assert len(found.notes) == 1
    assert f"torn.{kind}" in found.notes[0]
    assert "it was skipped" in found.notes[0]


def test_columns_that_some_files_lack_are_null(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS a, 2 AS b").write.parquet(str(tmp_path / "landing" / "1"))
    spark.sql("SELECT 3 AS a").write.parquet(str(tmp_path / "landing" / "2"))
    found = read_arrivals(spark, files(tmp_path / "landing", Format.PARQUET), asking())
    assert found.rows is not None
    assert sorted(row["payload"] for row in found.rows.collect()) == [b'{"a":1,"b":2}', b'{"a":3,"b":null}']
