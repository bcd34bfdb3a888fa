"""No value stalls Spark or runs it out of stack, whatever the pattern; a value that is too long breaks the pattern."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import re2
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from treaty.regex.translation import translate
from treaty.spark.pattern_matching import too_long, violates

ATTACKS = {
    # more ways than atoms in the universe, for an engine that goes back
    "(x+x+)+y": "x",
    "^(a+)+$": "a",
    "^(a|aa)+$": "a",
    "^(a|a?)+$": "a",
    r"^(\w+\s?)+$": "ab ",
    "^([a-z]+,?)*$": "a",
    r"(\s*\w+\s*)+!": "a ",
    "^(([a-z])+.)+[A-Z]([a-z])+$": "a",
    r"^(\d+[.,]?)+%$": "1",
    "^(?:a?){30}a{30}$": "a",
    # many starts or ends for one text
    "x[a-z]+@": "x",
    r"\s+$": " ",
    "foo.*bar": "foo",
    "a.*b.*c": "ab",
    "^.*a.*b.*c.*d.*e$": "abcd",
    "^(.*?,){11}P": ",",
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$": "a@.",
    r"^(https?://)?([\da-z.-]+)\.([a-z.]{2,6})([/\w .-]*)*/?$": "a.",
    r"(?m)^\w+: .*$": "a: ",
    # a call for each round
    "^(?:a|b|cd)*$": "acd",
    "^(?:a|bc)*!": "a",
    "^(?:a?b?c)*d": "bc",
    "^(?:(?:a|ab)(?:c|bcd))*$": "ac",
    r'"(?:[^"\\]|\\.)*"': '"',
    r"^(?:\b\w+\b )+$": "a ",
}
LONG = 200_000
MINUTES = 3


def attack(pattern: str, size: int) -> str:
    """Return a text of that size on which an engine that goes back has most to try."""
    return (ATTACKS[pattern] * size)[: size - 1] + "\0"


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> dict[tuple[str, int], Row]:
    """Try every attack as long as may be, and far beyond, in one job."""
    limits = {pattern: {engine.longest for engine in translate(pattern).engines} for pattern in ATTACKS}
    sizes = [
        (pattern, size) for pattern in ATTACKS for size in {LONG, *(min(LONG, limit) for limit in limits[pattern])}
    ]
    rows = [(pattern, size, attack(pattern, size)) for pattern, size in sizes]
    frame = spark.createDataFrame(rows, "p string, size int, v string")
    value = F.col("v")
    breaks = F.coalesce(*(F.when(F.col("p") == pattern, violates(value, pattern)) for pattern in ATTACKS))
    beyond = F.coalesce(*(F.when(F.col("p") == pattern, too_long(value, pattern)) for pattern in ATTACKS))
    answer = frame.repartition(4).select("p", "size", breaks.alias("breaks"), beyond.alias("too_long"))
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(answer.collect).result(timeout=60 * MINUTES)
    return {(row["p"], row["size"]): row for row in found}


@pytest.mark.parametrize("pattern", ATTACKS)
def test_an_attack_ends_in_a_verdict(pattern: str, judged: dict[tuple[str, int], Row]) -> None:
    for (of, size), row in judged.items():
        if of == pattern:
            assert row["breaks"] is (row["too_long"] or re2.search(pattern, attack(pattern, size)) is None)


@pytest.mark.parametrize("pattern", ATTACKS)
def test_what_is_too_long_is_said_to_be(pattern: str, judged: dict[tuple[str, int], Row]) -> None:
    longest = translate(pattern).longest
    bounded = translate(pattern).longest_match is not None
    for (of, size), row in judged.items():
        if of == pattern:
            assert row["too_long"] is (size > longest and not bounded)


def test_a_guarded_regex_is_guarded_wherever_spark_puts_it(spark: SparkSession) -> None:
    pattern = "^(?:(?:a|ab)(?:c|bcd))*$"
    frame = spark.createDataFrame([("ac" * LONG,), ("ac",), (None,)], "v string")
    broken = violates(F.col("v"), pattern)
    found = frame.select(broken.alias("one"), (~broken).alias("other"), F.when(~broken, "fine").alias("why")).where(
        broken | ~broken
    )
    assert [tuple(row) for row in found.collect()] == [
        (True, False, None),
        (False, True, "fine"),
        (False, True, "fine"),
    ]
