"""Generate values that satisfy the terms of a field, edge cases first."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from random import Random
from typing import Any
from uuid import UUID

import re2

from treaty.compatibility.terms.comparison import Bounds, parse_instant
from treaty.compatibility.terms.field_values import text_length, value_range
from treaty.contracts.model import Field
from treaty.contracts.values import EMPTY
from treaty.regex.parser import parse_pattern
from treaty.regex.tree import Alternation, Anchor, CharacterClass, Concatenation, Node, Repetition

_COMMON_NUMBER_RANGE = 10_000
_EDGE_CASE_DATES = (date(1970, 1, 1), date(2024, 2, 29), date(1999, 12, 31), date(1, 1, 1), date(9999, 12, 31))
_MICROS = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers of a number of bits, with a sign."""

    bits: int


@dataclass(frozen=True, slots=True)
class Decimals:
    """Decimal numbers with a number of digits, and of them after the point."""

    precision: int
    scale: int


class Floats(Enum):
    """Binary fractions."""

    SINGLE = 32
    DOUBLE = 64


def generate_numbers(field: Field, kind: Integers | Decimals, random: Random) -> Iterator[Any]:
    """Yield an infinite sequence of integers or decimals within the range of a field."""
    lowest, highest, step = _steps(field, kind)
    if lowest > highest:
        return
    edges = [lowest, highest, 0, 1, -1, lowest + 1, highest - 1]
    for number in edges:
        if lowest <= number <= highest:
            yield _as(kind, number * step)
    while True:
        if random.random() < 0.2:
            yield _as(kind, random.randint(lowest, highest) * step)
        else:
            yield _common_number(kind, lowest, highest, step, random)


def common_number(field: Field, kind: Integers | Decimals, random: Random) -> Any:
    """Return a number of ordinary size within the range of a field; None if the range is empty."""
    lowest, highest, step = _steps(field, kind)
    return None if lowest > highest else _common_number(kind, lowest, highest, step, random)


def common_float(field: Field, kind: Floats, random: Random) -> float | None:
    """Return a fraction of ordinary size within the range of a field; None if none was found."""
    limits = value_range(field)
    multiple = (field.options or EMPTY).get("multipleOf")
    low = float(limits.low) if isinstance(limits.low, (int, float)) else 0.0
    high = float(limits.high) if isinstance(limits.high, (int, float)) else max(low, 0.0) + 1_000.0
    low = min(low, high)
    numbers = (round(random.uniform(low, high), 2) for _ in range(_MAX_ATTEMPTS))
    return next((value for number in numbers for value in _rounded(number, kind, multiple, limits)), None)


def _steps(field: Field, kind: Integers | Decimals) -> tuple[int, int, Decimal]:
    """Return the lowest and highest multiple of the step of a field, and the step."""
    low, high, digits = _limits(field, kind)
    step = _step(field, digits)
    return math.ceil(low / step), math.floor(high / step), step


def _common_number(kind: Integers | Decimals, lowest: int, highest: int, step: Decimal, random: Random) -> Any:
    near = (max(lowest, -_COMMON_NUMBER_RANGE), min(highest, _COMMON_NUMBER_RANGE))
    first, last = near if near[0] <= near[1] else (lowest, highest)
    return _as(kind, random.randint(first, last) * step)


def generate_floats(field: Field, kind: Floats, random: Random) -> Iterator[float]:
    """Yield an infinite sequence of floats within the range of a field."""
    limits = value_range(field)
    low = float(limits.low) if isinstance(limits.low, (int, float)) else -math.inf
    high = float(limits.high) if isinstance(limits.high, (int, float)) else math.inf
    multiple = (field.options or EMPTY).get("multipleOf")
    edges = [0.0, 1.0, -1.0, 0.1, 1e-3, 1e9, -1e9, low, high]
    if limits.low is None and limits.high is None and multiple is None:
        edges += [math.nan, math.inf, -math.inf]
    first, last = max(low, -1e6), min(high, 1e6)
    if first > last:
        first, last = (low, low + abs(low)) if math.isfinite(low) else (high - abs(high), high)
    for number in edges:
        if math.isfinite(number) or len(edges) > 9:
            yield from _rounded(number, kind, multiple, limits)
    while True:
        yield from _rounded(random.uniform(first, last), kind, multiple, limits)


