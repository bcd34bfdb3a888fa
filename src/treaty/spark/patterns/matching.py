"""Whether a value matches a pattern, as a column."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.spark.patterns.java import JavaPattern, java_pattern, plain_tree
from treaty.spark.patterns.shapes import matches_by_shape

_MOST_BYTES = 4
"""A character takes at most so many bytes."""


def violates(column: Column, pattern: str) -> Column:
    """Return whether a value, where there is one, does not match the pattern or is too long to be matched."""
    matches = matches_by_shape(column, plain_tree(pattern))
    if matches is None:
        matches = _matches(column, java_pattern(pattern))
    return column.isNotNull() & ~matches


def too_long(column: Column, pattern: str) -> Column:
    """Return whether a value, where there is one, is longer than what may be matched with the pattern."""
    if matches_by_shape(column, plain_tree(pattern)) is not None:
        return F.lit(False)
    java = java_pattern(pattern)
    if java.longest_match is not None and java.longest_match <= java.longest:
        return F.lit(False)
    return column.isNotNull() & ~_reaches(column, java.longest)


def _matches(column: Column, java: JavaPattern) -> Column:
    first, *others = java.engines
    if java.longest_match is not None and java.longest_match * _MOST_BYTES <= first.longest:
        fits = F.octet_length(column) <= java.longest_match * _MOST_BYTES
    else:
        fits = _reaches(column, first.longest)
    # A branch is never evaluated ahead of its condition, which Spark does not promise for `and`.
    matches = F.when(fits, column.rlike(first.text))
    for engine in others:
        matches = matches.when(_reaches(column, engine.longest), column.rlike(engine.text))
    return F.coalesce(matches, F.lit(False))


def _reaches(column: Column, longest: int) -> Column:
    return (F.octet_length(column) <= longest) | (F.length(column) <= longest)
