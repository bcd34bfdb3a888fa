"""Random patterns on random texts: Spark gives the results of RE2, with and without a regular expression."""

from __future__ import annotations

from random import Random

import pytest
import re2
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.regex.random_patterns import PatternSample, draw_patterns, draw_texts
from tests.regex.spark_verdicts import find_violations
from treaty.errors import InvalidDocument
from treaty.regex.translation import translate

BATCH = 120


def translated(pieces: list[PatternSample]) -> dict[str, str]:
    """Return the patterns that are not refused, with their translation."""
    translations = {}
    for piece in pieces:
        try:
            translations[piece.pattern] = translate(piece.pattern).text
        except InvalidDocument:
            continue
    return translations


def differing(answers: dict[tuple[str, str], bool]) -> list[tuple[str, str]]:
    r"""Return where RE2 says otherwise, shortest first; `\B` inside a character is a place for RE2 alone."""
    compiled = {pattern: re2.compile(pattern) for pattern, _ in answers}
    wrong = [pair for pair, matches in answers.items() if matches != bool(compiled[pair[0]].search(pair[1]))]
    return sorted((pair for pair in wrong if r"\B" not in pair[0] or pair[1].isascii()), key=lambda pair: len(pair[0]))


@pytest.mark.parametrize("seed", range(3))
def test_columns_agree_with_re2(seed: int, spark: SparkSession) -> None:
    random = Random(seed)  # noqa: S311
    pieces = draw_patterns(random, BATCH)
    texts = draw_texts(random, pieces)
    patterns = translated(pieces)
    judged = find_violations(spark, patterns, texts)
    assert differing({(pattern, text or ""): not broken for (pattern, text), broken in judged.items()}) == []
    assert len(patterns) > 0.95 * len({piece.pattern for piece in pieces})


@pytest.mark.parametrize("seed", range(5, 8))
def test_java_patterns_agree_with_re2(seed: int, spark: SparkSession) -> None:
    random = Random(seed)  # noqa: S311
    pieces = draw_patterns(random, 3 * BATCH)
    patterns = translated(pieces)
    strange = draw_texts(random, [])
    pairs = [(piece.pattern, text) for piece in pieces for text in (*draw_texts(random, [piece]), *strange)]
    rows = [(pattern, patterns[pattern], text) for pattern, text in dict.fromkeys(pairs) if pattern in patterns]
    frame = spark.createDataFrame(rows, "pattern string, java string, text string")
    matches = frame.select("pattern", "text", F.rlike("text", F.col("java")).alias("matches")).collect()
    assert differing({(row["pattern"], row["text"]): row["matches"] for row in matches}) == []


LONG_COUNTS = {
    "^(a+b)+x{70}$": "ab{}",
    "^[ab]*[bc]*x{70}$": "abc{}",
    "^.*a.*b.{70}$": "ab{}",
    "^(?:[ax]{65})+$": "{}",
    "^x{2,70}a*$": "{}a",
    "^(x{3}){24}(ab)*$": "{}ab",
    "a.*b.*x{66}$": "ab{}",
}


def test_long_counts_are_kept(spark: SparkSession) -> None:
    texts = [
        text.format("x" * size) for text in LONG_COUNTS.values() for size in (2, 64, 65, 66, 69, 70, 71, 72, 73, 130)
    ]
    judged = find_violations(spark, LONG_COUNTS, texts)
    assert differing({(pattern, text or ""): not broken for (pattern, text), broken in judged.items()}) == []
