"""A contract's pattern as Java's engine may safely run it: the same answers, and no value that stalls it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial

from treaty.contracts.values import brief
from treaty.errors import InvalidDocument
from treaty.regex.ambiguity import Ambiguity, measure_ambiguity
from treaty.regex.automaton import Path, build_automaton
from treaty.regex.determinizing import one_reading
from treaty.regex.java_syntax import Rendering
from treaty.regex.parser import parsed
from treaty.regex.simplification import anchored, simplified, then
from treaty.regex.stack_depth import longest_by_stack, possessive_loops
from treaty.regex.tree import END, START, Node, Then, lengths, places

MAX_VALUE_LENGTH = 1_000_000
_MOST_STEPS = 2_000_000  # some 10 ms
_SHORT, _TOO_SHORT = 250, 100
_COPIED = (1, 64, 256)


@dataclass(frozen=True, slots=True)
class Engine:
    """A text for `rlike`, and the longest value in characters that may reach it."""

    text: str
    longest: int


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """A pattern for `rlike`, perhaps with another text for longer values, and the lengths of what it matches."""

    engines: tuple[Engine, ...]
    shortest_match: int
    longest_match: int | None

    @property
    def text(self) -> str:
        """What values of usual length are matched with."""
        return self.engines[0].text

    @property
    def longest(self) -> int:
        """The longest value in characters that may be matched at all."""
        return self.engines[-1].longest


@dataclass(frozen=True, slots=True)
class _Judged:
    tree: Node
    possessive: frozenset[Path]
    longest: int

    @property
    def engine(self) -> Engine:
        """The pattern in Java's syntax."""
        rendering = Rendering(self.possessive, searched=not anchored(self.tree).begins)
        return Engine(rendering.text(self.tree), self.longest)


@lru_cache(maxsize=4_096)
def plain_tree(pattern: str) -> Node:
    """Read a pattern and say what it asks in the plainest way."""
    return simplified(parsed(pattern))


@lru_cache(maxsize=4_096)
def translate(pattern: str) -> JavaPattern:
    """Translate a pattern from RE2 syntax to Java's; values longer than `longest` must not reach it."""
    tree = plain_tree(pattern)
    bounds = anchored(tree)
    shortest, most = lengths(tree)
    longest_match = most if bounds.begins and bounds.ends else None
    enough = _at_most(MAX_VALUE_LENGTH // 4, longest_match)
    judged = [_judged(tree, enough)]
    if judged[0].longest < enough:
        rewritten = _rewritten(tree) or _rewritten_in_parts(tree, enough)
        judged += [rewritten] if rewritten and rewritten.longest > judged[0].longest else []
    safe = [found for found in judged if found.longest >= _at_most(_SHORT, longest_match)] or judged[-1:]
    if safe[-1].longest < _at_most(_TOO_SHORT, longest_match):
        raise InvalidDocument(
            f"pattern {brief(pattern)!r} can take very long on one value, as its repetitions fit a text in many ways; "
            "let what is repeated end with a character that stands nowhere else in it, "
            "such as ([a-z]+,)* instead of ([a-z]+,?)*"
        )
    return JavaPattern(tuple(found.engine for found in safe), shortest, longest_match)


def _judged(tree: Node, enough: int) -> _Judged:
    searched = not anchored(tree).begins
    best = 0
    for copied in _COPIED:
        states = build_automaton(tree, copied)
        best = max(best, _longest(measure_ambiguity(states, searched=searched)))
        if best >= enough or states.exact:
            break
    return _bounded(tree, best)


def _rewritten(tree: Node) -> _Judged | None:
    """Return the pattern with one reading for every text, where that can be written."""
    bounds, states = anchored(tree), build_automaton(tree)
    if bounds.inner_places or not states.exact:
        return None
    found = one_reading(states, searched=not bounds.begins, to_the_end=bounds.ends)
    if found is None:
        return None
    rewritten = then((START, found, *([END] if bounds.ends else [])))
    # With one reading for every text, a part of a text has at most one for each state that it may end in.
    ways = len(build_automaton(rewritten).reads)
    return _bounded(rewritten, _longest(Ambiguity(exponential=False, ways=max(ways, 1))))


def _rewritten_in_parts(tree: Node, enough: int) -> _Judged | None:
    """Return the pattern with one reading for each of its parts, where that can be written."""
    rewritten = then(map(_with_one_reading, tree.parts)) if isinstance(tree, Then) else tree
    return _judged(rewritten, enough) if rewritten != tree else None


def _with_one_reading(part: Node) -> Node:
    states = build_automaton(part)
    if places(part) or not states.exact or not measure_ambiguity(states, searched=False).exponential:
        return part
    return one_reading(states, searched=False, to_the_end=True) or part


def _bounded(tree: Node, longest: int) -> _Judged:
    bounds = anchored(tree)
    possessive = frozenset[Path]()
    if not bounds.inner_places:
        possessive = possessive_loops(tree, build_automaton(tree), to_the_end=bounds.ends)
    return _Judged(tree, possessive, min(longest, longest_by_stack(tree, possessive)))


def _longest(found: Ambiguity) -> int:
    if found.exponential:
        return 0
    power = found.degree + 1
    steps = _MOST_STEPS * factorial(power) / found.ways
    return min(MAX_VALUE_LENGTH, int(steps ** (1 / power)))


def _at_most(limit: int, longest_match: int | None) -> int:
    return limit if longest_match is None else min(limit, longest_match)
