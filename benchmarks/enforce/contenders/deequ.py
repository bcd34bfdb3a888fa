"""Deequ through PyDeequ, on a Spark it is built for; it has no rule for the age of the newest row."""

from __future__ import annotations

import os
from typing import Any

from pyspark import __version__

from benchmarks.enforce.rules import CROSSED, ENUMS, FEWEST_ROWS, PATTERNS, RANGES, REQUIRED
from benchmarks.enforce.task import Answer, Work

os.environ["SPARK_VERSION"] = __version__  # PyDeequ chooses Deequ's jar by it, when it is imported

import pydeequ  # type: ignore[import-not-found]
from pydeequ.checks import Check, CheckLevel  # type: ignore[import-not-found]
from pydeequ.verification import VerificationResult, VerificationSuite  # type: ignore[import-not-found]

SETTINGS = {"spark.jars.packages": pydeequ.deequ_maven_coord, "spark.jars.excludes": pydeequ.f2j_maven_coord}
_COUNTED_AS = {"Completeness": "required", "PatternMatch": "pattern"}


def check(work: Work) -> Answer:
    """Verify the frame and count from the shares that Deequ reports."""
    result = VerificationSuite(work.spark).onData(work.orders).addCheck(_asked(work)).run()
    metrics = VerificationResult.successMetricsAsDataFrame(work.spark, result).collect()
    shares = {(row["name"], row["instance"]): row["value"] for row in metrics}
    return _counts(shares, round(shares["Size", "*"]))


def _counts(shares: dict[tuple[str, str], float], rows: int) -> Answer:
    found = {"row_count:row_count": rows}
    for (name, instance), share in shares.items():
        if name == "Compliance":
            rule = f"enum:{instance.split()[0]}" if " contained in " in instance else instance
            found[rule] = round((1 - share) * rows)
        elif name in _COUNTED_AS:
            found[f"{_COUNTED_AS[name]}:{instance}"] = round((1 - share) * rows)
    keys = rows - found["required:order_id"]
    return {**found, "unique:order_id": round((1 - shares["Uniqueness", "order_id"]) * keys)}


def _asked(work: Work) -> Any:
    asked = Check(work.spark, CheckLevel.Error, "orders").hasSize(lambda rows: rows >= FEWEST_ROWS)
    for column in REQUIRED:
        asked = asked.isComplete(column)
    asked = asked.isUnique("order_id")
    for column, values in ENUMS.items():
        asked = asked.isContainedIn(column, list(values))
    for column, pattern in PATTERNS.items():
        asked = asked.hasPattern(column, pattern, lambda share: share == 1)
    for column, (low, high) in RANGES.items():
        asked = asked.satisfies(f"{column} is null or {column} between {low} and {high}", f"range:{column}")
    for rule, (one, other) in CROSSED.items():
        asked = asked.satisfies(f"coalesce({one} >= {other}, true)", f"sql:{rule}")
    return asked


CASES = {"check": check}
