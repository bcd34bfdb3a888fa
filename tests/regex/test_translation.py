"""Patterns are simplified, limited to values of a safe length, or refused with a reason."""

from __future__ import annotations

import pytest

from treaty.errors import InvalidDocument
from treaty.regex.translation import translate

REFUSED = {
    r"a\Cb": r"one byte by \\C.*use \(\?s:\.\) instead",
    "a(": "not RE2 syntax: missing",
    r"(a)\1": "not RE2 syntax: invalid escape",
    "(?=a)": "not RE2 syntax: invalid perl operator",
    "(" * 101 + "a" + ")" * 101: "nests more than 100 groups; write it flatter",
    "x" * 1_001: "more than 1,000",
    "^(?:.*a.{12})*b$": r"very long on one value.*\(\[a-z\]\+,\)\* instead of",
    r"^(?:\b|a){3}$": "very long on one value",
    "^(a|aa)+$": "very long on one value",
    r"^(\w+\s?)+$": "very long on one value",
    "^([a-z]+,?)*$": "very long on one value",
    "^(([a-z])+.)+[A-Z]([a-z])+$": "very long on one value",
    r"^(\d+[.,]?)+%$": "very long on one value",
    "^.*a.*b.*c.*d.*e$": r"fewer \.\* in a row",
    "^(.*?,){11}P": "very long on one value",
}

SIMPLIFIED = {
    "(x+x+)+y": "xxy",
    "^(a+)+$": r"\Aa++\z",
    "^((ab)*)*$": r"\A(?:ab)*+\z",
    "(a|b|)*c": "c",
    "^(a|b)*$": r"\A[ab]*+\z",
    "^([a-c]+,)*[a-c]+$": r"\A(?:[abc]+\,)*+[abc]++\z",
    "^.*a.*b$": r"\A[^\x{a}]*a[^\x{a}]*b\z",
    "^[a-c]+[b-d]+$": r"\A[abc]+[bcd]++\z",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_refusal_gives_reason_and_advice(pattern: str) -> None:
    with pytest.raises(InvalidDocument, match=REFUSED[pattern]):
        translate(pattern)


@pytest.mark.parametrize("pattern", SIMPLIFIED)
def test_pattern_is_simplified(pattern: str) -> None:
    assert translate(pattern).text == SIMPLIFIED[pattern]


@pytest.mark.parametrize(
    ("pattern", "max_length"),
    [
        ("^[a-z]+$", 1_000_000),  # one way to match
        ("^ORD-[0-9]{8}$", 1_000_000),
        ("x[a-z]+@", 6_324),  # a search can start at every x
        ("^[ab]*[bc]*x{70}$", 6_324),  # two loops can divide the text anywhere
        ("a.*b.*c", 391),
        ("^(?:(?:a|ab)(?:c|bcd))*$", 428),  # a recursive call for each iteration
    ],
)
def test_maximum_length_depends_on_the_ways_to_match(pattern: str, max_length: int) -> None:
    assert translate(pattern).max_length == max_length


def test_match_lengths_are_known_for_anchored_patterns() -> None:
    both, start = translate("^a{2,5}b$"), translate("^a{2,5}b")
    assert (both.shortest_match, both.longest_match) == (3, 6)
    assert (start.shortest_match, start.longest_match) == (3, None)
