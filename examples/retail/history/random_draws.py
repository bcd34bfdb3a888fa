"""Reproducible pseudo-random draws: the same seed and number give the same values on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import shake_128
from itertools import chain, count
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

LIFE, DISTURBANCE, BLOCK = 0, 1, 2
"""The purpose of draws: the events of an order, its defect, the plans of a block of orders."""

_BITS = 32
_WORDS = Struct("<64I")


class Draws:
    """A sequence of draws for a seed, a number and a purpose."""

    __slots__ = ("_next",)

    def __init__(self, seed: int, number: int, about: int = LIFE) -> None:
        self._next = _words(b"%d %d %d " % (seed, number, about)).__next__

    def below(self, limit: int) -> int:
        """Draw an integer from 0 up to, not including, the limit."""
        return self._next() * limit >> _BITS

    def between(self, low: int, high: int) -> int:
        """Draw an integer between two others, both included."""
        return low + (self._next() * (high - low + 1) >> _BITS)

    def happens(self, percent: int) -> bool:
        """Return true with this probability in percent."""
        return self._next() * 100 >> _BITS < percent

    def pick(self, options: Sequence[T]) -> T:
        """Draw one of several values."""
        return options[self._next() * len(options) >> _BITS]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """Return the values in random order."""
        order = list(things)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


def weighted(weights: Sequence[tuple[T, int]]) -> tuple[T, ...]:
    """Repeat values by weight, so that a uniform draw is weighted."""
    return tuple(thing for thing, weight in weights for _ in range(weight))


def _words(origin: bytes) -> Iterator[int]:
    """Yield 32-bit words from a hash of the origin, the same in every version of Python."""

    def block(number: int) -> tuple[int, ...]:
        return _WORDS.unpack(shake_128(origin + b"%d" % number).digest(_WORDS.size))

    return chain.from_iterable(map(block, count()))
