"""Finding what tells rows apart: candidates by name and by how many values differ, then an exact check."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from treaty.contracts.names import split_words
from treaty.contracts.paths import FieldPath
from treaty.spark.profile.facts import Facts, Profile
from treaty.spark.profile.name_hints import can_be_key_part, is_identifier, is_line_number
from treaty.spark.profile.text_types import TextType
from treaty.spark.profile.value_statistics import is_unique

_NAMES = TextType.WHOLE | TextType.DATE | TextType.ZONED | TextType.LOCAL | TextType.OTHER
_KEYS = (spark.StringType, spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
_PARTS = (*_KEYS, spark.DateType, spark.TimestampType, spark.TimestampNTZType)
_NEARLY_ALL = 0.85
"""Counts of different values are about right: within some 5 %, seldom 10."""
_MOST_OF_A_KIND = 3
_LONGEST = 128

Columns = tuple[str, ...]


def find_key(frame: DataFrame, profile: Profile, object_name: str, apart: Collection[FieldPath]) -> Columns:
    """Return the columns that tell all rows apart, exactly, or nothing; personal data, kept apart, are no key."""
    if profile.rows < 2:
        return ()
    whole = [item for item in profile.facts if item.is_column and not item.missing and item.path not in apart]
    return next(
        (columns for columns in key_candidates(whole, profile.rows, object_name) if is_unique(frame, columns)), ()
    )


def key_candidates(whole: Sequence[Facts], rows: int, object_name: str) -> Iterator[Columns]:
    """Yield what could be the key, the likeliest first: identifiers, pairs with one, codes of any name."""
    various = [item for item in whole if _could_be(item, _KEYS) and (item.distinct or 0) >= _NEARLY_ALL * rows]
    named = sorted((item for item in various if is_identifier(item.name)), key=lambda item: _rank(item, object_name))
    codes = [item for item in various if not is_identifier(item.name) and (item.shape or item.runs or item.formats)]
    yield from ((item.name,) for item in named[:_MOST_OF_A_KIND])
    yield from islice(_pairs(whole, rows), _MOST_OF_A_KIND)
    yield from ((item.name,) for item in codes[:_MOST_OF_A_KIND])


def _pairs(whole: Sequence[Facts], rows: int) -> Iterator[Columns]:
    parts = [item for item in whole if _could_be(item, _PARTS) and can_be_key_part(item.name)]
    for pair in combinations(parts, 2):
        one, other = sorted(pair, key=lambda item: is_line_number(item.name))  # the thing first, then its lines
        various = (one.distinct or 0) * (other.distinct or 0) >= _NEARLY_ALL * rows
        if various and (is_identifier(one.name) or is_identifier(other.name)):
            yield one.name, other.name


def _could_be(facts: Facts, kinds: tuple[type[spark.DataType], ...]) -> bool:
    """Tell what can be part of a key: short, and no text that stands for a quantity."""
    quantity = facts.is_text and bool(facts.readings) and not facts.are_all(_NAMES)
    return isinstance(facts.kind, kinds) and (facts.longest or 0) <= _LONGEST and not quantity


def _rank(facts: Facts, object_name: str) -> int:
    """Rank an identifier: a bare one, that of the thing itself, any other; among equals, as they stand."""
    about = set(split_words(facts.name)[:-1])
    thing = set(split_words(object_name))
    if not about:
        return 0
    return 1 if about & (thing | {word.rstrip("s") for word in thing}) else 2
