"""What cannot be run safely is refused in words; what is slow as written is rewritten; what may be long is capped."""

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
}

REWRITTEN = {
    "(x+x+)+y": "xxy",
    "^(a+)+$": r"\Aa++\z",
    "^((ab)*)*$": r"\A(?:ab)*+\z",
    "(a|b|)*c": "c",
    "^(a|b)*$": r"\A[ab]*+\z",
    "^([a-c]+,)*[a-c]+$": r"\A(?:[abc]+\,)*+[abc]++\z",
    "^([a-c]+,?)*$": r"\A(?:(?:[abc]+\,)*+[abc]*+)?\z",
    "^.*a.*b$": r"\A[^\x{a}]*a[^\x{a}]*b\z",
    "^.*a.*b.*c": r"\A[^\x{a}a]*a[^\x{a}b]*b[^\x{a}c]*c",
    "^[a-c]+[b-d]+$": r"\A[abc]+[bcd]++\z",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_refusal_says_why_and_what_next(pattern: str) -> None:
    with pytest.raises(InvalidDocument, match=REFUSED[pattern]):
        translate(pattern)


@pytest.mark.parametrize("pattern", REWRITTEN)
def test_a_pattern_is_written_as_java_runs_it_best(pattern: str) -> None:
    assert translate(pattern).text == REWRITTEN[pattern]


@pytest.mark.parametrize(
    ("pattern", "longest"),
    [
        ("^[a-z]+$", [1_000_000]),  # one reading of every text
        ("^ORD-[0-9]{8}$", [1_000_000]),
        ("x[a-z]+@", [2_000, 153_846]),  # as many as there are places to begin, or one of its thirteen parts
        ("^[ab]*[bc]*x{70}$", [2_000]),  # as many as there are places to part
        ("^(?:(?:a|ab)(?:c|bcd))*$", [428, 95_238]),  # a call for each round, or none
    ],
)
def test_the_longest_value_follows_from_how_many_readings_it_may_have(pattern: str, longest: list[int]) -> None:
    assert [engine.longest for engine in translate(pattern).engines] == longest


def test_the_lengths_that_match_are_known_where_both_ends_are_bound() -> None:
    both, start = translate("^a{2,5}b$"), translate("^a{2,5}b")
    assert (both.shortest_match, both.longest_match) == (3, 6)
    assert (start.shortest_match, start.longest_match) == (3, None)
