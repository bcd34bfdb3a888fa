"""The syntax tree of a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from treaty.regex.character_sets import CharacterSet


class AnchorKind(Enum):
    """A position in a text that a pattern can require."""

    TEXT_START = r"\A"
    TEXT_END = r"\z"
    LINE_START = "(?m)^"
    LINE_END = "(?m)$"
    WORD_EDGE = r"\b"
    NO_WORD_EDGE = r"\B"


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """One character of a set."""

    among: CharacterSet


@dataclass(frozen=True, slots=True)
class Anchor:
    """A position; matches no character."""

    kind: AnchorKind


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Parts in sequence; without parts, the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of several options; without options, nothing matches."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """A part repeated `least` to `most` times; None is unlimited."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = CharacterClass | Anchor | Concatenation | Alternation | Repetition

EMPTY = Concatenation(())
NEVER = Alternation(())
START = Anchor(AnchorKind.TEXT_START)
END = Anchor(AnchorKind.TEXT_END)


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all its descendants."""
    yield node
    match node:
        case Concatenation(parts) | Alternation(parts):
            for part in parts:
                yield from walk(part)
        case Repetition(part):
            yield from walk(part)


def has_anchor(node: Node) -> bool:
    """Return whether a node contains an anchor."""
    return any(isinstance(part, Anchor) for part in walk(node))


def can_be_empty(node: Node) -> bool:
    """Return whether a node can match without consuming a character, perhaps only at some positions."""
    match node:
        case CharacterClass():
            return False
        case Anchor():
            return True
        case Concatenation(parts):
            return all(map(can_be_empty, parts))
        case Alternation(options):
            return any(map(can_be_empty, options))
        case Repetition(part, least):
            return least == 0 or can_be_empty(part)


def matches_empty(node: Node) -> bool:
    """Return whether a node matches the empty text at every position."""
    match node:
        case CharacterClass() | Anchor():
            return False
        case Concatenation(parts):
            return all(map(matches_empty, parts))
        case Alternation(options):
            return any(map(matches_empty, options))
        case Repetition(part, least):
            return least == 0 or matches_empty(part)


def lengths(node: Node) -> tuple[int, int | None]:
    """Return the fewest and the most characters a node matches; None is unlimited."""
    match node:
        case CharacterClass():
            return 1, 1
        case Anchor():
            return 0, 0
        case Concatenation(parts):
            part_lengths = [lengths(part) for part in parts]
            return sum(least for least, _ in part_lengths), _sum([most for _, most in part_lengths])
        case Alternation(options):
            part_lengths = [lengths(option) for option in options] or [(0, 0)]
            tops = [most for _, most in part_lengths]
            return min(least for least, _ in part_lengths), None if None in tops else max(top or 0 for top in tops)
        case Repetition(part, times, most):
            short, long = lengths(part)
            if long == 0:
                return 0, 0
            return short * times, None if most is None or long is None else long * most


def _sum(numbers: list[int | None]) -> int | None:
    return None if None in numbers else sum(number or 0 for number in numbers)
