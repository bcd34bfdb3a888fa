"""No value stalls Spark or overflows its stack; values that are too long violate the pattern."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import re2
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from treaty.regex.translation import translate
from treaty.spark.text_checks import too_long, violates

ATTACKS = {
    # nested repetitions that a simpler pattern replaces
    "(x+x+)+y": "x",
    "^(a+)+$": "a",
    "^(a|a?)+$": "a",
    r"(\s*\w+\s*)+!": "a ",
    "^(?:a?){30}a{30}$": "a",
    # many starts or ends for one text
    "x[a-z]+@": "x",
    r"\s+$": " ",
    "foo.*bar": "foo",
    "a.*b.*c": "ab",
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$": "a@.",
    r"^(https?://)?([\da-z.-]+)\.([a-z.]{2,6})([/\w .-]*)*/?$": "a.",
    r"(?m)^\w+: .*$": "a: ",
    # a recursive call for each iteration
    "^(?:a|b|cd)*$": "acd",
    "^(?:a|bc)*!": "a",
    "^(?:a?b?c)*d": "bc",
    "^(?:(?:a|ab)(?:c|bcd))*$": "ac",
    r'"(?:[^"\\]|\\.)*"': '"',
    r"^(?:\b\w+\b )+$": "a ",
}
"""Patterns, each with a text whose repetition gives a backtracking engine most to try."""
LONG = 200_000
TIMEOUT_MINUTES = 3


def attack(pattern: str, size: int) -> str:
    """Return a text of this size on which a backtracking engine takes longest."""
    return (ATTACKS[pattern] * size)[: size - 1] + "\0"


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> dict[tuple[str, int], Row]:
    """Run every attack at its maximum length, and far beyond, in one job."""
    limits = {pattern: translate(pattern).max_length for pattern in ATTACKS}
    sizes = [(pattern, size) for pattern in ATTACKS for size in {LONG, min(LONG, limits[pattern])}]
    rows = [(pattern, size, attack(pattern, size)) for pattern, size in sizes]
    frame = spark.createDataFrame(rows, "p string, size int, v string")
    value = F.col("v")
    breaks = F.coalesce(*(F.when(F.col("p") == pattern, violates(value, pattern)) for pattern in ATTACKS))
    beyond = F.coalesce(*(F.when(F.col("p") == pattern, too_long(value, pattern)) for pattern in ATTACKS))
    answer = frame.repartition(4).select("p", "size", breaks.alias("breaks"), beyond.alias("too_long"))
    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(answer.collect).result(timeout=60 * TIMEOUT_MINUTES)
    return {(row["p"], row["size"]): row for row in answers}


@pytest.mark.parametrize("pattern", ATTACKS)
def test_attack_ends_with_the_verdict_of_re2(pattern: str, judged: dict[tuple[str, int], Row]) -> None:
    for (of, size), row in judged.items():
        if of == pattern:
            assert row["breaks"] is (row["too_long"] or re2.search(pattern, attack(pattern, size)) is None)


@pytest.mark.parametrize("pattern", ATTACKS)
def test_values_over_the_maximum_length_are_too_long(pattern: str, judged: dict[tuple[str, int], Row]) -> None:
    max_length = translate(pattern).max_length
    bounded = translate(pattern).longest_match is not None
    for (of, size), row in judged.items():
        if of == pattern:
            assert row["too_long"] is (size > max_length and not bounded)


def test_length_limit_holds_wherever_spark_evaluates_the_pattern(spark: SparkSession) -> None:
    pattern = "^(?:(?:a|ab)(?:c|bcd))*$"
    frame = spark.createDataFrame([("ac" * LONG,), ("ac",), (None,)], "v string")
    broken = violates(F.col("v"), pattern)
    verdicts = frame.select(broken.alias("one"), (~broken).alias("other"), F.when(~broken, "fine").alias("why")).where(
        broken | ~broken
    )
    assert [tuple(row) for row in verdicts.collect()] == [
        (True, False, None),
        (False, True, "fine"),
        (False, True, "fine"),
    ]
