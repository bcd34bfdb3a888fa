"""Codes of values: small numbers that a histogram can count, and what each of them means.

Bins have fixed edges, so that histograms of runs add up and no value can be read back. The same codes in Spark SQL are
in `spark/event_profiles.py`; a small epsilon lets both round values on an edge alike.
"""

from __future__ import annotations

import math

NULL = -1
"""No value."""

NUMBER_BINS_PER_DECADE = 4
NUMBER_LOW, NUMBER_HIGH = -16, 47
"""The first and last bin of magnitude: 0.0001 to 10^12."""
NEGATIVE = 64
"""What is added to the code of a negative number."""
NOT_A_NUMBER = 129

OFFSET_BINS_PER_DOUBLING = 4
MAX_OFFSET = 95
"""The last bin of offsets, about 27 years."""
BEFORE = 96
"""What is added to the code of an offset into the past."""

HALF_HOURS = 48
MAX_SIZE = 40
EPSILON = 1e-9

SHORT = 10
"""Lengths up to it have a bin of their own."""
LENGTH_BINS_PER_DOUBLING = 3
LENGTHS = 28
"""Bins of lengths within the code of a shape; the last is for 504 characters and more."""

SHAPES = (
    "empty",
    "timestamp in UTC",
    "timestamp with an offset",
    "timestamp without a time zone",
    "digits",
    "capital letters",
    "letters",
    "capital letters and digits",
    "letters and digits",
    "words",
    "other characters",
)
(EMPTY, ZULU, WITH_OFFSET, WITHOUT_ZONE, DIGITS, CAPITALS, LETTERS, CAPITAL_CODE, MIXED, WORDS, OTHER) = range(11)
TIMESTAMP_SHAPES = frozenset({ZULU, WITH_OFFSET, WITHOUT_ZONE})

COARSE = 16
"""Codes of the second field of a pair; its first field counts in steps of it."""


def number_code(value: float) -> int:
    """Return the code of the sign and the magnitude of a number."""
    if math.isnan(value):
        return NOT_A_NUMBER
    if value == 0:
        return 0
    magnitude = NUMBER_BINS_PER_DECADE * math.log10(abs(value)) if not math.isinf(value) else NUMBER_HIGH
    bin_ = math.floor(min(max(magnitude + EPSILON, NUMBER_LOW), NUMBER_HIGH)) - NUMBER_LOW + 1
    return bin_ + NEGATIVE if value < 0 else bin_


def offset_code(seconds: float) -> int:
    """Return the code of a duration, positive or negative."""
    scaled = OFFSET_BINS_PER_DOUBLING * math.log2(1 + abs(seconds) / 60)
    bin_ = min(math.floor(scaled + EPSILON), MAX_OFFSET)
    return bin_ + BEFORE if seconds < 0 and bin_ else bin_