def generate_dates(field: Field, random: Random) -> Iterator[date]:
    """Yield an infinite sequence of dates within the range of a field."""
    first, last = _moments(field)
    edges = (*_EDGE_CASE_DATES, first.date(), last.date())
    yield from (day for day in edges if first.date() <= day <= last.date())
    near = _common_years(first, last)
    while True:
        yield (near[0] + (near[1] - near[0]) * random.random()).date()


def generate_timestamps(field: Field, random: Random, *, aware: bool) -> Iterator[datetime]:
    """Yield an infinite sequence of timestamps within the range of a field, in UTC or without a time zone."""
    first, last = _moments(field)
    edges = [datetime(day.year, day.month, day.day, 12, 30, 0, 123456, UTC) for day in _EDGE_CASE_DATES]
    near = _common_years(first, last)

    def localize(moment: datetime) -> datetime:
        return moment if aware else moment.replace(tzinfo=None)

    yield from (localize(moment) for moment in (*edges, first, last) if first <= moment <= last)
    while True:
        micros = random.randint(0, max(0, (near[1] - near[0]) // _MICROS))
        yield localize(near[0] + micros * _MICROS)


def _rounded(number: float, kind: Floats, multiple: Any, limits: Bounds) -> Iterator[float]:
    if isinstance(multiple, (int, float)) and multiple > 0 and math.isfinite(number):
        number = round(number / multiple) * multiple
    if kind is Floats.SINGLE:
        number = struct.unpack("f", struct.pack("f", number))[0]
    if _inside(number, limits):
        yield number


def _inside(number: float, limits: Bounds) -> bool:
    low, high = limits.low, limits.high
    above = not isinstance(low, (int, float)) or (number > low if limits.low_open else number >= low)
    return above and (not isinstance(high, (int, float)) or (number < high if limits.high_open else number <= high))


def _limits(field: Field, kind: Integers | Decimals) -> tuple[Decimal, Decimal, int]:
    """Return the minimum, the maximum and the number of decimal places."""
    if isinstance(kind, Decimals):
        digits, most = kind.scale, Decimal(10) ** (kind.precision - kind.scale) - Decimal(1).scaleb(-kind.scale)
        low, high = -most, most
    else:
        digits, low, high = 0, Decimal(-(2 ** (kind.bits - 1))), Decimal(2 ** (kind.bits - 1) - 1)
    detail = field.type.detail if field.type else None
    if detail and detail.startswith("u") and detail[1:].isdigit():
        low, high = Decimal(0), min(high, Decimal(2 ** int(detail[1:]) - 1))
    limits, tiny = value_range(field), Decimal(1).scaleb(-digits)
    if isinstance(limits.low, (int, float)):
        low = max(low, Decimal(str(limits.low)) + (tiny if limits.low_open else 0))
    if isinstance(limits.high, (int, float)):
        high = min(high, Decimal(str(limits.high)) - (tiny if limits.high_open else 0))
    return low, high, digits


def _step(field: Field, digits: int) -> Decimal:
    multiple = (field.options or EMPTY).get("multipleOf")
    tiny = Decimal(1).scaleb(-digits)
    if isinstance(multiple, (int, float)) and not isinstance(multiple, bool) and multiple > 0:
        wanted = Decimal(str(multiple))
        return wanted if wanted % tiny == 0 else wanted * (tiny / wanted).to_integral_value().max(Decimal(1))
    return tiny


def _as(kind: Integers | Decimals, number: Decimal) -> Any:
    return number if isinstance(kind, Decimals) else int(number)


def _moments(field: Field) -> tuple[datetime, datetime]:
    limits = value_range(field)
    low = parse_instant(limits.low) if isinstance(limits.low, str) else None
    high = parse_instant(limits.high) if isinstance(limits.high, str) else None
    day = timedelta(days=1)
    first = low + (day if limits.low_open else timedelta()) if low else datetime(1, 1, 1, tzinfo=UTC)
    last = high - (day if limits.high_open else timedelta()) if high else datetime(9999, 12, 31, 23, tzinfo=UTC)
    return first, last


def _common_years(first: datetime, last: datetime) -> tuple[datetime, datetime]:
    """Prefer the years 1990 to 2040 if the range allows them."""
    near = max(first, datetime(1990, 1, 1, tzinfo=UTC)), min(last, datetime(2040, 1, 1, tzinfo=UTC))
    return near if near[0] <= near[1] else (first, last)


_MAX_ATTEMPTS = 200
_MAX_REPEATS = 4
_MAX_TEXT_LENGTH = 200
_LETTERS_AND_DIGITS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_EDGE_CASE_TEXTS = (
    "",
    " ",
    "ß",
    "日本",
    "it's",
    'a "b"',
    "back\\slash",
    "a`b",
    "ünï",
    "🙂",
    "${x}",
    "line\nbreak",
    "\t",
)
_READABLE = ((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x20, 0x7E))
"""Preferred characters, so that rows are readable."""

TextGenerator = Callable[[Random, int], str]


def text_generator(field: Field) -> TextGenerator:
    """Return a generator of texts for a field, edge cases included; other row numbers give other texts if possible."""
    return _structured_text(field) or _plain(field)


def common_text_generator(field: Field) -> TextGenerator:
    """Return a generator of ordinary texts for a field."""
    return _structured_text(field) or (lambda random, number: _word(random, random.randint(*_common_lengths(field))))


def _structured_text(field: Field) -> TextGenerator | None:
    """Return a generator of texts with a pattern, a format or a syntax; None for any text."""
    options = field.options or EMPTY
    pattern, named = options.get("pattern"), options.get("format")
    if isinstance(pattern, str):
        tree = parse_pattern(pattern)
        return lambda random, number: _text_from_pattern(tree, random)
    if isinstance(named, str) and named in _FORMATS:
        return _FORMATS[named]
    if field.type is not None and field.type.name == "time":
        return _FORMATS["time"] if not isinstance(named, str) else _clock(named)
    if field.type is not None and field.type.name in ("json", "object"):
        return lambda random, number: f'{{"n": {number}, "t": "{_word(random, 3)}"}}'
    return None


def _common_lengths(field: Field) -> tuple[int, int]:
    limits = text_length(field)
    low = max(limits.low or 0, 4)
    high = low + 8 if limits.high is None else min(low + 8, limits.high)
    return min(low, high), high


def satisfies_terms(field: Field, text: str) -> bool:
    """Whether a text satisfies the pattern and length of a field."""
    limits = text_length(field)
    if (limits.low is not None and len(text) < limits.low) or (limits.high is not None and len(text) > limits.high):
        return False
    pattern = (field.options or EMPTY).get("pattern")
    return not isinstance(pattern, str) or re2.search(pattern, text) is not None


def generate_text(field: Field, make: TextGenerator, random: Random, number: int) -> str | None:
    """Generate a text that satisfies the terms of a field; None if none was found."""
    for attempt in range(_MAX_ATTEMPTS):
        text = make(random, number + attempt)
        if satisfies_terms(field, text):
            return text
    return None


def _plain(field: Field) -> TextGenerator:
    limits = text_length(field)
    low = limits.low or 0
    high = min(limits.high if limits.high is not None else max(low, 12), max(_MAX_TEXT_LENGTH, low))

    def make(random: Random, number: int) -> str:
        if number % 4 == 0 and number // 4 < len(_EDGE_CASE_TEXTS):
            return _EDGE_CASE_TEXTS[number // 4]
        if number % 7 == 1:
            return _word(random, low)
        if number % 7 == 2:
            return _word(random, high)
        return _word(random, random.randint(max(low, min(4, high)), high))

    return make


def _word(random: Random, length: int) -> str:
    return "".join(random.choice(_LETTERS_AND_DIGITS) for _ in range(length))


def _text_from_pattern(node: Node, random: Random) -> str:
    """Generate a text that matches a pattern."""
    match node:
        case CharacterClass(among):
            return _character(among.ranges, random)
        case Concatenation(parts):
            return "".join(_text_from_pattern(part, random) for part in parts)
        case Alternation(options):
            return _text_from_pattern(random.choice(options), random) if options else ""
        case Repetition(part, least, most):
            upper = least + _MAX_REPEATS if most is None else min(most, least + _MAX_REPEATS)
            return "".join(_text_from_pattern(part, random) for _ in range(random.randint(least, upper)))
        case Anchor():
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


def _clock(pattern: str) -> TextGenerator:
    """Generate times of day by a Java pattern with hours, minutes and seconds."""

    def make(random: Random, number: int) -> str:
        hour, minute, second = _moment(random).split(":")
        return pattern.replace("HH", hour).replace("mm", minute).replace("ss", second).replace("'", "")

    return make


def _uuid(random: Random, number: int) -> str:
    return str(UUID(int=random.getrandbits(128)))


def _bytes_text(random: Random, number: int) -> str:
    return base64.b64encode(random.randbytes(random.randint(0, 9))).decode()


_FORMATS: Mapping[str, TextGenerator] = {
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
