"""Evaluate many patterns on many texts in one Spark job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.spark.text_checks import violates

Judged: TypeAlias = dict[tuple[str, str | None], bool]


def find_violations(spark: SparkSession, patterns: Iterable[str], texts: Sequence[str | None]) -> Judged:
    """Return for each pattern and text whether the text breaks the pattern."""
    listed = list(dict.fromkeys(patterns))
    frame = spark.createDataFrame([(text,) for text in texts], "text string")
    verdicts = F.array(*(violates(F.col("text"), pattern) for pattern in listed))
    rows = frame.select("text", verdicts.alias("verdicts")).collect()
    return {
        (pattern, row["text"]): verdict
        for row in rows
        for pattern, verdict in zip(listed, row["verdicts"], strict=True)
    }
