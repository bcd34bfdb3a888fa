"""Reproducible pseudo-random draws: the same seed and number give the same values on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import shake_128
from itertools import chain, count
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

LIFE, DISTURBANCE, BLOCK = 0, 1, 2
"""What draws are about: the life of an order, what disturbs it, the plans of a block of orders."""

_BITS = 32
_WORDS = Struct("<64I")


class Draws:
    """A row of draws that belongs to a seed, a number and what they are about."""

    __slots__ = ("_next",)

    def __init__(self, seed: int, number: int, about: int = LIFE) -> None:
        self._next = _words(b"%d %d %d " % (seed, number, about)).__next__

    def below(self, limit: int) -> int:
        """Draw a whole number from 0 up to, not including, the limit."""
        return self._next() * limit >> _BITS

    def between(self, low: int, high: int) -> int:
        """Draw a whole number between two others, both included."""
        return low + (self._next() * (high - low + 1) >> _BITS)

    def happens(self, percent: int) -> bool:
        """Tell whether something happens that does so in this many of a hundred cases."""
        return self._next() * 100 >> _BITS < percent

    def pick(self, options: Sequence[T]) -> T:
        """Draw one of several things."""
        return options[self._next() * len(options) >> _BITS]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """Return the things in a drawn order."""
        order = list(things)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


def weighted(weights: Sequence[tuple[T, int]]) -> tuple[T, ...]:
    """Lay things out so that picking one gives each by its weight."""
    return tuple(thing for thing, weight in weights for _ in range(weight))


def _words(origin: bytes) -> Iterator[int]:
    """Return endless words of 32 bits: a hash of the origin, which no version of Python changes."""

    def block(number: int) -> tuple[int, ...]:
        return _WORDS.unpack(shake_128(origin + b"%d" % number).digest(_WORDS.size))

    return chain.from_iterable(map(block, count()))
