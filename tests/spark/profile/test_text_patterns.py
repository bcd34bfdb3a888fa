"""Patterns derived from the common shape of texts."""

from __future__ import annotations

import pytest
import re2

from treaty.spark.profile.text_analysis import fixed_pattern, varying_pattern

FIXED = [
    ("AAA", "CHF", "USD", "^[A-Z]{3}$"),
    ("AAA-99999999", "ORD-00000001", "ORD-99999999", "^ORD-[0-9]{8}$"),
    ("AAA-99999999", "ABC-00000001", "ABD-99999999", "^[A-Z]{3}-[0-9]{8}$"),
    ("99999", "20001", "20999", "^[0-9]{5}$"),
    ("Aa9", "Ab1", "Ab2", "^Ab[0-9]$"),
    ("(9).*", "(1).*", "(2).*", r"^\([0-9]\)\.\*$"),
    ("--", "--", "--", None),
    ("A", "A", "Z", None),
    ("é9", "é1", "é2", None),
    ("9\t9", "1\t1", "2\t2", None),
]
VARYING = [
    ("A-9", "INV-1", "INV-99", "^INV-[0-9]+$"),
    ("A-9", "IN-1", "INV-9", "^[A-Z]+-[0-9]+$"),
    ("A9", "AB1", "AB2", "^AB[0-9]+$"),
    ("9.9", "1.10", "1.2", r"^[0-9]+\.[0-9]+$"),
    ("a", "apple", "pear", None),
    ("Aa", "Apple", "Pear", None),
    ("Aa Aa", "New York", "San Jose", "^[A-Z]+[a-z]+ [A-Z]+[a-z]+$"),
]


@pytest.mark.parametrize(("shape", "least", "greatest", "pattern"), FIXED)
def test_the_pattern_of_texts_with_one_shape(shape: str, least: str, greatest: str, pattern: str | None) -> None:
    assert fixed_pattern(shape, least, greatest) == pattern


@pytest.mark.parametrize(("runs", "least", "greatest", "pattern"), VARYING)
def test_the_pattern_of_texts_whose_runs_differ_in_length(
    runs: str, least: str, greatest: str, pattern: str | None
) -> None:
    assert varying_pattern(runs, least, greatest) == pattern


@pytest.mark.parametrize(("least", "greatest", "pattern"), [case[1:] for case in FIXED + VARYING if case[3]])
def test_texts_match_the_pattern_derived_from_them(least: str, greatest: str, pattern: str) -> None:
    assert re2.search(pattern, least)
    assert re2.search(pattern, greatest)
