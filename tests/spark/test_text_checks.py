"""Every text format accepts the valid values of its cases and rejects the invalid ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.spark.text_checks import FORMATS

CASES = Path(__file__).parents[1] / "cases" / "spark_formats"


def cases() -> dict[str, dict[str, Any]]:
    """Read the case files by the format they are of."""
    found = (yaml.safe_load(path.read_text()) for path in sorted(CASES.glob("*.yaml")))
    return {case["format"]: case for case in found}


@pytest.fixture(scope="module")
def broken(spark: SparkSession) -> dict[tuple[str, str | None], bool]:
    """Judge every value of every case by every format, in one job."""
    values = {value for case in cases().values() for value in (*case["good"], *case["bad"])}
    frame = spark.createDataFrame([(value,) for value in (*sorted(values), None)], "value string")
    judged = frame.select("value", *(kind.violated(F.col("value")).alias(name) for name, kind in FORMATS.items()))
    return {(name, row["value"]): row[name] for row in judged.collect() for name in FORMATS}


def test_every_format_has_cases() -> None:
    assert set(cases()) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_valid_values_pass(name: str, broken: dict[tuple[str, str | None], bool]) -> None:
    assert [value for value in cases()[name]["good"] if broken[name, value]] == []


@pytest.mark.parametrize("name", FORMATS)
def test_invalid_values_are_violations(name: str, broken: dict[tuple[str, str | None], bool]) -> None:
    assert [value for value in cases()[name]["bad"] if not broken[name, value]] == []


@pytest.mark.parametrize("name", FORMATS)
def test_null_is_not_a_violation(name: str, broken: dict[tuple[str, str | None], bool]) -> None:
    assert broken[name, None] is False


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_meaning(name: str) -> None:
    assert FORMATS[name].meaning
    assert "\n" not in FORMATS[name].meaning
