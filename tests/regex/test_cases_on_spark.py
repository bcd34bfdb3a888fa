"""Spark matches patterns as RE2 does, not as Java would, and uses a regular expression only where one is needed."""

from __future__ import annotations

import pytest
import re2
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.regex.pattern_cases import Case, cases
from tests.regex.spark_verdicts import Judged, find_violations
from treaty.spark.text_checks import violates

MEANING, SHAPES = cases("meaning"), cases("shapes")
ALL = [*MEANING, *SHAPES]


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> Judged:
    """Judge every text of every case by every pattern, in one job."""
    texts = {text for case in ALL for text in (*case.matches, *case.fails)}
    return find_violations(spark, (case.pattern for case in ALL), [*sorted(texts), None])


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.pattern)
def test_spark_matches_as_expected(case: Case, judged: Judged) -> None:
    assert [text for text in case.matches if judged[case.pattern, text]] == []
    assert [text for text in case.fails if not judged[case.pattern, text]] == []
    assert judged[case.pattern, None] is False


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.pattern)
def test_re2_matches_as_expected(case: Case) -> None:
    assert [text for text in case.matches if not re2.search(case.pattern, text)] == []
    assert [text for text in case.fails if re2.search(case.pattern, text)] == []


def test_spark_and_re2_agree_on_every_text_of_every_case(judged: Judged) -> None:
    pairs = [(pattern, text) for pattern, text in judged if text is not None]
    wrong = [pair for pair in pairs if judged[pair] == bool(re2.search(*pair)) and not _inside_a_character(*pair)]
    assert wrong == []


def _inside_a_character(pattern: str, text: str) -> bool:
    r"""Tell whether RE2 may find `\B` between the bytes of one character, where Spark sees no place."""
    return r"\B" in pattern and not text.isascii()


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.pattern)
def test_regex_is_used_only_where_needed(case: Case, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    frame = spark.createDataFrame([("a",)], "text string")
    frame.where(violates(F.col("text"), case.pattern)).explain(mode="extended")
    assert ("RLIKE" in capsys.readouterr().out) is case.regex


def test_columns_work_over_spark_connect(connect_spark: SparkSession) -> None:
    texts = ["ORD-1", "x", "", None]
    broken = find_violations(connect_spark, ["^ORD-", "^[a-z]+$", "^(a|b)?$", "^x.*y"], texts)
    assert [broken["^ORD-", text] for text in texts] == [False, True, True, False]
    assert [broken["^[a-z]+$", text] for text in texts] == [True, False, True, False]
    assert [broken["^(a|b)?$", text] for text in texts] == [True, True, False, False]
