"""What RE2 means by a named class or by a character in either case: RE2 itself is asked."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from treaty.spark.patterns.characters import ANY, ASCII, Characters, characters

_NEGATED = re.compile(r"\\([DSWP])|(\[\[:)\^|(\\[pP]\{)\^")
_UNICODE = re.compile(r"\\[pP]")
_CASE_BIT = 0x20
_BEYOND_ASCII = {"k": 0x212A, "s": 0x17F}
"""The Kelvin sign and the long s differ from an ASCII letter by case alone."""
_WITH_CASE = r"[\p{Lu}\p{Ll}\p{Lt}\p{Mn}\p{Nl}\p{So}]"


@lru_cache(maxsize=1_024)
def named(item: str, *, folds: bool) -> Characters:
    r"""Return the characters of a named class such as `\d`, `\P{Greek}` or `[[:alpha:]]`."""
    asked, negations = item, 0
    while negation := _NEGATED.search(asked):
        letter, posix, braced = negation.groups()
        put = f"\\{letter.lower()}" if letter else posix or braced
        asked, negations = asked.replace(negation[0], put, 1), negations + 1
    text = _every_character() if _UNICODE.match(asked) else _ascii_in_either_case()
    found = _found(f"(?i:{asked})" if folds else asked, text)
    return ~found if negations % 2 else found


@lru_cache(maxsize=4_096)
def folded(among: Characters) -> Characters:
    """Return the characters together with those that differ from one of them by case alone."""
    if among.within(ASCII):
        return characters((*among.ranges, *((code, code) for text in among for code in _other_cases(text))))
    items = "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in among.ranges)
    return among | _found(f"(?i:[{items}])", _every_character_with_case())


def _other_cases(text: str) -> list[int]:
    beyond = _BEYOND_ASCII.get(text.lower())
    return [ord(text) ^ _CASE_BIT, *([beyond] if beyond else [])] if text.isalpha() else []


@lru_cache(maxsize=1)
def _every_character() -> tuple[str, ...]:
    return tuple("".join(Characters((span,))) for span in ANY.ranges)


def _ascii_in_either_case() -> tuple[str, ...]:
    return "".join(ASCII), *map(chr, _BEYOND_ASCII.values())


@lru_cache(maxsize=1)
def _every_character_with_case() -> tuple[str, ...]:
    return ("".join(_found(_WITH_CASE, _every_character())),)


def _found(pattern: str, texts: tuple[str, ...]) -> Characters:
    """Return the characters of sorted texts that match."""
    matches = (found[0] for text in texts for found in _re2().finditer(f"{pattern}+", text))
    return characters(span for match in matches for span in _spans(match))


def _spans(match: str) -> list[tuple[int, int]]:
    first, last = ord(match[0]), ord(match[-1])
    if last - first + 1 == len(match):
        return [(first, last)]
    return [(code, code) for code in map(ord, match)]


def _re2() -> Any:
    import re2

    return re2