def time_of_day_code(epoch_seconds: float) -> int:
    """Return the half hour of the day in UTC."""
    return int(epoch_seconds % 86_400 // 1_800)


def text_code(text: str) -> int:
    """Return the code of the shape and the length of a text."""
    return text_shape(text) * LENGTHS + length_bin(len(text))


def length_bin(length: int) -> int:
    """Return the bin of a length."""
    if length <= SHORT:
        return length
    return min(SHORT + math.floor(LENGTH_BINS_PER_DOUBLING * math.log2(length / SHORT) + EPSILON), LENGTHS - 1)


def text_shape(text: str) -> int:
    """Return the shape of a text."""
    if not text:
        return EMPTY
    if len(text) >= 16 and text[4] == "-" and text[7] == "-" and text[10] in "T " and text[13] == ":":
        return ZULU if text[-1] in "Zz" else WITH_OFFSET if "+" in text or "-" in text[11:] else WITHOUT_ZONE
    has_digits = any(character in "0123456789" for character in text)
    has_letters = text.lower() != text.upper()
    is_capital = text == text.upper()
    if " " in text and has_letters:
        return WORDS
    if has_letters and has_digits:
        return CAPITAL_CODE if is_capital else MIXED
    if has_letters:
        return CAPITALS if is_capital else LETTERS
    return DIGITS if has_digits else OTHER


def size_code(size: int) -> int:
    """Return the code of a number of elements."""
    return min(size, MAX_SIZE)


def coarse_number(code: int) -> int:
    """Return the code of a number within a pair: its sign, and its decade if it is positive."""
    if code <= 0 or code >= NOT_A_NUMBER:
        return code + 1 if code <= 0 else 15
    if code > NEGATIVE:
        return 2
    decade = (code - 1 + NUMBER_LOW) // NUMBER_BINS_PER_DECADE
    return 3 + min(max(decade, -2), 8) + 2


def coarse_offset(code: int) -> int:
    """Return the code of a time within a pair: before or after the event, by how much."""
    if code == NULL:
        return 0
    if code > BEFORE:
        return 1
    return 2 + min(code // 12, 7)


def coarse_text(code: int) -> int:
    """Return the code of a text within a pair: none, empty or any other."""
    return 0 if code == NULL else 1 if code < LENGTHS else 2


def coarse_value(code: int) -> int:
    """Return the code of a listed value or a size within a pair."""
    return min(code + 1, COARSE - 1)


def number_label(code: int) -> str:
    """Return what the code of a number means."""
    if code == NULL:
        return "no value"
    if code == 0:
        return "0"
    if code == NOT_A_NUMBER:
        return "not a number"
    sign = "−" if code > NEGATIVE else ""
    low = number_edge(code)
    return f"{sign}{_amount(low)} to {sign}{_amount(low * 10 ** (1 / NUMBER_BINS_PER_DECADE))}"


def number_edge(code: int) -> float:
    """Return the lower edge of the magnitude of a code."""
    bin_ = code - NEGATIVE if code > NEGATIVE else code
    return float(10 ** ((bin_ - 1 + NUMBER_LOW) / NUMBER_BINS_PER_DECADE))


def offset_label(code: int) -> str:
    """Return what the code of an offset means."""
    if code == NULL:
        return "no value"
    return duration_text(offset_seconds(code))


def offset_seconds(code: int) -> float:
    """Return the middle of the bin of an offset, in seconds."""
    bin_ = code - BEFORE if code > BEFORE else code
    seconds = 0.0 if bin_ == 0 else 60 * (2 ** ((bin_ + 0.5) / OFFSET_BINS_PER_DOUBLING) - 1)
    return -seconds if code > BEFORE else seconds


def duration_text(seconds: float) -> str:
    """Return a duration in the units that a reader expects, with its sign."""
    sign, size = ("−" if seconds < 0 else "+"), abs(seconds)
    if size < 1:
        return "0 s"
    for unit, text, below in ((1, "s", 90), (60, "min", 3_600), (3_600, "h", 48 * 3_600)):
        if size < below:
            return f"{sign}{size / unit:.3g} {text}"
    return f"{sign}{size / 86_400:,.3g} days" if size < 9e7 else f"{sign}{size / 31_557_600:.3g} years"


def time_of_day_label(code: int) -> str:
    """Return what the code of a time of day means."""
    return "no value" if code == NULL else f"{code // 2:02}:{'30' if code % 2 else '00'}"


def text_label(code: int) -> str:
    """Return what the code of a text means."""
    if code == NULL:
        return "no value"
    shape, length = divmod(code, LENGTHS)
    if shape == EMPTY:
        return "empty"
    low = shortest_in(length)
    high = shortest_in(length + 1) - 1 if length + 1 < LENGTHS else None
    span = f"{low:,} or more" if high is None else f"{low}" if low == high else f"{low} to {high}"
    return f"{SHAPES[shape]}, {span} character{'' if span == '1' else 's'}"


def shortest_in(bin_: int) -> int:
    """Return the smallest length in a bin."""
    if bin_ <= SHORT:
        return bin_
    return math.ceil(SHORT * 2 ** ((bin_ - SHORT) / LENGTH_BINS_PER_DOUBLING) - EPSILON)


def _amount(value: float) -> str:
    return f"{value:.3g}" if value < 1_000 else f"{float(f'{value:.3g}'):,.0f}"
