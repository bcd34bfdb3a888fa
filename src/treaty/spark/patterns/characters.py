"""Sets of Unicode characters, as ranges of code points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

_SURROGATES = (0xD800, 0xDFFF)
_LAST = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Characters:
    """A set of characters: sorted ranges that neither touch nor hold surrogates; build one with `characters`."""

    ranges: tuple[tuple[int, int], ...]

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(chr, range(first, last + 1)) for first, last in self.ranges)

    def __or__(self, other: Characters) -> Characters:
        return characters((*self.ranges, *other.ranges))

    def __invert__(self) -> Characters:
        starts = (0, *(last + 1 for _, last in self.ranges))
        ends = (*(first - 1 for first, _ in self.ranges), _LAST)
        return characters((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)

    def __and__(self, other: Characters) -> Characters:
        return characters(self._common(other))

    def overlaps(self, other: Characters) -> bool:
        """Tell whether a character is in both sets."""
        return next(self._common(other), None) is not None

    def within(self, other: Characters) -> bool:
        """Tell whether every character is in the other set."""
        return not self.overlaps(~other)

    def _common(self, other: Characters) -> Iterator[tuple[int, int]]:
        mine, theirs = iter(self.ranges), iter(other.ranges)
        one, two = next(mine, None), next(theirs, None)
        while one and two:
            first, last = max(one[0], two[0]), min(one[1], two[1])
            if first <= last:
                yield first, last
            if one[1] < two[1]:
                one = next(mine, None)
            else:
                two = next(theirs, None)


def characters(ranges: Iterable[tuple[int, int]]) -> Characters:
    """Return the set of the characters in any of the ranges; surrogates are no characters."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return Characters(tuple(part for found in joined for part in _without_surrogates(*found)))


def single(character: str) -> Characters:
    """Return the set of one character."""
    return characters([(ord(character), ord(character))])


def _without_surrogates(first: int, last: int) -> Iterator[tuple[int, int]]:
    low, high = _SURROGATES
    if last < low or first > high:
        yield first, last
        return
    if first < low:
        yield first, low - 1
    if last > high:
        yield high + 1, last


NOTHING = characters(())
ANY = ~NOTHING
ASCII = characters([(0, 0x7F)])
LINE_FEED = single("\n")
WORD = characters([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
