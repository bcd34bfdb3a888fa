"""What a pattern says: characters, one after the other, one or the other, again and again, at a place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from treaty.regex.character_sets import Characters


class Place(Enum):
    """A place in a text that a pattern may ask for."""

    TEXT_START = r"\A"
    TEXT_END = r"\z"
    LINE_START = "(?m)^"
    LINE_END = "(?m)$"
    WORD_EDGE = r"\b"
    NO_WORD_EDGE = r"\B"


@dataclass(frozen=True, slots=True)
class One:
    """One character of a set."""

    among: Characters


@dataclass(frozen=True, slots=True)
class At:
    """A place, no character."""

    place: Place


@dataclass(frozen=True, slots=True)
class Then:
    """Parts one after the other; none at all is the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of several options; none at all matches nothing."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """A part so many times; without `most`, any number."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = One | At | Then | Either | Again

EMPTY = Then(())
NEVER = Either(())
START = At(Place.TEXT_START)
END = At(Place.TEXT_END)


def inside(node: Node) -> Iterator[Node]:
    """Yield a node and everything in it."""
    yield node
    match node:
        case Then(parts) | Either(parts):
            for part in parts:
                yield from inside(part)
        case Again(part):
            yield from inside(part)


def places(node: Node) -> bool:
    """Tell whether a node asks for a place anywhere."""
    return any(isinstance(found, At) for found in inside(node))


def may_be_empty(node: Node) -> bool:
    """Tell whether a node can match without a character; a place counts as such."""
    match node:
        case One():
            return False
        case At():
            return True
        case Then(parts):
            return all(map(may_be_empty, parts))
        case Either(options):
            return any(map(may_be_empty, options))
        case Again(part, least):
            return least == 0 or may_be_empty(part)


def takes_nothing(node: Node) -> bool:
    """Tell whether a node matches the empty text wherever it stands."""
    match node:
        case One() | At():
            return False
        case Then(parts):
            return all(map(takes_nothing, parts))
        case Either(options):
            return any(map(takes_nothing, options))
        case Again(part, least):
            return least == 0 or takes_nothing(part)


def lengths(node: Node) -> tuple[int, int | None]:
    """Return the fewest and the most characters a node matches; None is any number."""
    match node:
        case One():
            return 1, 1
        case At():
            return 0, 0
        case Then(parts):
            found = [lengths(part) for part in parts]
            return sum(least for least, _ in found), _sum([most for _, most in found])
        case Either(options):
            found = [lengths(option) for option in options] or [(0, 0)]
            tops = [most for _, most in found]
            return min(least for least, _ in found), None if None in tops else max(top or 0 for top in tops)
        case Again(part, times, most):
            short, long = lengths(part)
            if long == 0:
                return 0, 0
            return short * times, None if most is None or long is None else long * most


def _sum(numbers: list[int | None]) -> int | None:
    return None if None in numbers else sum(number or 0 for number in numbers)
