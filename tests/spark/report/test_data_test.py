"""Data tests from the library, with classic sessions and Connect."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from tests.documents import contract
from treaty.spark import enforce
from treaty.spark.report import DataTestOptions, Destination, Outcome, run_data_test

ORDERS = contract(
    [
        {"name": "id", "logicalType": "string", "primaryKey": True},
        {"name": "quantity", "logicalType": "integer", "required": True},
    ]
)


def test_a_data_test_reports_its_steps(any_spark: SparkSession, tmp_path: Path) -> None:
    frame = any_spark.createDataFrame([("1", 5), ("2", None), ("2", 7)], "id string, quantity int")
    steps: list[str] = []
    now = datetime(2026, 1, 1, tzinfo=UTC)

    asked = DataTestOptions(now, quarantine=Destination(str(tmp_path / "bad")))
    report = run_data_test(enforce(frame, ORDERS), "orders", asked, steps.append)

    assert report.outcome is Outcome.FAILED
    assert (report.measures.rows, report.measures.valid, report.measures.measured_at) == (3, 1, now)
    assert [(one.rule, one.value, one.rows) for one in report.samples] == [
        ("unique:id", '{"id":"2"}', 2),
        ("required:quantity", None, 1),
    ]
    assert report.drift == ()
    assert steps == ["checking 3 rules", "writing 2 rows to quarantine", "collecting samples"]


def test_valid_data_takes_one_job_and_no_samples(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("1", 5)], "id string, quantity int")
    steps: list[str] = []

    report = run_data_test(enforce(frame, ORDERS), report=steps.append)

    assert report.outcome is Outcome.PASSED
    assert steps == ["checking 3 rules"]
