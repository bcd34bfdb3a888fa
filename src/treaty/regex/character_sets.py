"""Sets of Unicode characters, as ranges of code points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

_SURROGATES = (0xD800, 0xDFFF)
_LAST = 0x10FFFF


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """A set of characters: sorted ranges that neither touch nor hold surrogates; build one with `characters`."""

    ranges: tuple[tuple[int, int], ...]

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(map(chr, range(first, last + 1)) for first, last in self.ranges)

    def __or__(self, other: CharacterSet) -> CharacterSet:
        return character_set((*self.ranges, *other.ranges))

    def __invert__(self) -> CharacterSet:
        starts = (0, *(last + 1 for _, last in self.ranges))
        ends = (*(first - 1 for first, _ in self.ranges), _LAST)
        return character_set((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)

    def __and__(self, other: CharacterSet) -> CharacterSet:
        return character_set(self._common(other))

    def overlaps(self, other: CharacterSet) -> bool:
        """Return whether a character is in both sets."""
        return next(self._common(other), None) is not None

    def within(self, other: CharacterSet) -> bool:
        """Return whether every character is in the other set."""
        return not self.overlaps(~other)

    def _common(self, other: CharacterSet) -> Iterator[tuple[int, int]]:
        mine, theirs = iter(self.ranges), iter(other.ranges)
        left, right = next(mine, None), next(theirs, None)
        while left and right:
            first, last = max(left[0], right[0]), min(left[1], right[1])
            if first <= last:
                yield first, last
            if left[1] < right[1]:
                left = next(mine, None)
            else:
                right = next(theirs, None)


def character_set(ranges: Iterable[tuple[int, int]]) -> CharacterSet:
    """Return the set of the characters in any of the ranges; surrogates are no characters."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return CharacterSet(tuple(part for bounds in joined for part in _without_surrogates(*bounds)))


def single_character(character: str) -> CharacterSet:
    """Return the set of one character."""
    return character_set([(ord(character), ord(character))])


def _without_surrogates(first: int, last: int) -> Iterator[tuple[int, int]]:
    low, high = _SURROGATES
    if last < low or first > high:
        yield first, last
        return
    if first < low:
        yield first, low - 1
    if last > high:
        yield high + 1, last


NOTHING = character_set(())
ANY = ~NOTHING
ASCII = character_set([(0, 0x7F)])
LINE_FEED = single_character("\n")
WORD = character_set([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])


_NEGATION = re.compile(r"\\([DSWP])|(\[\[:)\^|(\\[pP]\{)\^")
_UNICODE = re.compile(r"\\[pP]")
_CASE_BIT = 0x20
_BEYOND_ASCII = {"k": 0x212A, "s": 0x17F}
"""The Kelvin sign and the long s differ from an ASCII letter by case alone."""
_WITH_CASE = r"[\p{Lu}\p{Ll}\p{Lt}\p{Mn}\p{Nl}\p{So}]"


@lru_cache(maxsize=1_024)
def named_class(class_text: str, *, folds: bool) -> CharacterSet:
    r"""Return the characters of a named class such as `\d`, `\P{Greek}` or `[[:alpha:]]`."""
    positive, negations = class_text, 0
    while negation := _NEGATION.search(positive):
        letter, posix, braced = negation.groups()
        put = f"\\{letter.lower()}" if letter else posix or braced
        positive, negations = positive.replace(negation[0], put, 1), negations + 1
    text = _every_character() if _UNICODE.match(positive) else _ascii_in_either_case()
    matching = _matching_characters(f"(?i:{positive})" if folds else positive, text)
    return ~matching if negations % 2 else matching


@lru_cache(maxsize=4_096)
def fold_case(among: CharacterSet) -> CharacterSet:
    """Return the characters together with those that differ from one of them by case alone."""
    if among.within(ASCII):
        return character_set((*among.ranges, *((code, code) for text in among for code in _other_cases(text))))
    items = "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in among.ranges)
    return among | _matching_characters(f"(?i:[{items}])", _every_character_with_case())


def _other_cases(text: str) -> list[int]:
    beyond = _BEYOND_ASCII.get(text.lower())
    return [ord(text) ^ _CASE_BIT, *([beyond] if beyond else [])] if text.isalpha() else []


@lru_cache(maxsize=1)
def _every_character() -> tuple[str, ...]:
    return tuple("".join(CharacterSet((span,))) for span in ANY.ranges)


def _ascii_in_either_case() -> tuple[str, ...]:
    return "".join(ASCII), *map(chr, _BEYOND_ASCII.values())


@lru_cache(maxsize=1)
def _every_character_with_case() -> tuple[str, ...]:
    return ("".join(_matching_characters(_WITH_CASE, _every_character())),)


def _matching_characters(pattern: str, texts: tuple[str, ...]) -> CharacterSet:
    """Return the characters of sorted texts that match."""
    matches = (found[0] for text in texts for found in _re2().finditer(f"{pattern}+", text))
    return character_set(span for match in matches for span in _spans(match))


def _spans(match: str) -> list[tuple[int, int]]:
    first, last = ord(match[0]), ord(match[-1])
    if last - first + 1 == len(match):
        return [(first, last)]
    return [(code, code) for code in map(ord, match)]


def _re2() -> Any:
    import re2

    return re2
