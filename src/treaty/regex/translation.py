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
from treaty.regex.character_sets import CharacterSet, character_set
from treaty.regex.parser import parse_pattern
from treaty.regex.simplification import simplify, split_anchors
from treaty.regex.stack_depth import max_length_for_stack, possessive_loops
from treaty.regex.tree import Alternation, Anchor, AnchorKind, CharacterClass, Concatenation, Node, Repetition, lengths

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


_SURROGATES = r"\x{d800}-\x{dfff}"
_LOW_SURROGATES = r"\x{dc00}-\x{dfff}"
_WORD = "0-9A-Z_a-z"
_ANCHORS = {
    AnchorKind.TEXT_START: r"\A",
    AnchorKind.TEXT_END: r"\z",
    AnchorKind.LINE_START: r"(?:\A|(?<=\n))",
    AnchorKind.LINE_END: r"(?:\z|(?=\n))",
    AnchorKind.WORD_EDGE: rf"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    AnchorKind.NO_WORD_EDGE: rf"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}{_LOW_SURROGATES}]))",
}
_MAX_FLAT_RANGES = 24
_TABLE_CHARACTERS = character_set([(0, 0xFF)])
_MAX_SPELLED_OUT = 8


class JavaWriter:
    """Renders one pattern; the loops at the `possessive` paths never backtrack."""

    def __init__(self, possessive: frozenset[Path], *, is_search: bool) -> None:
        self.possessive = possessive
        # A search may start in the middle of a surrogate pair; no class may match half a character.
        self.surrogates = _SURROGATES if is_search else ""

    def text(self, node: Node, path: Path = ()) -> str:
        """Return a node in Java's syntax."""
        match node:
            case CharacterClass(among):
                return self._set(among)
            case Anchor(kind):
                return _ANCHORS[kind]
            case Concatenation(parts):
                following: list[Node | None] = [*parts[1:], None]
                return "".join(
                    self._grouped(part, (*path, at), after)
                    for at, (part, after) in enumerate(zip(parts, following, strict=False))
                )
            case Alternation(()):
                return "(?!)"
            case Alternation(options):
                return "|".join(self.text(option, (*path, at)) for at, option in enumerate(options))
            case Repetition():
                return self._repetition(node, path)

    def _grouped(self, node: Node, path: Path, after: Node | None) -> str:
        text = self._repetition(node, path, after) if isinstance(node, Repetition) else self.text(node, path)
        return f"(?:{text})" if isinstance(node, Alternation) and node.options else text

    def _repetition(self, node: Repetition, path: Path, after: Node | None = None) -> str:
        inner = self.text(node.part, (*path, 0))
        single = isinstance(node.part, CharacterClass)
        if single and len(node.part.among) == 1 and node.least == node.most and node.least <= _MAX_SPELLED_OUT:  # type: ignore[union-attr]
            return inner * node.least
        count = _quantifier(node.least, node.most)
        is_possessive = node.least != node.most and path in self.possessive and not _is_disjoint_from_next(node, after)
        suffix = "+" if is_possessive else ""
        return f"{inner if single else f'(?:{inner})'}{count}{suffix}"

    def _set(self, among: CharacterSet) -> str:
        if len(among) == 1:
            return _escape(among.ranges[0][0])
        others = ~among
        if len(others.ranges) < len(among.ranges) or not others:
            return f"[^{_items(others)}{self.surrogates}]" if others or self.surrogates else r"[\x{0}-\x{10ffff}]"
        return _nested_ranges(among)


def _is_disjoint_from_next(loop: Repetition, after: Node | None) -> bool:
    """Return whether the node after a loop starts with a character that the loop does not match.

    Backtracking then fails at once, and Java runs a plain loop over one class faster than a possessive one.
    """
    first = after.part if isinstance(after, Repetition) and after.least > 0 else after
    return (
        isinstance(loop.part, CharacterClass)
        and isinstance(first, CharacterClass)
        and not loop.part.among.overlaps(first.among)
    )


def _quantifier(least: int, most: int | None) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in signs:
        return signs[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _items(among: CharacterSet) -> str:
    """Render the inside of brackets; Java looks up single characters up to U+00FF in a table."""
    if among.within(_TABLE_CHARACTERS):
        return "".join(map(_escape, map(ord, among)))
    return "".join(
        _escape(first) if first == last else f"{_escape(first)}-{_escape(last)}" for first, last in among.ranges
    )


def _nested_ranges(among: CharacterSet) -> str:
    """Render many ranges as nested surrogates, so that the engine tests few of them for a character."""
    if len(among.ranges) <= _MAX_FLAT_RANGES:
        return f"[{_items(among)}]"
    middle = len(among.ranges) // 2
    lower, upper = CharacterSet(among.ranges[:middle]), CharacterSet(among.ranges[middle:])
    cut = upper.ranges[0][0]
    below = f"[\\x{{0}}-{_escape(cut - 1)}&&{_nested_ranges(lower)}]"
    return f"[{below}[{_escape(cut)}-\\x{{10ffff}}&&{_nested_ranges(upper)}]]"


def _escape(code: int) -> str:
    text = chr(code)
    if text.isascii() and text.isalnum():
        return text
    return f"\\{text}" if 0x20 <= code < 0x7F and text != "_" else f"\\x{{{code:x}}}"
