"""Texts that keep a field's terms: by its pattern, its format or its length."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from random import Random
from uuid import UUID

import re2

from treaty.compatibility.terms.values import text_length
from treaty.contracts.model import Field
from treaty.contracts.values import EMPTY
from treaty.spark.patterns.parsing import parsed
from treaty.spark.patterns.tree import Again, At, Either, Node, One, Then

_TRIES = 200
_MOST_REPEATS = 4
_LONGEST = 200
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_UNUSUAL = ("", " ", "ß", "日本", "it's", 'a "b"', "back\\slash", "a`b", "ünï", "🙂", "${x}", "line\nbreak", "\t")
_READABLE = ((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x20, 0x7E))
"""Characters to take from a set first, so that rows can be read."""

Make = Callable[[Random, int], str]


def text_maker(field: Field) -> Make:
    """Return what makes texts for a field, the number of the row leading to a different one as far as there are any."""
    options = field.options or EMPTY
    pattern, named = options.get("pattern"), options.get("format")
    if isinstance(pattern, str):
        tree = parsed(pattern)
        return lambda random, number: _walked(tree, random)
    if isinstance(named, str) and named in _FORMATS:
        return _FORMATS[named]
    if field.type is not None and field.type.name == "time":
        return _FORMATS["time"] if not isinstance(named, str) else _clock(named)
    if field.type is not None and field.type.name in ("json", "object"):
        return lambda random, number: f'{{"n": {number}, "t": "{_word(random, 3)}"}}'
    return _plain(field)


def keeps(field: Field, text: str) -> bool:
    """Tell whether a text keeps the field's pattern and length."""
    limits = text_length(field)
    if (limits.low is not None and len(text) < limits.low) or (limits.high is not None and len(text) > limits.high):
        return False
    pattern = (field.options or EMPTY).get("pattern")
    return not isinstance(pattern, str) or re2.search(pattern, text) is not None


def text_for(field: Field, make: Make, random: Random, number: int) -> str | None:
    """Make a text that keeps the field's terms; None where none was found."""
    for attempt in range(_TRIES):
        text = make(random, number + attempt)
        if keeps(field, text):
            return text
    return None


def _plain(field: Field) -> Make:
    limits = text_length(field)
    low = limits.low or 0
    high = min(limits.high if limits.high is not None else max(low, 12), max(_LONGEST, low))

    def make(random: Random, number: int) -> str:
        if number % 4 == 0 and number // 4 < len(_UNUSUAL):
            return _UNUSUAL[number // 4]
        if number % 7 == 1:
            return _word(random, low)
        if number % 7 == 2:
            return _word(random, high)
        return _word(random, random.randint(max(low, min(4, high)), high))

    return make


def _word(random: Random, length: int) -> str:
    return "".join(random.choice(_PLAIN) for _ in range(length))


def _walked(node: Node, random: Random) -> str:
    """Walk a pattern and write down what it asks for."""
    match node:
        case One(among):
            return _character(among.ranges, random)
        case Then(parts):
            return "".join(_walked(part, random) for part in parts)
        case Either(options):
            return _walked(random.choice(options), random) if options else ""
        case Again(part, least, most):
            upper = least + _MOST_REPEATS if most is None else min(most, least + _MOST_REPEATS)
            return "".join(_walked(part, random) for _ in range(random.randint(least, upper)))
        case At():
            return ""


def _character(ranges: tuple[tuple[int, int], ...], random: Random) -> str:
    readable = [
        (max(first, low), min(last, high))
        for first, last in ranges
        for low, high in _READABLE
        if max(first, low) <= min(last, high)
    ]
    chosen = random.choice(readable or list(ranges) or [(0x61, 0x61)])
    return chr(random.randint(*chosen))


def _moment(random: Random) -> str:
    return f"{random.randint(0, 23):02}:{random.randint(0, 59):02}:{random.randint(0, 59):02}"


def _day(random: Random) -> str:
    return f"{random.randint(1970, 2037)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


def _clock(pattern: str) -> Make:
    """Write a time of day by a Java pattern, as far as hours, minutes and seconds go."""

    def make(random: Random, number: int) -> str:
        hour, minute, second = _moment(random).split(":")
        return pattern.replace("HH", hour).replace("mm", minute).replace("ss", second).replace("'", "")

    return make


def _uuid(random: Random, number: int) -> str:
    return str(UUID(int=random.getrandbits(128)))


def _bytes_text(random: Random, number: int) -> str:
    return base64.b64encode(random.randbytes(random.randint(0, 9))).decode()


_FORMATS: Mapping[str, Make] = {
    "email": lambda random, number: f"{_word(random, 5).lower()}.{number}@example.org",
    "uuid": _uuid,
    "uri": lambda random, number: f"https://example.org/{_word(random, 4)}/{number}?q={_word(random, 2)}",
    "url": lambda random, number: f"https://example.org/{_word(random, 4)}/{number}",
    "hostname": lambda random, number: f"{_word(random, 4).lower()}-{number}.example.org",
    "ipv4": lambda random, number: ".".join(str(random.randint(0, 255)) for _ in range(4)),
    "ipv6": lambda random, number: ":".join(f"{random.randint(0, 65535):x}" for _ in range(8)),
    "date": lambda random, number: _day(random),
    "time": lambda random, number: _moment(random),
    "date-time": lambda random, number: f"{_day(random)}T{_moment(random)}Z",
    "byte": _bytes_text,
}
