"""Translate a RE2 pattern to java.util.regex: the same matches, and no value that stalls the backtracking engine.

A pattern that could take exponential time is refused. Where the time grows with a power of the length, or the engine
recurses for each round of a loop, `JavaPattern.max_length` limits the values that may be matched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial

from treaty.contracts.values import abbreviate
from treaty.errors import InvalidDocument
from treaty.regex.ambiguity import Ambiguity, measure_ambiguity
from treaty.regex.automaton import Path, build_automaton
from treaty.regex.java_syntax import JavaWriter
from treaty.regex.parser import parse_pattern
from treaty.regex.simplification import simplify, split_anchors
from treaty.regex.stack_depth import max_length_for_stack, possessive_loops
from treaty.regex.tree import Node, lengths

MAX_VALUE_LENGTH = 1_000_000
_MAX_STEPS = 20_000_000
"""Steps that one value may take in the engine, about 100 ms."""
_MIN_USEFUL_LENGTH = 100
"""A pattern that is safe only for shorter values is refused."""
_UNROLLED_STATES = (1, 64, 256)
"""How far counted repetitions are unrolled, coarsest first: a finer automaton gives a better bound and costs more."""


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """A pattern for `rlike`, the longest value that may be matched with it, and the lengths of what it matches."""

    text: str
    max_length: int
    shortest_match: int
    longest_match: int | None
    """None where the pattern is not anchored at both ends, or has no upper limit."""


@lru_cache(maxsize=4_096)
def simplified_tree(pattern: str) -> Node:
    """Parse a pattern and return the simplest tree that is found in the same texts."""
    return simplify(parse_pattern(pattern))


@lru_cache(maxsize=4_096)
def translate(pattern: str) -> JavaPattern:
    """Translate a RE2 pattern to Java's syntax; longer values than `max_length` must not be matched with it."""
    tree = simplified_tree(pattern)
    anchors = split_anchors(tree)
    shortest, most = lengths(tree)
    longest_match = most if anchors.at_start and anchors.at_end else None
    possessive = frozenset[Path]()
    if not anchors.has_inner_anchor:
        possessive = possessive_loops(tree, build_automaton(tree), to_the_end=anchors.at_end)
    max_length = min(_max_length_for_time(tree, longest_match), max_length_for_stack(tree, possessive))
    if max_length < _capped(_MIN_USEFUL_LENGTH, longest_match):
        raise InvalidDocument(
            f"pattern {abbreviate(pattern)!r} can take very long on one value, because its repetitions can match "
            "the same text in many ways; end each repeated part with a character that occurs nowhere else in it, "
            "such as ([a-z]+,)* instead of ([a-z]+,?)*, or use fewer .* in a row"
        )
    text = JavaWriter(possessive, is_search=not anchors.at_start).text(tree)
    return JavaPattern(text, max_length, shortest, longest_match)


def _max_length_for_time(tree: Node, longest_match: int | None) -> int:
    """Return how long a value may be so that the engine takes at most `_MAX_STEPS` steps."""
    is_search = not split_anchors(tree).at_start
    best = 0
    for unrolled in _UNROLLED_STATES:
        automaton = build_automaton(tree, unrolled)
        best = max(best, _max_length_of(measure_ambiguity(automaton, is_search=is_search)))
        if best >= _capped(MAX_VALUE_LENGTH, longest_match) or automaton.is_exact:
            break
    return best


def _max_length_of(ambiguity: Ambiguity) -> int:
    if ambiguity.is_exponential:
        return 0
    power = ambiguity.degree + 1
    steps = _MAX_STEPS * factorial(power) / ambiguity.ways
    return min(MAX_VALUE_LENGTH, int(steps ** (1 / power)))


def _capped(limit: int, longest_match: int | None) -> int:
    return limit if longest_match is None else min(limit, longest_match)
